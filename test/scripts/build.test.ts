// What `npm run build` says where it cannot build.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('asks for npm install where packages are missing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-build-'))
  cpSync('scripts', join(folder, 'scripts'), { recursive: true })
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: folder,
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true })
  expect([status, stderr]).toEqual([
    1,
    'The packages that Carabiner is built with are missing: run npm install first.\n',
  ])
})
