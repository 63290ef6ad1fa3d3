// What a person decided goes into the audit of the project that it is about.

import { textOf } from '../../core/base/errors.js'
import type { Grant } from '../../core/verdict/approval.js'
import { effectOf } from '../../core/verdict/approval.js'
import { isFolder } from '../../files/folder.js'
import type { GivenAnswer, Pending } from '../../store/approvals.js'
import type { Entry } from '../../store/audit-log.js'
import { ProjectAudit } from '../audit/project-audit.js'
import { openHooks, sourcesOf } from '../sources.js'
import { userName } from '../user-name.js'

/** Undefined, or why it is not on record. */
export async function answered(
  { question, project }: Pending,
  given: GivenAnswer,
): Promise<string | undefined> {
  const { event, session, digest, call } = question
  const { id, by, at, reason } = given
  const entry: Entry = {
    kind: 'approval',
    time: at,
    session,
    event,
    ...(typeof call.tool_name === 'string' && { tool: call.tool_name }),
    id,
    digest,
    decision: effectOf(question, given.option),
    by,
    ...(reason !== undefined && { reason }),
  }
  return write(project, [entry])
}

/** Undefined, or why it is not on record. */
export async function recordRevoked(project: string, grants: readonly Grant[]): Promise<string | undefined> {
  const time = new Date().toISOString()
  const by = userName()
  const entries = grants.map(
    ({ id, hook, event, tool, digest }): Entry => ({
      kind: 'revoked',
      time,
      id,
      hook,
      event,
      tool,
      digest,
      by,
    }),
  )
  return write(project, entries)
}

async function write(project: string, entries: readonly Entry[]): Promise<string | undefined> {
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
    return `this is not on record: ${textOf(error)}`
  }
}
