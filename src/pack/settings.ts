// The pack's settings: the company's file, then the user's, then those of the project and the folders around it, which can only tighten.

import { isAbsolute, join } from 'node:path'
import type { CompanyPolicy } from '../files/company-folder.js'
import { realOf } from '../files/within.js'
import { Reader, type Told } from './settings-reader.js'

export interface BashSettings {
  /**
   * Allow-lists in the patterns of `if` rules ("git *"). Every list must allow a command: the user and the project may
   * have one each. Without a list, everything that nothing denies is allowed.
   */
  readonly allow: readonly (readonly string[])[]
  /** Patterns to deny in addition to the deny-list. */
  readonly deny: readonly string[]
  readonly protectedBranches: readonly string[]
  /** Whether the pack's own deny-list applies. */
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
  /** Protects the paths that the pack knows. `protect` applies even without it. */
  readonly selfProtection: boolean
  /** More paths: `~/…`, absolute, or relative to the project. */
  readonly protect: readonly string[]
  readonly memory: {
    /** Default: as the hook was registered, with `--memory` or without. */
    readonly enabled: boolean
    /** Bytes of memory that one event may add to the context. */
    readonly maxBytes: number
    /** Records of each agent. */
    readonly agentRecords: number
  }
  /** The user's text for every session; if undefined, `~/.amplifier/preferences.md`. */
  readonly preferences: string | undefined
  readonly workflow: {
    readonly enabled: boolean
    /** Instead of the built-in reminder. */
    readonly text: string | undefined
  }
  readonly lock: { readonly maxIterations: number }
  /** Only the user may set it. */
  readonly reflection: ReflectionSettings | undefined
  /** For the user. */
  readonly problems: readonly string[]
  /**
   * The first problem because of which the user's rules are lost: the file, `bash`, or a list of rules cannot be read. A
   * guard must not continue as if there were no rules.
   */
  readonly unreadable: string | undefined
  /** Why the company's policy cannot be relied on, and what to do. Then the guard refuses every call. */
  readonly closed: string | undefined
}

export const DEFAULTS: PackSettings = {
  bash: { allow: [], deny: [], protectedBranches: ['main', 'master'], denyList: true },
  selfProtection: true,
  protect: [],
  memory: { enabled: false, maxBytes: 4096, agentRecords: 3 },
  preferences: undefined,
  workflow: { enabled: true, text: undefined },
  lock: { maxIterations: 50 },
  reflection: undefined,
  problems: [],
  unreadable: undefined,
  closed: undefined,
}

export function guardsPaths({ selfProtection, protect }: PackSettings): boolean {
  return selfProtection || protect.length > 0
}

const FILE = 'pack.json'

function settingsFile(folder: string): string {
  return join(folder, '.amplifier', FILE)
}

/**
 * Never throws: an unreadable file is reported in `problems`. `around`: other folders whose files may tighten the settings.
 * `memory`: whether the hook was registered to remember. The user's file overrides it. `company`: the policies whose
 * guard the user can only tighten.
 */
export function readSettings(
  home: string,
  projectDir: string,
  around: readonly string[] = [],
  memory: boolean = DEFAULTS.memory.enabled,
  company: readonly Pick<CompanyPolicy, 'folder' | 'problem' | 'todo'>[] = [],
): PackSettings {
  const told: Told = { problems: [], unreadable: undefined }
  const user = settingsFile(home)
  const own = fromUser(
    new Reader(user, told),
    memory,
    company.map(({ folder }) => companyGuard(new Reader(join(folder, FILE), told))),
  )
  const { unreadable } = told
  const seen = new Set<string>()
  let all = own
  for (const folder of new Set([projectDir, ...around])) {
    const file = settingsFile(folder)
    if (file === user) continue
    const reader = new Reader(file, told)
    if (reader.isEmpty) continue
    // A file that is reached by two paths counts once, and the user's file never counts as a project's.
    if (seen.size === 0) seen.add(realOf(user))
    if (seen.has(realOf(file))) continue
    seen.add(realOf(file))
    const more = tightened(all, reader, memory)
    all =
      folder === projectDir ? more : { ...more, protect: anchored(more.protect, all.protect.length, folder) }
  }
  const lost = company.find(({ problem }) => problem !== undefined)
  const closed = lost && [lost.problem, lost.todo].filter(Boolean).join('; ')
  return { ...all, problems: told.problems, unreadable, closed }
}

/** A relative path in an outer folder's file is relative to that folder. */
function anchored(paths: readonly string[], from: number, folder: string): readonly string[] {
  return paths.map((path, i) =>
    i < from || isAbsolute(path) || path.startsWith('~') ? path : join(folder, path),
  )
}

/** What the guard refuses. The rest of the settings is the user's own affair. */
type Guard = Pick<PackSettings, 'bash' | 'selfProtection' | 'protect'>

const NO_GUARD: Guard = {
  bash: { allow: [], deny: [], protectedBranches: [], denyList: false },
  selfProtection: false,
  protect: [],
}

function guardIn(file: Reader, otherwise: Guard): Guard {
  const ofBash = file.section('bash')
  const { bash, selfProtection, protect } = otherwise
  return {
    bash: {
      allow: ofBash.allowLists(),
      deny: ofBash.texts('deny') ?? bash.deny,
      protectedBranches: ofBash.texts('protectedBranches') ?? bash.protectedBranches,
      denyList: ofBash.flag('denyList') ?? bash.denyList,
    },
    selfProtection: file.flag('selfProtection') ?? selfProtection,
    protect: file.texts('protect') ?? protect,
  }
}

function companyGuard(file: Reader): Guard {
  const guard = guardIn(file, DEFAULTS)
  file.tellUnknown(KEYS)
  return guard
}

/** Refuses what either refuses. */
function both(one: Guard, other: Guard): Guard {
  return {
    bash: {
      allow: [...one.bash.allow, ...other.bash.allow],
      deny: [...one.bash.deny, ...other.bash.deny],
      protectedBranches: [...new Set([...one.bash.protectedBranches, ...other.bash.protectedBranches])],
      denyList: one.bash.denyList || other.bash.denyList,
    },
    selfProtection: one.selfProtection || other.selfProtection,
    protect: [...one.protect, ...other.protect],
  }
}

/** A user who loosens what the company guards is told that it has no effect. */
function guardOf(file: Reader, company: readonly Guard[]): Guard {
  const [first, ...rest] = company
  if (!first) return guardIn(file, DEFAULTS)
  const guard = [...rest, guardIn(file, NO_GUARD)].reduce(both, first)
  const isOff = [
    ...(file.section('bash').flag('denyList') === false && guard.bash.denyList ? ['bash.denyList'] : []),
    ...(file.flag('selfProtection') === false && guard.selfProtection ? ['selfProtection'] : []),
  ]
  for (const key of isOff) file.tell(`${key}: false has no effect: the company’s policy guards this machine`)
  return guard
}

function fromUser(file: Reader, isAsked: boolean, company: readonly Guard[]): PackSettings {
  const { memory, workflow, lock } = DEFAULTS
  const ofMemory = file.section('memory')
  const ofWorkflow = file.section('workflow')
  const remembers = ofMemory.flag('enabled')
  const settings: PackSettings = {
    ...guardOf(file, company),
    memory: {
      enabled: remembers ?? isAsked,
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
    closed: undefined,
  }
  if (settings.reflection && remembers === false)
    file.tell('reflection has no effect: memory.enabled is false')
  file.tellUnknown(KEYS)
  return settings
}

function reflectionOf(file: Reader): ReflectionSettings | undefined {
  if (!file.has('reflection')) return undefined
  const section = file.section('reflection')
  const command = section.texts('command') ?? []
  if (command.length === 0) {
    section.tell('command must be a list of a program and its arguments; reflection is off')
    return undefined
  }
  return {
    command,
    timeout: section.count('timeout', 1, 110) ?? 60,
    interval: section.count('interval', 0, 86_400) ?? 900,
  }
}

/** A project may add guards and lower limits. It cannot switch anything off, or name a program or a text for the model. */
function tightened(user: PackSettings, file: Reader, isAsked: boolean): PackSettings {
  const ofBash = file.section('bash')
  const ofMemory = file.section('memory')
  const least = (section: Reader, key: string, mine: number, most: number) => {
    const theirs = section.count(key, 0, most) ?? mine
    if (theirs > mine) section.tell(`${key}: ${theirs} has no effect in a project: your limit is ${mine}`)
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
  if (isAsked && !user.memory.enabled && ofMemory.flag('enabled'))
    ofMemory.tell('enabled: true has no effect in a project: you have switched memory off')
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
