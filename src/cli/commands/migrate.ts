// `carabiner migrate`: hooks of Claude Code to Carabiner's place, and back. Shows what it would change, and changes it with --write.

import { join, resolve } from 'node:path'
import { didYouMean } from '../../core/nearest.js'
import { visible } from '../../core/visible.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import type { Remark } from '../../plugins/migrate/leg.js'
import { carryOut, type Migration, planMigration } from '../../plugins/migrate/migration.js'
import { type PluginMove, placeMove, planMove } from '../../plugins/migrate/plugin-move.js'
import { DIRECTIONS, type Direction, routeOf } from '../../plugins/migrate/route.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import { isFolder } from '../../runners/program/is-folder.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { userHome } from '../../state/homes.js'
import { COMMON_OPTIONS, type Command, type Given } from '../command.js'
import type { Output } from '../output.js'
import { changeLines, diffOf } from '../print/change-lines.js'
import { counted, labelled, nextLines, placeOf, shortPath } from '../print/lines.js'
import { painter } from '../print/paint.js'
import { optionOf } from '../print/typed.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectFolder } from '../sources.js'

/** Each time somebody else changed a file while this one showed what it would change. */
const MOST_TRIES = 5

const OPTIONS = {
  to: { type: 'string', value: 'SIDE', help: 'carabiner (the default) or claude-code.' },
  project: PLACE_OPTIONS.project,
  user: { type: 'boolean', help: 'Your own hooks, for all projects, in place of the project’s.' },
  write: { type: 'boolean', help: 'Do it; without it nothing is written.' },
  'remove-source': { type: 'boolean', help: 'Take what was migrated out of the files it came from.' },
  name: { type: 'string', value: 'NAME', help: 'What the plugin is to be called.' },
  out: { type: 'string', value: 'DIR', help: 'Where a plugin for Claude Code is to go.' },
  ...COMMON_OPTIONS,
} as const

type Options = Given<typeof OPTIONS>['options']

export const command: Command<typeof OPTIONS> = {
  name: 'migrate',
  summary: 'Carry hooks over from Claude Code, or back.',
  positionals: ['[PLUGIN]'],
  about:
    'Takes the hooks of .claude/settings.json and settings.local.json into .amplifier/hooks, or with --to claude-code ' +
    'back. What cannot be carried over stays where it is and is named with the reason; what others wrote stays as ' +
    'it is. Running it again adds nothing twice. PLUGIN is the folder of a plugin, which is carried over whole.',
  options: OPTIONS,
  exits: [
    [0, 'done, or shown, or nothing to do'],
    [1, 'nothing was changed; the message says why'],
    [64, 'wrong usage'],
  ],
  examples: [
    { does: 'What would change, and what would stay behind?', line: 'carabiner migrate' },
    { does: 'Do it.', line: 'carabiner migrate --write' },
    { does: 'And back.', line: 'carabiner migrate --to claude-code --write' },
    { does: 'A plugin of Claude Code.', line: 'carabiner migrate ../my-plugin --write', needs: 'a plugin' },
  ],
  async run({ options, positionals: [plugin] }, output) {
    const direction = directionOf(options.to)
    if (options.user && options.project !== undefined) throw usage('Give --user or --project, not both')
    checkPluginOptions(options, plugin, direction)
    try {
      if (plugin !== undefined) await movePlugin(plugin, direction, options, output)
      else await migrate(direction, options, output)
      return EXIT.ok
    } catch (error) {
      if (error instanceof SetupProblem) throw refusal('SETTINGS_UNUSABLE', error)
      throw error instanceof PluginProblem ? refusal(error.code, error) : error
    }
  },
}

function refusal(code: string, { message, hint }: SetupProblem | PluginProblem): Refusal {
  return new Refusal(code, message, hint === undefined ? {} : { hint })
}

function directionOf(to = 'carabiner'): Direction {
  const direction = DIRECTIONS.find((one) => one === to)
  if (direction) return direction
  throw usage(
    `There is no side ${JSON.stringify(to)}${didYouMean(to, DIRECTIONS)}`,
    `carabiner migrate knows ${DIRECTIONS.join(' and ')}.`,
  )
}

function checkPluginOptions(options: Options, plugin: string | undefined, direction: Direction): void {
  if (plugin === undefined) {
    for (const key of ['name', 'out'] as const) {
      if (options[key] !== undefined) throw usage(`--${key} goes with a PLUGIN`)
    }
    return
  }
  if (options['remove-source'])
    throw usage('--remove-source goes with settings; a plugin’s folder is yours to remove')
  if (direction === 'claude-code' && options.out === undefined) {
    throw usage(
      'Give --out DIR, the folder that is to hold the plugin',
      'claude --plugin-dir DIR/NAME runs it there.',
    )
  }
  if (direction === 'carabiner' && options.out !== undefined) throw usage('--out goes with --to claude-code')
}

// ---- settings -------------------------------------------------------------------------------------------------

async function migrate(direction: Direction, options: Options, output: Output): Promise<void> {
  const projectDir = options.user ? undefined : projectFolder(options)
  const plan = () => planMigration(routeOf(direction, projectDir), options['remove-source'])
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const shown = plan()
    if (!options.write || shown.changes.length === 0) return tell(shown, undefined, options, output)
    const backups = await carryOut(shown, plan)
    if (backups) return tell(shown, backups, options, output)
  }
  throw new SetupProblem('The files were changed by others each time they were to be changed', 'Try again.')
}

async function tell(
  migration: Migration,
  backups: ReadonlyMap<string, string> | undefined,
  options: Options,
  output: Output,
): Promise<void> {
  const { changes, moved, left, notes, sources, route } = migration
  const next = nextOf(migration, backups !== undefined, options)
  if (output.json) {
    return output.document({
      to: route.direction,
      written: backups !== undefined,
      sources,
      files: changes.map((change) => ({
        file: change.file.path,
        isNew: change.file.text === undefined,
        diff: diffOf(change).join('\n'),
        backup: backups?.get(change.file.path) ?? null,
      })),
      hooks: moved,
      left,
      notes,
      next,
    })
  }
  const paint = painter(1)
  await output.print([
    ...changes.flatMap((change) => changeLines(change, paint)),
    ...remarkLines('stays', left, paint.red),
    ...remarkLines('note', notes, paint.yellow),
    sentence(migration, backups !== undefined),
    ...[...(backups?.values() ?? [])].map((path) => `${paint.dim('before')} ${visible(shortPath(path))}`),
    ...nextLines(next, paint),
  ])
}

function sentence({ moved, changes, left, sources, route }: Migration, isDone: boolean): string {
  const places = route.legs.map(({ from }) => visible(shortPath(from.path))).join(', ')
  if (sources.length === 0) return `there is nothing to migrate: no ${places}`
  const fresh = counted(moved.filter(({ isNew }) => isNew).length, 'hook')
  const there = moved.filter(({ isNew }) => !isNew).length
  const rest = [
    ...(there > 0 ? [`${there} there already`] : []),
    ...(left.length > 0 ? [`${left.length} left where they are`] : []),
  ]
  const more = rest.length > 0 ? `; ${rest.join(', ')}` : ''
  if (changes.length === 0) return `nothing to do${more}`
  return isDone ? `migrated ${fresh}${more}` : `${fresh} would be migrated${more}; nothing was written`
}

function nextOf({ changes, moved, route }: Migration, isDone: boolean, options: Options): readonly string[] {
  if (changes.length === 0) return []
  if (!isDone) return [typed(options, ['--write'])]
  const isHere = route.direction === 'carabiner'
  return [
    ...(isHere && !options.user ? [typedTrust(options)] : []),
    ...(isHere ? [] : ['start Claude Code anew, or /hooks in it shows them']),
    ...(isHere && options['remove-source']
      ? ['carabiner setup claude-code --engine (Claude Code runs them through it)']
      : []),
    ...(options['remove-source'] || moved.length === 0
      ? []
      : [
          `${typed(options, ['--write', '--remove-source'])} (or an agent that reads both places runs them twice)`,
        ]),
  ]
}

// ---- lines ----------------------------------------------------------------------------------------------------

function remarkLines(
  label: string,
  remarks: readonly Remark[],
  colour: (text: string) => string,
): readonly string[] {
  return remarks.flatMap((remark) => {
    const what = remark.what === undefined ? '' : `${remark.what}: `
    return labelled(label, visible(`${placeOf(remark)} ${what}${remark.why}`), colour)
  })
}

// ---- a plugin -------------------------------------------------------------------------------------------------

async function movePlugin(
  plugin: string,
  direction: Direction,
  options: Options,
  output: Output,
): Promise<void> {
  const base = options.user ? userHome() : projectFolder(options)
  const hooksDir = join(base, '.amplifier', 'hooks')
  const move = planMove({
    direction,
    from: folderOf(plugin, direction, hooksDir),
    ...(direction === 'carabiner' ? { into: hooksDir, within: base } : { into: resolve(options.out ?? '.') }),
    name: options.name,
  })
  const isWritten = options.write && !move.isThere
  if (isWritten) await placeMove(move)
  const next = nextFor(move, plugin, isWritten, options)
  if (output.json) {
    const { name, from, to, isThere, hooks, left, notes, tree } = move
    const files = [...tree.files.keys()].sort()
    return output.document({
      to: direction,
      written: isWritten,
      name,
      from,
      folder: to,
      isThere,
      files,
      hooks,
      left,
      notes,
      next,
    })
  }
  const paint = painter(1)
  await output.print([
    paint.bold(`${visible(shortPath(move.to))}${move.isThere ? '' : ' (new)'}`),
    ...(move.isThere
      ? []
      : [...move.tree.files.keys()].sort().map((file) => `  ${paint.green('+')} ${visible(file)}`)),
    ...move.hooks.flatMap((hook) => labelled('hook', visible(hook), paint.dim)),
    ...remarkLines('stays', move.left, paint.red),
    ...remarkLines('note', move.notes, paint.yellow),
    pluginSentence(move, isWritten),
    ...nextLines(next, paint),
  ])
}

/** A path, or the name of a plugin that is here. */
function folderOf(plugin: string, direction: Direction, hooksDir: string): string {
  const here = join(hooksDir, plugin)
  return direction === 'claude-code' && /^[\w.-]+$/.test(plugin) && isFolder(here) ? here : resolve(plugin)
}

function pluginSentence({ name, hooks, isThere }: PluginMove, isWritten: boolean): string {
  const what = `${visible(name)} with ${counted(hooks.length, 'hook')}`
  if (isThere) return `${what} is there already: nothing to do`
  return isWritten ? `migrated ${what}` : `${what} would be migrated; nothing was written`
}

function nextFor(
  { isThere, to }: PluginMove,
  plugin: string,
  isWritten: boolean,
  options: Options,
): readonly string[] {
  if (isThere) return []
  if (!isWritten) return [typed(options, ['--write'], [plugin])]
  if (options.out !== undefined) return [`claude --plugin-dir ${shellQuoted(shortPath(to))}`]
  return [options.user ? 'carabiner list' : typedTrust(options)]
}

// ---- what to type ---------------------------------------------------------------------------------------------

/** The same call again, with more. */
function typed(options: Options, more: readonly string[], words: readonly string[] = []): string {
  const given = (['to', 'project', 'name', 'out'] as const).flatMap((key) => {
    const value = options[key]
    return value === undefined ? [] : optionOf(`--${key}`, value)
  })
  const flags = (['user', 'remove-source'] as const).filter((key) => options[key]).map((key) => `--${key}`)
  const all = new Set(['carabiner', 'migrate', ...words, ...given, ...flags, ...more])
  return [...all].map(shellQuoted).join(' ')
}

function typedTrust({ project }: Options): string {
  const where = project === undefined ? [] : optionOf('--project', project)
  return ['carabiner', 'trust', ...where].map(shellQuoted).join(' ')
}
