// `service run FOLDER NAME`: the resident process itself. clip starts it, with the lock; people never do.

import { writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { registeredHome } from '../../files/homes.js'
import { listen } from '../../service/socket/listener.js'
import { failureFile } from '../../service/socket/running-services.js'
import { servedCall } from './served-call.js'

const FAILED = 70

/** Does not return. */
export async function runService(folder: string, name: string): Promise<never> {
  if (!isAbsolute(folder) || !/^[\w.-]+$/.test(name)) process.exit(FAILED)
  const fail = (error: unknown): never => {
    leaveWord(failureFile(folder), error)
    process.exit(FAILED)
  }
  process.on('uncaughtException', fail)
  process.umask(0o077)
  Object.assign(process.env, ownEnvironment())
  const buildFile = join(dirname(process.argv[1] ?? ''), 'build-id')
  await listen({ folder, name, buildFile, admit: servedCall }).catch(fail)
  process.exit(0)
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
