// Whether somebody sits at the other end.

import { fstatSync } from 'node:fs'

/** Looks before it loads: node:tty brings the network along, which takes longer than all of `fire`. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  return isDevice(fd) && process.getBuiltinModule('node:tty').isatty(fd)
}

function isDevice(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice()
  } catch {
    return false // closed
  }
}
