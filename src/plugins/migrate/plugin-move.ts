// A plugin as the other side wants it: Claude Code's layout is read here as it is, and what is written for Carabiner is put into it.

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ConfigFiles } from '../../config/config-file.js'
import { type HookDocument, readDocument } from '../../config/hook-document.js'
import { under } from '../../config/json-text.js'
import { Matchers } from '../../config/matchers.js'
import { Names } from '../../config/names.js'
import { Notes } from '../../config/notes.js'
import { readPluginFolder } from '../../config/plugin-folder.js'
import { type Diagnostic, textOf } from '../../core/errors.js'
import { isObject } from '../../core/json.js'
import { nonce } from '../../state/nonce.js'
import { isBelow, realOf } from '../../state/within.js'
import { FileTree } from '../file-tree.js'
import { readFolderTree } from '../folder-source.js'
import { checkPluginName, pluginNameFrom } from '../plugin-name.js'
import { PluginProblem } from '../plugin-problem.js'
import { writeTree } from '../tree-files.js'
import { type HookFile, readHookFile, titleOf } from './hook-file.js'
import { isLeftOut, manifestOf, type Remark } from './leg.js'
import { groupsOf } from './migration.js'
import type { Direction, Leg, Route } from './route.js'
import { withAdditions } from './target-text.js'

export interface PluginMove {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly tree: FileTree
  /** Whether the very same is there already. */
  readonly isThere: boolean
  /** For people. */
  readonly hooks: readonly string[]
  readonly left: readonly Remark[]
  readonly notes: readonly Remark[]
}

export interface MoveOptions {
  readonly direction: Direction
  /** The folder of the plugin. */
  readonly from: string
  /** The folder that is to hold it. */
  readonly into: string
  /** Where that folder has to be, wherever links lead. */
  readonly within?: string | undefined
  /** In place of what it calls itself. */
  readonly name: string | undefined
}

/** Reads only. Throws a PluginProblem where there is no plugin, or another one in its place. */
export function planMove({ direction, from, into, within, name: given }: MoveOptions): PluginMove {
  if (within !== undefined && !isBelow(realOf(into), realOf(within))) throw leadsOut(into, within)
  if (!existsSync(from)) throw new PluginProblem('SOURCE_NOT_FOUND', `There is no folder ${from}`)
  const source = readFolderTree(from)
  const { documents, diagnostics } = documentsIn(from, direction === 'claude-code')
  if (documents.length === 0) throw noHooks(from, diagnostics)
  const name = given === undefined ? ownName(source, from) : checkPluginName(given)
  const isOurs = documents.some(({ file }) => file.path === join(from, 'hooks.json'))
  const made =
    direction === 'claude-code' && isOurs
      ? forClaude(source, from, name)
      : { tree: isOurs ? source : withoutStray(source), ...plainReport(documents, source, from, isOurs) }
  const to = join(into, name)
  return { name, from, to, isThere: isSameThere(to, made.tree), ...made }
}

function leadsOut(into: string, within: string): PluginProblem {
  const where = `${into} leads to ${realOf(into)}, out of ${within}`
  return new PluginProblem('PLACE_UNSAFE', where, 'Remove the link, and run this again.')
}

function documentsIn(from: string, beside: boolean) {
  const notes = new Notes()
  const sources = { scope: 'named' as const, projectDir: undefined, dataDir: from }
  const { documents } = readPluginFolder(from, beside, sources, new ConfigFiles(new Map(), notes), notes)
  return { documents, diagnostics: notes.all() }
}

function noHooks(from: string, [first]: readonly Diagnostic[]): PluginProblem {
  const why = first ? `: ${first.file}:${first.line} ${first.text}` : ''
  const expected = 'hooks/hooks.json, hooks.json, or what .claude-plugin/plugin.json names'
  return new PluginProblem(
    'NO_HOOKS',
    `There is no plugin with hooks in ${from}${why}`,
    `Expected ${expected}.`,
  )
}

function ownName(tree: FileTree, from: string): string {
  const { name } = manifestIn(tree)
  return pluginNameFrom(typeof name === 'string' ? name : basename(from))
}

const MANIFEST = '.claude-plugin/plugin.json'

function manifestIn(tree: FileTree): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(tree.text(MANIFEST) ?? '{}')
    return isObject(value) ? value : {}
  } catch {
    return {} // said by whoever reads its hooks
  }
}

/** Claude Code does not read it beside its own layout: most likely it is for another agent, and here it would count. */
function withoutStray(source: FileTree): FileTree {
  return source.files.has('hooks.json') ? changed(source, new Map([['hooks.json', undefined]])) : source
}

function plainReport(
  documents: readonly HookDocument[],
  source: FileTree,
  from: string,
  isOurs: boolean,
): Pick<PluginMove, 'hooks' | 'left' | 'notes'> {
  const notes = new Notes()
  const shared = { notes, names: new Names(), matchers: new Matchers() }
  const hooks = documents.flatMap((document) => readDocument(document, shared).entries.map(titleOf))
  const remarks = notes.all().map(({ code, text, file = from, line = 1 }) => ({
    isLeft: isLeftOut(code),
    remark: { code, why: text, file, line },
  }))
  const stray: Remark = {
    what: 'hooks.json',
    why: 'Claude Code does not read it beside its own layout, and here it would count',
    file: join(from, 'hooks.json'),
    line: 1,
  }
  return {
    hooks,
    left: [
      ...remarks.filter(({ isLeft }) => isLeft).map(({ remark }) => remark),
      ...(!isOurs && source.files.has('hooks.json') ? [stray] : []),
    ],
    notes: remarks.filter(({ isLeft }) => !isLeft).map(({ remark }) => remark),
  }
}

// ---- for Claude Code ------------------------------------------------------------------------------------------

/** hooks.json becomes hooks/hooks.json, with what Claude Code can run. */
function forClaude(
  source: FileTree,
  from: string,
  name: string,
): Pick<PluginMove, 'tree' | 'hooks' | 'left' | 'notes'> {
  const path = join(from, 'hooks.json')
  if (source.files.has('hooks/hooks.json')) {
    const hint = 'Put the hooks of both into one of them first.'
    throw new PluginProblem('SEVERAL_PLUGINS', `${from} has hooks.json and hooks/hooks.json`, hint)
  }
  const place = { path, within: [from] }
  const leg: Leg = { from: place, role: 'plugin', to: place, isPrivate: false }
  const file = readHookFile(leg)
  if (!file) throw new PluginProblem('NO_HOOKS', `${path} is empty`)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a command
  const hooksDir = '${CLAUDE_PLUGIN_ROOT}/..'
  const route: Route = { direction: 'claude-code', legs: [leg], claude: place, base: from, hooksDir }
  const { passengers, left, notes } = manifestOf(file, leg, route)
  const { description } = file.value
  const said = typeof description === 'string' ? { description } : {}
  const text = withAdditions(undefined, { groups: groupsOf(passengers), keys: Object.entries(said) }, path)
  const manifest = `${JSON.stringify({ name, ...said }, null, 2)}\n`
  const files = new Map([
    ['hooks.json', undefined],
    ['hooks/hooks.json', text],
    ...(source.files.has(MANIFEST) ? [] : [[MANIFEST, manifest] as const]),
  ])
  return {
    tree: changed(source, files),
    hooks: passengers.map(({ title }) => title),
    left: [...left, ...priorityOf(file)],
    notes,
  }
}

function priorityOf({ value, config }: HookFile): readonly Remark[] {
  if (value.priority === undefined) return []
  const line = config.json.lineOf(under(null, 'priority'))
  const why = 'Claude Code runs all hooks of an event at once'
  return [{ what: '"priority"', why, file: config.path, line }]
}

/** Undefined takes a file out. */
function changed(source: FileTree, files: ReadonlyMap<string, string | undefined>): FileTree {
  const tree = new FileTree()
  for (const [path, { bytes, isExecutable }] of source.files) {
    if (!files.has(path)) tree.addFile(path, bytes, isExecutable)
  }
  for (const [path, text] of files) if (text !== undefined) tree.addFile(path, Buffer.from(text), false)
  return tree
}

// ---- placing --------------------------------------------------------------------------------------------------

function isSameThere(to: string, tree: FileTree): boolean {
  if (!existsSync(to)) return false
  if (readFolderTree(to).integrity() === tree.integrity()) return true
  throw new PluginProblem(
    'ALREADY_INSTALLED',
    `${to} is there already, and it is another one`,
    'Remove it first, or give this one a name of its own with --name NAME.',
  )
}

/** Written beside, then renamed: it is there whole or not at all. */
export function placeMove({ to, tree }: PluginMove): void {
  const draft = join(to, '..', `.staging-${nonce()}`)
  try {
    mkdirSync(join(to, '..'), { recursive: true })
    writeTree(tree, draft)
    renameSync(draft, to)
  } catch (error) {
    discard(draft)
    throw new PluginProblem(
      'NOT_WRITTEN',
      `${to} cannot be written: ${textOf(error)}`,
      'Nothing was changed.',
    )
  }
}

function discard(draft: string): void {
  try {
    rmSync(draft, { recursive: true, force: true })
  } catch {
    // It was never made, or the folder does not let go of it; why nothing was placed is said by the first error.
  }
}
