// The settings of the pack: one file of the user, and one of the project that can only tighten it.

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { shown } from '../core/text.js'
import { readPlain } from '../state/plain-file.js'
import { realOf } from '../state/within.js'

export interface BashSettings {
  /**
   * Allow-lists in the patterns of `if` rules ("git *"). Every list must allow a command; without a list everything is
   * allowed that nothing denies. Two lists where both the user and the project have one.
   */
  readonly allow: readonly (readonly string[])[]
  /** Patterns that are denied besides the deny-list. */
  readonly deny: readonly string[]
  readonly protectedBranches: readonly string[]
  /** Whether the pack's own deny-list holds. */
  readonly denyList: boolean
}

export interface ReflectionSettings {
  /** A program and its arguments; no shell. */
  readonly command: readonly string[]
  /** Seconds. */
  readonly timeout: number
  /** Seconds between two reflections on one project. */
  readonly interval: number
}

export interface PackSettings {
  readonly bash: BashSettings
  readonly selfProtection: boolean
  /** Paths besides those that self-protection knows: `~/…`, absolute, or relative to the project. */
  readonly protect: readonly string[]
  readonly memory: {
    readonly enabled: boolean
    /** Bytes of memory that one event adds to the context. */
    readonly maxBytes: number
    /** Of one agent, newest first. */
    readonly agentRecords: number
  }
  /** Text of the user for every session; undefined: `~/.amplifier/preferences.md`, where there is one. */
  readonly preferences: string | undefined
  readonly workflow: {
    readonly enabled: boolean
    /** Instead of the built-in reminder. */
    readonly text: string | undefined
  }
  readonly lock: { readonly maxIterations: number }
  /** Of the user alone. */
  readonly reflection: ReflectionSettings | undefined
  /** What is wrong with the files, for the user to read. */
  readonly problems: readonly string[]
}

export const DEFAULTS: PackSettings = {
  bash: { allow: [], deny: [], protectedBranches: ['main', 'master'], denyList: true },
  selfProtection: true,
  protect: [],
  memory: { enabled: true, maxBytes: 4096, agentRecords: 3 },
  preferences: undefined,
  workflow: { enabled: true, text: undefined },
  lock: { maxIterations: 50 },
  reflection: undefined,
  problems: [],
}

const MAX_BYTES = 256 * 1024
/** Far more than anybody writes by hand, and few enough to be looked at for every call. */
const MOST_ITEMS = 1000
const FILE = join('.amplifier', 'pack.json')

export function settingsFile(folder: string): string {
  return join(folder, FILE)
}

/** Never throws: what cannot be read is a problem, and what it would have said stays as it is without it. */
export function readSettings(home: string, projectDir: string): PackSettings {
  const problems: string[] = []
  const user = settingsFile(home)
  const project = settingsFile(projectDir)
  const own = fromUser(new Reader(user, problems))
  const both = new Reader(project, problems)
  const all = both.isEmpty || realOf(user) === realOf(project) ? own : tightened(own, both)
  return { ...all, problems }
}

function fromUser(file: Reader): PackSettings {
  const { bash, memory, workflow, lock } = DEFAULTS
  const ofBash = file.section('bash')
  const ofMemory = file.section('memory')
  const ofWorkflow = file.section('workflow')
  const settings: PackSettings = {
    bash: {
      allow: ofBash.allowLists(),
      deny: ofBash.texts('deny') ?? bash.deny,
      protectedBranches: ofBash.texts('protectedBranches') ?? bash.protectedBranches,
      denyList: ofBash.flag('denyList') ?? bash.denyList,
    },
    selfProtection: file.flag('selfProtection') ?? DEFAULTS.selfProtection,
    protect: file.texts('protect') ?? DEFAULTS.protect,
    memory: {
      enabled: ofMemory.flag('enabled') ?? memory.enabled,
      maxBytes: ofMemory.count('maxBytes', 0, 65_536) ?? memory.maxBytes,
      agentRecords: ofMemory.count('agentRecords', 0, 20) ?? memory.agentRecords,
    },
    preferences: file.text('preferences'),
    workflow: {
      enabled: ofWorkflow.flag('enabled') ?? workflow.enabled,
      text: ofWorkflow.text('text'),
    },
    lock: { maxIterations: file.section('lock').count('maxIterations', 0, 10_000) ?? lock.maxIterations },
    reflection: reflectionOf(file),
    problems: [],
  }
  file.tellUnknown(KEYS)
  return settings
}

function reflectionOf(file: Reader): ReflectionSettings | undefined {
  if (!file.has('reflection')) return undefined
  const section = file.section('reflection')
  const command = section.texts('command') ?? []
  if (command.length === 0) {
    section.tell('command must be a list: a program and its arguments; no reflection runs')
    return undefined
  }
  return {
    command,
    timeout: section.count('timeout', 1, 110) ?? 60,
    interval: section.count('interval', 0, 86_400) ?? 900,
  }
}

/** A project adds guards and lowers bounds. It switches nothing off, and names nothing that would run or be said to the model. */
function tightened(user: PackSettings, file: Reader): PackSettings {
  const ofBash = file.section('bash')
  const ofMemory = file.section('memory')
  const least = (mine: number, theirs: number | undefined) => Math.min(mine, theirs ?? mine)
  const settings: PackSettings = {
    ...user,
    bash: {
      allow: [...user.bash.allow, ...ofBash.allowLists()],
      deny: [...user.bash.deny, ...(ofBash.texts('deny') ?? [])],
      protectedBranches: [
        ...new Set([...user.bash.protectedBranches, ...(ofBash.texts('protectedBranches') ?? [])]),
      ],
      denyList: ofBash.switchedOn('denyList') || user.bash.denyList,
    },
    selfProtection: file.switchedOn('selfProtection') || user.selfProtection,
    protect: [...user.protect, ...(file.texts('protect') ?? [])],
    memory: {
      enabled: user.memory.enabled && (ofMemory.flag('enabled') ?? true),
      maxBytes: least(user.memory.maxBytes, ofMemory.count('maxBytes', 0, 65_536)),
      agentRecords: least(user.memory.agentRecords, ofMemory.count('agentRecords', 0, 20)),
    },
    lock: {
      maxIterations: least(user.lock.maxIterations, file.section('lock').count('maxIterations', 0, 10_000)),
    },
  }
  for (const key of USER_ONLY) {
    if (file.has(key)) file.tell(`${key} has no effect in a project: only the user may set it`)
  }
  file.tellUnknown(KEYS)
  return settings
}

const KEYS = {
  bash: ['allow', 'deny', 'protectedBranches', 'denyList'],
  selfProtection: [],
  protect: [],
  memory: ['enabled', 'maxBytes', 'agentRecords'],
  preferences: [],
  workflow: ['enabled', 'text'],
  lock: ['maxIterations'],
  reflection: ['command', 'timeout', 'interval'],
} as const satisfies Readonly<Record<string, readonly string[]>>

const USER_ONLY = ['preferences', 'workflow', 'reflection'] as const

// ---- reading --------------------------------------------------------------------------------------------------

type Fields = { readonly [key: string]: unknown }

/** One file, or a section of it. A value of the wrong type is told and counts as not given; a null as well, untold. */
class Reader {
  readonly #where: string
  readonly #fields: Fields
  readonly #problems: string[]

  constructor(path: string, problems: string[], fields?: Fields) {
    this.#where = path
    this.#problems = problems
    this.#fields = fields ?? this.#read(path)
  }

  get isEmpty(): boolean {
    return Object.keys(this.#fields).length === 0
  }

  tell(problem: string): void {
    this.#problems.push(`${this.#where}: ${problem}`)
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#fields, key) && this.#fields[key] !== null
  }

  section(key: string): Reader {
    const value = this.#value(key, isObject, 'an object')
    return new Reader(`${this.#where}: ${key}`, this.#problems, value ?? {})
  }

  flag(key: string): boolean | undefined {
    return this.#value(key, (value) => typeof value === 'boolean', 'true or false')
  }

  /** Only `true` has an effect; `false` is told. */
  switchedOn(key: string): boolean {
    const value = this.flag(key)
    if (value === false)
      this.tell(`${key}: false has no effect in a project: only the user may switch it off`)
    return value === true
  }

  text(key: string): string | undefined {
    return this.#value(key, (value) => typeof value === 'string', 'a text')
  }

  count(key: string, least: number, most: number): number | undefined {
    const fits = (value: unknown): value is number =>
      Number.isInteger(value) && (value as number) >= least && (value as number) <= most
    return this.#value(key, fits, `a whole number from ${least} to ${most}`)
  }

  /** What is no text in it is told and left out: the rest still guards. */
  texts(key: string): readonly string[] | undefined {
    const list = this.#value<readonly unknown[]>(key, Array.isArray, 'a list of texts')
    if (list === undefined) return undefined
    const good = list.filter((one): one is string => typeof one === 'string' && one.trim() !== '')
    if (good.length < list.length) this.tell(`${key}: what is no text, or an empty one, was left out`)
    if (good.length > MOST_ITEMS) this.tell(`${key}: only the first ${MOST_ITEMS} of ${good.length} count`)
    return good.slice(0, MOST_ITEMS)
  }

  /** None, or one. A list that cannot be read allows nothing: whoever wrote it did not mean everything. */
  allowLists(): readonly (readonly string[])[] {
    if (!this.has('allow')) return []
    return [this.texts('allow') ?? []]
  }

  tellUnknown(known: Readonly<Record<string, readonly string[]>>): void {
    for (const [key, value] of Object.entries(this.#fields)) {
      const inner = Object.hasOwn(known, key) ? known[key] : undefined
      if (!inner) this.tell(`there is no setting ${shown(key)}; known are ${Object.keys(known).join(', ')}`)
      else if (inner.length > 0 && isObject(value)) {
        const odd = Object.keys(value).filter((name) => !inner.includes(name))
        for (const name of odd.slice(0, 5)) {
          this.tell(`${key} has no setting ${shown(name)}; known are ${inner.join(', ')}`)
        }
      }
    }
  }

  #value<T>(key: string, fits: (value: unknown) => value is T, wanted: string): T | undefined
  #value<T>(key: string, fits: (value: unknown) => boolean, wanted: string): T | undefined
  #value<T>(key: string, fits: (value: unknown) => boolean, wanted: string): T | undefined {
    if (!this.has(key)) return undefined
    const value = this.#fields[key]
    if (fits(value)) return value as T
    this.tell(`${key} must be ${wanted}, got ${shown(value)}`)
    return undefined
  }

  #read(path: string): Fields {
    try {
      // Most have none, and to be told so by an error takes longer.
      if (!lstatSync(path, { throwIfNoEntry: false })) return {}
      const found = readPlain(realOf(path), MAX_BYTES)
      if ('problem' in found) throw new Error(`the file ${found.problem}`)
      const value: unknown = JSON.parse(found.text.replace(/^\uFEFF/, ''))
      if (isObject(value)) return value
      throw new Error('the file must hold one object')
    } catch (error) {
      this.tell(`${brokenness(error)}; nothing in it counts`)
      return {}
    }
  }
}

/** The parser's message holds text of the file. */
function brokenness(error: unknown): string {
  return error instanceof SyntaxError ? 'the file is not valid JSON' : textOf(error)
}
