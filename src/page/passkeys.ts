// The people who may sign on the page, and signatures as the page sends them.

import { textOf } from '../core/base/errors.js'
import { visible } from '../core/base/text.js'
import type { PasskeySignature } from '../store/approvals.js'
import { type Signers, signersOf } from '../store/approvers.js'
import { NotAnswered, textIn } from './answers.js'
import type { PasskeysView } from './view/passkeys.js'

/** Throws NotAnswered if nobody may sign here. `file` defaults to the list of this machine. */
export function signersIn(file: string | undefined): Signers {
  const read = readSigners(file)
  if ('why' in read) throw new NotAnswered(409, read.why)
  if (!read.signers) throw new NotAnswered(403, 'Nobody has a passkey here. Type the command instead.')
  return read.signers
}

function readSigners(file: string | undefined): { signers: Signers | undefined } | { why: string } {
  try {
    return { signers: signersOf({ approversFile: file }) }
  } catch (error) {
    return { why: textOf(error) }
  }
}

export function passkeysView(file: string | undefined): PasskeysView {
  const read = readSigners(file)
  if ('why' in read) return { state: 'broken', why: visible(read.why) }
  if (!read.signers) return { state: 'none' }
  const here = read.signers.approvers.filter(({ key }) => key.kind === 'local-passkey')
  return here.length > 0
    ? { state: 'ready', names: here.map(({ name }) => visible(name)) }
    : { state: 'broken', why: 'Only the people of the fleet may allow calls on this machine.' }
}

export function signatureIn(body: unknown): PasskeySignature {
  const text = (name: string) => textIn(body, name)
  return {
    id: text('passkey'),
    authenticatorData: text('authenticatorData'),
    clientDataJSON: text('clientDataJSON'),
    signature: text('signature'),
    nonce: text('nonce'),
  }
}
