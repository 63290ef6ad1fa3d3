// The clients in other languages: what each needs, and how its programs are started.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../docs/markdown.js'

export interface Language {
  readonly name: string
  /** The program of its toolchain. Tests are skipped where it is missing, and say so. */
  readonly needs: string
  /** A command that shows that the rest of it is there. */
  readonly proof?: string
  /** Of clients/. */
  readonly folder: string
  /** How the program that plays cases is started. Builds it first in `scratch`, if it has to be built. */
  readonly player: (scratch: string) => readonly string[]
  /** Variables that its toolchain needs in a new home. */
  readonly env?: () => Readonly<Record<string, string>>
  /** For the README: the language of its blocks, the end of a file's name, and the command that runs the file. */
  readonly snippet?: {
    readonly block: string
    readonly extension: string
    readonly run: (file: string) => string
  }
  /** Plays only the cases about the codec of JSON. */
  readonly isCodec?: true
  /** What it cannot do. */
  readonly lacks?: readonly string[]
}

function elixirPlayer(codec: string): Language['player'] {
  return (scratch) => {
    // It is the same for all codecs.
    if (!existsSync(join(scratch, 'Elixir.Carabiner.beam')))
      execFileSync('elixirc', ['-o', scratch, 'carabiner.ex', 'conformance_codecs.ex'], {
        cwd: folder('elixir'),
      })
    return ['elixir', '-pa', scratch, join(folder('elixir'), 'conformance.exs'), codec]
  }
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
  {
    name: 'go',
    needs: 'go',
    folder: 'go',
    player: (scratch) => {
      const file = join(scratch, 'player')
      execFileSync('go', ['build', '-o', file, './conformance'], { cwd: folder('go') })
      return [file]
    },
    // Or the standard library would be compiled once more for each home.
    env: () => ({ GOCACHE: execFileSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).trim() }),
    snippet: { block: 'go', extension: 'go', run: (file) => `go run ${file}` },
  },
  {
    name: 'elixir',
    needs: 'elixir',
    proof: "elixir -e ':jiffy.encode(1)'",
    folder: 'elixir',
    player: elixirPlayer('jiffy'),
    // Or Elixir warns about texts in latin1.
    env: () => ({ LC_ALL: 'C.UTF-8' }),
    snippet: { block: 'elixir', extension: 'exs', run: (file) => `elixir -r carabiner.ex ${file}` },
  },
  ...['json', 'jason'].map((codec) => ({
    name: `elixir with ${codec}, or a stand-in with its functions where it is missing`,
    needs: 'elixir',
    proof: "elixir -e ':jiffy.encode(1)'",
    folder: 'elixir',
    player: elixirPlayer(codec),
    isCodec: true as const,
  })),
]

/** Says so if it is not there: the tests that need it are skipped. */
export function isInstalled({ name, needs, proof = `command -v ${needs}` }: Language): boolean {
  const isThere = spawnSync('sh', ['-c', proof]).status === 0
  if (!isThere) console.error(`SKIPPED: the client in ${name}, because this fails: ${proof}`)
  return isThere
}
