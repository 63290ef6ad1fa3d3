// The records of what a user trusts, behind one interface. Everything in it is synchronous: trust is decided without awaiting.

/**
 * One record for each unit: a folder or a file of hooks, in one project. The user's decisions are here, so an
 * implementation must never answer a record that the user did not write.
 *
 * - Every method is synchronous. Deciding which hooks run (at plan time) awaits nothing, so a store on another machine
 *   keeps a local copy and answers from it.
 * - `load` and `ofProject` throw if a record cannot be read or relied on, or is gone though nobody removed it, each time
 *   until somebody repairs it: what the user expects is not known then. `load` answers the same object as long as nobody wrote, so callers may compare and
 *   cache by identity.
 * - `write`, `addNext` and `remove` are atomic and durable: they survive a power cut. They throw if they fail.
 * - `promote` and `refresh` never throw: they only save work, and the records count as they are.
 */
export interface TrustRecords {
  /** Throws if the project itself could write the records. Called for every decision. */
  checkOutside(projectDir: string): void

  /** Throws if anybody but the user could have written the records. */
  checkPrivate(): void

  load(where: Where): TrustRecord | undefined

  write(where: Where, record: TrustRecord): void

  /** Adds what is about to take the place of the trusted unit. Does nothing if nothing is trusted there. */
  addNext(where: Where, next: TrustRecord): void

  /** Makes `next` the record, once it has taken its place. */
  promote(where: Where, next: TrustRecord): void

  /** Stores new stamps for the same content, unless somebody has decided otherwise since `before`. */
  refresh(where: Where, before: TrustRecord, now: TrustRecord): void

  /** Answers what was removed, if anything. Also removes a record that cannot be read, or that is missed. */
  remove(where: Where): TrustRecord | 'unreadable' | undefined

  /** The records of one project, in the order of their paths. Must not take longer because there are other projects. */
  ofProject(projectDir: string): readonly TrustRecord[]

  /** Throws if one of them cannot be read. */
  all(): readonly TrustRecord[]
}

/** The key of a record. It has the project, because a plugin that names files of its project differs in another one. */
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
   * SHA-256 over all that was reviewed: the hooks, every file with its executable bit, links, scripts outside. It names
   * the copy, and is the same on every machine, wherever the project and the programs are.
   */
  readonly digest: string
  readonly hooks: readonly UnitHook[]
  readonly files: readonly TrustedFile[]
  readonly folders: readonly TrustedFolder[]
  /** Files outside the copy that commands name. */
  readonly scripts: readonly TrustedFile[]
  /** The reviewed file of hooks; only to show what changed, because the hooks are what counts. */
  readonly source?: TrustedFile
  /** Stamps of the copy. Without them the copy is read. */
  readonly copied?: CopyStamps
  /** Absolute paths that commands name but where nothing was: what appears there later was not reviewed. */
  readonly absent: readonly string[]
  /** The relative words that named them: for a hook that starts in another folder they mean other files. */
  readonly words: readonly string[]
  /** What interpreters load because of where a script is. 0.1.0 wrote none. */
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

/** One hook of a unit, in the words of its file. */
export interface UnitHook {
  readonly name: string
  readonly event: string
  readonly matcher: string | null
  /** Default `command`. Hooks of other types name no programs and no files. */
  readonly type?: string
  /** What it runs, in the words of its file. */
  readonly command: string
  /** If present, no shell is used: `command` is the program, and these are its arguments. */
  readonly args?: readonly string[]
  readonly shell?: 'bash' | 'sh' | 'powershell'
  /** For a process: the folder that it starts in, as its file says, and its own variables. */
  readonly dir?: string
  readonly env?: Readonly<Record<string, string>>
  /** Other terms in its file that decide when or how it runs, for people: `if Bash(git *)`, `async`, `timeout 5`. */
  readonly terms?: readonly string[]
  /** SHA-256 of event, matcher and every field: another command is another hook. */
  readonly hash: string
  readonly line?: number
}

/** A file as it was reviewed. */
export interface TrustedFile {
  /** Relative to the folder, with forward slashes; absolute for a script outside it. */
  readonly path: string
  /** Permission bits. Only "executable by somebody" counts: git keeps no other, and umask decides the rest. */
  readonly mode: number
  readonly size: number
  readonly sha256: string
  /** The target of a link inside the folder, relative to the link. */
  readonly link?: string
  /** See files/stamp.ts. If empty, it cannot be relied on and the file is hashed. */
  readonly stamp: string
}

/** What an interpreter loads from a folder, or because of it, without being told. */
export interface ImplicitLoad {
  /** The script that it loads them for. Absent if the command itself has the program. */
  readonly script?: string
  readonly folder: string
  /** Python modules that were not there. */
  readonly modules?: readonly string[]
  /** What the nearest package.json said to Node.js. */
  readonly package?: string
  /** The script has imports or exports of its own. */
  readonly isModule?: boolean
}

/** A folder inside the unit's folder; its stamp tells whether names were added or removed. */
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
