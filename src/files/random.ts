// Random bytes and ids. The first few come from the kernel's device: loading node:crypto takes a program that answers one
// event longer than the rest of its record.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const DEVICE = '/dev/urandom'
/** Beyond this many in a process, loading the library pays off. */
const FEW = 8
let left = FEW

export function randomHex(bytes: number): string {
  return (fromDevice(bytes) ?? library().randomBytes(bytes)).toString('hex')
}

/** Version 4 of RFC 9562. The programs call it wherever the source calls that of node:crypto (scripts/bundle.mjs). */
export function randomUUID(): string {
  const bytes = fromDevice(16)
  if (!bytes) return library().randomUUID()
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function library(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

/** Undefined where there is no such device, or something else in its place, such as a device that gives only zeros. */
function fromDevice(count: number): Buffer | undefined {
  if (left === 0 || process.platform === 'win32') return undefined
  left--
  try {
    const fd = openSync(DEVICE, 'r')
    try {
      const bytes = Buffer.alloc(count)
      const isRead = fstatSync(fd).isCharacterDevice() && readSync(fd, bytes) === count
      return isRead && bytes.some((byte) => byte !== 0) ? bytes : undefined
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
