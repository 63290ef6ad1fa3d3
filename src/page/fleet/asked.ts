// What people ask at the page of a gateway: each question names the role that it needs.

import type { Role } from '../../files/fleet/people.js'
import { UUID } from '../../fleet/protocol.js'
import { type Asked, NotAnswered } from '../answers.js'
import type { Visitor } from './visitors.js'

/** Asked by somebody who is signed in. */
export interface AskedBy extends Asked {
  readonly visitor: Visitor
}

/** Asked by anybody. */
export interface AskedByAnybody extends Asked {
  /** Gives the browser a cookie. */
  readonly setCookie: (header: string) => void
}

export type FleetAnswer =
  | { readonly role: Role; readonly answer: (asked: AskedBy) => Promise<unknown> }
  | { readonly role?: never; readonly answer: (asked: AskedByAnybody) => Promise<unknown> }

/** Keys are such as `GET api/machines`. */
export type FleetAnswers = Readonly<Record<string, FleetAnswer>>

/** Throws NotAnswered for anything that is not the id of a machine. */
export function machineIn(text: string): string {
  if (UUID.test(text)) return text
  throw new NotAnswered(400, 'machine must be the id of a machine')
}
