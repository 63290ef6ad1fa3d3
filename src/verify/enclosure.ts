// An enclosure for a run: no network but the loopback, and no process that outlives it, as far as the system allows.

import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'

export interface Enclosure {
  /** How the network is kept away, for people. */
  readonly network: string
  /** Whether the loopback belongs to the run alone, so that every port is free. */
  readonly ownLoopback: boolean
  /** A command that runs this one inside. */
  readonly around: (command: readonly string[]) => readonly string[]
  /** Variables for whatever runs inside. */
  readonly env: Readonly<Record<string, string>>
}

const BRING_UP = '{ ip link set lo up || ifconfig lo up; } 2>/dev/null || exit 97; "$@"; exit $?'
const USER = ['--map-root-user', '--net']
/** With processes of its own: when its first process ends, the system ends all the others. */
const WITH_PROCESSES = [...USER, '--pid', '--fork', '--kill-child', '--mount-proc']
const TRY_MS = 10_000

/** Nothing listens on it. */
const DEAD_PROXY = 'http://127.0.0.1:9'

const PROXIES: Enclosure = {
  network: 'only proxies that lead nowhere keep the agent from the network',
  ownLoopback: false,
  around: (command) => command,
  env: {
    HTTP_PROXY: DEAD_PROXY,
    HTTPS_PROXY: DEAD_PROXY,
    ALL_PROXY: DEAD_PROXY,
    http_proxy: DEAD_PROXY,
    https_proxy: DEAD_PROXY,
    all_proxy: DEAD_PROXY,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  },
}

/** The tightest enclosure that this system allows. */
export function enclosure(): Enclosure {
  if (process.platform !== 'linux') return PROXIES
  const flags = [WITH_PROCESSES, USER].find(works)
  if (!flags) return PROXIES
  return {
    network: 'the agent runs in a network namespace of its own, with nothing but the loopback',
    ownLoopback: true,
    around: (command) => namespaced(flags, command),
    env: {},
  }
}

function namespaced(flags: readonly string[], command: readonly string[]): readonly string[] {
  return ['unshare', ...flags, 'sh', '-c', BRING_UP, 'sh', ...command]
}

/** Many systems and containers forbid it. */
function works(flags: readonly string[]): boolean {
  const [program = '', ...args] = namespaced(flags, ['true'])
  return spawnSync(program, args, { stdio: 'ignore', timeout: TRY_MS }).status === 0
}

/** Always free where the loopback is the run's own. */
const OWN_PORT = 41414

/** A port for the model. */
export async function portFor({ ownLoopback }: Enclosure, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) return wanted
  return ownLoopback ? OWN_PORT : anyPort()
}

async function anyPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()))
  const address = server.address()
  await new Promise<void>((done) => server.close(() => done()))
  return typeof address === 'object' && address ? address.port : OWN_PORT
}
