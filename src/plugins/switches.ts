// Plugins and hooks that the user switched off or put into shadow mode, in one project or in all, for a while or for good. Kept outside the project.

import { join, resolve, sep } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { visible, visibleName } from '../core/base/text.js'
import { localTime } from '../core/base/time.js'
import type { Hook, Origin } from '../core/hooks/hook.js'
import type { Admit } from '../core/run/plan.js'
import { shellQuoted } from '../effects/shell/shell-quoted.js'
import { count, fieldsOf, listOf, oneOf, optional, type Reader, text } from '../files/fields.js'
import { dataHome } from '../files/homes.js'
import { isOver, type Moment, momentIn } from '../files/moment.js'
import { VersionedFile } from '../files/versioned-file.js'
import { versionsIn } from '../files/versions.js'
import { isBelow, isInProject, realOf } from '../files/within.js'

/** The scopes whose hooks can be switched off: not the company's, and hooks that a program registers are up to that program. */
export const SWITCHED_SCOPES = ['user', 'project', 'named'] as const
type SwitchedScope = (typeof SWITCHED_SCOPES)[number]

/** A plugin, or one hook of it. */
export interface SwitchTarget {
  /** The name by which `list` groups hooks: a plugin's name, `user`, `project`, or the name of an explicit file. */
  readonly plugin: string
  readonly from: SwitchedScope
  /** Hooks are listed by id, which depends on their content, so a hook that an update adds is not switched off. */
  readonly hook?: { readonly name: string; readonly ids: readonly string[] }
}

export interface Switch extends SwitchTarget {
  /** It still runs, and only says what it would have done. Absent: it is off. */
  readonly mode?: 'shadow'
  /** The project it applies to. Absent: all projects. */
  readonly project?: string
  readonly since: string
  /** The time at which it ends. */
  readonly until?: string
  /** The clock's era of `until`, if the system clock was ever set back. If it is set back again, the switch has ended. */
  readonly era?: number
  readonly by: string
  readonly reason?: string
}

interface SwitchStoreOptions {
  /** Default `dataHome()`. */
  readonly dataDir?: string | undefined
}

const NONE: readonly Switch[] = []
const LOOK_MS = 1000

/** Every method is synchronous. On failure it throws an Error that says what happened, where, and what to do. */
export class SwitchStore {
  readonly #folder: string
  readonly #dataDir: string
  readonly #file: VersionedFile<readonly Switch[]>
  #seen: { readonly at: number; readonly moment: Moment } | undefined
  #read: { readonly version: number | undefined; readonly switches: readonly Switch[] } | undefined

  constructor({ dataDir = dataHome() }: SwitchStoreOptions = {}) {
    this.#dataDir = resolve(dataDir)
    this.#folder = join(this.#dataDir, 'switches')
    this.#file = new VersionedFile({
      folder: this.#folder,
      what: 'the list of switched-off hooks',
      fresh: NONE,
      check: storedSwitches,
      durable: true,
    })
  }

  /** The switches in force now. Reads the file only if there is a newer version. */
  inForce(now: number): readonly Switch[] {
    const version = versionsIn(this.#folder)?.numbers.at(-1)
    if (!this.#read || this.#read.version !== version) {
      this.#read = { version, switches: this.#file.load() }
    }
    return this.#read.switches.filter((one) => !this.#isOver(one, now))
  }

  /** Replaces an earlier switch for the same target. */
  turnOff(off: Switch, now: number): void {
    const era = off.until === undefined ? 0 : this.#momentAt(now).era
    const stored = era === 0 ? off : { ...off, era }
    this.#file.update((all) => [...all.filter((one) => !this.#isOver(one, now) && !isSame(one, off)), stored])
  }

  /** Removes the matching switches and returns them. */
  turnOn(isMeant: (one: Switch) => boolean, now: number): readonly Switch[] {
    let gone: readonly Switch[] = []
    this.#file.update((all) => {
      const left = all.filter((one) => !this.#isOver(one, now) && !isMeant(one))
      gone = all.filter((one) => !this.#isOver(one, now) && isMeant(one))
      return left.length === all.length ? all : left
    })
    return gone
  }

  /** Removes switches that have ended. */
  sweep(now: number): void {
    this.turnOn(() => false, now)
  }

  /** Removes every switch of a removed plugin and its hooks. For a project's plugin, only those of that project. */
  forget({ plugin, from }: SwitchTarget, project: string | undefined, now: number): readonly Switch[] {
    const key = project === undefined ? undefined : projectKey(project)
    return this.turnOn(
      (one) =>
        one.plugin === plugin &&
        one.from === from &&
        (from !== 'project' || one.project === key || one.project === undefined),
      now,
    )
  }

  #isOver({ until, era }: Switch, now: number): boolean {
    return until !== undefined && isOver({ ends: until, era }, this.#momentAt(now))
  }

  /** Called for every hook of every event, so it does not read the clock's file each time. */
  #momentAt(now: number): Moment {
    const since = this.#seen === undefined ? -1 : now - this.#seen.at
    if (!this.#seen || since < 0 || since > LOOK_MS)
      this.#seen = { at: now, moment: momentIn(this.#dataDir, now) }
    const { moment } = this.#seen
    return { ...moment, now: Math.max(now, moment.now) }
  }
}

/** A project is identified by the real path of its folder. */
export function projectKey(project: string): string {
  return realOf(resolve(project))
}

function isSame(a: Switch, b: Switch): boolean {
  return (
    a.project === b.project && a.plugin === b.plugin && a.from === b.from && a.hook?.name === b.hook?.name
  )
}

// ---- asked at plan time ---------------------------------------------------------------------------------------

/** The part of a hook that a switch looks at. */
interface Switchable extends Pick<Hook, 'id'>, Pick<Origin, 'source'> {
  readonly scope: string
}

/** The switch of a hook. If there are several, one that keeps it off, and then the one that lasts longest. `project` is a project key. */
export function switchOver(
  hook: Switchable,
  project: string | undefined,
  switches: readonly Switch[],
): Switch | undefined {
  const meant = switches.filter((one) => holdsIn(one, project) && isAbout(one, hook))
  const [first] = meant.sort((a, b) => (a.mode ? 1 : 0) - (b.mode ? 1 : 0) || endOf(b) - endOf(a))
  return first
}

function holdsIn({ project }: Switch, here: string | undefined): boolean {
  return project === undefined || project === here
}

function isAbout({ plugin, from, hook: one }: Switch, hook: Switchable): boolean {
  return from === hook.scope && (one ? one.ids.includes(hook.id) : plugin === hook.source)
}

function endOf({ until }: Switch): number {
  return until === undefined ? Infinity : Date.parse(until)
}

/** Says who switched it off, since when, until when, why, and how to undo it. */
export function switchText(one: Switch): string {
  const { by, since, until, reason, project } = one
  const what = one.hook ? 'it is' : `all of ${visibleName(one.plugin)} is`
  const where = project === undefined ? 'for all projects' : 'for this project'
  const end = until === undefined ? '' : ` until ${localTime(until)}`
  const why = reason === undefined ? '' : ` (${visible(reason)})`
  const how = one.mode === 'shadow' ? 'switched to shadow mode' : 'switched off'
  return `${what} ${how} ${where} by ${visibleName(by)} since ${localTime(since)}${end}${why}; to undo it, run ${undoing(one)}`
}

/** The command that undoes it. */
export function undoing({ plugin, hook, project }: Switch): string {
  const words = hook ? [plugin, '--hook', hook.name] : [plugin]
  return ['carabiner', 'enable', ...words, project === undefined ? '--user' : '--here']
    .map((word) => shellQuoted(visible(word)))
    .join(' ')
}

export interface SwitchesOptions extends SwitchStoreOptions {
  /** Without it, only switches for all projects count. */
  readonly projectDir?: string | undefined
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined
  /** Called when the switches cannot be read, and so nothing is switched off. Default: a process warning. */
  readonly onTrouble?: ((text: string) => void) | undefined
}

/**
 * For createHooks({ admit }): honours `carabiner disable` from the next event on. If the switches cannot be read,
 * nothing is switched off, so a gate stays closed rather than open.
 */
export function switches(options: SwitchesOptions = {}): Admit {
  const { projectDir, dataDir = dataHome(), clock = Date.now } = options
  const onTrouble = options.onTrouble ?? ((text: string) => process.emitWarning(text))
  if (projectDir !== undefined && isInProject(resolve(dataDir), resolve(projectDir))) {
    onTrouble(`${insideText(dataDir, projectDir)}; nothing is switched off`)
    return () => true
  }
  const store = new SwitchStore({ dataDir })
  const project = projectDir === undefined ? undefined : projectKey(projectDir)
  const told = new Set<string>()
  const inForce = (): readonly Switch[] => {
    try {
      return store.inForce(clock())
    } catch (error) {
      const trouble = textOf(error)
      if (!told.has(trouble)) onTrouble(`${trouble}; nothing is switched off`)
      told.add(trouble)
      return NONE
    }
  }
  return ({ id, origin: { scope, source, file } }) => {
    const now = inForce()
    if (now.length === 0) return true
    const here = scope === 'project' && isElsewhere(file, project) ? undefined : project
    const off = switchOver({ id, scope, source }, here, now)
    if (!off) return true
    return off.mode ?? { why: 'disabled', detail: switchText(off) }
  }
}

/** Whether a hook's project neither is nor contains this one: gates follow an agent that changes folders. */
function isElsewhere(file: string | undefined, project: string | undefined): boolean {
  const [base, inside] = file?.split(`${sep}.amplifier${sep}`) ?? []
  if (base === undefined || inside === undefined || project === undefined) return false
  return !isBelow(project, realOf(base))
}

/** Throws if the data folder is inside the project, where a repository could bring its own switches. */
export function checkOutside(project: string, dataDir: string = dataHome()): void {
  if (!isInProject(resolve(dataDir), resolve(project))) return
  throw new Error(`${insideText(dataDir, project)}; set CARABINER_HOME to a folder outside it`)
}

function insideText(dataDir: string, project: string): string {
  return `the list of switched-off hooks cannot be kept in ${JSON.stringify(resolve(dataDir))}, because that is inside the project ${JSON.stringify(resolve(project))}`
}

// ---- as it is read back ---------------------------------------------------------------------------------------

const time: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (Number.isNaN(Date.parse(read))) throw new Error(`is not valid: ${where} must be a time`)
  return read
}

const hook: Reader<NonNullable<Switch['hook']>> = (value, where) => {
  const fields = fieldsOf(value, where)
  return { name: text(fields.name, `${where}.name`), ids: listOf(text)(fields.ids, `${where}.ids`) }
}

const stored: Reader<Switch> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    plugin: text(fields.plugin, `${where}.plugin`),
    from: oneOf(...SWITCHED_SCOPES)(fields.from, `${where}.from`),
    since: time(fields.since, `${where}.since`),
    by: text(fields.by, `${where}.by`),
    ...optional('mode', fields.mode, oneOf('shadow'), where),
    ...optional('hook', fields.hook, hook, where),
    ...optional('project', fields.project, text, where),
    ...optional('until', fields.until, time, where),
    ...optional('era', fields.era, count, where),
    ...optional('reason', fields.reason, text, where),
  }
}

function storedSwitches(value: unknown): readonly Switch[] {
  return listOf(stored)(value, 'the list of switches')
}
