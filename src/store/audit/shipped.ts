// How far the fleet of this machine has a log: shipped.json beside it. Nothing beyond may be removed to save space.

import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { count, fieldsOf, listOf, type Reader, text } from '../../files/fields.js'
import { fleetPlace } from '../../files/fleet-places.js'
import { checkFormat, FIRST_FORMAT } from '../../files/format.js'
import { placeWhole, readIfThere } from '../../files/plain-file.js'
import type { Link } from '../audit-log.js'

/** Why a log could not go on where the fleet has it. */
export interface ShippingBreak {
  readonly kind: string
  readonly seq: number
  readonly time: string
}

/** The last record that the fleet acknowledged. */
export interface Shipped extends Link {
  /** The id of this machine in its fleet. Another one has nothing of this log. */
  readonly machine: string
  readonly epoch: number
  readonly time: string
  /** The newest. */
  readonly breaks: readonly ShippingBreak[]
}

const NAME = 'shipped.json'
const MAX_BYTES = 64 * 1024
const MOST_BREAKS = 50

/** Undefined if nothing was shipped, or if the file cannot be used: then everything is offered to the fleet again. */
export function readShipped(folder: string): Shipped | undefined {
  const path = join(folder, NAME)
  const read = readIfThere(path, MAX_BYTES)
  if (!read || 'problem' in read) return undefined
  try {
    const fields = fieldsOf(JSON.parse(read.text), 'the file')
    checkFormat(fields.format, path)
    return {
      machine: text(fields.machine, 'machine'),
      epoch: count(fields.epoch, 'epoch'),
      seq: count(fields.seq, 'seq'),
      hash: text(fields.hash, 'hash'),
      time: text(fields.time, 'time'),
      breaks: listOf(shippingBreak)(fields.breaks, 'breaks'),
    }
  } catch {
    return undefined
  }
}

const shippingBreak: Reader<ShippingBreak> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    kind: text(fields.kind, `${where}.kind`),
    seq: count(fields.seq, `${where}.seq`),
    time: text(fields.time, `${where}.time`),
  }
}

export function writeShipped(folder: string, shipped: Shipped): void {
  const breaks = shipped.breaks.slice(-MOST_BREAKS)
  const content = JSON.stringify({ format: FIRST_FORMAT, ...shipped, breaks })
  placeWhole(join(folder, NAME), (draft) => writeFileSync(draft, content, { flag: 'wx', mode: 0o600 }))
}

/** The number of the last record that may be removed from the log. */
export function removableUpTo(folder: string): number {
  const isMember = fleetPlace(dirname(dirname(folder))) !== undefined
  return isMember ? (readShipped(folder)?.seq ?? 0) : Infinity
}
