// npm run schema: writes schema/*.json from the tables in the code. A test compares without writing.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { source } from './source.mjs'

/** @type {typeof import('../src/cli/schema/schemas.js')} */
const { SCHEMA_NAMES, schemaFile } = await source('cli/schema/schemas.ts')

for (const { path, text } of SCHEMA_NAMES.map(schemaFile)) {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(path)
}
