// Tells whether a tree is a plugin in one of the two layouts, holds several plugins, or none; and reads its own name.

import { isObject } from '../core/base/json.js'
import { visibleName } from '../core/base/text.js'
import { PluginProblem } from './plugin-problem.js'
import { entryPath, type FileTree } from './sources/file-tree.js'

export const MANIFEST = '.claude-plugin/plugin.json'
const MARKETPLACE = '.claude-plugin/marketplace.json'
const MARKS = [MANIFEST, 'hooks/hooks.json', 'hooks.json'] as const

const MOST_LISTED = 50
const DEEPEST_LOOK = 4

/** Throws unless the tree is a plugin. The error says what it is instead. */
export function checkIsPlugin(tree: FileTree): void {
  if (MARKS.some((mark) => tree.files.has(mark))) {
    checkPluginFormat(tree)
    return
  }
  const inside = pluginsIn(tree)
  if (inside.length > 0) throw several(inside, tree.files.has(MARKETPLACE))
  throw new PluginProblem(
    'NO_PLUGIN',
    'There is no plugin at the top of this source',
    `A plugin has hooks.json, hooks/hooks.json or ${MANIFEST} at its top. If it is in a folder further down, name that folder with --path DIR.`,
  )
}

/** The version of the package format. */
const FORMAT = 1

/** Throws for a later format: this version cannot know what it means. */
export function checkPluginFormat(tree: FileTree): void {
  for (const path of MARKS) {
    const file = jsonIn(tree, path)
    const said: unknown = isObject(file) ? file.carabiner : undefined
    if (said === undefined || said === FORMAT) continue
    throw new PluginProblem(
      'NEWER_FORMAT',
      `${path} says "carabiner": ${JSON.stringify(said).slice(0, 50)}, but this version only reads ${FORMAT}`,
      'Update Carabiner, or install an older version of the plugin.',
    )
  }
}

/** The name in plugin.json. Undefined if it gives none. */
export function nameInManifest(tree: FileTree): string | undefined {
  const manifest = jsonIn(tree, MANIFEST)
  return isObject(manifest) && typeof manifest.name === 'string' && manifest.name !== ''
    ? manifest.name
    : undefined
}

function jsonIn(tree: FileTree, path: string): unknown {
  try {
    return JSON.parse((tree.text(path) ?? '').replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}

interface Inside {
  readonly name: string | undefined
  readonly path: string
}

/** The plugins that its catalog names, and those found in its folders. */
function pluginsIn(tree: FileTree): readonly Inside[] {
  const found = new Map(listedIn(tree).map((one) => [one.path, one]))
  for (const path of tree.files.keys()) {
    const mark = MARKS.find((one) => path.endsWith(`/${one}`))
    if (mark === undefined) continue
    const folder = path.slice(0, -mark.length - 1)
    // `x/hooks/hooks.json` is a mark of x, not of x/hooks.
    const isHooksOf =
      mark === 'hooks.json' && folder.endsWith('/hooks') && tree.files.has(`${folder}/hooks.json`)
    if (isHooksOf || folder.split('/').length > DEEPEST_LOOK || found.has(folder)) continue
    found.set(folder, { name: undefined, path: folder })
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function listedIn(tree: FileTree): readonly Inside[] {
  const catalog = jsonIn(tree, MARKETPLACE)
  const listed: unknown = isObject(catalog) ? catalog.plugins : undefined
  return (Array.isArray(listed) ? listed : []).flatMap((one: unknown): Inside[] => {
    if (!isObject(one) || typeof one.source !== 'string' || typeof one.name !== 'string') return []
    try {
      const path = entryPath(one.source)
      return path !== '' && tree.below(path) ? [{ name: one.name, path }] : []
    } catch {
      return [] // The path leads out of the tree.
    }
  })
}

function several(inside: readonly Inside[], isCatalog: boolean): PluginProblem {
  const named = inside.slice(0, MOST_LISTED).map(({ name, path }) => {
    return name === undefined || name === path
      ? `--path ${visibleName(path)}`
      : `--path ${visibleName(path)} (${visibleName(name)})`
  })
  const more = inside.length > MOST_LISTED ? `, and ${inside.length - MOST_LISTED} more` : ''
  const catalog = isCatalog ? ' It is also a catalog, which carabiner catalog add accepts.' : ''
  return new PluginProblem(
    'SEVERAL_PLUGINS',
    `This source has several folders with plugins: ${named.join(', ')}${more}`,
    `Install one of them with its --path.${catalog}`,
  )
}
