// The people who may sign on the page, and signatures as the page sends them.

import { textOf } from '../core/base/errors.js'
import { visible } from '../core/base/text.js'
import type { Signature } from '../store/approvals.js'
import { type Approver, readApprovers } from '../store/approvers.js'
import { NotAnswered, textIn } from './answers.js'
import type { PasskeysView } from './view/passkeys.js'

/** Throws NotAnswered if nobody may sign here. `file` defaults to the list of this machine. */
export function approversIn(file: string | undefined): readonly Approver[] {
  const passkeys = readApproversOf(file)
  if ('why' in passkeys) throw new NotAnswered(409, passkeys.why)
  if (!passkeys.approvers) throw new NotAnswered(403, 'Nobody has a passkey here. Type the command instead.')
  return passkeys.approvers
}

function readApproversOf(
  file: string | undefined,
): { approvers: readonly Approver[] | undefined } | { why: string } {
  try {
    return { approvers: readApprovers(file) }
  } catch (error) {
    return { why: textOf(error) }
  }
}

export function passkeysView(file: string | undefined): PasskeysView {
  const read = readApproversOf(file)
  if ('why' in read) return { state: 'broken', why: visible(read.why) }
  return read.approvers
    ? { state: 'ready', names: read.approvers.map(({ name }) => visible(name)) }
    : { state: 'none' }
}

export function signatureIn(body: unknown): Signature {
  const text = (name: string) => textIn(body, name)
  return {
    id: text('passkey'),
    authenticatorData: text('authenticatorData'),
    clientDataJSON: text('clientDataJSON'),
    signature: text('signature'),
    nonce: text('nonce'),
  }
}
