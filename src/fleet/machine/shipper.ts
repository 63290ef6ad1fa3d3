// Ships the records of this machine to its gateway: the logs are the queue, each in order, from where the gateway has it.

import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { makePrivate, namesIn } from '../../files/folder.js'
import { Mutex } from '../../files/mutex.js'
import { START } from '../../store/audit/chain.js'
import { readShipped } from '../../store/audit/shipped.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import type { ChainHead, EvidenceAnswer, EvidenceRequest } from '../protocol.js'
import { type GatewayClient, Unavailable, Unreachable } from './gateway-client.js'
import { headsOf, logFolders, logId } from './log-folders.js'
import { type LogBreak, LogShipping } from './log-shipping.js'

export interface ShipOptions {
  readonly client: GatewayClient
  /** The id of this machine. */
  readonly machine: string
  /** Where the logs are: `dataHome()`. */
  readonly dataDir: string
  /** Told at once: the history of a log broke. */
  readonly onBreak?: (what: LogBreak) => void
  readonly signal?: AbortSignal
}

export interface ShipReport {
  /** Whether another process ships now: then nothing was done. */
  readonly isBusy: boolean
  readonly logs: number
  /** Records that were shipped now. */
  readonly records: number
  readonly breaks: readonly LogBreak[]
  /** Logs that could not be shipped. The others were. */
  readonly failures: readonly LogFailure[]
}

export interface LogFailure {
  readonly folder: string
  readonly why: string
}

/** Of this process: its own mutex does not keep a thread out. */
const shipping = new Set<string>()

/**
 * Ships what the gateway does not have. One process at a time does so: two of them would take each other's new chains for
 * a stranger's. Throws Unreachable or GatewayRefusal if the gateway takes nothing; what was acknowledged until then stays so.
 */
export async function ship(options: ShipOptions): Promise<ShipReport> {
  const { dataDir } = options
  const folder = join(dataDir, 'fleet')
  makePrivate(folder)
  const mutex = new Mutex(folder)
  if (shipping.has(dataDir) || !mutex.tryTake())
    return { isBusy: true, logs: 0, records: 0, breaks: [], failures: [] }
  shipping.add(dataDir)
  try {
    mutex.sweep(namesIn(folder))
    return await shipped(options)
  } finally {
    shipping.delete(dataDir)
    mutex.release()
  }
}

async function shipped(options: ShipOptions): Promise<ShipReport> {
  const { client, dataDir, signal } = options
  const folders = logFolders(dataDir)
  const heads = await headsOf(client, dataDir)
  const breaks: LogBreak[] = []
  const failures: LogFailure[] = []
  let records = 0
  for (const folder of folders) {
    if (signal?.aborted) break
    const log = new LogShipping(folder, options, readShipped(folder))
    try {
      await log.run(heads.get(logId(folder)))
    } catch (error) {
      if (isForAll(error)) throw error
      failures.push({ folder, why: textOf(error) })
      log.fail(textOf(error))
    } finally {
      breaks.push(...log.breaks)
      records += log.records
    }
  }
  const here = new Set(folders.map(logId))
  for (const [log, head] of heads) {
    if (here.has(log) || head.told || signal?.aborted) continue
    const what = await toldGone(client, log, head)
    if (!what) continue
    breaks.push(what)
    options.onBreak?.(what)
  }
  return { isBusy: false, logs: folders.length, records, breaks, failures }
}

/** Whether the other logs would fail, too. */
function isForAll(error: unknown): boolean {
  if (error instanceof GatewayRefusal) return ['UNKNOWN_MACHINE', 'UNSIGNED', 'CLOCK'].includes(error.code)
  return error instanceof Unreachable && !(error instanceof Unavailable)
}

/** A log that the fleet has, and whose folder is no longer here. Undefined if that is no news. */
async function toldGone(
  client: GatewayClient,
  log: string,
  { epoch, seq, hash }: ChainHead,
): Promise<LogBreak | undefined> {
  const body: EvidenceRequest = { log, epoch, kind: 'cut', seq, held: hash, sent: START.hash }
  const { news } = await client.ask<EvidenceAnswer>('evidence', { body })
  return news ? { log, kind: 'cut', seq } : undefined
}
