// The session that a fired event belongs to, as far as its payload says.

import { resolveEvent } from '../../core/events/events.js'
import type { SessionOptions } from '../../core/session/session.js'
import { isSkillEvent } from '../../core/session/skills.js'
import { Refusal } from '../refusal.js'
import type { Payload } from './payload.js'

/** The next event of a session is another process's: it finds what this one left. */
export function goesOn(event: string): boolean {
  return resolveEvent(event).name !== 'SessionEnd'
}

/** What the payload says about its session; the rest of it is the event's. */
export function sessionOf(event: string, payload: Payload, project: string): SessionOptions {
  checkSessionId(event, payload.session_id ?? undefined)
  const said = {
    id: payload.session_id,
    cwd: payload.cwd,
    transcriptPath: payload.transcript_path,
    permissionMode: payload.permission_mode,
    // A session ends as a whole.
    agentId: goesOn(event) ? payload.agent_id : undefined,
    agentType: payload.agent_type,
    parentTurnId: payload.parent_turn_id,
    channel: payload.channel,
    chatId: payload.chat_id,
  }
  return { cwd: project, ...Object.fromEntries(Object.entries(said).filter(([, value]) => isText(value))) }
}

const LONGEST_ID = 4096

/** The engine puts its own there, so that nothing else would notice. */
function checkSessionId(event: string, id: unknown): void {
  if (id === undefined && isSkillEvent(event)) {
    throw new Refusal('PAYLOAD_INVALID', `${event} needs session_id: a skill is loaded in a session`)
  }
  if (id === undefined || (typeof id === 'string' && id.length <= LONGEST_ID && !id.includes('\0'))) return
  throw new Refusal(
    'PAYLOAD_INVALID',
    `session_id must be a string of at most ${LONGEST_ID} characters, without NUL`,
  )
}

/** Anything else is left to the check of the payload, which names the field. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}
