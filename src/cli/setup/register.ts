// Registering hooks with one agent: what it would change, the change, and what is said about it.

import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rulesFileOf } from '../../config/discovery.js'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { searchPath } from '../../files/search-path.js'
import { realOf } from '../../files/within.js'
import { abilityFacts } from '../../hosts/abilities.js'
import {
  ALL_CHOICES,
  type Choice,
  engineEntries,
  idleChoices,
  type Program,
  packEntries,
} from '../../hosts/entries.js'
import { problemsOf } from '../../hosts/host-problems.js'
import type { Entry, HostProblem } from '../../hosts/host-setup.js'
import { partsOf } from '../../hosts/late-parts.js'
import { ownIn, writtenPlaces } from '../../hosts/registrations.js'
import { readSettings } from '../../hosts/settings-file.js'
import {
  carryOut,
  type HostPlace,
  type Plan,
  planInstall,
  planPrune,
  planRemove,
  projectPlaces,
  undo,
  userPlaces,
} from '../../hosts/setup.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { type KnownSetup, registeringOf, sharerOf } from '../../hosts/setups.js'
import { envProblems, projectEnvOf } from '../../pack/deciding-variables.js'
import { findServices, isRunning } from '../../service/socket/running-services.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import { changeLines, diffOf } from '../print/diff.js'
import { counted, labelled, nextLines, placeOf, shortPath, todoLines } from '../print/lines.js'
import { RESTART, TRY_GUARD } from '../print/next-command.js'
import { type Paint, painter } from '../print/terminal.js'
import { Refusal } from '../refusal.js'
import { projectFolder, projectOf } from '../sources.js'
import {
  type Commands,
  changedLines,
  changedWords,
  chosenBy,
  clipsIn,
  hasEngine,
  lostGate,
  type NamedChoices,
} from './choice.js'
import { type Start, startOf, startText } from './start.js'

export interface Wanted extends NamedChoices {
  readonly project: boolean
  readonly engine: boolean
  readonly remove: boolean
  readonly prune: boolean
  readonly diff: boolean
  readonly 'dry-run': boolean
  readonly 'no-service': boolean
  /** Removes from every file that setup wrote for the agent, in any project. */
  readonly everywhere?: boolean
}

/** What to do about one agent. */
export interface Wish extends KnownSetup {
  readonly places: readonly HostPlace[]
  /** They are files of the project, not the user's. */
  readonly isProject: boolean
  /** Takes entries out: all of ours, or the dead ones. */
  readonly remove: boolean
  readonly dry: boolean
  /** Shows the lines of the file. */
  readonly diff: boolean
  readonly plan: () => readonly Plan[]
  readonly entries: readonly Entry[]
  /** Hooks of the pack to register. */
  readonly chosen: readonly Choice[]
  /** Hooks that cannot work under the agent. */
  readonly idle?: readonly Choice[]
  /** The command that makes further changes to the same files. */
  readonly again: string
  readonly notes: readonly string[]
  /** How the registered commands start. Undefined if none is registered. */
  readonly start?: Start
  /** A service runs, although these commands do not ask it. */
  readonly isServiceLeft?: boolean
}

/** `pick`: lets a person change what the options say. */
export async function wishFor(
  known: KnownSetup,
  options: Wanted,
  output: Output,
  pick?: (begin: readonly Choice[], at: Picking) => Promise<readonly Choice[]>,
): Promise<Wish> {
  const { host, setup } = known
  const { engine, remove, prune, diff, 'dry-run': dry } = options
  const places = options.everywhere ? writtenPlaces(known) : placesFor(known, options)
  const kept = [...(options.project ? ['--project'] : []), ...(options['no-service'] ? ['--no-service'] : [])]
  const again = ['carabiner setup', host.name, ...kept].join(' ')
  const common = {
    ...known,
    places,
    isProject: options.project,
    dry,
    diff,
    remove: remove || prune,
    chosen: [],
    again,
    entries: [],
    notes: [],
  }
  if (prune || remove) return { ...common, plan: () => places.map(prune ? planPrune : planRemove) }
  const program = thisProgram()
  const commands = places.flatMap((place) => place.form.commands(readSettings(place).text ?? ''))
  const hasEngineEntries = engine || (options.only === undefined && hasEngine(commands))
  const begin = chosenBy(options, commands, { engine: hasEngineEntries, again })
  const picking = { host: host.title, file: places[0]?.path ?? '', mayBeEmpty: hasEngineEntries }
  const picked = (await pick?.(begin, picking)) ?? begin
  const service = { off: options['no-service'], dry, registered: clipsIn(commands) }
  const start = await startOf(program, service, output)
  const registering = registeringOf(known)
  const idle = idleChoices(picked, registering)
  if (idle.length === picked.length && !hasEngineEntries)
    throw new SetupProblem(`${host.title} does not let hooks do what ${idle.join(', ')} would do`)
  const entries = [
    ...packEntries(start.program, picked, registering),
    ...(hasEngineEntries ? engineEntries(start.program, registering) : []),
  ]
  return {
    ...common,
    chosen: picked.filter((choice) => !idle.includes(choice)),
    idle: ALL_CHOICES.filter((choice) => idleChoices([choice], registering).length > 0),
    plan: () => planned(places, entries),
    entries,
    notes: [
      ...(setup.notes ?? []),
      ...(idle.length > 0 ? [`${idle.join(', ')} cannot work under ${host.title}: left out`] : []),
      ...(hasEngineEntries || places.length === 0 ? [] : rulesUnasked(known, again)),
      ...notesOn(program),
    ],
    start,
    isServiceLeft: start.program.clip === undefined && (await findServices()).some(isRunning),
  }
}

/** Agents ask about rules only through the engine, which the settings of the project may have. */
function rulesUnasked(known: KnownSetup, again: string): readonly string[] {
  const files = [userHome(), projectOf({ project: undefined })].map(rulesFileOf)
  const file = files.find((path) => existsSync(path))
  if (file === undefined) return []
  const commands = [...userPlaces(known.setup), ...placesInProject(known)].flatMap((place) =>
    place.form.commands(readSettings(place).text ?? ''),
  )
  if (hasEngine(commands)) return []
  return [`${known.host.title} does not ask the rules in ${shortPath(file)} yet: ${again} --engine`]
}

export interface Picking {
  readonly host: string
  readonly file: string
  readonly mayBeEmpty: boolean
}

function planned(places: readonly HostPlace[], entries: readonly Entry[]): readonly Plan[] {
  const earlier = new Map<string, string>()
  return places.map((place) => {
    const plan = planInstall(place, entries, earlier)
    earlier.set(place.path, plan.after ?? '')
    return plan
  })
}

function placesFor(known: KnownSetup, { project: isProject, remove }: Wanted): readonly HostPlace[] {
  const { host, setup } = known
  const places = isProject ? placesInProject(known) : userPlaces(setup)
  if (places.length > 0) return places
  throw isProject
    ? new SetupProblem(
        `${host.title} does not reliably run hooks that are registered in a project`,
        remove
          ? 'Leave out --project: setup registers its hooks in your own settings.'
          : 'Leave out --project: then they are in your own settings, for all projects.',
      )
    : new SetupProblem(
        `${host.title} has no settings for all projects`,
        `In a project, type carabiner setup ${host.name} --project${remove ? ' --remove' : ''}.`,
      )
}

/** The files of the project here. None if the agent does not reliably run hooks of projects. */
export function placesInProject(known: KnownSetup): readonly HostPlace[] {
  return projectPlaces(known.setup, settingsProject(known)) ?? []
}

/** An agent takes the folder that it is started in: one with settings of its own is meant, whatever is further up. */
function settingsProject({ setup }: KnownSetup): string {
  const isHere = (projectPlaces(setup, '.') ?? []).some(({ path }) => existsSync(path))
  return projectFolder({ project: isHere ? '.' : undefined })
}

/** The Node and script to register, as absolute paths. */
export function thisProgram(): Program {
  const [, script = ''] = process.argv
  try {
    const folders = searchPath([projectOf({ project: undefined })]).folders
    const inPath = (name: string) => folders.map((folder) => join(folder, name))
    return {
      node: lastingPath(process.execPath, inPath('node')),
      script: lastingPath(realpathSync(resolve(script)), [resolve(script), ...inPath('carabiner')]),
    }
  } catch (error) {
    throw new Refusal('PROGRAM_NOT_FOUND', `Carabiner cannot find its own file: ${textOf(error)}`)
  }
}

/** Folders whose names, or whose parents, change with every update. */
const OF_ONE_VERSION = /[\\/](?:Cellar|\.pnpm|\.?nvm|\.?fnm|\.?asdf|mise|\.volta)[\\/]/

/** A link to the same file, if that stays when the file is updated. */
export function lastingPath(real: string, links: readonly string[]): string {
  if (!OF_ONE_VERSION.test(real)) return real
  return links.find((link) => !OF_ONE_VERSION.test(link) && realOf(link) === real) ?? real
}

/** What will not last, and what the project here would set for the hooks that are registered. */
function notesOn({ node, script }: Program): readonly string[] {
  const here = [
    ...[node, script]
      .filter((path) => OF_ONE_VERSION.test(path))
      .map((path) => `An update moves ${path}. Gates stay closed then until you run this again`),
    ...envProblems(projectEnvOf(undefined, callerEnv(), userHome())),
  ]
  if (!/[\\/]_npx[\\/]/.test(script)) return here
  return [
    `${script} is in the npx cache, which may be emptied. Type npm link in a clone of Carabiner, then run this again`,
    ...here,
  ]
}

// ---- doing it -------------------------------------------------------------------------------------------------

/** Each time somebody else changed a file while this one showed what it would change. */
const MOST_TRIES = 5

/** What became of a wish. */
export interface Done extends Wish {
  readonly plans: readonly Plan[]
  readonly changes: boolean
  readonly written: boolean
  /** Where the previous texts are kept. */
  readonly backups: readonly string[]
}

/** Throws a SetupProblem, or a Refusal if an agent would take a gate away. */
export async function carriedOut(wish: Wish): Promise<Done> {
  const backups: string[] = []
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const plans = wish.plan()
    const changes = plans.some((plan) => plan.changes)
    if (!changes || wish.dry) return { ...wish, plans, changes, written: false, backups }
    const lost = lostGate(commandsOf(wish, plans, 'before'), commandsOf(wish, plans, 'after'))
    if (lost)
      checkPerson(lost === 'guard' ? 'Removing the guard' : 'Removing or changing hooks that can block')
    if (await isWritten(wish, plans, backups)) return { ...wish, plans, changes, written: true, backups }
  }
  throw new SetupProblem('The settings kept changing while Carabiner tried to write them', 'Try again.')
}

/** Writes the last file first: it lets the host run what the others register. False if a file changed meanwhile: plan again. */
async function isWritten(wish: Wish, plans: readonly Plan[], backups: string[]): Promise<boolean> {
  const written: Plan[] = []
  try {
    for (const [i, plan] of [...plans.entries()].reverse()) {
      if (!plan.changes) continue
      const done = await carryOut(plan, () => wish.plan()[i] as Plan)
      if (!done) return false
      written.push(plan)
      if (done.backup !== undefined) backups.push(done.backup)
    }
  } catch (error) {
    // The message says that nothing was changed.
    for (const plan of written.reverse()) await undo(plan)
    throw error
  }
  return true
}

function commandsOf({ places }: Wish, plans: readonly Plan[], when: 'before' | 'after'): Commands {
  return plans.flatMap(({ file, after }, i) => {
    const text = when === 'before' ? file.text : after
    return places[i]?.form.commands(text ?? '') ?? []
  })
}

// ---- telling --------------------------------------------------------------------------------------------------

export function dataOf(done: Done): object {
  const { plans, changes, written, entries, chosen, backups, start } = done
  return {
    agent: done.host.name,
    file: plans[0]?.file.path ?? null,
    files: plans.map(({ file }) => file.path),
    changes,
    written,
    hooks: entries.length,
    chosen,
    abilities: abilityFacts(done.host),
    diff: plans.flatMap((plan) => (plan.changes ? diffOf(plan) : [])).join('\n'),
    backup: backups[0] ?? null,
    ...(start && { service: { on: start.why === undefined, why: start.why ?? null } }),
    notes: [...notesIn(done), ...problemsIn(done).map(({ text, fix }) => `${text}. ${fix}`)],
  }
}

/** For one of several agents: without what is the same for all of them. */
export function shortLinesOf(done: Done, paint: Paint): readonly string[] {
  const words = changedWords(commandsOf(done, done.plans, 'before'), commandsOf(done, done.plans, 'after'))
  const [first = '', ...more] = done.dry && done.changes ? [wouldSentence(done)] : sentences(done)
  const said = done.remove || !done.changes || words === '' ? first : `${first}: ${words}`
  return [
    ...diffLines(done, paint),
    said,
    ...more,
    ...backupLines(done, paint),
    ...problemLinesOf(done, paint),
  ]
}

function diffLines({ changes, diff, plans }: Done, paint: Paint): readonly string[] {
  return changes && diff
    ? plans.filter((plan) => plan.changes).flatMap((plan) => changeLines(plan, paint))
    : []
}

function backupLines({ backups }: Done, paint: Paint): readonly string[] {
  return backups.map((backup) => `${paint.dim('before')} ${visible(shortPath(backup))}`)
}

function problemLinesOf(done: Done, paint: Paint): readonly string[] {
  return [
    ...notesIn(done).flatMap((note) => labelled('note', visible(note), paint.yellow)),
    ...problemsIn(done).flatMap(({ severity, text, fix }) => [
      ...(severity === 'broken'
        ? labelled('broken hooks-off', text, paint.red)
        : labelled('note', text, paint.yellow)),
      ...todoLines('fix', fix, paint, 2),
    ]),
  ]
}

export function linesOf(done: Done): readonly string[] {
  const paint = painter(1)
  const { plans, start } = done
  return [
    ...diffLines(done, paint),
    ...changedLines(commandsOf(done, plans, 'before'), commandsOf(done, plans, 'after'), paint),
    ...sentences(done),
    ...backupLines(done, paint),
    ...(start ? labelled('service', visible(startText(start, done.dry)), paint.dim) : []),
    ...problemLinesOf(done, paint),
  ]
}

export function nextLinesOf(done: Done, paint: Paint): readonly string[] {
  return nextLines(nextOf(done), paint)
}

function notesIn(done: Done): readonly string[] {
  return [...done.notes, ...sharingOf(done), ...(done.remove ? [] : engineLoss(done))]
}

function sharingOf(done: Done): readonly string[] {
  const other = sharerOf(done)
  if (other === undefined || (done.remove && !done.changes)) return []
  const then = done.remove ? 'has no hooks of Carabiner without it either' : 'runs the same hooks'
  return [`${other} reads this file too, and ${then}`]
}

/** What keeps the agent from running the registered hooks, in these files or others. */
function problemsIn({ setup, isProject, remove, plans, again }: Done): readonly Required<Problem>[] {
  if (remove) return []
  const planned = new Map(plans.map(({ file, after }) => [file.path, after]))
  const project = projectOf({ project: undefined })
  return problemsOf(setup, { project, isProject, planned }).map(({ severity, file, line, text, fix }) => ({
    severity,
    text: visible(file === undefined ? text : `${placeOf({ file, line })}: ${text}`),
    fix: fix ?? again,
  }))
}

type Problem = Pick<HostProblem, 'severity' | 'text' | 'fix'>

function nextOf(done: Done): readonly string[] {
  const { host, remove, chosen, idle = [], dry, again, isServiceLeft, changes, written } = done
  if (dry && changes) return ['Leave out --dry-run to write it']
  if (remove) return written ? [`Restart ${host.title}: it runs these hooks until then`] : []
  const off = ALL_CHOICES.filter((choice) => !chosen.includes(choice) && !idle.includes(choice))
  const more = `${again} --with ${off[0]}   # off: ${off.join(', ')}`
  return [
    ...(written ? [host.name === 'claude-code' ? RESTART : `Restart ${host.title}`] : []),
    ...(isServiceLeft ? ['carabiner service stop   # one still runs'] : []),
    ...(written && chosen.includes('guard') ? [`${TRY_GUARD}   # see it block a call`] : []),
    ...(chosen.length > 0 && off.length > 0 ? [more] : []),
    ...(written && partsOf(host).proof
      ? [`carabiner verify ${host.name}   # prove that it obeys hooks`]
      : []),
    'carabiner doctor   # check that all of it works',
  ]
}

/** `--only` also removes the entries that run the hooks of projects. */
function engineLoss(done: Done): readonly string[] {
  const [before, after] = [commandsOf(done, done.plans, 'before'), commandsOf(done, done.plans, 'after')]
  if (!hasEngine(before) || hasEngine(after)) return []
  const removed = done.written ? 'no longer runs' : 'would no longer run'
  return [`${done.host.title} ${removed} the hooks of projects. To have both: ${done.again} --engine`]
}

function sentences(done: Done): readonly string[] {
  const { remove, entries, plans, changes, written } = done
  const where = plans.map(({ file }) => visible(shortPath(file.path))).join(', ')
  const hooks = counted(entries.length, 'hook')
  if (!changes)
    return [remove ? `${where} has no hooks of Carabiner` : `${hooks} registered in ${where}: nothing to do`]
  if (!written) return [`nothing was written; ${wouldSentence(done)}`]
  if (remove) return plans.filter((plan) => plan.changes).map(removedSentence)
  if (onlyLoses(done)) return [`${hooks} ${entries.length === 1 ? 'stays' : 'stay'} registered in ${where}`]
  return [`registered ${hooks} in ${where}`]
}

function wouldSentence({ remove, entries, plans }: Done): string {
  const where = plans.map(({ file }) => visible(shortPath(file.path))).join(', ')
  if (remove) return `the hooks would be removed from ${where}`
  return `${counted(entries.length, 'hook')} would be registered in ${where}`
}

function removedSentence({ file, after }: Plan): string {
  const where = visible(shortPath(file.path))
  return after === undefined ? `removed ${where}, which setup had created` : `removed the hooks from ${where}`
}

/** Whether entries of ours were taken out, and none came in. */
function onlyLoses(done: Done): boolean {
  const own = (when: 'before' | 'after') =>
    ownIn(commandsOf(done, done.plans, when)).map(({ command }) => command)
  const [had, has] = [own('before'), own('after')]
  return has.length < had.length && has.every((command) => had.includes(command))
}
