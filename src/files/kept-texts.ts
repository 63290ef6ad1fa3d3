// Keeps the newest texts of a kind as files in a folder, within limits: full texts of cut injections, earlier settings.

import { readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from './folder.js'
import { lstatIfThere } from './if-there.js'
import { nonce } from './nonce.js'

const MAX_TEXTS = 100
const MAX_BYTES = 16 * 1024 * 1024
const NAME = /^\d{15}-\d{6}-[0-9a-f]+\.txt$/

let written = 0

/** Returns the path of the file. The folder must exist. */
export function keepText(folder: string, text: string): string {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES) throw new Error(`a text of ${bytes} bytes is too large to keep`)
  const order = `${String(Date.now()).padStart(15, '0')}-${String(++written % 1_000_000).padStart(6, '0')}`
  const path = join(folder, `${order}-${nonce()}.txt`)
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    remove(path)
    throw error
  }
  removeOldest(folder, path)
  return path
}

/** The newest first. Empty if there is no folder. */
export function keptTexts(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
}

function removeOldest(folder: string, newest: string): void {
  let bytes = 0
  const names = readdirSync(folder).filter((name) => NAME.test(name))
  for (const [i, name] of names.sort().reverse().entries()) {
    const path = join(folder, name)
    bytes += sizeOf(path)
    if (path !== newest && (i >= MAX_TEXTS || bytes > MAX_BYTES)) remove(path)
  }
}

function sizeOf(path: string): number {
  return lstatIfThere(path)?.size ?? 0
}

/** Another process may have removed it already. A text that stays is removed next time. */
function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {}
}
