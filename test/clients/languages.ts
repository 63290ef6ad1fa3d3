// The clients in other languages: what each needs, and how its programs are started.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from '../docs/markdown.js'

export interface Language {
  readonly name: string
  /** The program of its toolchain. Tests are skipped where it is missing, and say so. */
  readonly needs: string
  /** Of clients/. */
  readonly folder: string
  /** How the program that plays a case is started. Builds it first, if it has to be built. */
  readonly player: () => readonly string[]
  /** For the README: the language of its blocks, the end of a file's name, and the command that runs the file. */
  readonly snippet?: {
    readonly block: string
    readonly extension: string
    readonly run: (file: string) => string
  }
  /** What it cannot do. */
  readonly lacks?: readonly string[]
}

const folder = (name: string) => join(ROOT, 'clients', name)

export const LANGUAGES: readonly Language[] = [
  {
    name: 'python',
    needs: 'python3',
    folder: 'python',
    player: () => ['python3', join(folder('python'), 'conformance.py')],
    snippet: { block: 'python', extension: 'py', run: (file) => `python3 ${file}` },
    // Threads cannot be cancelled.
    lacks: ['cancel'],
  },
  {
    name: 'python with asyncio',
    needs: 'python3',
    folder: 'python',
    player: () => ['python3', join(folder('python'), 'conformance.py'), 'asyncio'],
  },
]

export function isInstalled({ needs }: Language): boolean {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', needs]).status === 0
}
