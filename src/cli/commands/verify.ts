// `carabiner verify`: proves that installed agents obey hooks, by starting them against a mock model.

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { callerPath } from '../../files/caller.js'
import type { KnownHost } from '../../hosts/hosts.js'
import { SETUP_HOSTS, setupOf } from '../../hosts/setups.js'
import { type Agent, agentsOf, PROOF_HOSTS, versionOf } from '../../verify/agents.js'
import { type Enclosure, enclosure } from '../../verify/enclosure.js'
import { type Fact, type FactState, promisesOf } from '../../verify/facts.js'
import { count, isProven, keepProof, type ProofRecord } from '../../verify/proof-record.js'
import { proveAgent } from '../../verify/prove-agent.js'
import { type Command, chosen, type Options } from '../command.js'
import { Interruption } from '../interruption.js'
import { type Output, plainData } from '../output.js'
import { counted, labelled, oneLine } from '../print/lines.js'
import { withProgress } from '../print/progress.js'
import { type Paint, painter } from '../print/terminal.js'
import { circumstancesOf } from '../proof-state.js'
import { EXIT, Refusal } from '../refusal.js'
import { sourcesOf } from '../sources.js'

const OPTIONS = {
  quick: { type: 'boolean', help: 'Only whether a command and a written file are refused.' },
  keep: {
    type: 'string',
    value: 'DIR',
    completes: 'folder',
    help: 'Leave the homes, projects and requests of all runs here.',
  },
  inside: { type: 'string', value: 'FILE', help: 'Run one trial.', hidden: true },
} as const

const NAMES = PROOF_HOSTS.map(({ name }) => name)

export const command: Command<typeof OPTIONS> = {
  name: 'verify',
  summary: 'Prove that an agent obeys hooks.',
  positionals: ['[AGENT…]'],
  completes: [NAMES],
  about:
    'Starts the installed agent in a fresh home and project, without network, against a mock model on this machine. ' +
    'The model asks for a command and a file; without a hook, both must happen, and with one, neither. Then it looks ' +
    'at changed commands, context, subagents, refused ends and questions. Your own settings are neither read nor ' +
    `changed. Without a name: every agent in PATH. Agents: ${NAMES.join(', ')}. The last proof is kept; carabiner ` +
    'shows it, and says when something has changed since.',
  options: OPTIONS,
  exits: [
    [0, 'every fact held, or is known to be beyond the agent'],
    [1, 'a fact did not hold, or no agent could be proven'],
  ],
  examples: [
    {
      does: 'Do the agents on this machine obey hooks?',
      line: 'carabiner verify',
      needs: 'an agent in PATH',
    },
    { does: 'Only Codex.', line: 'carabiner verify codex', needs: 'Codex in PATH' },
    {
      does: 'Quickly: only a command and a file.',
      line: 'carabiner verify claude-code --quick',
      needs: 'Claude Code in PATH',
    },
  ],
  async run({ options, positionals }, output, context) {
    if (options.inside !== undefined) return inside(options.inside)
    const agents = await agentsOf(hostsNamed(positionals))
    const found = agents.filter(({ program }) => program !== undefined)
    const missing = agents.filter(({ program }) => program === undefined)
    if (found.length === 0 || (positionals.length > 0 && missing.length > 0)) throw notFound(missing)
    const interruption = new Interruption(context.signal)
    const records: ProofRecord[] = []
    const around = enclosure()
    try {
      for (const agent of found) {
        const record = await proven(agent, { around, options, output, signal: interruption.signal })
        records.push(record)
        if (!output.json) await output.print(recordLines(record, painter(1)))
      }
    } finally {
      interruption.end(false)
    }
    return tell(records, around, output)
  },
}

async function inside(file: string): Promise<number> {
  const { runFromFile } = await import('../../verify/agent-run.js')
  await runFromFile(file)
  return EXIT.ok
}

function hostsNamed(names: readonly string[]): readonly KnownHost[] {
  const given = names.map((name) => chosen(name, NAMES, 'carabiner verify does not know the agent'))
  return names.length === 0 ? PROOF_HOSTS : PROOF_HOSTS.filter(({ name }) => given.includes(name))
}

function notFound(missing: readonly Agent[]): Refusal {
  const programs = missing.map(({ proof }) => proof.program)
  const what =
    programs.length === 1
      ? `There is no program ${programs[0]} in PATH`
      : `None of these programs is in PATH: ${programs.join(', ')}`
  return new Refusal('AGENT_NOT_FOUND', what, { hint: 'Install the agent, or add its folder to PATH.' })
}

// ---- proving --------------------------------------------------------------------------------------------------

interface Way {
  readonly around: Enclosure
  readonly options: Options<typeof OPTIONS>
  readonly output: Output
  readonly signal: AbortSignal
}

async function proven(agent: Agent, { around, options, output, signal }: Way): Promise<ProofRecord> {
  const { host, proof, program = '' } = agent
  const version = versionOf(program, around)
  const facts = unfit(agent, version) ?? (await factsOf(agent, { around, options, output, signal }))
  const { gather } = await import('../doctor/facts.js')
  const { hooks } = await gather(sourcesOf(undefined))
  const record: ProofRecord = {
    host: host.name,
    title: host.title,
    ...(version !== undefined && { version }),
    at: Date.now(),
    quick: options.quick,
    network: around.network,
    facts,
    bypasses: proof.bypasses ?? [],
    circumstances: await circumstancesOf(host, program, hooks),
  }
  keepProof(record)
  return record
}

async function factsOf({ host, proof, program = '' }: Agent, way: Way): Promise<readonly Fact[]> {
  const { around, options, output, signal } = way
  const facts: Fact[] = []
  try {
    for await (const fact of proveAgent({
      proof,
      promises: promisesOf(host, proof),
      program,
      enclosure: around,
      quick: options.quick,
      setUp: (env, project) => setUp(host, env, project),
      inside: (file) => [process.execPath, script(), 'verify', '--inside', file],
      during: (trial, work) => withProgress(`${host.title}: ${trial}`, output, work),
      signal,
      ...(options.keep !== undefined && { keep: callerPath(options.keep) }),
    }))
      facts.push(fact)
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error
    facts.push({ name: 'command', state: 'unknown', text: error.message })
  }
  return facts
}

/** Carabiner could not be registered in a fresh home. */
class SetupFailed extends Error {}

/** Why there is nothing to run. */
function unfit({ host, proof }: Agent, version: string | undefined): readonly Fact[] | undefined {
  const text =
    proof.versions !== undefined && !version?.startsWith(proof.versions)
      ? `it is version ${version ?? 'unknown'}, and only ${proof.versions}x can be proven`
      : SETUP_HOSTS.includes(host)
        ? undefined
        : `carabiner setup cannot register hooks with ${host.title} yet`
  return text === undefined ? undefined : [{ name: 'runs', state: 'unknown', text }]
}

function script(): string {
  return resolve(process.argv[1] ?? '')
}

/** As a user would, in the fresh home. */
async function setUp(host: KnownHost, env: Readonly<Record<string, string>>, project: string): Promise<void> {
  const { files } = await setupOf(host)
  const place = files.length === 0 ? ['--project'] : []
  const args = [script(), 'setup', host.name, '--engine', '--yes', ...place]
  const child = spawn(process.execPath, args, { env, cwd: project, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
    })
  }
  const exit = await new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', done)
  })
  if (exit === 0) return
  throw new SetupFailed(`carabiner setup ${host.name} failed in a fresh home: ${oneLine(said, 500)}`)
}

// ---- printing -------------------------------------------------------------------------------------------------

function recordLines(found: ProofRecord, paint: Paint): readonly string[] {
  const { title, version, facts, bypasses } = plainData(found)
  return [
    paint.bold(`${title}${version === undefined ? '' : ` ${version}`}`),
    ...facts.flatMap(({ state, text }) =>
      labelled(STATES[state].label, text, paint[STATES[state].colour], 2),
    ),
    ...bypasses.flatMap((text) => labelled('known  ', `way around: ${text}`, paint.yellow, 2)),
  ]
}

const STATES: Readonly<Record<FactState, { readonly label: string; readonly colour: keyof Paint }>> = {
  held: { label: 'held   ', colour: 'green' },
  failed: { label: 'FAILED ', colour: 'red' },
  cannot: { label: 'cannot ', colour: 'dim' },
  unknown: { label: 'unknown', colour: 'yellow' },
}

async function tell(records: readonly ProofRecord[], around: Enclosure, output: Output): Promise<number> {
  const isGood = records.every(({ facts }) => isProven(facts))
  if (output.json) {
    const agents = records.map(({ circumstances: _, network: __, ...record }) => ({
      ...record,
      ok: isProven(record.facts),
    }))
    await output.document({ ok: isGood, network: around.network, agents })
  } else {
    const paint = painter(1)
    await output.print([...labelled('network', around.network, paint.dim), verdict(records, paint)])
  }
  return isGood ? EXIT.ok : EXIT.failed
}

function verdict(records: readonly ProofRecord[], paint: Paint): string {
  const bad = records.filter(({ facts }) => !isProven(facts)).map(({ title }) => title)
  const facts = records.flatMap((record) => record.facts)
  if (bad.length > 0) return paint.red(`not proven: ${bad.join(', ')}`)
  return paint.green(`proven: ${counted(count(facts, 'held'), 'fact')} held`)
}
