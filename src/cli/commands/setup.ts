// `carabiner setup`: registers hooks with a host, and takes them out again. Shows what it changes before it does.

import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { didYouMean, visible } from '../../core/base/text.js'
import { userHome } from '../../files/homes.js'
import { type Entry, engineEntries, type Program, packEntries } from '../../hosts/claude-code/entries.js'
import { disablesHooks } from '../../hosts/claude-code/settings-text.js'
import {
  carryOut,
  type Plan,
  planInstall,
  planPrune,
  planRemove,
  projectSettings,
  userSettings,
} from '../../hosts/claude-code/setup.js'
import { type OwnCommand, ownCommand } from '../../hosts/own-command.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { envProblems, projectEnvOf } from '../../pack/deciding-variables.js'
import type { Command } from '../command.js'
import { commandsIn } from '../doctor/agent-files.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import { changeLines, diffOf } from '../print/diff.js'
import { counted, labelled, nextLines, shortPath } from '../print/lines.js'
import { RESTART } from '../print/next-command.js'
import { painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { projectFolder } from '../sources.js'

const HOSTS = ['claude-code']
/** Each time somebody else changed the file while this one showed what it would change. */
const MOST_TRIES = 5

const OPTIONS = {
  user: { type: 'boolean', help: 'In your own settings, for all projects: the default.' },
  project: { type: 'boolean', help: "In the project's .claude/settings.json, for all its users." },
  engine: { type: 'boolean', help: "The project's own hooks in place of the standard pack." },
  'dry-run': { type: 'boolean', help: 'Show what would change, and change nothing.' },
  remove: { type: 'boolean', help: 'Take everything of Carabiner out again.' },
  prune: { type: 'boolean', help: 'Take out hooks of the pack whose program is gone.', hidden: true },
} as const

interface Wish {
  /** Takes entries out: all of ours, or the dead ones. */
  readonly remove: boolean
  readonly dry: boolean
  readonly plan: () => Plan
  readonly entries: readonly Entry[]
  readonly notes: readonly string[]
}

export const command: Command<typeof OPTIONS> = {
  name: 'setup',
  summary: 'Register hooks with a host: claude-code.',
  positionals: ['HOST'],
  completes: [HOSTS],
  about:
    'Writes the standard pack into settings.json of Claude Code, or with --engine one entry for each event that runs ' +
    'the hooks of the project you are in. What others wrote there stays as it is. Run it again after an update, or ' +
    'when Node or Carabiner moved: it puts right what is not as it should be.',
  options: OPTIONS,
  exits: [
    [0, 'done, or nothing to do'],
    [1, 'the settings were left alone; the message says why'],
  ],
  examples: [
    { does: 'What would be written?', line: 'carabiner setup claude-code --dry-run' },
    { does: 'Run the hooks of any project you are in.', line: 'carabiner setup claude-code --engine' },
    { does: 'As if it had never been there.', line: 'carabiner setup claude-code --remove' },
  ],
  async run({ options, positionals: [host] }, output) {
    checkHost(host)
    if (options.user && options.project) throw usage('Give --user or --project, not both')
    if (options.remove && options.engine) throw usage('--remove takes everything out; leave out --engine')
    if (options.prune && (options.remove || options.engine))
      throw usage('Give --prune without --remove or --engine')
    if (options.remove && !options['dry-run']) checkPerson('Taking the guard away')
    try {
      const place = options.project ? projectSettings(settingsProject()) : userSettings()
      const program = thisProgram()
      const entries = options.engine ? engineEntries(program) : packEntries(program)
      const remove = options.remove || options.prune
      const plan = () => {
        if (options.prune) return planPrune(place)
        return options.remove ? planRemove(place) : planInstall(place, entries)
      }
      await setUp(
        { remove, dry: options['dry-run'], plan, entries, notes: remove ? [] : notesOn(program) },
        output,
      )
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

function checkHost(host: string | undefined): void {
  if (host !== undefined && HOSTS.includes(host)) return
  const known = `carabiner setup knows ${HOSTS.join(', ')}.`
  if (host === undefined) throw usage('Give the host to set up', known)
  throw usage(`There is no host ${JSON.stringify(host)}${didYouMean(host, HOSTS)}`, known)
}

/** Claude Code takes the folder that it is started in: one with settings of its own is meant, whatever is further up. */
function settingsProject(): string {
  return projectFolder({ project: existsSync('.claude/settings.json') ? '.' : undefined })
}

/** What Claude Code is to start: this very Node and this very program, wherever somebody works. */
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
  const here = envProblems(projectEnvOf(undefined, process.env, userHome()))
  if (!/[\\/]_npx[\\/]/.test(script)) return here
  return [
    `${script} is in the cache of npx, which may be emptied; npm install -g carabiner, and run this again`,
    ...here,
  ]
}

// ---- doing it -------------------------------------------------------------------------------------------------

async function setUp(wish: Wish, output: Output): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const plan = wish.plan()
    if (!plan.changes || wish.dry) return tell(wish, plan, undefined, output)
    if (!output.json) await output.print(changeLines(plan, painter(1)))
    const done = await carryOut(plan, wish.plan)
    if (done) return tell(wish, plan, done, output)
  }
  throw new SetupProblem(
    'The settings were changed by others each time they were to be changed',
    'Try again.',
  )
}

async function tell(
  wish: Wish,
  plan: Plan,
  done: { readonly backup: string | undefined } | undefined,
  output: Output,
): Promise<void> {
  const notes = [
    ...wish.notes,
    ...(wish.remove ? [] : replacedIn(plan, done !== undefined)),
    ...(plan.after !== undefined && disablesHooks(plan.after) ? [SWITCHED_OFF] : []),
  ]
  if (output.json) {
    return output.document({
      file: plan.file.path,
      changes: plan.changes,
      written: done !== undefined,
      hooks: wish.remove ? 0 : wish.entries.length,
      diff: diffIn(plan),
      backup: done?.backup ?? null,
      notes,
    })
  }
  const paint = painter(1)
  const shown = done === undefined && plan.changes ? changeLines(plan, paint) : []
  await output.print([
    ...shown,
    sentence(wish, plan, done !== undefined),
    ...(done?.backup === undefined ? [] : [`${paint.dim('before')} ${visible(shortPath(done.backup))}`]),
    ...notes.flatMap((note) => labelled('note', visible(note), paint.yellow)),
    ...(done && !wish.remove ? nextLines([RESTART], paint) : []),
  ])
}

/** The pack and the hooks of projects take each other's place. */
function replacedIn({ file, after = '' }: Plan, done: boolean): readonly string[] {
  const calls = (text: string, call: OwnCommand['call']) =>
    (commandsIn('Claude Code', file.path, text) ?? []).filter(
      ({ command }) => ownCommand({ command })?.call === call,
    ).length
  const lost = (call: OwnCommand['call']) => (calls(after, call) > 0 ? 0 : calls(file.text ?? '', call))
  const [engine, pack] = [lost('fire'), lost('hook')]
  const out = done ? 'taken out' : 'to be taken out'
  return [
    ...(engine > 0
      ? [
          `${engine === 1 ? '1 entry of --engine is' : `${engine} entries of --engine are`} ${out}: Claude Code no longer asks the hooks of projects. Bring them back: carabiner setup claude-code --engine`,
        ]
      : []),
    ...(pack > 0
      ? [
          `${counted(pack, 'hook')} of the standard pack ${pack === 1 ? 'is' : 'are'} ${out}. Bring them back: carabiner setup claude-code`,
        ]
      : []),
  ]
}

const SWITCHED_OFF =
  'disableAllHooks is true in this file: Claude Code runs no hook at all, none of these either'

function sentence({ remove, entries }: Wish, { file, changes, after }: Plan, done: boolean): string {
  const where = visible(shortPath(file.path))
  const hooks = counted(entries.length, 'hook')
  if (!changes)
    return remove ? `nothing of Carabiner is in ${where}` : `${hooks} registered in ${where}: nothing to do`
  if (!done)
    return `nothing was written; ${remove ? 'they would be taken out' : `${hooks} would be registered`}`
  if (!remove) return `registered ${hooks} in ${where}`
  return after === undefined ? `removed ${where}, which was made for them` : `taken out of ${where}`
}

function diffIn(plan: Plan): string {
  return plan.changes ? diffOf(plan).join('\n') : ''
}
