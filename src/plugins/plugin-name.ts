// What a plugin may be called where it is installed: a name that is the same folder on every system, and never a path or an option.

import { visibleName } from '../core/base/visible.js'
import { PluginProblem } from './plugin-problem.js'

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** Windows opens a device for these, whatever stands behind the first dot. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/

/** Of the folder of plugins itself. */
const TAKEN: ReadonlySet<string> = new Set(['hooks.json'])

const RULE =
  'A name has small letters, digits, dots, dashes and underscores, and begins with a letter or digit.'

/** Why it is no name; undefined if it is one. */
function fault(name: string): string | undefined {
  if (!NAME.test(name) || name.includes('..') || name.endsWith('.')) return 'is no name for a plugin'
  if (DEVICE.test(name)) return 'is a device on Windows'
  return TAKEN.has(name) ? 'is the name of a file of hooks' : undefined
}

export function isPluginName(name: string): boolean {
  return fault(name) === undefined
}

/** Throws if it is none. */
export function checkPluginName(name: string): string {
  const wrong = fault(name)
  if (wrong === undefined) return name
  throw new PluginProblem('NAME_INVALID', `${visibleName(name.slice(0, 200))} ${wrong}`, RULE)
}

/** What only somebody writes who wants to get out of the folder, or to be taken for an option. */
const TRICK = /[/\\\p{Cc}\p{Cf}]|\.\.|^-/u

/** A name of the plugin's own choice, as a folder: `My Plugin` becomes `my-plugin`. What is a trick is refused, not mended. */
export function pluginNameFrom(said: string): string {
  // Scopes of npm are no trick.
  const text = said.replace(/^@([^/\\]+)\/([^/\\]+)$/, '$1-$2')
  if (TRICK.test(text)) {
    throw new PluginProblem(
      'NAME_INVALID',
      `It calls itself ${visibleName(said.slice(0, 200))}, which is no name for a plugin`,
      'If you still want it, give it a name of your own with --name NAME.',
    )
  }
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 64)
    .replace(/[._-]+$/, '')
  const wrong = fault(name)
  if (wrong === undefined) return name
  throw new PluginProblem(
    'NAME_INVALID',
    `It calls itself ${visibleName(said.slice(0, 200))}, which ${wrong}`,
    'Give it a name of your own with --name NAME.',
  )
}
