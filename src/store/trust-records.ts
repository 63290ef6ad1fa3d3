// The interface of trust records: what a user trusts. It is synchronous, because trust is decided without awaiting.

/**
 * One record for each unit: a folder or a hooks file, in one project. These are the user's decisions, so an
 * implementation must never return a record that the user did not write.
 *
 * - Every method is synchronous. Deciding which hooks run (at plan time) awaits nothing, so a store on another machine
 *   keeps a local copy and answers from it.
 * - `load` and `ofProject` throw if a record cannot be read or trusted, or is gone although nobody removed it. They throw
 *   each time until somebody repairs it, because the user's expectations are unknown. `load` returns the same object until
 *   somebody writes, so callers may compare and cache by identity.
 * - `write`, `addNext` and `remove` are atomic and durable: they survive a power cut. They throw if they fail.
 * - `promote` and `refresh` never throw: they only save work, and the records are valid without them.
 */
export interface TrustRecords {
  /** Throws if the project itself could write the records. Called for every decision. */
  checkOutside(projectDir: string): void

  /** Throws if anybody but the user could have written the records. */
  checkPrivate(): void

  load(where: Where): TrustRecord | undefined

  write(where: Where, record: TrustRecord): void

  /** Adds the version that is about to replace the trusted unit. Does nothing if nothing is trusted there. */
  addNext(where: Where, next: TrustRecord): void

  /** Makes `next` the record once its files are in place. */
  promote(where: Where, next: TrustRecord): void

  /** Stores new stamps for the same content, unless somebody has decided otherwise since `before`. */
  refresh(where: Where, before: TrustRecord, now: TrustRecord): void

  /** Returns what was removed, if anything. Also removes an unreadable record, and the expectation of a missing one. */
  remove(where: Where): TrustRecord | 'unreadable' | undefined

  /** The records of one project, sorted by path. The number of other projects must not slow it down. */
  ofProject(projectDir: string): readonly TrustRecord[]

  /** Throws if one of them cannot be read. */
  all(): readonly TrustRecord[]
}

/** The key of a record. It includes the project, because a plugin that names files of its project differs in another one. */
export type Where = Pick<TrustRecord, 'kind' | 'path' | 'projectDir'>

export function keyOf({ kind, path, projectDir }: Where): string {
  return [kind, path, projectDir].join('\0')
}

export function copyKeyOf({ kind, path, digest, programs }: TrustRecord): CopyKey {
  return { kind, path, digest, programs }
}

/** Whether this is a SHA-256 in hexadecimal. */
export function isDigest(value: string): boolean {
  return /^[0-9a-f]{64}$/.test(value)
}

// ---- the record -----------------------------------------------------------------------------------------------

/** Exactly what the user trusted. */
export interface TrustRecord {
  /** `folder`: a plugin or a skill. `file`: a hooks.json or settings.json. */
  readonly kind: 'folder' | 'file'
  readonly path: string
  readonly name: string
  readonly projectDir: string
  /**
   * SHA-256 of everything that was reviewed: the hooks, every file with its executable bit, links, scripts outside. It
   * names the copy, and is the same on every machine, wherever the project and the programs are.
   */
  readonly digest: string
  readonly hooks: readonly UnitHook[]
  readonly files: readonly TrustedFile[]
  readonly folders: readonly TrustedFolder[]
  /** Files outside the copy that commands name. */
  readonly scripts: readonly TrustedFile[]
  /** The reviewed hooks file. Used only to show what changed: the hooks themselves decide. */
  readonly source?: TrustedFile
  /** Stamps of the copy. Without them the copy is read. */
  readonly copied?: CopyStamps
  /** Absolute paths that commands name but that did not exist. A file that appears there later was not reviewed. */
  readonly absent: readonly string[]
  /** The relative words that named scripts. For a hook that starts in another folder, they mean other files. */
  readonly words: readonly string[]
  /** Files that interpreters load because of a script's location. 0.1.0 wrote none. */
  readonly implicit?: readonly ImplicitLoad[]
  readonly programs: Programs
  /** ISO 8601. */
  readonly at: string
  /** The trusted version that is about to replace it. While files are swapped, either may be found. */
  readonly next?: TrustRecord
  /** The copy it replaced. It is kept until the next change, because hooks may be starting in it. */
  readonly former?: CopyKey
}

/** Finds a copy and the folder with its programs. */
export type CopyKey = Pick<TrustRecord, 'kind' | 'path' | 'digest' | 'programs'>

/** One hook of a unit, as written in its file. */
export interface UnitHook {
  readonly name: string
  readonly event: string
  readonly matcher: string | null
  /** Default `command`. Hooks of other types name no programs and no files. */
  readonly type?: string
  /** What it runs, as written in its file. */
  readonly command: string
  /** If present, no shell is used: `command` is the program, and these are its arguments. */
  readonly args?: readonly string[]
  readonly shell?: 'bash' | 'sh' | 'powershell'
  /** For a hook from another agent's file: that agent, whose variables it gets. */
  readonly agent?: string
  /** The folder it starts in, as written in its file, and for a process its own variables. */
  readonly dir?: string
  readonly env?: Readonly<Record<string, string>>
  /** Other fields that decide when or how it runs, as shown to people: `if Bash(git *)`, `async`, `timeout 5`. */
  readonly terms?: readonly string[]
  /** SHA-256 of event, matcher and every field: another command is another hook. */
  readonly hash: string
  readonly line?: number
}

/** A file as it was reviewed. */
export interface TrustedFile {
  /** Relative to the folder, with forward slashes; absolute for a script outside it. */
  readonly path: string
  /** Permission bits. Only "executable by somebody" counts: git keeps nothing else, and umask decides the rest. */
  readonly mode: number
  readonly size: number
  readonly sha256: string
  /** The target of a link inside the folder, relative to the link. */
  readonly link?: string
  /** See files/stamp.ts. If empty, the file is hashed. */
  readonly stamp: string
}

/** What an interpreter loads on its own from a folder, or because of it. */
export interface ImplicitLoad {
  /** The script that it loads them for. Absent if the code is in the command itself. */
  readonly script?: string
  readonly folder: string
  /** Python modules that did not exist. */
  readonly modules?: readonly string[]
  /** The part of the nearest package.json that matters to Node.js. */
  readonly package?: string
  /** The script has imports or exports of its own. */
  readonly isModule?: boolean
}

/** A folder inside the unit's folder. Its stamp shows whether names were added or removed. */
export interface TrustedFolder {
  /** Relative, with forward slashes. Empty for the unit's folder itself. */
  readonly path: string
  readonly stamp: string
}

/** Stamps of each file, in the order of `TrustRecord.files`, and of each folder. */
export interface CopyStamps {
  readonly files: readonly string[]
  readonly folders: readonly TrustedFolder[]
}

/** Absolute paths of programs by name, as `$PATH` found them when the unit was trusted. */
export type Programs = Readonly<Record<string, string>>
