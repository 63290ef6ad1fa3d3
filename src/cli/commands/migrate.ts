// `carabiner migrate`: moves hooks from Claude Code to Carabiner, or back, or from any agent's file to another's. Shows the
// changes; --write makes them.

import { join, resolve, sep } from 'node:path'
import { visible } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { callerPath } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { isWithin, realOf } from '../../files/within.js'
import { formatNamed } from '../../hosts/hook-files/own-formats.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { carryOutAgents, FORMAT_NAMES, planAgentMigration } from '../../plugins/migrate/agent-migration.js'
import { carryOut, type Migration, planMigration } from '../../plugins/migrate/migration.js'
import { DIRECTIONS, type Direction, migrationFiles } from '../../plugins/migrate/migration-files.js'
import type { Remark } from '../../plugins/migrate/movable-hooks.js'
import { type Command, chosen, type Options } from '../command.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import { asRefusals } from '../plugins/plugin-commands.js'
import { changeLines, diffOf } from '../print/diff.js'
import { counted, nextLines, remarkLines, shortPath } from '../print/lines.js'
import { optionOf, RESTART, typedTrust } from '../print/next-command.js'
import { painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectFolder } from '../sources.js'

/** Each try fails if a file changes between planning and writing. */
const MOST_TRIES = 5

const OPTIONS = {
  from: {
    type: 'string',
    value: 'AGENT',
    completes: FORMAT_NAMES,
    help: 'The agent whose hooks to move; default: claude-code.',
  },
  to: {
    type: 'string',
    value: 'AGENT',
    completes: FORMAT_NAMES,
    help: 'The agent that gets them; default: carabiner.',
  },
  project: PLACE_OPTIONS.project,
  user: { type: 'boolean', help: 'Your own hooks instead of the project’s.' },
  write: { type: 'boolean', help: 'Write the changes; without it nothing is written.' },
  'remove-source': { type: 'boolean', help: 'Remove migrated hooks from the files they came from.' },
  name: { type: 'string', value: 'NAME', help: 'A new name for the plugin.' },
  out: {
    type: 'string',
    value: 'PATH',
    completes: 'file',
    help: 'A folder for a Claude Code plugin, or an agent’s file.',
  },
  yes: { type: 'boolean', help: 'For a plugin: do not ask, migrate what is shown.' },
  full: { type: 'boolean', help: 'For a plugin: show the whole text of every file.' },
} as const

type Given = Options<typeof OPTIONS>

export const command: Command<typeof OPTIONS> = {
  name: 'migrate',
  summary: 'Move hooks from one agent to another, or to Carabiner.',
  positionals: ['[PLUGIN|FILE]'],
  completes: ['file'],
  about:
    'Moves the hooks of .claude/settings.json and settings.local.json to .amplifier/hooks, or with --to claude-code ' +
    'back. Hooks that cannot be moved stay where they are, with the reason. Nothing else in the files changes, and ' +
    'running it again adds nothing twice. PLUGIN is the folder of a plugin, which is moved as a whole: with --write ' +
    'you see what it would run, and are asked. With --from or --to another agent, the hooks of its file, or of FILE, are ' +
    'written as the other agent writes them: its events, names of tools, units and keys. What cannot be carried over is said.',
  options: OPTIONS,
  exits: [
    [0, 'done, or shown, or nothing to do'],
    [1, 'not done, as the message says; or done, but a gate is not in force'],
  ],
  examples: [
    { does: 'What would change, and what would stay behind?', line: 'carabiner migrate' },
    { does: 'Do it.', line: 'carabiner migrate --write' },
    { does: 'And back.', line: 'carabiner migrate --to claude-code --write' },
    {
      does: 'Cursor’s hooks for Gemini CLI.',
      line: 'carabiner migrate --from cursor --to gemini',
      needs: 'Cursor’s hooks',
    },
    { does: 'A plugin of Claude Code.', line: 'carabiner migrate ../my-plugin --write', needs: 'a plugin' },
  ],
  mayRun({ options }) {
    if (options.yes) checkPerson('Migrating a plugin')
    // Migrated hooks wait for trust: until then nothing runs them.
    if (options['remove-source'] && options.write) checkPerson('Removing hooks from their files')
  },
  async run({ options, positionals: [plugin] }, output) {
    if (options.user && options.project !== undefined) throw usage('Give --user or --project, not both')
    const pair = pairOf(options)
    if (pair) return asSettings(() => migrateAgents(pair, options, plugin, output))
    const direction = chosen(options.to ?? 'carabiner', DIRECTIONS, '--to does not accept')
    checkPluginOptions(options, plugin, direction)
    return asSettings(async () => {
      if (plugin !== undefined) return move(plugin, direction, options, output)
      await migrate(direction, options, output)
      return EXIT.ok
    })
  },
}

async function asSettings(work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    const { message, hint } = error
    throw new Refusal('SETTINGS_UNUSABLE', message, hint === undefined ? {} : { hint })
  }
}

// ---- from one agent to another --------------------------------------------------------------------------------

interface Pair {
  readonly from: string
  readonly to: string
}

/** Undefined if the hooks move between Claude Code and Carabiner, which keep several files each. */
function pairOf({ from: source, to: target }: Given): Pair | undefined {
  const from = source === undefined ? undefined : chosen(source, FORMAT_NAMES, '--from does not accept')
  const to = target === undefined ? undefined : chosen(target, FORMAT_NAMES, '--to does not accept')
  if (from !== undefined && from === (to ?? 'carabiner')) throw usage(`--from and --to are both ${from}`)
  const isOurs = (name: string | undefined) => name === undefined || DIRECTIONS.some((one) => one === name)
  if (isOurs(from) && isOurs(to)) {
    if (from !== undefined && to === undefined && from === 'carabiner') throw usage('Give --to AGENT as well')
    return undefined
  }
  return { from: from ?? 'claude-code', to: to ?? 'carabiner' }
}

async function migrateAgents(
  { from, to }: Pair,
  options: Given,
  file: string | undefined,
  output: Output,
): Promise<number> {
  const unfit = (['remove-source', 'name', 'yes', 'full'] as const).find(
    (key) => (options[key] ?? false) !== false,
  )
  if (unfit !== undefined) throw usage(`--${unfit} does not go with another agent’s hooks`)
  const projectDir = options.user ? undefined : projectFolder(options)
  const [source, target] = await Promise.all([formatNamed(from), formatNamed(to)])
  if (!source || !target) throw usage(`There is no format ${source ? to : from}`)
  const plan = () =>
    planAgentMigration({
      from: source,
      to: target,
      projectDir,
      source: file === undefined ? undefined : callerPath(file),
      target: options.out === undefined ? undefined : callerPath(options.out),
    })
  const told = (shown: ReturnType<typeof plan>): Told => ({ ...shown, to, places: [shown.source.path] })
  const words = file === undefined ? [] : [file]
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const shown = plan()
    const isDone = options.write && shown.changes.length > 0
    const backups = isDone ? await carryOutAgents(shown, plan) : undefined
    if (isDone && !backups) continue
    const next =
      shown.changes.length === 0
        ? []
        : !backups
          ? [again(options, ['--write'], words)]
          : to === 'carabiner'
            ? nextHere(options)
            : []
    await tell(told(shown), backups, next, output)
    return shown.warnings.length > 0 ? EXIT.failed : EXIT.ok
  }
  throw new SetupProblem('The files kept changing while Carabiner tried to write them', 'Try again.')
}

/** Hooks from a project need trust, and an agent runs them only if it was set up to. */
function nextHere(options: Given): readonly string[] {
  return [...(options.user ? [] : [typedTrust([], { project: options.project })]), ENGINE]
}

const ENGINE = 'carabiner setup claude-code --engine   # makes Claude Code run them; other agents likewise'

async function move(plugin: string, direction: Direction, options: Given, output: Output): Promise<number> {
  const { migratePlugin } = await import('../plugins/migrate-plugin.js')
  const write = again(options, ['--write'], [plugin])
  return asRefusals(() => migratePlugin({ plugin, direction, how: options, again: write, output }))
}

function checkPluginOptions(options: Given, plugin: string | undefined, direction: Direction): void {
  if (plugin === undefined) {
    const given = (['name', 'out', 'yes', 'full'] as const).find((key) => (options[key] ?? false) !== false)
    if (given !== undefined) throw usage(`--${given} needs a PLUGIN`)
    return
  }
  if (options['remove-source'])
    throw usage('--remove-source is for settings; remove a plugin’s folder yourself')
  if (direction === 'claude-code' && options.out === undefined) {
    throw usage(
      'Give --out DIR, the folder to put the plugin in',
      'claude --plugin-dir DIR/NAME runs it there.',
    )
  }
  if (options.out === undefined) return
  if (direction === 'carabiner') throw usage('--out needs --to claude-code')
  if (isOurs(options.out))
    throw usage(`${visible(options.out)} is where Carabiner keeps hooks`, 'Give another --out DIR.')
}

/** A plugin placed there would run here without a review. */
function isOurs(folder: string): boolean {
  const path = resolve(folder)
  const isNamedSo = [path, realOf(path)].some((one) => one.toLowerCase().split(sep).includes('.amplifier'))
  return isNamedSo || isWithin(path, join(userHome(), '.amplifier'))
}

// ---- settings -------------------------------------------------------------------------------------------------

async function migrate(direction: Direction, options: Given, output: Output): Promise<void> {
  const projectDir = options.user ? undefined : projectFolder(options)
  const plan = () => planMigration(migrationFiles(direction, projectDir), options['remove-source'])
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const shown = plan()
    const told: Told = {
      ...shown,
      to: direction,
      places: shown.files.pairs.map(({ from }) => from.path),
    }
    const isShown = !options.write || shown.changes.length === 0
    const backups = isShown ? undefined : await carryOut(shown, plan)
    if (isShown || backups) return tell(told, backups, nextOf(shown, backups !== undefined, options), output)
  }
  throw new SetupProblem('The files kept changing while Carabiner tried to write them', 'Try again.')
}

/** A migration, as it is shown. */
interface Told extends Pick<Migration, 'changes' | 'moved' | 'left' | 'notes' | 'sources'> {
  readonly to: string
  /** Files that may hold hooks to migrate. */
  readonly places: readonly string[]
  /** Gates that will not block. */
  readonly warnings?: readonly Remark[]
}

async function tell(
  migration: Told,
  backups: ReadonlyMap<string, string> | undefined,
  next: readonly string[],
  output: Output,
): Promise<void> {
  const { changes, moved, left, notes, sources, to, warnings = [] } = migration
  if (output.json) {
    return output.document({
      to,
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
      warnings,
      next,
    })
  }
  const paint = painter(1)
  await output.print([
    ...changes.flatMap((change) => changeLines(change, paint)),
    ...remarkLines('stays', left, paint.red),
    ...remarkLines('note', notes, paint.yellow),
    ...remarkLines('warning', warnings, paint.red),
    sentence(migration, backups !== undefined),
    ...[...(backups?.values() ?? [])].map((path) => `${paint.dim('before')} ${visible(shortPath(path))}`),
    ...nextLines(next, paint),
  ])
}

function sentence({ moved, changes, left, sources, places }: Told, isDone: boolean): string {
  const files = places.map((path) => visible(shortPath(path))).join(' or ')
  if (sources.length === 0) return `nothing to migrate: there is no ${files}`
  const fresh = counted(moved.filter(({ isNew }) => isNew).length, 'hook')
  const there = moved.filter(({ isNew }) => !isNew).length
  const rest = [
    ...(there > 0 ? [`${there} there already`] : []),
    ...(left.length > 0 ? [staying(left.length)] : []),
  ]
  const more = rest.length > 0 ? `; ${rest.join(', ')}` : ''
  if (changes.length === 0) return `nothing to do${more}`
  return isDone ? `migrated ${fresh}${more}` : `${fresh} would be migrated${more}; nothing was written`
}

function staying(count: number): string {
  return count === 1 ? '1 entry stays where it is' : `${count} entries stay where they are`
}

function nextOf({ changes, moved, files }: Migration, isDone: boolean, options: Given): readonly string[] {
  if (changes.length === 0) return []
  if (!isDone) return [again(options, ['--write'])]
  const isHere = files.direction === 'carabiner'
  return [
    ...(isHere && !options.user && moved.some(({ isNew }) => isNew)
      ? [typedTrust([], { project: options.project })]
      : []),
    ...(isHere ? [] : [RESTART]),
    ...(isHere && options['remove-source']
      ? ['carabiner setup claude-code --engine   # makes Claude Code run them']
      : []),
    ...(options['remove-source'] || moved.length === 0
      ? []
      : [
          `${again(options, ['--write', '--remove-source'])}   # otherwise an agent that reads both places runs them twice`,
        ]),
  ]
}

// ---- what to type ---------------------------------------------------------------------------------------------

/** The same command line, with more options. */
function again(options: Given, more: readonly string[], words: readonly string[] = []): string {
  const given = (['from', 'to', 'project', 'name', 'out'] as const).flatMap((key) => {
    const value = options[key]
    return value === undefined ? [] : optionOf(`--${key}`, value)
  })
  const flags = (['user', 'remove-source'] as const).filter((key) => options[key]).map((key) => `--${key}`)
  return ['carabiner', 'migrate', ...words, ...given, ...flags, ...more].map(shellQuoted).join(' ')
}
