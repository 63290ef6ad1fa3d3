// Loaded before a program: kills it before the KILLED_AT-th time that it changes the disk.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

let left = Number(process.env.KILLED_AT)
for (const name of /** @type {const} */ ([
  'mkdirSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'unlinkSync',
  'linkSync',
])) {
  const real = /** @type {(...args: unknown[]) => unknown} */ (fs[name])
  Object.assign(fs, {
    [name]: (/** @type {unknown[]} */ ...args) => {
      if (--left === 0) process.kill(process.pid, 'SIGKILL')
      return real(...args)
    },
  })
}
syncBuiltinESMExports()
