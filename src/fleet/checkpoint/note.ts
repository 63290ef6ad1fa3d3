// Signed notes in the form of C2SP (c2sp.org/signed-note): a text, and the signatures below it.

import { createHash } from 'node:crypto'
import { isSignedBy, type KeyPair, signatureOf } from '../../files/ed25519.js'

const ED25519 = 1
const ID_BYTES = 4

function keyId(name: string, publicKey: Buffer): Buffer {
  const hash = createHash('sha256')
    .update(`${name}\n`)
    .update(Buffer.from([ED25519]))
    .update(publicKey)
  return hash.digest().subarray(0, ID_BYTES)
}

/** `text` ends with a newline. */
export function signedNote(text: string, name: string, key: KeyPair): string {
  const signature = Buffer.concat([keyId(name, key.publicKey), signatureOf(key, text)])
  return `${text}\n— ${name} ${signature.toString('base64')}\n`
}

export interface Note {
  readonly text: string
  readonly name: string
  readonly signature: Buffer
}

const FORM = /^((?:[^\n]+\n)+)\n— (\S+) ([A-Za-z0-9+/]+={0,2})\n/

/** The note at the beginning of a text, and what follows it. Undefined if there is none. */
export function noteIn(text: string): { readonly note: Note; readonly rest: string } | undefined {
  const found = FORM.exec(text)
  const [all = '', body, name, signature] = found ?? []
  if (!body || !name || !signature) return undefined
  return {
    note: { text: body, name, signature: Buffer.from(signature, 'base64') },
    rest: text.slice(all.length),
  }
}

export function isNoteSigned({ text, name, signature }: Note, publicKey: Buffer): boolean {
  return (
    signature.subarray(0, ID_BYTES).equals(keyId(name, publicKey)) &&
    isSignedBy(publicKey, text, signature.subarray(ID_BYTES))
  )
}
