// The program, bundled once and shared by all files of tests. A test that changes it copies it first.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { bundle } from '../scripts/bundle.mjs'

declare module 'vitest' {
  interface ProvidedContext {
    readonly programBundle: Bundles
  }
}

/** Folders with the program. */
interface Bundles {
  /** No package can be loaded from here. */
  readonly alone: string
  /** The optional packages lie beside it. */
  readonly withPackages: string
}

let folder = ''
let before = ''

export async function setup(project: TestProject): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-bundle-'))
  const bundles = { alone: join(folder, 'alone', 'bin'), withPackages: join(folder, 'with-packages', 'bin') }
  mkdirSync(bundles.alone, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  await bundle(bundles.alone)
  cpSync(bundles.alone, bundles.withPackages, { recursive: true })
  symlinkSync(
    fileURLToPath(new URL('../node_modules', import.meta.url)),
    join(folder, 'with-packages', 'node_modules'),
  )
  before = state()
  project.provide('programBundle', bundles)
}

export function teardown(): void {
  const after = state()
  rmSync(folder, { recursive: true, force: true })
  if (after !== before) throw new Error(`A test changed the shared program:\n${before}\n${after}`)
}

/** Names, sizes and times of all files of the program. */
function state(): string {
  const lines = ['alone', 'with-packages'].flatMap((name) =>
    readdirSync(join(folder, name, 'bin')).map((file) => {
      const { size, mtimeMs } = statSync(join(folder, name, 'bin', file))
      return `${name}/bin/${file} ${size} ${mtimeMs}`
    }),
  )
  return lines.sort().join('\n')
}
