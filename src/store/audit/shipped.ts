// How far the fleet of this machine has a log: shipped.json beside it. Nothing beyond may be removed to save space.

import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { count, fieldsOf, flag, listOf, optional, type Reader, text } from '../../files/fields.js'
import { type FleetPlace, fleetPlace } from '../../files/fleet-places.js'
import { checkFormat, FIRST_FORMAT } from '../../files/format.js'
import { lstatIfThere } from '../../files/if-there.js'
import { placeWhole, readIfThere } from '../../files/plain-file.js'
import type { Link } from '../audit-log.js'
import { OwnFile } from './own-file.js'

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
  /** The chain of the fleet that this log is in. */
  readonly epoch: number
  /** Whether the history broke, and that chain has not begun yet. */
  readonly isPending: boolean
  /** The record that such a chain begins with, if it does not go on after the last one that was acknowledged. */
  readonly from?: number
  readonly time: string
  /** The newest. */
  readonly breaks: readonly ShippingBreak[]
  /** Why this log could not be shipped when that was tried last. */
  readonly failure?: string
}

const NAME = 'shipped.json'
/** Always the same length, so that it can be overwritten in place, even on a full disk. */
const LENGTH = 8192
const MOST_BREAKS = 50
const LONGEST_FAILURE = 300
const MAX_MARKER_BYTES = 1024 * 1024

/** Undefined if nothing was shipped, or if the file cannot be used: then everything is offered to the fleet again. */
export function readShipped(folder: string): Shipped | undefined {
  const path = join(folder, NAME)
  // A reader may see a mix of two states during a write, so it reads again.
  return shippedIn(path) ?? shippedIn(path)
}

function shippedIn(path: string): Shipped | undefined {
  const read = readIfThere(path, LENGTH)
  if (!read || 'problem' in read) return undefined
  try {
    const fields = fieldsOf(JSON.parse(read.text), 'the file')
    checkFormat(fields.format, path)
    return {
      machine: text(fields.machine, 'machine'),
      epoch: count(fields.epoch, 'epoch'),
      isPending: flag(fields.isPending, 'isPending'),
      seq: count(fields.seq, 'seq'),
      hash: text(fields.hash, 'hash'),
      time: text(fields.time, 'time'),
      breaks: listOf(shippingBreak)(fields.breaks, 'breaks'),
      ...optional('from', fields.from, count, 'the file'),
      ...optional('failure', fields.failure, text, 'the file'),
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

/** Only one shipper may write at a time. */
export function writeShipped(folder: string, shipped: Shipped): void {
  const path = join(folder, NAME)
  const bytes = Buffer.alloc(LENGTH, ' ')
  bytes.write(contentOf(shipped))
  bytes.write('\n', LENGTH - 1)
  if (lstatIfThere(path)?.size === LENGTH && isOverwritten(path, bytes)) return
  placeWhole(path, (draft) => writeFileSync(draft, bytes, { mode: 0o600 }), `${path}.tmp`)
}

function contentOf(shipped: Shipped): string {
  const { failure, breaks } = shipped
  return JSON.stringify({
    ...{ format: FIRST_FORMAT, ...shipped, breaks: breaks.slice(-MOST_BREAKS) },
    ...(failure !== undefined && { failure: failure.slice(0, LONGEST_FAILURE) }),
  })
}

function isOverwritten(path: string, bytes: Buffer): boolean {
  try {
    const file = new OwnFile(path, 0)
    try {
      file.overwrite(bytes)
      return true
    } finally {
      file.close()
    }
  } catch {
    // Somebody put something else there: it is replaced.
    return false
  }
}

/** What the membership that this machine has now has shipped. A machine that joins again is another one for the fleet. */
export function ownShipped(folder: string): Shipped | undefined {
  const place = fleetPlace(dirname(dirname(folder)))
  const shipped = place && readShipped(folder)
  return shipped && shipped.machine === machineIn(place) ? shipped : undefined
}

/** The number of the last record that may be removed from the log. */
export function removableUpTo(folder: string): number {
  const isMember = fleetPlace(dirname(dirname(folder))) !== undefined
  return isMember ? (ownShipped(folder)?.seq ?? 0) : Infinity
}

function machineIn({ marker }: FleetPlace): unknown {
  const read = readIfThere(marker, MAX_MARKER_BYTES)
  if (!read || 'problem' in read) return undefined
  try {
    const membership: unknown = JSON.parse(read.text)
    return isObject(membership) ? membership.machine : undefined
  } catch {
    return undefined
  }
}
