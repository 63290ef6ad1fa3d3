// Plugin names. An installed plugin's name is the same folder on every system, and never a path or an option.

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

/** A file in the folder of plugins. */
const TAKEN: ReadonlySet<string> = new Set(['hooks.json'])

const RULE =
  'A name has small letters, digits, dots, dashes and underscores, and begins with a letter or digit.'

/** Why it is not a name. Undefined if it is one. */
function fault(name: string): string | undefined {
  if (!NAME.test(name) || name.includes('..') || name.endsWith('.')) return 'is no name for a plugin'
  if (DEVICE.test(name)) return 'is a device on Windows'
  return TAKEN.has(name) ? 'is the name of a file of hooks' : undefined
}

export function isPluginName(name: string): boolean {
  return fault(name) === undefined
}

export function checkPluginName(name: string): string {
  const wrong = fault(name)
  if (wrong === undefined) return name
  throw new PluginProblem('NAME_INVALID', `${visibleName(name.slice(0, 200))} ${wrong}`, RULE)
}

/** Only somebody who wants to leave the folder or to pass for an option writes this. */
const TRICK = /[/\\\p{Cc}\p{Cf}]|\.\.|^-/u

/** Turns a plugin's own name into a folder name: `My Plugin` becomes `my-plugin`. Tricks are refused, not repaired. */
export function pluginNameFrom(said: string): string {
  // An npm scope is not a trick.
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
 * The name that hooks carry, given that name or the name of a folder. If other plugins share the name, the folder does
 * not stand for it.
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
