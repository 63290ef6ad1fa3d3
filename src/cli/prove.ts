// Proving that installed agents obey hooks: for `carabiner verify`, and for `carabiner setup` after it has written.

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { callerFolder, callerPath } from '../files/caller.js'
import type { HostProblem } from '../hosts/host-setup.js'
import type { KnownHost } from '../hosts/hosts.js'
import { agentFiles, registrationsIn } from '../hosts/registrations.js'
import { SETUP_HOSTS, setupOf } from '../hosts/setups.js'
import { type Agent, fits, versionOf } from '../verify/agents.js'
import { type Enclosure, enclosure } from '../verify/enclosure.js'
import { type Fact, type FactState, promisesOf } from '../verify/facts.js'
import { count, isProven, keepProof, type ProofRecord } from '../verify/proof-record.js'
import { proveAgent } from '../verify/prove-agent.js'
import { Interruption } from './interruption.js'
import { type Output, plainData } from './output.js'
import { counted, labelled, oneLine } from './print/lines.js'
import { withProgress } from './print/progress.js'
import { isTerminal, type Paint, painter } from './print/terminal.js'
import { circumstancesOf } from './proof-state.js'
import { EXIT } from './refusal.js'
import { sourcesOf } from './sources.js'

export interface Proving {
  /** Only whether a command and a written file are refused. */
  readonly quick: boolean
  /** The folder where homes, projects and requests of all runs stay. */
  readonly keep?: string | undefined
}

/** Tells what held for each agent. Returns the exit code. */
export async function proveAgents(
  agents: readonly Agent[],
  options: Proving,
  output: Output,
  signal: AbortSignal | undefined,
): Promise<number> {
  const interruption = new Interruption(signal)
  const proofs: Proof[] = []
  const around = enclosure()
  try {
    for (const agent of agents) {
      const record = await proven(agent, { around, options, output, signal: interruption.signal })
      const proof = { record, problems: await problemsHere(agent.host) }
      proofs.push(proof)
      if (!output.json) await output.print(proofLines(proof, painter(1)))
    }
  } finally {
    interruption.end(false)
  }
  return tell(proofs, around, output)
}

interface Proof {
  readonly record: ProofRecord
  /** What keeps hooks from running under the user's own settings, which no trial had. */
  readonly problems: readonly HostProblem[]
}

async function problemsHere(host: KnownHost): Promise<readonly HostProblem[]> {
  const project = callerFolder()
  const registrations = registrationsIn(await agentFiles(project), project)
  const own = registrations.filter((one) => one.host === host)
  return own.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'broken'))
}

interface Way {
  readonly around: Enclosure
  readonly options: Proving
  readonly output: Output
  readonly signal: AbortSignal
}

async function proven(agent: Agent, { around, options, output, signal }: Way): Promise<ProofRecord> {
  const { host, proof, program = '' } = agent
  const version = versionOf(program, around)
  const facts = unfit(agent, version) ?? (await factsOf(agent, { around, options, output, signal }))
  const { gather } = await import('./doctor/facts.js')
  const { hooks } = await gather(sourcesOf(undefined))
  const record: ProofRecord = {
    host: host.name,
    title: proof.part?.title ?? host.title,
    ...(version !== undefined && { version }),
    at: Date.now(),
    quick: options.quick,
    network: around.network,
    facts,
    bypasses: proof.bypasses ?? [],
    ...(proof.part && { note: proof.part.note }),
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
      setUp: (env, project, pack) => setUp(host, env, { project, pack }),
      inside: (file) => [process.execPath, script(), 'verify', '--inside', file],
      during: (trial, work) => during(`${host.title}: ${trial}`, output, work),
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

/** Off a terminal, minutes would pass without a word. */
async function during<T>(what: string, output: Output, work: () => Promise<T>): Promise<T> {
  if (!output.json && !isTerminal(STDERR)) await output.complain([`${what} …`])
  return withProgress(what, output, work)
}

const STDERR = 2

/** Carabiner could not be registered in a fresh home. */
class SetupFailed extends Error {}

/** Why there is nothing to run. */
function unfit({ host, proof }: Agent, version: string | undefined): readonly Fact[] | undefined {
  const text = !fits(proof, version)
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
async function setUp(
  host: KnownHost,
  env: Readonly<Record<string, string>>,
  { project, pack }: { readonly project: string; readonly pack: readonly string[] },
): Promise<void> {
  const { files } = await setupOf(host)
  const place = files.length === 0 ? ['--project'] : []
  const hooks = pack.length === 0 ? [] : ['--with', pack.join(',')]
  const args = [script(), 'setup', host.name, '--engine', '--yes', ...hooks, ...place]
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

function proofLines({ record, problems }: Proof, paint: Paint): readonly string[] {
  const { title, version, facts, bypasses, note } = plainData(record)
  return [
    paint.bold(`${title}${version === undefined ? '' : ` ${version}`}`),
    ...facts.flatMap(({ state, text }) =>
      labelled(STATES[state].label, text, paint[STATES[state].colour], 2),
    ),
    ...(note === undefined ? [] : labelled('note   ', note, paint.yellow, 2)),
    ...bypasses.flatMap((text) => labelled('known  ', `way around: ${text}`, paint.yellow, 2)),
    ...plainData(problems).flatMap((problem) => labelled('BROKEN ', problemText(problem), paint.red, 2)),
  ]
}

function problemText({ file, line, text, fix }: HostProblem): string {
  const where = [file, line].filter((part) => part !== undefined).join(':')
  return ['under your own settings,', where && `${where}:`, `${text}.`, fix].filter(Boolean).join(' ')
}

const STATES: Readonly<Record<FactState, { readonly label: string; readonly colour: keyof Paint }>> = {
  held: { label: 'held   ', colour: 'green' },
  failed: { label: 'FAILED ', colour: 'red' },
  cannot: { label: 'cannot ', colour: 'dim' },
  unknown: { label: 'unknown', colour: 'yellow' },
}

async function tell(proofs: readonly Proof[], around: Enclosure, output: Output): Promise<number> {
  const isGood = proofs.every(isGoodHere)
  if (output.json) {
    const agents = proofs.map((proof) => {
      const { circumstances: _, network: __, ...record } = proof.record
      return { ...record, ok: isGoodHere(proof), problems: proof.problems }
    })
    await output.document({ ok: isGood, network: around.network, agents })
  } else {
    const paint = painter(1)
    await output.print([...labelled('network', around.network, paint.dim), verdict(proofs, paint)])
  }
  return isGood ? EXIT.ok : EXIT.failed
}

function isGoodHere({ record, problems }: Proof): boolean {
  return isProven(record.facts) && problems.length === 0
}

function verdict(proofs: readonly Proof[], paint: Paint): string {
  const titles = (some: readonly Proof[]) => some.map(({ record }) => record.title).join(', ')
  const bad = proofs.filter(({ record }) => !isProven(record.facts))
  if (bad.length > 0) return paint.red(`not proven: ${titles(bad)}`)
  const off = proofs.filter(({ problems }) => problems.length > 0)
  if (off.length > 0)
    return paint.red(`proven, but your own settings keep hooks from running: ${titles(off)}`)
  const facts = proofs.flatMap(({ record }) => record.facts)
  return paint.green(`proven: ${counted(count(facts, 'held'), 'fact')} held`)
}
