// Proves one agent: starts it in fresh homes, without and with a hook, and collects the facts.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HostProof, ProofPlace } from '../hosts/host-proof.js'
import { type AgentRun, type RunResult, resultFile } from './agent-run.js'
import { canaryLog, MARKERS, refusalMark, WORDS, writeCanary } from './canary.js'
import { type Enclosure, portFor } from './enclosure.js'
import { type Fact, type Promises, type Seen, TRIALS, type Trial } from './facts.js'
import { endLeftovers, MARK } from './leftovers.js'
import { MARKS, MODEL, type Script } from './model/mock-model.js'
import type { Turn } from './model/protocol.js'

export interface Proving {
  readonly proof: HostProof
  readonly promises: Promises
  /** The path of its program. */
  readonly program: string
  readonly enclosure: Enclosure
  /** Only whether a command is refused, and a file. */
  readonly quick: boolean
  /** Registers Carabiner, with these hooks of the pack, in a fresh home, as a user would. `env` has the home. Throws with the reason. */
  readonly setUp: (
    env: Readonly<Record<string, string>>,
    project: string,
    pack: readonly string[],
  ) => Promise<void>
  /** The command that runs a trial from a file, inside the enclosure. */
  readonly inside: (file: string) => readonly string[]
  /** Runs a trial, and may show its name meanwhile. */
  readonly during?: <T>(trial: string, work: () => Promise<T>) => Promise<T>
  readonly signal?: AbortSignal
  /** Where to leave everything, for a look. By default nothing is left. */
  readonly keep?: string
}

/** The model may answer, and processes end, for this long after the agent's own limit. */
const GRACE_MS = 15_000
/** Time for an agent to show that it goes on, after a refusal that makes it wait for a person. */
const SETTLES_MS = 8000
/** Tenths of a second that the agent's main talk waits for a subagent. */
const WAITS = 80

/** The facts, as they are found. */
export async function* proveAgent(proving: Proving): AsyncGenerator<Fact> {
  let withSubagents = true
  for (const trial of TRIALS) {
    if (proving.quick && !trial.isQuick) continue
    if (trial.does.includes('subagent') && trial.act && !(withSubagents && proving.proof.calls.subagent)) {
      yield* subagentless(proving, trial)
      continue
    }
    const work = () => tried(trial, proving)
    const seen = await (proving.during ? proving.during(trial.name, work) : work())
    if (trial.act === undefined) withSubagents = seen.files.includes(MARKERS.subagent)
    const facts = trial.facts(seen, proving.promises)
    yield* facts
    // Nothing else can be shown of an agent that does not do what its model says.
    if (trial.act === undefined && facts.some(({ state }) => state === 'failed')) return
  }
}

/** Either it has none, or the one without the hook did nothing: then a refusal would prove nothing. */
function subagentless({ proof, promises }: Proving, { facts }: Trial): readonly Fact[] {
  if (proof.calls.subagent)
    return [{ name: 'subagent', state: 'unknown', text: 'a subagent did nothing, even without the hook' }]
  return facts({ result: NO_RUN, files: [], hookActed: 0 }, { ...promises, hasSubagents: false })
}

const NO_RUN: RunResult = {
  ended: 'not-started',
  exit: null,
  requests: [],
  unknown: [],
  output: '',
  leftovers: 0,
  ms: 0,
}

async function tried(trial: Trial, proving: Proving): Promise<Seen> {
  const folder = freshFolder(trial, proving)
  const place: ProofPlace = {
    home: join(folder, 'home'),
    project: join(folder, 'project'),
    url: '',
    model: MODEL,
  }
  try {
    for (const path of [place.home, place.project, join(folder, 'tmp')])
      mkdirSync(path, { recursive: true, mode: 0o700 })
    return await triedIn(folder, place, trial, proving)
  } finally {
    if (proving.keep === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function freshFolder({ name }: Trial, { keep, proof }: Proving): string {
  if (keep === undefined) return realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-proof-')))
  const folder = join(keep, proof.program, name.replaceAll(' ', '-'))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return realpathSync(folder)
}

async function triedIn(folder: string, empty: ProofPlace, trial: Trial, proving: Proving): Promise<Seen> {
  const { proof, enclosure } = proving
  const port = await portFor(enclosure, proof.port)
  const place = { ...empty, url: `http://127.0.0.1:${port}` }
  for (const [path, text] of Object.entries(proof.files?.(place) ?? {}))
    writeFile(join(place.home, path), text)
  const env = environment(folder, place, proving)
  if (trial.act !== undefined) {
    writeCanary(place.home, trial.act, process.execPath)
    await proving.setUp(env, place.project, trial.pack ?? [])
  }
  const run: AgentRun = {
    command: [proving.program, ...proof.arguments(`${MARKS.main}: do what the test says.`, place)],
    cwd: place.project,
    env,
    port,
    script: scriptOf(trial, proof, place),
    limit: proof.limit * 1000,
    words: Object.values(WORDS),
    ...(proof.waitsOnRefusal && { settles: { file: refusalMark(place.home), after: SETTLES_MS } }),
    ...(proving.keep !== undefined && { requestsFile: join(folder, 'requests.jsonl') }),
  }
  const result = await enclosed(run, join(folder, 'run.json'), proving)
  return { result, files: readdirSync(place.project), hookActed: hookActs(place.home) }
}

function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Only what a program needs: nothing of the agent or the project that verify was started in. */
function environment(
  folder: string,
  place: ProofPlace,
  { proof, enclosure }: Proving,
): Readonly<Record<string, string>> {
  const kept = ['PATH', 'LANG', 'LC_ALL', 'USER', 'LOGNAME', 'SHELL', 'SystemRoot']
  const inherited = kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]] as const] : []))
  return {
    ...Object.fromEntries(inherited),
    HOME: place.home,
    TMPDIR: join(folder, 'tmp'),
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    [MARK]: randomBytes(8).toString('hex'),
    ...enclosure.env,
    ...proof.env?.(place),
  }
}

function scriptOf({ does }: Trial, { calls }: HostProof, place: ProofPlace): Script {
  const path = (marker: keyof typeof MARKERS) => join(place.project, MARKERS[marker])
  const turn = (what: Trial['does'][number]): Turn | undefined => {
    if (what === 'shell') return { call: calls.shell(`touch ${path('shell')}`, place) }
    if (what === 'guarded') return { call: calls.shell(`touch ${path('guarded')}`, place) }
    if (what === 'file') return { call: calls.write(path('file'), 'canary', place) }
    const prompt = `${MARKS.subagent}: do what the test says.`
    return calls.subagent && { call: calls.subagent(prompt, place) }
  }
  const waits = does.includes('subagent') && calls.subagentGoesOn
  const wait = `n=0; until [ -e ${path('subagent')} ] || [ -e ${canaryLog(place.home)} ] || [ $n -ge ${WAITS} ]; do sleep 0.1; n=$((n+1)); done`
  return {
    main: [
      ...does.flatMap((what) => turn(what) ?? []),
      ...(waits ? [{ call: calls.shell(wait, place) }] : []),
    ],
    subagent: [{ call: calls.shell(`touch ${path('subagent')}`, place) }],
  }
}

/** Runs it in a process of its own, inside the enclosure. */
async function enclosed(run: AgentRun, file: string, proving: Proving): Promise<RunResult> {
  writeFileSync(file, JSON.stringify(run))
  proving.signal?.throwIfAborted()
  const [program = '', ...args] = proving.enclosure.around(proving.inside(file))
  const env = { ...process.env, ...proving.enclosure.env }
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-2000)
  })
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // it ended by itself
    }
  }
  const timer = setTimeout(end, run.limit + GRACE_MS)
  proving.signal?.addEventListener('abort', end, { once: true })
  try {
    await new Promise<void>((done, fail) => {
      child.on('error', fail)
      child.on('close', () => done())
    })
  } finally {
    clearTimeout(timer)
    proving.signal?.removeEventListener('abort', end)
    endLeftovers(run.env[MARK] ?? 'none')
  }
  proving.signal?.throwIfAborted()
  if (!existsSync(resultFile(file))) return { ...NO_RUN, output: complaint || 'its time was over' }
  return JSON.parse(readFileSync(resultFile(file), 'utf8')) as RunResult
}

function hookActs(home: string): number {
  const file = canaryLog(home)
  if (!existsSync(file)) return 0
  return readFileSync(file, 'utf8').split('\n').filter(Boolean).length
}
