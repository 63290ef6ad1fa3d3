// `carabiner setup`: registers hooks with a host, and takes them out again. Says what each hook does, and asks which.

import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { didYouMean, visible } from '../../core/base/text.js'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import {
  ALL_CHOICES,
  type Choice,
  type Entry,
  engineEntries,
  type Program,
  packEntries,
} from '../../hosts/claude-code/entries.js'
import { hooksOff } from '../../hosts/claude-code/hooks-off.js'
import {
  carryOut,
  type Plan,
  planInstall,
  planPrune,
  planRemove,
  projectSettings,
  userSettings,
} from '../../hosts/claude-code/setup.js'
import { ownCommand } from '../../hosts/own-command.js'
import { readSettings } from '../../hosts/settings-file.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { envProblems, projectEnvOf } from '../../pack/deciding-variables.js'
import { findServices, isRunning } from '../../service/socket/running-services.js'
import type { Command, Options } from '../command.js'
import { canAsk } from '../confirm.js'
import { commandsIn } from '../doctor/agent-files.js'
import type { Output } from '../output.js'
import { checkPerson, isAgentShell } from '../person.js'
import { changeLines, diffOf } from '../print/diff.js'
import { counted, labelled, nextLines, placeOf, shortPath, todoLines } from '../print/lines.js'
import { RESTART, TRY_GUARD } from '../print/next-command.js'
import { painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import {
  CHOICE_OPTIONS,
  changedLines,
  chosenBy,
  clipsIn,
  hasEngine,
  lostGate,
  namesChoices,
  pickedFrom,
} from '../setup-choice.js'
import { type Start, startOf, startText } from '../setup-service.js'
import { projectFolder, projectOf } from '../sources.js'

const HOSTS = ['claude-code']
/** Each time somebody else changed the file while this one showed what it would change. */
const MOST_TRIES = 5

const OPTIONS = {
  ...CHOICE_OPTIONS,
  yes: { type: 'boolean', help: 'Do not ask: use the default hooks, or those already there.' },
  user: { type: 'boolean', help: 'In your own settings, for all projects: the default.' },
  project: { type: 'boolean', help: "In the project's .claude/settings.json, for all its users." },
  engine: { type: 'boolean', help: "Also run the project's own hooks." },
  'no-service': { type: 'boolean', help: 'Start Node for every event, without clip and the service.' },
  'dry-run': { type: 'boolean', help: 'Show what would change, and change nothing.' },
  diff: { type: 'boolean', help: 'Show every line that changes in the file.' },
  remove: { type: 'boolean', help: 'Remove everything that setup added.' },
  prune: { type: 'boolean', help: 'Remove hooks of the pack whose program is gone.', hidden: true },
} as const

interface Wish {
  /** Takes entries out: all of ours, or the dead ones. */
  readonly remove: boolean
  readonly dry: boolean
  /** Shows the lines of the file. */
  readonly diff: boolean
  readonly plan: () => Plan
  readonly entries: readonly Entry[]
  /** Hooks of the pack to register. */
  readonly chosen: readonly Choice[]
  /** The command that makes further changes to the same file. */
  readonly again: string
  readonly notes: readonly string[]
  /** How the registered commands start. Undefined if none is registered. */
  readonly start?: Start
  /** A service runs, although these commands do not ask it. */
  readonly isServiceLeft?: boolean
}

export const command: Command<typeof OPTIONS> = {
  name: 'setup',
  summary: 'Register hooks with an agent: claude-code.',
  positionals: ['AGENT'],
  completes: [HOSTS],
  about:
    'Registers hooks of the standard pack in settings.json of Claude Code: at a terminal it lists them and asks which. ' +
    `NAMES are ${ALL_CHOICES.join(', ')} or all, separated by commas. With --engine, Claude Code also runs the hooks ` +
    'of the project you are in. Only --only, --without and --remove take hooks out. All other settings stay as they ' +
    'are. If it can, it makes clip, a small C program: hooks then ask a service that stays ready, instead of starting ' +
    'Node. Run it again to add or remove hooks, and after Node or Carabiner has moved: it repairs its own entries.',
  options: OPTIONS,
  exits: [
    [0, 'done, or nothing to do'],
    [1, 'the settings were left alone; the message says why'],
  ],
  examples: [
    { does: 'What would be registered?', line: 'carabiner setup claude-code --dry-run' },
    { does: 'Only the guard, and lock mode.', line: 'carabiner setup claude-code --only guard,stop' },
    { does: 'Remember sessions, too.', line: 'carabiner setup claude-code --with memory' },
    { does: 'Run the hooks of any project you are in.', line: 'carabiner setup claude-code --engine' },
    { does: 'Remove all of it again.', line: 'carabiner setup claude-code --remove' },
  ],
  async run({ options, positionals: [host] }, output) {
    checkHost(host)
    checkOptions(options)
    if (options.remove && !options['dry-run']) checkPerson('Removing the guard')
    try {
      await setUp(await wishOf(options, output), output)
      return EXIT.ok
    } catch (error) {
      if (!(error instanceof SetupProblem)) throw error
      throw new Refusal(
        'SETTINGS_UNUSABLE',
        error.message,
        error.hint === undefined ? {} : { hint: error.hint },
      )
    }
  },
}

type Given = Options<typeof OPTIONS>

function checkOptions(options: Given): void {
  const { user, project, engine, remove, prune } = options
  if (user && project) throw usage('Give --user or --project, not both')
  if (remove && engine) throw usage('--remove takes everything out; leave out --engine')
  if (prune && (remove || engine)) throw usage('Give --prune without --remove or --engine')
  if (namesChoices(options) && (remove || prune))
    throw usage('--only, --with and --without choose from the standard pack; leave out the other options')
  if (options['no-service'] && (remove || prune))
    throw usage('--no-service is for hooks that are registered; leave out the other options')
  if (options.only !== undefined && engine)
    throw usage('Give --only or --engine, not both', 'Use --engine --with NAMES.')
}

async function wishOf(options: Given, output: Output): Promise<Wish> {
  const { engine, remove, prune, diff, 'dry-run': dry } = options
  const place = options.project ? projectSettings(settingsProject()) : userSettings()
  const program = thisProgram()
  const kept = [...(options.project ? ['--project'] : []), ...(options['no-service'] ? ['--no-service'] : [])]
  const again = ['carabiner setup claude-code', ...kept].join(' ')
  const common = { dry, diff, remove: remove || prune, chosen: [], again }
  if (prune) return { ...common, plan: () => planPrune(place), entries: [], notes: [] }
  if (remove) return { ...common, plan: () => planRemove(place), entries: [], notes: [] }
  const { text } = readSettings(place)
  const hasEngineEntries = engine || (options.only === undefined && hasEngine(text))
  const begin = chosenBy(options, text, { engine: hasEngineEntries, again })
  const title = `Hooks for Claude Code, in ${visible(shortPath(place.path))}`
  const chosen = isAsking(options, output)
    ? await pickedFrom(begin, { title, mayBeEmpty: hasEngineEntries }, output)
    : begin
  const wanted = { off: options['no-service'], dry, registered: clipsIn(text) }
  const start = await startOf(program, wanted, output)
  const entries = [
    ...packEntries(start.program, chosen),
    ...(hasEngineEntries ? engineEntries(start.program) : []),
  ]
  return {
    ...common,
    chosen,
    plan: () => planInstall(place, entries),
    entries,
    notes: notesOn(program),
    start,
    isServiceLeft: start.program.clip === undefined && (await findServices()).some(isRunning),
  }
}

/** Asks a person who said nothing about hooks. */
function isAsking(options: Given, output: Output): boolean {
  const isSaid = options.engine || options.yes || options['dry-run'] || namesChoices(options)
  return !isSaid && canAsk(output) && !isAgentShell()
}

function checkHost(host: string | undefined): void {
  if (host !== undefined && HOSTS.includes(host)) return
  const known = `Type carabiner setup ${HOSTS.join(' or carabiner setup ')}.`
  if (host === undefined) throw usage('Which agent? Give its name', known)
  throw usage(`There is no agent ${JSON.stringify(host)}${didYouMean(host, HOSTS)}`, known)
}

/** Claude Code takes the folder that it is started in: one with settings of its own is meant, whatever is further up. */
function settingsProject(): string {
  return projectFolder({ project: existsSync('.claude/settings.json') ? '.' : undefined })
}

/** The Node and script to register, as absolute paths. */
function thisProgram(): Program {
  const [, script = ''] = process.argv
  try {
    return { node: process.execPath, script: realpathSync(resolve(script)) }
  } catch (error) {
    throw new Refusal('PROGRAM_NOT_FOUND', `Carabiner cannot find its own file: ${textOf(error)}`)
  }
}

/** What will not last, and what the project here would set for the hooks that are registered. */
function notesOn({ script }: Program): readonly string[] {
  const here = envProblems(projectEnvOf(undefined, callerEnv(), userHome()))
  if (!/[\\/]_npx[\\/]/.test(script)) return here
  return [
    `${script} is in the npx cache, which may be emptied. Type npm install -g carabiner, then run this again`,
    ...here,
  ]
}

// ---- doing it -------------------------------------------------------------------------------------------------

async function setUp(wish: Wish, output: Output): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const plan = wish.plan()
    if (!plan.changes || wish.dry) return tell(wish, plan, undefined, output)
    const lost = lostGate(plan.file.text, plan.after)
    if (lost)
      checkPerson(lost === 'guard' ? 'Removing the guard' : 'Removing or changing hooks that can block')
    const done = await carryOut(plan, wish.plan)
    if (done) return tell(wish, plan, done, output)
  }
  throw new SetupProblem('The settings kept changing while Carabiner tried to write them', 'Try again.')
}

async function tell(
  wish: Wish,
  plan: Plan,
  done: { readonly backup: string | undefined } | undefined,
  output: Output,
): Promise<void> {
  const notes = [...wish.notes, ...(wish.remove ? [] : engineLoss(wish, plan, done !== undefined))]
  const off = wish.remove ? undefined : switchedOff()
  if (output.json) {
    return output.document({
      file: plan.file.path,
      changes: plan.changes,
      written: done !== undefined,
      hooks: wish.entries.length,
      chosen: wish.chosen,
      diff: diffIn(plan),
      backup: done?.backup ?? null,
      ...(wish.start && { service: { on: wish.start.why === undefined, why: wish.start.why ?? null } }),
      notes: off ? [...notes, `${off.text}. ${off.fix}`] : notes,
    })
  }
  const paint = painter(1)
  await output.print([
    ...(plan.changes && wish.diff ? changeLines(plan, paint) : []),
    ...changedLines(plan.file.text, plan.after, paint),
    sentence(wish, plan, done !== undefined),
    ...(done?.backup === undefined ? [] : [`${paint.dim('before')} ${visible(shortPath(done.backup))}`]),
    ...(wish.start ? labelled('service', visible(startText(wish.start)), paint.dim) : []),
    ...notes.flatMap((note) => labelled('note', visible(note), paint.yellow)),
    ...(off
      ? [...labelled('broken hooks-off', off.text, paint.red), ...todoLines('fix', off.fix, paint, 2)]
      : []),
    ...nextLines(nextOf(wish, plan, done !== undefined), paint),
  ])
}

/** A setting, in this file or another, that keeps Claude Code from running what is registered. */
function switchedOff(): { readonly text: string; readonly fix: string } | undefined {
  const project = projectOf({ project: undefined })
  const off = hooksOff({ home: userHome(), project, env: callerEnv() })
  if (!off) return undefined
  const { text, fix } = off
  return { text: visible(off.file === undefined ? text : `${placeOf(off)}: ${text}`), fix }
}

function nextOf(
  { remove, chosen, dry, again, isServiceLeft }: Wish,
  { changes }: Plan,
  done: boolean,
): readonly string[] {
  if (dry && changes) return ['Leave out --dry-run to write it']
  if (remove) return done ? ['Restart Claude Code: it runs these hooks until then'] : []
  const off = ALL_CHOICES.filter((choice) => !chosen.includes(choice))
  const more = `${again} --with ${off[0]}   # off: ${off.join(', ')}`
  return [
    ...(done ? [RESTART] : []),
    ...(isServiceLeft ? ['carabiner service stop   # one still runs'] : []),
    ...(done && chosen.includes('guard') ? [`${TRY_GUARD}   # see it block a call`] : []),
    ...(chosen.length > 0 && off.length > 0 ? [more] : []),
    'carabiner doctor   # check that all of it works',
  ]
}

/** `--only` also removes the entries that run the hooks of projects. */
function engineLoss({ again }: Wish, { file, after }: Plan, done: boolean): readonly string[] {
  if (!hasEngine(file.text) || hasEngine(after)) return []
  const removed = done ? 'no longer runs' : 'would no longer run'
  return [`Claude Code ${removed} the hooks of projects. To have both: ${again} --engine`]
}

function sentence({ remove, entries }: Wish, { file, changes, after }: Plan, done: boolean): string {
  const where = visible(shortPath(file.path))
  const hooks = counted(entries.length, 'hook')
  if (!changes)
    return remove ? `${where} has no hooks of Carabiner` : `${hooks} registered in ${where}: nothing to do`
  if (!done)
    return `nothing was written; ${remove ? 'the hooks would be removed' : `${hooks} would be registered`}`
  if (!remove && onlyLoses(file.text, after))
    return `${hooks} ${entries.length === 1 ? 'stays' : 'stay'} registered in ${where}`
  if (!remove) return `registered ${hooks} in ${where}`
  return after === undefined ? `removed ${where}, which setup had created` : `removed the hooks from ${where}`
}

/** Whether entries of ours were taken out, and none came in. */
function onlyLoses(before = '', after = ''): boolean {
  const own = (text: string) =>
    (commandsIn('Claude Code', '', text) ?? [])
      .map(({ command }) => command)
      .filter((one) => ownCommand({ command: one }))
  const [had, has] = [own(before), own(after)]
  return has.length < had.length && has.every((command) => had.includes(command))
}

function diffIn(plan: Plan): string {
  return plan.changes ? diffOf(plan).join('\n') : ''
}
