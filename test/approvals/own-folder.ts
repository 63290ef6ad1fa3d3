import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that goes with the test. */
export function ownFolder(): string {
  const own = mkdtempSync(join(tmpdir(), 'carabiner-run-'))
  onTestFinished(() => rmSync(own, { recursive: true, force: true }))
  return own
}
