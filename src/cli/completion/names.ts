// Shells that have a completion, and names that the shell looks up as the user types: light, and never fails.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { callerPath } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { projectAround } from '../../files/which-project.js'
import { readPages } from '../manual.js'

export const NAME_KINDS = ['plugins', 'pages'] as const
export type NameKind = (typeof NAME_KINDS)[number]

/** A folder's name must not become shell code. */
const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const MOST = 500

const NAMES: Readonly<Record<NameKind, () => readonly string[]>> = {
  plugins: () => [() => projectAround(callerPath('.')), userHome].flatMap(pluginsIn),
  pages: pageNames,
}

export function namesOf(kind: NameKind): readonly string[] {
  return [...new Set(NAMES[kind]().filter((name) => SAFE.test(name)))].sort().slice(0, MOST)
}

function pluginsIn(base: () => string): readonly string[] {
  try {
    const entries = readdirSync(join(base(), '.amplifier', 'hooks'), { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name)
  } catch {
    return [] // no such folder
  }
}

function pageNames(): readonly string[] {
  try {
    return readPages().map(({ name }) => name)
  } catch {
    return [] // an installation without docs
  }
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]
