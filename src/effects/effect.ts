// What a tool call would do, in terms that do not depend on the tool, the agent or the spelling.

/** A file or folder. */
export interface Place {
  /** Absolute, with `~` and `..` resolved. A pattern if `wild`. As written if not `known`. */
  readonly path: string
  /** False if the path depends on the running shell. */
  readonly known: boolean
  /** Whether stars, question marks and brackets stand for other names. */
  readonly wild: boolean
  /** Whether everything below it is affected too. */
  readonly deep: boolean
  /** What a pattern of a call that reads matches now. */
  readonly files?: readonly string[]
  /** The folders that must not be lost, if it is one of them or contains one. Only where it is deleted, moved or changed. */
  readonly holds?: readonly Held[]
}

/**
 * `folder`: where the call runs. `system`: a folder without which the system does not work. `parent`: it contains one of
 * the others.
 */
export type Held = 'folder' | 'project' | 'home' | 'system' | 'parent'

/**
 * What a git command does to a branch. `adds`: commits. `moves`: the branch that is checked out. `replaces`: it overwrites,
 * deletes or renames a branch. `updates`: the branch only gets its own commits from elsewhere.
 */
export type BranchChange = 'adds' | 'moves' | 'replaces' | 'updates' | 'none'

/** Where data that leaves the machine comes from. */
export type Source =
  | { readonly of: 'file'; readonly place: Place }
  | { readonly of: 'pipe'; readonly text: string }
  | { readonly of: 'variable'; readonly name: string }
  | { readonly of: 'text' }

export type Effect = Common &
  /** `links`: it gets a second name, under which it can be changed later. */
  (
    | { readonly kind: 'read'; readonly place: Place; readonly links?: boolean }
    | { readonly kind: 'delete'; readonly place: Place }
    | {
        readonly kind: 'write'
        readonly place: Place
        /** Only its owner or its permissions change. */
        readonly rights?: boolean
        /** Only its layout changes, because a formatter writes it. */
        readonly layout?: boolean
        /** It is a folder, and files arrive in it. If their names are known, each is an effect of its own. */
        readonly into?: 'known' | 'unknown'
        /** Only this entry of the file changes. */
        readonly entry?: string
      }
    | { readonly kind: 'move'; readonly place: Place; readonly to: Place }
    | {
        readonly kind: 'run'
        readonly program: string
        readonly args: readonly string[]
        /** The words before the first one that only the running shell knows. Undefined if all are known. */
        readonly begins?: string
      }
    /** `host` is undefined if it cannot be read. */
    | { readonly kind: 'send'; readonly host: string | undefined; readonly from: readonly Source[] }
    /** `runs`: what is fetched is run. */
    | { readonly kind: 'fetch'; readonly host: string | undefined; readonly runs: boolean }
    | {
        readonly kind: 'git'
        readonly operation: string
        readonly branch: string | undefined
        readonly force: boolean
        /** What cannot be brought back afterwards. */
        readonly loses: 'history' | 'work' | 'nothing'
        readonly change: BranchChange
      }
    | {
        readonly kind: 'cloud' | 'database'
        /** As the program calls it: `s3 rb`, `delete`, `DROP TABLE`. */
        readonly operation: string
        readonly resource: string | undefined
        /** More words of the call that may name what it is about. */
        readonly others?: readonly string[]
        readonly destroys: boolean
      }
    | { readonly kind: 'install'; readonly manager: string; readonly packages: readonly string[] }
    /** More rights: sudo, chmod 777, setuid, a user or group that is changed. */
    | { readonly kind: 'privilege'; readonly operation: string }
    /** Other processes and the machine: kill, shutdown, a disk that is formatted, a fork bomb. */
    | { readonly kind: 'process'; readonly operation: string; readonly target: string | undefined }
    /** Files and switches of agents, and our own. */
    | {
        readonly kind: 'setting'
        readonly owner: string
        readonly place: Place | undefined
        /** False if the call only may change it, or may do so for a good reason. */
        readonly sure: boolean
      }
    /** `unparsed`: text was not read at all, because it is too long or too deep, for instance. It may do anything. */
    | { readonly kind: 'unknown'; readonly why: string; readonly unparsed?: true }
  )

interface Common {
  /** The words of the call that do it. */
  readonly by: string
  /** The text may only look like a command. */
  readonly guess?: boolean
  /** A guess because another program gets these words, which may run them. */
  readonly launched?: boolean
  /** Read from code in another language, or of a tool that nobody knows, where only names tell. */
  readonly code?: boolean
  /** In a script or program on disk that the call runs. */
  readonly stored?: boolean
}

export type EffectKind = Effect['kind']
