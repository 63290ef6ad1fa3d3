// Moves a plugin. Claude Code's layout works here as it is; a plugin written for Carabiner is converted to Claude Code's layout.

import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConfigFiles } from '../../config/config-file.js'
import { type HookDocument, readDocument } from '../../config/hook-document.js'
import { Matchers } from '../../config/matchers.js'
import { Notes } from '../../config/notes.js'
import { Names } from '../../config/owner.js'
import { readPluginFolder } from '../../config/plugin-folder.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { visibleName } from '../../core/base/text.js'
import { under } from '../../files/json-text.js'
import { isBelow, realOf } from '../../files/within.js'
import { placeMade, type Step } from '../placing.js'
import { checkPluginFormat, MANIFEST } from '../plugin-content.js'
import { checkPluginName, pluginNameFrom } from '../plugin-name.js'
import { PluginProblem } from '../plugin-problem.js'
import { FileTree } from '../sources/file-tree.js'
import { readFolderTree } from '../sources/folder-source.js'
import { manifestFor, manifestValue, withAdditions } from './edited-text.js'
import { groupsOf } from './migration.js'
import type { Direction, FilePair, MigrationFiles } from './migration-files.js'
import { type HookFile, readHookFile, titleOf } from './migration-files.js'
import { isLeftOut, movableIn, type Remark } from './movable-hooks.js'

export interface PluginMove {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly tree: FileTree
  /** Whether this exact content is already there. */
  readonly isThere: boolean
  /** One line for each hook, for people. */
  readonly hooks: readonly string[]
  readonly left: readonly Remark[]
  readonly notes: readonly Remark[]
}

export interface MoveOptions {
  readonly direction: Direction
  readonly from: string
  /** The folder that will hold it. */
  readonly into: string
  /** The folder that `into` must really be in, with links followed. */
  readonly within?: string | undefined
  /** Replaces the plugin's own name. */
  readonly name: string | undefined
}

/** Only reads. Throws a PluginProblem if there is no plugin, or a different one in its place. */
export function planMove({ direction, from, into, within, name: given }: MoveOptions): PluginMove {
  if (within !== undefined && !isBelow(realOf(into), realOf(within))) throw leadsOut(into, within)
  if (!existsSync(from)) throw new PluginProblem('SOURCE_NOT_FOUND', `There is no folder ${from}`)
  const source = readFolderTree(from)
  checkPluginFormat(source)
  const { documents, diagnostics } = documentsIn(from, direction === 'claude-code')
  if (documents.length === 0) throw noHooks(from, diagnostics)
  const name = given === undefined ? ownName(source, from) : checkPluginName(given)
  const isOwn = ({ file }: HookDocument) => file.path === join(from, 'hooks.json')
  const isOurs = documents.some(isOwn)
  const isChanged = direction === 'claude-code' && isOurs
  const plain = plainReport(isChanged ? documents.filter((one) => !isOwn(one)) : documents, diagnostics, from)
  const made = isChanged
    ? forClaude(source, from, name)
    : isOurs
      ? { ...NOTHING, tree: source }
      : withoutStray(source, from)
  const to = join(into, name)
  return {
    ...{ name, from, to, isThere: isSameThere(to, made.tree), tree: made.tree },
    hooks: [...made.hooks, ...plain.hooks],
    left: [...made.left, ...plain.left],
    notes: [...made.notes, ...plain.notes],
  }
}

function leadsOut(into: string, within: string): PluginProblem {
  const where = `${into} leads to ${realOf(into)}, which is outside ${within}`
  return new PluginProblem('PLACE_UNSAFE', where, 'Remove the link and try again.')
}

function documentsIn(from: string, beside: boolean) {
  const notes = new Notes()
  const sources = { scope: 'named' as const, projectDir: undefined, dataDir: from }
  const { documents } = readPluginFolder(from, beside, sources, new ConfigFiles(new Map(), notes), notes)
  return { documents, diagnostics: notes.all() }
}

function noHooks(from: string, [first]: readonly Diagnostic[]): PluginProblem {
  const why = first ? `: ${first.file}:${first.line} ${first.text}` : ''
  const expected = 'hooks/hooks.json, hooks.json, or a file that .claude-plugin/plugin.json names'
  return new PluginProblem(
    'NO_HOOKS',
    `There is no plugin with hooks in ${from}${why}`,
    `Expected ${expected}.`,
  )
}

function ownName(tree: FileTree, from: string): string {
  const name = manifestValue(tree.text(MANIFEST))?.name
  return pluginNameFrom(typeof name === 'string' ? name : basename(from))
}

type Report = Pick<PluginMove, 'hooks' | 'left' | 'notes'>

const NOTHING: Report = { hooks: [], left: [], notes: [] }

/** Claude Code ignores hooks.json next to its own layout. It is probably meant for another agent, but Carabiner would run it. */
function withoutStray(source: FileTree, from: string): Report & Pick<PluginMove, 'tree'> {
  if (!source.files.has('hooks.json')) return { ...NOTHING, tree: source }
  const stray: Remark = {
    what: 'hooks.json',
    why: 'Claude Code ignores it next to its own layout, but Carabiner would run it',
    file: join(from, 'hooks.json'),
    line: 1,
  }
  return { ...NOTHING, left: [stray], tree: changed(source, new Map([['hooks.json', undefined]])) }
}

/** The report for documents that move unchanged. */
function plainReport(
  documents: readonly HookDocument[],
  diagnostics: readonly Diagnostic[],
  from: string,
): Report {
  const notes = new Notes()
  const shared = { notes, names: new Names(), matchers: new Matchers() }
  const hooks = documents.flatMap((document) => readDocument(document, shared).entries.map(titleOf))
  const remarks = [...diagnostics, ...notes.all()].map(({ code, text, file = from, line = 1 }) => ({
    isLeft: isLeftOut(code),
    remark: { code, why: text, file, line },
  }))
  return {
    hooks,
    left: remarks.filter(({ isLeft }) => isLeft).map(({ remark }) => remark),
    notes: remarks.filter(({ isLeft }) => !isLeft).map(({ remark }) => remark),
  }
}

// ---- for Claude Code ------------------------------------------------------------------------------------------

/** hooks.json becomes hooks/hooks.json, with the hooks that Claude Code can run. */
function forClaude(source: FileTree, from: string, name: string): Report & Pick<PluginMove, 'tree'> {
  const path = join(from, 'hooks.json')
  if (source.files.has('hooks/hooks.json')) {
    const hint = 'Merge them into one file first.'
    throw new PluginProblem('SEVERAL_PLUGINS', `${from} has both hooks.json and hooks/hooks.json`, hint)
  }
  const place = { path, within: [from] }
  const pair: FilePair = { from: place, role: 'plugin', to: place, isPrivate: false }
  const file = readHookFile(pair)
  if (!file) throw new PluginProblem('NO_HOOKS', `${path} is empty`)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a command
  const hooksDir = '${CLAUDE_PLUGIN_ROOT}/..'
  const migration: MigrationFiles = {
    direction: 'claude-code',
    pairs: [pair],
    claude: place,
    base: from,
    hooksDir,
  }
  const { hooks, left, notes } = movableIn(file, pair, migration)
  const { description } = file.value
  const said = typeof description === 'string' ? { description } : {}
  const text = withAdditions(undefined, { groups: groupsOf(hooks), keys: Object.entries(said) }, path)
  const files = new Map([
    ['hooks.json', undefined],
    ['hooks/hooks.json', text],
    [MANIFEST, manifestFor(source.text(MANIFEST), name, said)],
  ])
  return {
    tree: changed(source, files),
    hooks: hooks.map(({ title }) => title),
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

/** Undefined removes a file. */
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
    `${visibleName(to)} already exists and is a different plugin`,
    'Remove it first, or give this one another name with --name NAME.',
  )
}

/** Places all of it or nothing. */
export async function placeMove({ to, name, tree }: PluginMove, step?: Step): Promise<void> {
  await placeMade(dirname(to), name, tree, step)
}
