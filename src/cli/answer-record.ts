// The record of people's answers to questions, and of grants that they revoked.

import { textOf } from '../core/base/errors.js'
import { effectOf, type Grant } from '../core/verdict/approval.js'
import { isFolder } from '../files/folder.js'
import type { GivenAnswer, Pending } from '../store/approvals.js'
import type { Entry } from '../store/audit-log.js'
import { ProjectAudit } from './project-audit.js'
import { openHooks, sourcesOf } from './sources.js'

/** Where a person answers. */
type Place = 'terminal' | 'page'

/** Undefined, or why it is not on record. */
export async function recordAnswer(
  pending: Pending,
  given: GivenAnswer,
  place: Place = 'terminal',
): Promise<string | undefined> {
  return record(pending.project, [entryOf(pending, given, place)])
}

/** Undefined, or why it is not on record. */
export async function recordRevoked(
  project: string,
  grants: readonly Grant[],
  by: string,
): Promise<string | undefined> {
  const common = { kind: 'revoked', time: new Date().toISOString(), by } as const
  const entries = grants.map(({ id, hook, event, tool, digest, about }) => ({
    ...common,
    id,
    hook,
    event,
    tool,
    digest,
    ...(about !== undefined && { about }),
  }))
  return record(project, entries)
}

export function entryOf({ question }: Pending, given: GivenAnswer, place: Place = 'terminal'): Entry {
  const { event, session, digest, call } = question
  const { id, by, at, reason, signature, earlier = [] } = given
  return {
    kind: 'approval',
    time: at,
    session,
    event,
    ...(typeof call.tool_name === 'string' && { tool: call.tool_name }),
    id,
    digest,
    decision: effectOf(question, given.option),
    by,
    ...(earlier.length > 0 && { people: [...earlier.map((vote) => vote.by), by] }),
    through: signature ? (signature.kind === 'ed25519' ? 'key' : 'passkey') : place,
    ...(reason !== undefined && { reason }),
  }
}

/** Undefined, or why they are not on record. */
export async function record(project: string, entries: readonly Entry[]): Promise<string | undefined> {
  // A project that is gone has no settings, and nobody reads its audit by its name.
  if (entries.length === 0 || !isFolder(project)) return undefined
  try {
    const hooks = await openHooks(sourcesOf(project))
    const { settings } = hooks
    await hooks.close()
    const audit = new ProjectAudit(project, () => settings)
    for (const entry of entries) await audit.write(entry)
    return undefined
  } catch (error) {
    return `this could not be recorded: ${textOf(error)}`
  }
}
