// The program, bundled once and shared by all files of tests. A test that changes it copies it first.

import {
  cpSync,
  existsSync,
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
import { AS_PERSON } from './person.js'

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

/** Every vitest project asks for it, each with a copy of this module. */
const shared = globalThis as { carabinerBundle?: Promise<Made> }

interface Made {
  readonly folder: string
  readonly bundles: Bundles
  readonly state: string
}

export async function setup(project: TestProject): Promise<() => void> {
  shared.carabinerBundle ??= make()
  const { folder, bundles, state } = await shared.carabinerBundle
  project.provide('programBundle', bundles)
  return () => {
    if (!existsSync(folder)) return
    const after = stateOf(folder)
    rmSync(folder, { recursive: true, force: true })
    if (after !== state) throw new Error(`A test changed the shared program:\n${state}\n${after}`)
  }
}

async function make(): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bundle-'))
  const bundles = { alone: join(folder, 'alone', 'bin'), withPackages: join(folder, 'with-packages', 'bin') }
  mkdirSync(bundles.alone, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  await bundle(bundles.alone, [AS_PERSON])
  cpSync(bundles.alone, bundles.withPackages, { recursive: true })
  symlinkSync(
    fileURLToPath(new URL('../node_modules', import.meta.url)),
    join(folder, 'with-packages', 'node_modules'),
  )
  symlinkSync(fileURLToPath(new URL('../docs', import.meta.url)), join(folder, 'docs'))
  return { folder, bundles, state: stateOf(folder) }
}

/** Names, sizes and times of all files of the program. */
function stateOf(folder: string): string {
  const lines = ['alone', 'with-packages'].flatMap((name) =>
    readdirSync(join(folder, name, 'bin')).map((file) => {
      const { size, mtimeMs } = statSync(join(folder, name, 'bin', file))
      return `${name}/bin/${file} ${size} ${mtimeMs}`
    }),
  )
  return lines.sort().join('\n')
}
