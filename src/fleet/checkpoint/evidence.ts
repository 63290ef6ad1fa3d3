// Evidence of breaks, as the database, an export and a checkpoint have it.

import { hash } from 'node:crypto'
import type { Client } from '../database/connection.js'
import { rowsOf } from '../database/pages.js'

/** A break that was noticed. */
export interface Evidence {
  readonly machine: string
  readonly log: string
  readonly epoch: number
  readonly kind: string
  readonly seq: string
  readonly held: string | null
  readonly sent: string | null
  readonly line: string | null
}

export async function* evidenceIn(client: Client): AsyncGenerator<Evidence> {
  const rows = rowsOf<Evidence & { readonly evidence: string }>(client, {
    columns: 'evidence, machine, log, epoch, kind, seq, held, sent, line',
    from: 'fleet.evidence where org = fleet.own_org()',
    ...{ by: 'evidence', long: 'line' },
  })
  for await (const { evidence: _, ...row } of rows) yield row
}

/** Does not depend on when it was committed. */
export function evidenceText({ machine, log, epoch, kind, seq, held, sent, line }: Evidence): string {
  const digest = hash('sha256', JSON.stringify([held, sent, line]))
  return `evidence ${machine} ${log} ${epoch} ${kind} ${seq} ${digest}`
}

const TEXT = /^evidence [0-9a-f-]{36} [0-9a-f]{32} \d{1,10} [a-z]+ \d{1,16} [0-9a-f]{64}$/

export function isEvidence(text: string): boolean {
  return TEXT.test(text)
}
