// The logs of one user of this machine, and the ids that they have in the fleet.

import { dirname, join } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { namesIn } from '../../files/folder.js'
import { readShipped } from '../../store/audit/shipped.js'
import { type ChainHead, type HeadsAnswer, LOG_ID, MOST_HEADS } from '../protocol.js'
import type { GatewayClient } from './gateway-client.js'
import { localEnd } from './log-lines.js'

/** `dataDir`: where the logs are, `dataHome()`. The name of a log's folder has the form of its id. */
export function logFolders(dataDir: string): readonly string[] {
  const audit = join(dataDir, 'audit')
  return namesIn(audit)
    .filter((name) => LOG_ID.test(name))
    .sort()
    .map((name) => join(audit, name))
}

const HALF = 16

/** What the ids of all logs in this folder begin with, so that the gateway can name those that are gone here. */
export function homeId(dataDir: string): string {
  return digest(dataDir).slice(0, HALF)
}

/** The same for the same folder on the same machine. */
export function logId(folder: string): string {
  return `${homeId(dirname(dirname(folder)))}${digest(folder).slice(0, HALF)}`
}

/** Where the gateway has the end of each log in this folder, also of those that are gone here. */
export async function headsOf(
  client: GatewayClient,
  dataDir: string,
): Promise<ReadonlyMap<string, ChainHead & { readonly told: boolean }>> {
  const found: HeadsAnswer['heads'][number][] = []
  const home = homeId(dataDir)
  for (let after: string | undefined; ; ) {
    const body = { home, ...(after !== undefined && { after }) }
    const { heads } = await client.ask<HeadsAnswer>('heads', { body })
    found.push(...heads)
    after = heads.at(-1)?.log
    if (heads.length < MOST_HEADS) break
  }
  return new Map(found.map(({ log, ...head }) => [log, head]))
}

/** How many records of this user the fleet has not acknowledged. Throws if a log cannot be read. */
export function unshippedIn(dataDir: string, machine: string): number {
  return logFolders(dataDir).reduce((sum, folder) => {
    const shipped = readShipped(folder)
    const there = shipped?.machine === machine ? shipped.seq : 0
    return sum + Math.max((localEnd(folder)?.seq ?? 0) - there, 0)
  }, 0)
}
