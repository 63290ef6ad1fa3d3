// A process of its own that writes to a log: `worker TASK OPTIONS`. It prints a line for each batch that returned.

import { closeSync, linkSync, openSync, writeSync } from 'node:fs'
import { textOf } from '../../../src/core/base/errors.js'
import { ownSelf } from '../../../src/files/mutex.js'
import { FileAuditLog, type FileAuditOptions } from '../../../src/store/audit/file-audit.js'

const [task = '', given = '{}'] = process.argv.slice(2)
const {
  batch = 10,
  size = 0,
  count = Infinity,
  ...options
} = JSON.parse(given) as FileAuditOptions & {
  readonly batch?: number
  readonly size?: number
  readonly count?: number
}
const log = new FileAuditLog(options)
const filler = 'x'.repeat(size)

const print = (text: string) => writeSync(1, `${text}\n`)

/** `from` and on, named after this process. */
function append(from: number): void {
  const time = new Date().toISOString()
  const names = Array.from({ length: batch }, (_, i) => `${process.pid}-${from + i}`)
  log.append(names.map((name) => ({ kind: 'fire', time, name, filler })))
}

const TASKS: Readonly<Record<string, () => void>> = {
  /** Prints `pid first count` for what is acknowledged. */
  write: () => {
    for (let i = 0; i < count; i += batch) {
      append(i)
      print(`${process.pid} ${i} ${batch}`)
    }
  },
  /** Prints what each batch came to. */
  tryWrite: () => {
    for (let i = 0; i < count; i += batch) {
      try {
        append(i)
        print(`ok ${i}`)
      } catch (error) {
        print(`${i}: ${textOf(error)}`)
      }
    }
  },
  /** Takes the lock as a writer does, and keeps it. */
  hold: () => {
    append(0)
    linkSync(`${log.place}/owner.${ownSelf().id}`, `${log.place}/lock`)
    print('holds')
    for (;;) closeSync(openSync(log.place, 'r'))
  },
}

TASKS[task]?.()
