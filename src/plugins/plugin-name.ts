// What a plugin may be called where it is installed: a name that is the same folder on every system, and never a path or an option.

import { basename, join, sep } from 'node:path'
import { cleanName } from '../config/owner.js'
import { isObject } from '../core/base/json.js'
import { visibleName } from '../core/base/text.js'
import { readPlain } from '../files/plain-file.js'
import { MANIFEST } from './plugin-content.js'
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

// MERGED from src/plugins/either-name.ts: // A plugin has two names: that of its folder, and the one in its plugin.json, which its hooks carry. Each of them is enough.
/** `folder`: undefined of what has none. */
export function isCalled(what: string, name: string, folder: string | undefined): boolean {
  return what === name || (folder !== undefined && what === basename(folder))
}

/** Those whose folder is called so; where there is none, those that call themselves so. */
export function installedAs<T extends { readonly name: string; readonly path: string }>(
  what: string,
  plugins: readonly T[],
): readonly T[] {
  const byFolder = plugins.filter(({ name }) => name === what)
  return byFolder.length > 0 ? byFolder : plugins.filter(({ path }) => nameSaid(path) === what)
}

const LARGEST_MANIFEST = 1024 * 1024

/** As its hooks know it; undefined where it says nothing. */
function nameSaid(folder: string): string | undefined {
  try {
    const read = readPlain(join(folder, MANIFEST), LARGEST_MANIFEST)
    const manifest: unknown = 'text' in read ? JSON.parse(read.text.replace(/^\uFEFF/, '')) : undefined
    return isObject(manifest) ? cleanName(manifest.name) : undefined
  } catch {
    return undefined
  }
}

/** What hooks are called after, of who may have given the name of a folder. One that calls itself like others is not meant by its folder. */
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

/** Of a file of hooks: the folder below .amplifier/hooks that it is in. */
function installedFolder(file: string | undefined): string | undefined {
  const at = file?.lastIndexOf(HOOKS_DIR) ?? -1
  if (file === undefined || at < 0) return undefined
  const [name = '', ...below] = file.slice(at + HOOKS_DIR.length).split(sep)
  return below.length > 0 ? file.slice(0, at + HOOKS_DIR.length) + name : undefined
}
