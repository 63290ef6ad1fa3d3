// Where hooks are looked for, and where else this project may have some.

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fromHere, shortPath } from './print/lines.js'

const FILES = ['.amplifier/hooks/hooks.json', '.amplifier/hooks/*/hooks.json', '.amplifier/settings.json']

/** In the order they are read. */
export function lookedIn(project: string): readonly string[] {
  const bases = [...new Set([resolve(homedir()), project])]
  return bases.flatMap((base) => FILES.map((file) => shortPath(join(base, file))))
}

/** What to add to a command line so that it finds hooks that are not where they are looked for. */
export interface Elsewhere {
  readonly what: string
  readonly option: readonly [name: '--config' | '--plugin' | '--project', value: string]
}

/** Files of other agents and plugins in this project, and a project further up. */
export function elsewhere(project: string): readonly Elsewhere[] {
  const isThere = (file: string) => existsSync(join(project, file))
  const configs = ['.claude/settings.json', '.claude/settings.local.json'].filter(isThere)
  const isPlugin = ['.claude-plugin/plugin.json', 'hooks/hooks.json', 'hooks.json'].some(isThere)
  const above = projectAbove(project)
  return [
    ...configs.map((file) => ({
      what: `${file} is another agent's file`,
      option: ['--config', fromHere(join(project, file))] as const,
    })),
    ...(isPlugin
      ? [{ what: 'this folder is a plugin', option: ['--plugin', fromHere(project)] as const }]
      : []),
    ...(above
      ? [{ what: `${shortPath(above)} has .amplifier`, option: ['--project', fromHere(above)] as const }]
      : []),
  ]
}

function projectAbove(project: string): string | undefined {
  const home = resolve(homedir())
  for (let folder = dirname(project); ; folder = dirname(folder)) {
    if (folder !== home && existsSync(join(folder, '.amplifier'))) return folder
    if (folder === dirname(folder)) return undefined
  }
}
