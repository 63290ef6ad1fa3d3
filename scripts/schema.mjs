// npm run schema: writes schema/*.json from the tables of the code. A test compares without writing.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'carabiner-schema-'))
try {
  const outfile = join(folder, 'schemas.mjs')
  await build({
    entryPoints: [here('../src/cli/schema/schemas.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
    },
  })
  /** @type {typeof import('../src/cli/schema/schemas.js')} */
  const { SCHEMA_NAMES, schemaFile } = await import(pathToFileURL(outfile).href)
  for (const { path, text } of SCHEMA_NAMES.map(schemaFile)) {
    const file = here(`../${path}`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    console.log(path)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
