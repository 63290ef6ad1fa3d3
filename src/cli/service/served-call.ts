// Which command lines the service answers, how, and what a caller prints if it loses the service meanwhile.

import { isUtf8 } from 'node:buffer'
import { runHook } from '../../author/run-hook.js'
import { PACK_TABLE } from '../../hosts/claude-code/entries.js'
import { claudeCode } from '../../hosts/claude-code/host.js'
import type { HostAnswer } from '../../hosts/host.js'
import { HOST_NAMES, limitOf } from '../../hosts/hosts.js'
import { type PackName, packName } from '../../hosts/pack-names.js'
import { PACK } from '../../pack/index.js'
import { runPackHook } from '../../pack/run-pack-hook.js'
import type { CallIo, Interrupted, Served } from '../../service/socket/caller-link.js'
import { type Call, PROTOCOL } from '../../service/socket/frames.js'
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
  if (command === 'fire' && isFiring(rest)) return servedFire(rest, text)
  if (command === 'hook' && isHook(rest)) return servedHook(rest, text, call.script)
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

// ---- fire -----------------------------------------------------------------------------------------------------

/** `--as AGENT [EVENT]`, as setup writes it. */
function isFiring([as, host, event, ...more]: readonly string[]): boolean {
  const isEvent = event === undefined || !event.startsWith('-')
  return as === '--as' && HOST_NAMES.some((name) => name === host) && isEvent && more.length === 0
}

async function servedFire(rest: readonly string[], stdin: string): Promise<Served> {
  const [, host = '', event] = rest
  return {
    interrupted: await interruptedFire(host, event, stdin),
    run: ({ write, answered, signal }) =>
      run({ fire: async () => ({ command: fire }) }, ['fire', ...rest], { write, stdin, signal, answered }),
  }
}

/** The part of the agent's limit after which clip no longer waits for the service, which gives up earlier. */
const SHARE = 0.95

async function interruptedFire(host: string, event: string | undefined, stdin: string): Promise<Interrupted> {
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
  await reply.refuse(new Refusal('ABORTED', INTERRUPTED))
  return { deadline: reply.limit * 1000 * SHARE, exit: reply.exit, stdout: said[1], stderr: said[2] }
}

// ---- hook -----------------------------------------------------------------------------------------------------

/** Hooks of the pack that start no program: programs belong to the caller, not to the service. */
const SERVED: ReadonlySet<PackName> = new Set<PackName>([
  'pre-tool-use',
  'post-tool-use',
  'workflow-classification-reminder',
  'user-prompt-submit',
  'pre-compact',
])

/** `NAME [--memory]`, as setup writes it. */
function isHook([word = '', ...more]: readonly string[]): boolean {
  const name = packName(word)
  const isKnown = more.length === 0 || (more.length === 1 && more[0] === '--memory')
  return name !== undefined && SERVED.has(name) && isKnown
}

async function servedHook(
  [word = '', memory]: readonly string[],
  stdin: string,
  script: string,
): Promise<Served> {
  const name = packName(word) as PackName
  return {
    interrupted: await interruptedHook(name, stdin),
    run: async (io) => {
      let exit: number = EXIT.failed
      const answered = (answer: HostAnswer) => {
        exit = written(answer, io)
      }
      const how = { stdin, memory: memory !== undefined, answered }
      await runPackHook(name, { script, version }, how)
      return exit
    },
  }
}

/** What the hook would say if its own code failed. */
async function interruptedHook(name: PackName, stdin: string): Promise<Interrupted> {
  const { event, also = [], onFailure = 'open' } = await PACK[name]()
  const fails = () => Promise.reject(new Error(INTERRUPTED))
  const handlers = Object.fromEntries([event, ...also].map((one) => [one, fails]))
  let said: HostAnswer = { stdout: '', exit: EXIT.failed }
  await runHook(handlers, { name, event, onFailure, stdin, answered: (answer) => (said = answer) })
  const limit = PACK_TABLE.find(({ hook }) => hook === name)?.timeout ?? limitOf(claudeCode, event)
  return { deadline: limit * 1000 * SHARE, exit: said.exit, stdout: said.stdout, stderr: said.stderr ?? '' }
}

function written({ stdout, stderr, exit }: HostAnswer, { write }: CallIo): number {
  if (stdout) write(1, stdout)
  if (stderr) write(2, stderr)
  return exit
}
