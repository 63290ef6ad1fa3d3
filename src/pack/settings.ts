// The settings of the pack: one file of the user, and those of the project and of the folders around it, which only tighten.

import { isAbsolute, join } from 'node:path'
import { realOf } from '../files/within.js'
import { Reader, type Told } from './settings-reader.js'

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
  /** Of the paths that the pack knows; `protect` counts also without it. */
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
  /**
   * Which rules of the user are lost, because the file, `bash`, or a list of rules cannot be read: the first problem of
   * that kind. A guard must not go on as if there had been none.
   */
  readonly unreadable: string | undefined
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
  unreadable: undefined,
}

/** Whether any path is guarded: those that the pack knows, or those that the settings name. */
export function guardsPaths({ selfProtection, protect }: PackSettings): boolean {
  return selfProtection || protect.length > 0
}

const FILE = join('.amplifier', 'pack.json')

export function settingsFile(folder: string): string {
  return join(folder, FILE)
}

/**
 * Never throws: what cannot be read is a problem. What it would have said stays as it is without it. `around` are other
 * folders whose files tighten as that of the project does.
 */
export function readSettings(home: string, projectDir: string, around: readonly string[] = []): PackSettings {
  const told: Told = { problems: [], unreadable: undefined }
  const user = settingsFile(home)
  const own = fromUser(new Reader(user, told))
  const { unreadable } = told
  const seen = new Set<string>()
  let all = own
  for (const folder of new Set([projectDir, ...around])) {
    const file = settingsFile(folder)
    if (file === user) continue
    const reader = new Reader(file, told)
    if (reader.isEmpty) continue
    // One file that goes by two names counts once; and that of the user is no project's.
    if (seen.size === 0) seen.add(realOf(user))
    if (seen.has(realOf(file))) continue
    seen.add(realOf(file))
    const more = tightened(all, reader)
    all =
      folder === projectDir ? more : { ...more, protect: anchored(more.protect, all.protect.length, folder) }
  }
  return { ...all, problems: told.problems, unreadable }
}

/** A path of an outer folder's file means one in that folder. */
function anchored(paths: readonly string[], from: number, folder: string): readonly string[] {
  return paths.map((path, i) =>
    i < from || isAbsolute(path) || path.startsWith('~') ? path : join(folder, path),
  )
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
    unreadable: undefined,
  }
  if (settings.reflection && !settings.memory.enabled)
    file.tell('reflection has no effect: memory.enabled is false')
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
  const least = (section: Reader, key: string, mine: number, most: number) => {
    const theirs = section.count(key, 0, most) ?? mine
    if (theirs > mine) section.tell(`${key}: ${theirs} has no effect in a project: ${mine} holds already`)
    return Math.min(mine, theirs)
  }
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
      maxBytes: least(ofMemory, 'maxBytes', user.memory.maxBytes, 65_536),
      agentRecords: least(ofMemory, 'agentRecords', user.memory.agentRecords, 20),
    },
    lock: { maxIterations: least(file.section('lock'), 'maxIterations', user.lock.maxIterations, 10_000) },
  }
  if (!user.memory.enabled && ofMemory.flag('enabled'))
    ofMemory.tell('enabled: true has no effect in a project: it is switched off already')
  for (const key of USER_ONLY) {
    if (file.has(key)) file.tell(`${key} has no effect in a project: only the user may set it`)
  }
  file.tellUnknown(KEYS)
  return settings
}

export const KEYS = {
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
