// What is trusted as a whole: a folder with everything in it, or one file of hooks with the scripts that its commands name.

/** One hook of a unit, as its file says it. */
export interface UnitHook {
  readonly name: string
  readonly event: string
  readonly matcher: string | null
  /** `command` unless it says otherwise; a hook of another type names no programs and no files. */
  readonly type?: string
  /** What it runs, in the words of its file. */
  readonly command: string
  /** Present: no shell reads it; `command` is the program, and each of these one argument. */
  readonly args?: readonly string[]
  readonly shell?: 'bash' | 'sh' | 'powershell'
  /** Of a process: the folder it starts in, as its file has it, and variables of its own. */
  readonly dir?: string
  readonly env?: Readonly<Record<string, string>>
  /** What else its file says of it and decides when or how it runs, for people: `if Bash(git *)`, `async`, `timeout 5`. */
  readonly terms?: readonly string[]
  /** SHA-256 of event, matcher and every field: another command is another hook. */
  readonly hash: string
  readonly line?: number
}

export interface Unit {
  /** `folder`: a plugin or a skill. `file`: a hooks.json or settings.json. */
  readonly kind: 'folder' | 'file'
  /** Absolute. */
  readonly path: string
  /** For people: the plugin's name, `project`, `skill x`. */
  readonly name: string
  readonly projectDir: string
  /** What `$AMPLIFIER_HOOKS_DIR` is; default the folder that contains `path`. Of a skill, `path` itself. */
  readonly hooksDir?: string
  readonly hooks: readonly UnitHook[]
}

/** A unit that may not run. */
export interface Untrusted {
  readonly kind: Unit['kind']
  readonly name: string
  readonly path: string
  readonly state: 'untrusted' | 'modified'
  readonly why: string
  /** Names of its hooks. */
  readonly hooks: readonly string[]
}

/** Programs by name, where `$PATH` led to them when the unit was trusted. Absolute paths. */
export type Programs = Readonly<Record<string, string>>

/** A file as it was reviewed. */
export interface TrustedFile {
  /** Relative to the folder, with forward slashes; of a script outside it, absolute. */
  readonly path: string
  /** Permission bits. Of these only "executable by somebody" counts: git keeps no other, and umask decides the rest. */
  readonly mode: number
  readonly size: number
  readonly sha256: string
  /** Where it leads, relative to where it lies; a link inside the folder. */
  readonly link?: string
  /** See stamp.ts. Empty: not to be relied on, so that the file is hashed. */
  readonly stamp: string
}

/** A folder in the unit's folder; its stamp tells whether a name came or went. */
export interface TrustedFolder {
  /** Relative, with forward slashes; empty for the unit's folder itself. */
  readonly path: string
  readonly stamp: string
}

/** Of each file in the order of `TrustRecord.files`, and of each folder. */
export interface CopyStamps {
  readonly files: readonly string[]
  readonly folders: readonly TrustedFolder[]
}

/** What the user trusted, exactly. */
export interface TrustRecord {
  readonly kind: Unit['kind']
  readonly path: string
  readonly name: string
  readonly projectDir: string
  /**
   * SHA-256 over all that was reviewed: the hooks, every file with its executable bit, links, scripts outside. Names the
   * copy. The same on every machine, wherever the project lies and programs are found.
   */
  readonly digest: string
  /** Hashes of the hooks. */
  readonly hooks: readonly UnitHook[]
  readonly files: readonly TrustedFile[]
  readonly folders: readonly TrustedFolder[]
  /** Files outside the copy that commands name. */
  readonly scripts: readonly TrustedFile[]
  /** Of a file of hooks, the file as it was; only to show what changed, since hooks are what counts. */
  readonly source?: TrustedFile
  /** Stamps of the copy. Without them it is read. */
  readonly copied?: CopyStamps
  /** Absolute paths that commands name and where nothing was: what appears there was not reviewed. */
  readonly absent: readonly string[]
  /** Relative words among those that named them: where a hook starts in another folder, they mean another file. */
  readonly words: readonly string[]
  readonly programs: Programs
  /** ISO 8601. */
  readonly at: string
  /** What is about to take its place, and is trusted as well: while files are exchanged, either may be found. */
  readonly next?: TrustRecord
  /** What it took the place of. Its copy stays until the next time: hooks that were asked before may just be starting in it. */
  readonly former?: CopyKey
}

/** What a copy, and the folder with its programs, are found by. */
export type CopyKey = Pick<TrustRecord, 'kind' | 'path' | 'digest' | 'programs'>

/** What may be said about a unit now. `why` is a sentence. */
export type Standing =
  | { readonly state: 'trusted'; readonly record: TrustRecord; readonly copy: string | undefined }
  | { readonly state: 'untrusted' | 'modified'; readonly why: string; readonly record?: TrustRecord }

/** Whether anybody may execute it. */
export function isExecutable({ mode }: { readonly mode: number }): boolean {
  return (mode & 0o111) !== 0
}
