// Which command lines the service answers, how, and what a caller prints if it loses the service meanwhile.

import { isUtf8 } from 'node:buffer'
import { runHook } from '../../author/run-hook.js'
import { claudeCode } from '../../hosts/claude-code/host.js'
import { PACK_TABLE } from '../../hosts/entries.js'
import type { HostAnswer } from '../../hosts/host.js'
import { HOST_NAMES, limitFor, limitOf } from '../../hosts/hosts.js'
import { type PackName, packName } from '../../hosts/pack-names.js'
import { PACK } from '../../pack/index.js'
import { type PackRun, runPackHook } from '../../pack/run-pack-hook.js'
import { type Call, PROTOCOL } from '../../rpc/frames.js'
import type { CallIo, Interrupted, Served } from '../../service/socket/caller-link.js'
import { command as fire } from '../commands/fire.js'
import { HostReply } from '../fire/host-reply.js'
import { readPayload } from '../fire/payload.js'
import { Output, type Write } from '../output.js'
import { run } from '../program.js'
import { EXIT, Refusal } from '../refusal.js'
import { version } from '../version.js'

/** Variables that say where the user's own hooks, trust and state are, as they were when the service started. */
export type Homes = Readonly<Record<string, string>>

/** The call as the service answers it, or why it has to run cold. Touches no state. */
export async function servedCall(call: Call, homes: Homes): Promise<Served | string> {
  const { args, stdin } = call
  const why = whyCold(call, homes)
  if (why !== undefined) return why
  const [command, ...rest] = args
  const text = stdin.toString()
  const fired = command === 'fire' ? firedBy(rest) : undefined
  if (fired) return servedFire(fired, rest, text)
  const hook = command === 'hook' ? hookIn(rest) : undefined
  if (hook) return servedHook(hook, text, call.script)
  return 'the service does not run this command'
}

/** Variables that change how Node itself works: only a process that was started with them does so. */
const OF_NODE =
  /^(?:NODE_OPTIONS|NODE_TLS_REJECT_UNAUTHORIZED|NODE_USE_ENV_PROXY|SSL_CERT_(?:FILE|DIR)|OPENSSL_CONF|TZ)$/

/** The variables of Homes. clip.c hands them to the service. */
const OF_HOME = ['HOME', 'CARABINER_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME']

function whyCold({ protocol, cwd, env, stdin }: Call, homes: Homes): string | undefined {
  if (protocol !== PROTOCOL) return 'clip and the service speak different versions of the protocol'
  if (cwd === '') return 'the working folder is gone'
  // Hooks of the user need no trust, so a caller in a sandbox must not say where they are.
  const moved = OF_HOME.find((name) => (env[name] ?? '') !== (homes[name] ?? ''))
  if (moved !== undefined) return `${moved} is not that of the service`
  const ofNode = Object.keys(env).find((name) => env[name] !== '' && OF_NODE.test(name))
  if (ofNode !== undefined) return `${ofNode} is set`
  if (!isUtf8(stdin) || stdin.includes(BYTE_ORDER_MARK)) return 'standard input is not plain UTF-8'
  return undefined
}

const BYTE_ORDER_MARK = '\uFEFF'

/** In the words of the cold path, for the rare caller that loses the service between its start and its answer. */
const INTERRUPTED = 'judging was interrupted; try again'
const INTERRUPTION = new Refusal('ABORTED', INTERRUPTED)
const FAILURE = new Error(INTERRUPTED)

// ---- fire -----------------------------------------------------------------------------------------------------

interface Fired {
  readonly host: string
  readonly event: string | undefined
  /** Seconds. */
  readonly timeout: number | undefined
}

/** `--as AGENT [--timeout SECONDS] [EVENT]`, as setup writes it. */
function firedBy(words: readonly string[]): Fired | undefined {
  const [, host = '', seconds, event] = FIRED.exec(words.join(' ')) ?? []
  if (!HOST_NAMES.some((name) => name === host)) return undefined
  return { host, event, timeout: seconds === undefined ? undefined : Number(seconds) }
}

const FIRED = /^--as ([a-z0-9-]+)(?: --timeout (\d{1,6}(?:\.\d)?))?(?: ([\w:]+))?$/

async function servedFire(fired: Fired, rest: readonly string[], stdin: string): Promise<Served | string> {
  const interrupted = await interruptedFire(fired, stdin)
  if (interrupted === undefined) return 'the agent does not wait for this event'
  return {
    interrupted,
    run: ({ write, answered, signal }) =>
      run({ fire: async () => ({ command: fire }) }, ['fire', ...rest], { write, stdin, signal, answered }),
  }
}

/** The part of the agent's limit after which clip no longer waits for the service, which gives up earlier. */
const SHARE = 0.95

/** Undefined for an event whose hooks the agent would end with clip. */
async function interruptedFire(
  { host, event, timeout }: Fired,
  stdin: string,
): Promise<Interrupted | undefined> {
  const said = { 1: '', 2: '' }
  const keep: Write = (fd, text) => {
    said[fd] += text
  }
  const reply = new HostReply(host, event, new Output(false, keep))
  try {
    const { payload } = await readPayload(undefined, { stdin })
    reply.read(payload ?? {})
  } catch {
    // The call itself is refused for this, in words that say why.
  }
  if (reply.isUnawaited) return undefined
  await reply.refuse(INTERRUPTION)
  const limit = timeout === undefined ? reply.limit : limitFor(timeout)
  return interruptedAfter(limit, { exit: reply.exit, stdout: said[1], stderr: said[2] })
}

// ---- hook -----------------------------------------------------------------------------------------------------

/** Hooks of the pack that start no program and copy no file: what a caller in a sandbox may not do, the service must not do for it. */
const SERVED: ReadonlySet<PackName> = new Set<PackName>([
  'pre-tool-use',
  'post-tool-use',
  'workflow-classification-reminder',
  'user-prompt-submit',
])

interface HookCall {
  readonly name: PackName
  readonly how: Pick<PackRun, 'host' | 'timeout' | 'memory'>
}

/** `NAME [--as AGENT --timeout SECONDS] [--memory]`, as setup writes it. */
function hookIn(words: readonly string[]): HookCall | undefined {
  const [, word = '', as, seconds, memory] = HOOK.exec(words.join(' ')) ?? []
  const name = packName(word)
  const host = HOST_NAMES.find((one) => one === as)
  if (name === undefined || !SERVED.has(name) || host !== as) return undefined
  return { name, how: { ...(host && { host, timeout: Number(seconds) }), memory: memory !== undefined } }
}

const HOOK = /^([\w-]+)(?: --as ([a-z0-9-]+) --timeout (\d{1,6}(?:\.\d)?))?( --memory)?$/

async function servedHook(call: HookCall, stdin: string, script: string): Promise<Served> {
  const { name, how } = call
  return {
    interrupted: await interruptedHook(call, stdin),
    run: async (io) => {
      let exit: number = EXIT.failed
      const answered = (answer: HostAnswer) => {
        exit = written(answer, io)
      }
      await runPackHook(name, { script, version }, { ...how, stdin, answered })
      return exit
    },
  }
}

/** What the hook would say if its own code failed. */
async function interruptedHook(
  { name, how: { memory: _, ...how } }: HookCall,
  stdin: string,
): Promise<Interrupted> {
  const { event, also = [], onFailure = 'open' } = await PACK[name]()
  const fails = () => Promise.reject(FAILURE)
  const handlers = Object.fromEntries([event, ...also].map((one) => [one, fails]))
  let said: HostAnswer = { stdout: '', exit: EXIT.failed }
  await runHook(handlers, { ...how, name, event, onFailure, stdin, answered: (answer) => (said = answer) })
  if (how.timeout !== undefined) return interruptedAfter(limitFor(how.timeout), said)
  const limit = PACK_TABLE.find(({ hook }) => hook === name)?.timeout ?? limitOf(claudeCode, event)
  return interruptedAfter(limit, said)
}

/** `limit`: of the agent, in seconds. */
function interruptedAfter(limit: number, { exit, stdout, stderr = '' }: HostAnswer): Interrupted {
  return { deadline: limit * 1000 * SHARE, exit, stdout, stderr }
}

function written({ stdout, stderr, exit }: HostAnswer, { write }: CallIo): number {
  if (stdout) write(1, stdout)
  if (stderr) write(2, stderr)
  return exit
}
