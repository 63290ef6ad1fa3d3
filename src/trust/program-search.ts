// Finds programs in the accepted folders of `$PATH`, and reads the first line of scripts.

import { dirname, join } from 'node:path'
import { isProgram } from '../files/search-path.js'
import { isWithin } from '../files/within.js'
import type { Programs } from './unit.js'

export interface FoundPrograms {
  readonly programs: Programs
  /** Names that no folder has. */
  readonly missing: readonly string[]
  /** Found outside, but as a link into the project. Not used. */
  readonly inProject: readonly string[]
}

export function findPrograms(
  names: Iterable<string>,
  folders: readonly string[],
  projectDir: string,
): FoundPrograms {
  const programs: [string, string][] = []
  const missing: string[] = []
  const inProject: string[] = []
  for (const name of new Set(names)) {
    const found = folders.map((folder) => join(folder, name)).filter(isProgram)
    // Folders inside the project are searched only if there are no others.
    const own = found.filter((path) => isWithin(path, projectDir) && !isWithin(dirname(path), projectDir))
    const path = found.find((one) => !own.includes(one))
    inProject.push(...own)
    if (path !== undefined) programs.push([name, path])
    else missing.push(name)
  }
  programs.sort(([a], [b]) => (a < b ? -1 : 1))
  return { programs: Object.fromEntries(programs), missing: missing.sort(), inProject }
}

/** A sentence about the first program that is gone or not executable. */
export function programGone({ programs }: { readonly programs: Programs }): string | undefined {
  for (const [name, path] of Object.entries(programs)) {
    if (!isProgram(path)) {
      return `The program ${name} was ${path} when this was trusted, and is gone now: review it again.`
    }
  }
  return undefined
}

/** The name that `#!/usr/bin/env NAME` looks up in `$PATH`. */
export function shebangProgram(bytes: Buffer): string | undefined {
  return shebangOf(bytes).program
}

// ---- the first line of a script -------------------------------------------------------------------------------

/** At most one of the two. */
interface Shebang {
  /** A name to find in `$PATH`. */
  readonly program?: string
  /** A path. The kernel resolves a relative one from where the hook starts, not from the script's folder. */
  readonly file?: string
}

/** The kernel reads this many bytes. */
const LONGEST = 256

export function shebangOf(bytes: Buffer): Shebang {
  if (bytes[0] !== 0x23 || bytes[1] !== 0x21) return {}
  const [line = ''] = bytes.toString('utf8', 2, LONGEST).split('\n', 1)
  const [interpreter = '', ...words] = line.trim().split(/\s+/)
  if (!/^(?:\/usr)?\/bin\/env$/.test(interpreter)) return interpreter === '' ? {} : { file: interpreter }
  const name = behindEnv(words)
  if (name === undefined) return {}
  return name.includes('/') ? { file: name } : { program: name }
}

/** The name of the interpreter, wherever it is. */
export function shebangName(bytes: Buffer): string | undefined {
  const { file, program } = shebangOf(bytes)
  return (program ?? file)?.replace(/^.*\//, '')
}

/** `-S` may contain the name itself: `-S./x`. Values of other options are skipped. */
function behindEnv(words: readonly string[]): string | undefined {
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string
    const split = /^(?:-[iv0]*S|--split-string=?)(.*)$/.exec(word)
    if (split?.[1]) return split[1]
    if (/^(?:-[iv0]*[uC]|--unset|--chdir)$/.test(word)) i++
    else if (!word.startsWith('-') && !word.includes('=')) return word
  }
  return undefined
}
