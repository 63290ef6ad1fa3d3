// Gives tests that write Carabiner's own files a folder of their own.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

/** Call it once at the top of a test file. */
export function withOwnHome(): void {
  const before = { HOME: process.env.HOME, CARABINER_HOME: process.env.CARABINER_HOME }
  let folder = ''
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-home-')))
    process.env.HOME = folder
    process.env.CARABINER_HOME = join(folder, 'carabiner')
  })
  afterAll(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    rmSync(folder, { recursive: true, force: true })
  })
}
