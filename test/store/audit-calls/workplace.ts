// Folders of a test's own with calls in them.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { FileCalls, type FileCallsOptions } from '../../../src/store/audit-calls/file-calls.js'

export function workplace(options: Partial<FileCallsOptions> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-calls-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const places = { stateDir: join(root, 'state'), projectDir: join(root, 'project') }
  mkdirSync(places.projectDir)
  const open = () => new FileCalls({ ...places, ...options })
  const calls = open()
  const files = () => readdirSync(calls.place).map((name) => join(calls.place, name))
  const text = () =>
    files()
      .map((path) => readFileSync(path, 'utf8'))
      .join('')
  return { root, ...places, calls, open, files, text }
}
