// `service run FOLDER NAME VARIABLE=VALUE...`: the resident process itself. clip starts it, with the lock; people never do.

import { writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { registeredHome } from '../../files/homes.js'
import { listen } from '../../service/socket/listener.js'
import { failureFile } from '../../service/socket/running-services.js'
import { shipSoon } from '../ship-soon.js'
import { type Homes, servedCall } from './served-call.js'

const FAILED = 70
const SHIP_EVERY_MS = 60_000

/** `homes`: the variables that say where the user's files are, each as NAME=VALUE. Does not return. */
export async function runService(folder: string, name: string, homes: readonly string[]): Promise<never> {
  if (!isAbsolute(folder) || !/^[\w.-]+$/.test(name)) process.exit(FAILED)
  const failed = (error: unknown) => leaveWord(failureFile(folder), error)
  const fail = (error: unknown): never => {
    failed(error)
    process.exit(FAILED)
  }
  process.on('uncaughtException', fail)
  process.umask(0o077)
  Object.assign(process.env, ownEnvironment())
  const buildFile = join(dirname(process.argv[1] ?? ''), 'build-id')
  const own = variablesIn(homes)
  setInterval(() => shipSoon({ ...process.env, ...own }), SHIP_EVERY_MS).unref()
  await listen({ folder, name, buildFile, admit: (call) => servedCall(call, own), failed }).catch(fail)
  process.exit(0)
}

function variablesIn(words: readonly string[]): Homes {
  return Object.fromEntries(words.map((word) => word.split(/=(.*)/s, 2)))
}

/** What warm hooks inherit: enough to start a program, and nothing of any caller. */
function ownEnvironment(): Record<string, string> {
  const home = registeredHome() ?? '/'
  const path = [dirname(process.execPath), join(home, '.local', 'bin'), ...SYSTEM_PATH]
  return { PATH: [...new Set(path)].join(':'), HOME: home, LANG: 'C.UTF-8' }
}

const SYSTEM_PATH = ['/usr/local/bin', '/opt/homebrew/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** `carabiner doctor` reads it. */
function leaveWord(file: string, error: unknown): void {
  try {
    const stack = error instanceof Error ? error.stack : undefined
    writeFileSync(file, `${new Date().toISOString()}\n${stack ?? textOf(error)}\n`, { mode: 0o600 })
  } catch {
    // The folder may be gone, which may be why we fail.
  }
}
