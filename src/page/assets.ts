// The files of the page, as scripts/bundle.mjs wrote them beside the program.

import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

export interface Asset {
  readonly type: string
  readonly body: Buffer
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** By name; no request ever names a file on the disk. Throws if the folder is missing. */
export function readAssets(folder: string): ReadonlyMap<string, Asset> {
  const names = readdirSync(folder).filter((name) => extname(name) in TYPES)
  return new Map(
    names.map((name) => [
      name === 'index.html' ? '' : name,
      { type: TYPES[extname(name)] as string, body: readFileSync(join(folder, name)) },
    ]),
  )
}
