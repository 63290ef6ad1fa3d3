// `carabiner migrate PLUGIN`: shows its files and hooks; a plugin that would run here is reviewed, agreed to, placed and trusted.

import { join, resolve } from 'node:path'
import { visible } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { isFolder } from '../../files/folder.js'
import { userHome } from '../../files/homes.js'
import { realOf } from '../../files/within.js'
import { isTrusted, stagePlugin } from '../../plugins/install-plugin.js'
import type { Direction } from '../../plugins/migrate/migration-files.js'
import { type PluginMove, placeMove, planMove } from '../../plugins/migrate/plugin-move.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import { agrees, canAsk, type LeftOut } from '../confirm.js'
import type { Output } from '../output.js'
import { counted, labelled, nextLines, remarkLines, shortPath } from '../print/lines.js'
import { typed, typedTrust } from '../print/next-command.js'
import { withProgress } from '../print/progress.js'
import { painter } from '../print/terminal.js'
import { EXIT, Refusal } from '../refusal.js'
import { projectFolder } from '../sources.js'
import type { Shown } from './print-review.js'
import { printReview, reviewData, shownPlugin, trustShown } from './review.js'

interface How {
  readonly project: string | undefined
  readonly user: boolean
  readonly name: string | undefined
  readonly out: string | undefined
  readonly write: boolean
  readonly yes: boolean
  readonly full: boolean
}

interface PluginMigration {
  /** A path, or the name of a plugin here. */
  readonly plugin: string
  readonly direction: Direction
  readonly how: How
  /** The command line that does the same with --write. */
  readonly again: string
  readonly output: Output
}

export async function migratePlugin(migration: PluginMigration): Promise<number> {
  const { plugin, direction, how, again, output } = migration
  const target = targetFor(how)
  const hooksDir = pluginsDir(target)
  const move = planMove({
    direction,
    from: folderOf(plugin, direction, hooksDir),
    ...(direction === 'carabiner'
      ? { into: hooksDir, within: target.base }
      : { into: resolve(how.out ?? '.') }),
    name: how.name,
  })
  if (!output.json) await output.print(planLines(move))
  const done = how.write ? await carryOut(move, target, migration) : NOT_ASKED
  const next = nextFor(move, done, again, how)
  if (output.json) await output.document(dataOf(move, direction, done, next))
  else {
    if (typeof done.trusted === 'string')
      await output.complain([`carabiner: ${move.name} was not trusted: ${visible(done.trusted)}`])
    await output.print([sentence(move, done), ...nextLines(next.map(visible), painter(1))])
  }
  return done.isLeft || typeof done.trusted === 'string' ? EXIT.failed : EXIT.ok
}

function targetFor(how: How): Target {
  const base = how.user ? userHome() : projectFolder(how)
  return { scope: realOf(base) === realOf(userHome()) ? 'user' : 'project', base }
}

function folderOf(plugin: string, direction: Direction, hooksDir: string): string {
  const here = join(hooksDir, plugin)
  return direction === 'claude-code' && /^[\w.-]+$/.test(plugin) && isFolder(here) ? here : resolve(plugin)
}

// ---- doing it -------------------------------------------------------------------------------------------------

interface Done {
  readonly isWritten: boolean
  /** Nobody agreed. */
  readonly isLeft?: boolean
  /** True, or why not; undefined if it needs no trust, or none was wanted. */
  readonly trusted?: true | string
  readonly shown?: Shown
}

const NOT_ASKED: Done = { isWritten: false }

async function carryOut(move: PluginMove, target: Target, migration: PluginMigration): Promise<Done> {
  if (migration.direction === 'carabiner') {
    const isDone = move.isThere && (await isTrusted(move.name, target))
    return isDone ? NOT_ASKED : review(move, target, migration)
  }
  if (!move.isThere) await placeMove(move)
  return { isWritten: !move.isThere }
}

/** A plugin needs a review before it may run here. */
async function review(move: PluginMove, target: Target, { how, output }: PluginMigration): Promise<Done> {
  const { name, from, tree, isThere } = move
  const isHere = target.scope === 'project'
  const staged = await stagePlugin(tree, name, isHere ? target.base : undefined)
  try {
    const coming = { name, staged, entry: { kind: 'folder' as const, source: from }, isUnpinned: false }
    const shown = await withProgress(`reading ${name}`, output, async () => shownPlugin(coming, target))
    const leftOut = await printReview(shown, coming, how, output)
    if (!how.yes && !(await isYes(name, output, leftOut))) return { isWritten: false, isLeft: true, shown }
    const trusted = await withProgress(`copying ${name}`, output, async () => {
      if (!isThere) await placeMove(move)
      return isHere ? { trusted: await trustShown(name, shown, target) } : {}
    })
    return { isWritten: !isThere, shown, ...trusted }
  } finally {
    staged.remove()
  }
}

async function isYes(name: string, output: Output, leftOut: LeftOut | undefined): Promise<boolean> {
  if (output.json) return false
  if (canAsk(output)) return agrees('Migrate this plugin?', output, leftOut)
  throw new Refusal('NOT_MIGRATED', `${name} was shown but not migrated: there is no terminal to ask at`, {
    hint: 'Review it above. In a terminal the same command asks you; --yes migrates without asking.',
  })
}

// ---- telling --------------------------------------------------------------------------------------------------

function planLines(move: PluginMove): readonly string[] {
  const paint = painter(1)
  const files = move.isThere ? [] : [...move.tree.files.keys()].sort()
  return [
    paint.bold(`${visible(shortPath(move.to))}${move.isThere ? '' : ' (new)'}`),
    ...files.map((file) => `  ${paint.green('+')} ${visible(file)}`),
    ...move.hooks.flatMap((hook) => labelled('hook', visible(hook), paint.dim)),
    ...remarkLines('stays', move.left, paint.red),
    ...remarkLines('note', move.notes, paint.yellow),
  ]
}

function sentence({ name, hooks, isThere }: PluginMove, { isWritten, isLeft, trusted }: Done): string {
  const what = `${visible(name)} with ${counted(hooks.length, 'hook')}`
  const and = trusted === true ? ' and trusted it' : ''
  if (isThere) {
    const rest = isLeft
      ? ', and was not trusted'
      : trusted === true
        ? ', and is trusted now'
        : ': nothing to do'
    return `${what} is there already${rest}`
  }
  if (isLeft) return `${visible(name)} was not migrated`
  return isWritten ? `migrated ${what}${and}` : `${what} would be migrated; nothing was written`
}

function nextFor(
  { name, isThere, to }: PluginMove,
  { isWritten, isLeft, trusted }: Done,
  again: string,
  { project, out, write }: How,
): readonly string[] {
  if (typeof trusted === 'string' || (isThere && isLeft)) return [typedTrust([name], { project })]
  if (isThere) return []
  if (!isWritten) return write ? [] : [again]
  return [
    out === undefined ? typed(['list'], { project }) : `claude --plugin-dir ${shellQuoted(shortPath(to))}`,
  ]
}

function dataOf(
  { name, from, to, isThere, hooks, left, notes, tree }: PluginMove,
  direction: Direction,
  { isWritten, trusted, shown }: Done,
  next: readonly string[],
) {
  return {
    ...{ to: direction, written: isWritten, name, from, folder: to, isThere },
    ...{ files: [...tree.files.keys()].sort(), hooks, left, notes },
    ...(shown && { review: reviewData(shown) }),
    ...(trusted !== undefined && { trusted: trusted === true }),
    ...(typeof trusted === 'string' && { why: trusted }),
    next,
  }
}
