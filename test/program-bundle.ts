// The program, bundled once for all files of tests: each takes a copy.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { bundle } from '../scripts/bundle.mjs'

declare module 'vitest' {
  interface ProvidedContext {
    readonly programBundle: string
  }
}

let folder = ''

export async function setup(project: TestProject): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-bundle-'))
  await bundle(join(folder, 'bin'))
  project.provide('programBundle', join(folder, 'bin'))
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true })
}
