// A plugin has two names: that of its folder, and the one in its plugin.json, which its hooks carry. Each of them is enough.

import { basename, join, sep } from 'node:path'
import { cleanName } from '../config/owner.js'
import { isObject } from '../core/base/json.js'
import { readPlain } from '../files/plain-file.js'
import { MANIFEST } from './plugin-content.js'

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
