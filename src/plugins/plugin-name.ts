// Plugin names. A name is a valid folder name on every system, and never a path or a command-line option.

import { basename, join, sep } from 'node:path'
import { cleanName } from '../config/owner.js'
import { isObject } from '../core/base/json.js'
import { visibleName } from '../core/base/text.js'
import { readPlain } from '../files/plain-file.js'
import { MANIFEST } from './plugin-content.js'
import { PluginProblem } from './plugin-problem.js'

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** Windows opens a device for these names, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/

/** Names of files that the plugins folder may already hold. */
const TAKEN: ReadonlySet<string> = new Set(['hooks.json'])

const RULE = 'Use lower-case letters, digits, dots, dashes and underscores, and begin with a letter or digit.'

/** Why the name is not valid. Undefined if it is. */
function fault(name: string): string | undefined {
  if (!NAME.test(name) || name.includes('..') || name.endsWith('.')) return 'is not a valid plugin name'
  if (DEVICE.test(name)) return 'is the name of a device on Windows'
  return TAKEN.has(name) ? 'is reserved for a file of hooks' : undefined
}

export function isPluginName(name: string): boolean {
  return fault(name) === undefined
}

export function checkPluginName(name: string): string {
  const wrong = fault(name)
  if (wrong === undefined) return name
  throw new PluginProblem('NAME_INVALID', `${visibleName(name.slice(0, 200))} ${wrong}`, RULE)
}

/** Text that only makes sense as an attempt to leave the folder or to pass for an option. */
const TRICK = /[/\\\p{Cc}\p{Cf}]|\.\.|^-/u

/** Turns a plugin's own name into a folder name: `My Plugin` becomes `my-plugin`. Tricks are refused, not repaired. */
export function pluginNameFrom(said: string): string {
  // An npm scope is not a trick.
  const text = said.replace(/^@([^/\\]+)\/([^/\\]+)$/, '$1-$2')
  if (TRICK.test(text)) {
    throw new PluginProblem(
      'NAME_INVALID',
      `The plugin calls itself ${visibleName(said.slice(0, 200))}, which is not a valid plugin name`,
      'If you still want it, choose a name with --name NAME.',
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
    `The plugin calls itself ${visibleName(said.slice(0, 200))}, which ${wrong}`,
    'Choose a name with --name NAME.',
  )
}

// ---- two names of one plugin ----------------------------------------------------------------------------------

/** A plugin can be named by its folder, or by the name in its plugin.json, which its hooks carry. */
export function isCalled(what: string, name: string, folder: string | undefined): boolean {
  return what === name || (folder !== undefined && what === basename(folder))
}

/** The plugins whose folder has this name, or else those that give themselves this name. */
export function installedAs<T extends { readonly name: string; readonly path: string }>(
  what: string,
  plugins: readonly T[],
): readonly T[] {
  const byFolder = plugins.filter(({ name }) => name === what)
  return byFolder.length > 0 ? byFolder : plugins.filter(({ path }) => nameSaid(path) === what)
}

const LARGEST_MANIFEST = 1024 * 1024

/** The name in its plugin.json, which its hooks carry. */
function nameSaid(folder: string): string | undefined {
  try {
    const read = readPlain(join(folder, MANIFEST), LARGEST_MANIFEST)
    const manifest: unknown = 'text' in read ? JSON.parse(read.text.replace(/^\uFEFF/, '')) : undefined
    return isObject(manifest) ? cleanName(manifest.name) : undefined
  } catch {
    return undefined
  }
}

/**
 * The name that hooks carry, given that name or a folder's name. If other plugins carry the same name, the folder's name
 * is not translated.
 */
export function nameCarried(
  what: string,
  hooks: readonly { readonly source: string; readonly file?: string }[],
): string {
  if (hooks.some(({ source }) => source === what)) return what
  const inside = hooks.filter(({ file, source }) => isCalled(what, source, installedFolder(file)))
  const [source = what, ...others] = new Set(inside.map((hook) => hook.source))
  const isAlone = hooks.every((hook) => hook.source !== source || inside.includes(hook))
  return others.length === 0 && isAlone ? source : what
}

const HOOKS_DIR = `${sep}.amplifier${sep}hooks${sep}`

/** The folder below .amplifier/hooks that a file of hooks is in. */
function installedFolder(file: string | undefined): string | undefined {
  const at = file?.lastIndexOf(HOOKS_DIR) ?? -1
  if (file === undefined || at < 0) return undefined
  const [name = '', ...below] = file.slice(at + HOOKS_DIR.length).split(sep)
  return below.length > 0 ? file.slice(0, at + HOOKS_DIR.length) + name : undefined
}
