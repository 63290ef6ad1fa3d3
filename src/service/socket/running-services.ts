// The services of this user: finds their sockets, asks each how it is, and stops them.

import { lstatSync, type Stats, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { readableNames } from '../../files/folder.js'
import { stateHome } from '../../files/homes.js'
import { ifThere } from '../../files/if-there.js'
import { encodeFromCaller, serviceFrames, type ToCaller } from '../../rpc/frames.js'

export function serviceFolder(env?: NodeJS.ProcessEnv): string {
  return join(stateHome(env), 'service')
}

/** What a service answers to `status`, as JSON. */
export interface ServiceStatus {
  readonly pid: number
  /** In ISO 8601. */
  readonly startedAt: string
  /** How many calls came so far, and how many are under way. */
  readonly calls: number
  readonly active: number
  /** Resident bytes. */
  readonly memory: number
  /** How many processes of hooks it keeps ready. */
  readonly warm: number
}

/**
 * `running`: it has answered. `silent`: it accepts connections, but did not answer in time. `gone`: the socket is left
 * over. `elsewhere`: the socket belongs to another machine or container that shares this folder.
 */
export interface Service {
  readonly name: string
  readonly socket: string
  /** The build it belongs to. */
  readonly build: string
  readonly state: 'running' | 'silent' | 'gone' | 'elsewhere'
  readonly status?: ServiceStatus
}

/** Where a service that fails leaves the time and the error: nobody sees its standard error. clip.c waits a minute then. */
export function failureFile(folder = serviceFolder()): string {
  return join(folder, 'failed.txt')
}

// ---- one that does not answer ---------------------------------------------------------------------------------

export function silentText({ name }: Pick<Service, 'name'>): string {
  return `service ${name} did not answer within a second. Hooks wait that long for it, and then start Node`
}

/** Its lock ends with it, so the next event starts a new one. */
export function killLine({ name }: Pick<Service, 'name'>): string {
  return `pkill -KILL -f 'service run .* ${name}'`
}

// ---- finding them ---------------------------------------------------------------------------------------------

/** Why clip does not use the folder of sockets. Undefined if it does, or if there is none yet. */
export function folderProblem(folder = serviceFolder()): string | undefined {
  let stats: Stats | undefined
  try {
    stats = ifThere(() => lstatSync(folder))
  } catch {
    return 'cannot be read'
  }
  if (!stats) return undefined
  if (!stats.isDirectory()) return 'is not a folder'
  if (stats.uid !== process.geteuid?.()) return `belongs to another user (${stats.uid})`
  const mode = stats.mode & 0o777
  return (mode & 0o077) === 0 ? undefined : `is open to others (mode ${mode.toString(8)})`
}

export function isRunning({ state }: Service): boolean {
  return state === 'running'
}

const ANSWER_MS = 1000

/** Asks all of them at once. Empty if the folder must not be used. */
export async function findServices(folder = serviceFolder()): Promise<readonly Service[]> {
  if (folderProblem(folder) !== undefined) return []
  const names = readableNames(folder).filter((name) => name.endsWith(SOCKET))
  return Promise.all(names.map((name) => findService(folder, name.slice(0, -SOCKET.length))))
}

const SOCKET = '.sock'

async function findService(folder: string, name: string): Promise<Service> {
  const [build = ''] = name.split('.')
  const known = { name, socket: join(folder, `${name}${SOCKET}`), build }
  const answer = await ask(known, 'status', ANSWER_MS)
  if (answer === 'gone') return { ...known, state: name.endsWith(`.${here()}`) ? 'gone' : 'elsewhere' }
  const status = answer === 'silent' ? undefined : statusIn(answer)
  return status ? { ...known, state: 'running', status } : { ...known, state: 'silent' }
}

/** How names of sockets end that belong here: machine, namespaces and root folder. `hash_of_here` in clip.c makes the same. */
export function here(): string {
  const { dev, ino } = statSync('/', { bigint: true })
  const root = BigInt.asUintN(64, dev ^ ino).toString(16)
  const namespaces = ['mnt', 'pid', 'net', 'user'].map((name) => inodeOf(`/proc/self/ns/${name}`))
  const text = [hostname(), ...namespaces, root].join(' ')
  return fnv1a(Buffer.from(text)).toString(16).padStart(16, '0')
}

function inodeOf(path: string): string {
  try {
    return statSync(path, { bigint: true }).ino.toString(16)
  } catch {
    return '0' // not Linux
  }
}

function fnv1a(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash
}

const NUMBERS = ['pid', 'calls', 'active', 'memory', 'warm'] as const

function statusIn(answer: ToCaller): ServiceStatus | undefined {
  if (answer.kind !== 'status') return undefined
  try {
    const value: unknown = JSON.parse(answer.json)
    if (!isObject(value)) return undefined
    const { startedAt } = value
    const [pid = 0, calls = 0, active = 0, memory = 0, warm = 0] = NUMBERS.map((name) => Number(value[name]))
    if (!(pid > 0) || typeof startedAt !== 'string' || Number.isNaN(Date.parse(startedAt))) return undefined
    return { pid, startedAt, calls, active, memory, warm }
  } catch {
    return undefined
  }
}

/** Lets it finish the calls that it works on. Returns whether it has ended. */
export async function stopService(service: Pick<Service, 'socket'>, patienceMs: number): Promise<boolean> {
  const answer = await ask(service, 'stop', patienceMs)
  return answer === 'gone' || (answer !== 'silent' && answer.kind === 'stopped')
}

// ---- talking --------------------------------------------------------------------------------------------------

function ask(
  { socket: path }: Pick<Service, 'socket'>,
  kind: 'status' | 'stop',
  patienceMs: number,
): Promise<ToCaller | 'silent' | 'gone'> {
  return new Promise((resolve) => {
    const frames = serviceFrames()
    const socket = connectTo(path)
    let isConnected = false
    const end = (answer: ToCaller | 'silent' | 'gone') => {
      clearTimeout(timer)
      socket?.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => end('silent'), patienceMs)
    if (!socket) return end('gone')
    socket.once('connect', () => {
      isConnected = true
      socket.write(encodeFromCaller({ kind }))
    })
    socket.on('data', (chunk: Buffer) => {
      try {
        const [answer] = frames.push(chunk)
        if (answer) end(answer)
      } catch {
        end('silent') // It is not a service of ours.
      }
    })
    // A service that ends on its way out is gone, too.
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'EAGAIN' ? 'silent' : 'gone'))
    socket.once('close', () => end(isConnected && kind === 'status' ? 'silent' : 'gone'))
  })
}

/** A path of a socket is at most about 100 bytes. A longer one is named from inside its folder, as clip does. */
const LONGEST_PATH = 100

function connectTo(path: string): Socket | undefined {
  if (Buffer.byteLength(path) <= LONGEST_PATH) return connect(path)
  try {
    const back = process.cwd()
    process.chdir(dirname(path))
    try {
      return connect(basename(path))
    } finally {
      process.chdir(back)
    }
  } catch {
    return undefined
  }
}
