// How Carabiner is registered with a host: which files, in which form, for which events.

export interface HostSetup {
  /** Programs in PATH that show that it is installed. */
  readonly programs: readonly string[]
  /** The folder of its settings below the home folder, and the variable that names another one. */
  readonly folder: string
  readonly variable?: string
  /** The variable names another home folder, with this one in it. */
  readonly isVariableHome?: true
  /** Below that folder. Planned in this order, and written in the opposite one. */
  readonly files: readonly HostFile[]
  /** The same below a project. Undefined if the host has none, or silently skips hooks of projects. */
  readonly project?: { readonly folder: string; readonly files: readonly HostFile[] }
  /** Other files of a project that it takes hooks from, which setup does not write. */
  readonly alsoReads?: (project: string) => readonly { readonly path: string; readonly form: Form }[]
  /** Its own names of the events to register, by canonical name. */
  readonly events: Readonly<Record<string, string | readonly string[]>>
  /** Another host that reads the same files, and so runs the same hooks. */
  readonly sharesWith?: string
  /** The host that registered commands name, if not this one. Its row has to know the payloads of both. */
  readonly commandsAs?: string
  /** What keeps the host from running what stands in its files. */
  readonly problems?: (scene: HostScene) => readonly HostProblem[]
  /** When it runs them, if not always. */
  readonly onlyIf?: string
  /** What the user has to know or do, in whole sentences. */
  readonly notes?: readonly string[]
}

/** Where a host is asked about. */
export interface HostScene {
  readonly home: string
  /** The folder of its settings: the user's, or the project's. */
  readonly folder: string
  readonly project: string
  readonly env: NodeJS.ProcessEnv
  /** The text of a file as it is, or as setup would leave it. Undefined if there is none. */
  readonly read: (path: string) => string | undefined
}

export interface HostProblem {
  /** `note`: the hooks run, but there is something to know. */
  readonly severity: 'broken' | 'note'
  readonly file?: string
  readonly line?: number
  /** One sentence, without the file. */
  readonly text: string
  /** Absent if setup repairs it. */
  readonly fix?: string
}

export interface HostFile {
  /** Its path below the folder. */
  readonly name: string
  readonly form: Form
  /** Absent: as the system creates files. */
  readonly mode?: number
}

/** A command to register. */
export interface Entry {
  /** Canonical. */
  readonly event: string
  readonly command: string
  readonly matcher?: '*'
  /** Seconds. Absent: the default of the agent. */
  readonly timeout?: number
  /** The agent should refuse if the command cannot run or takes too long. */
  readonly onFailure?: 'block'
}

/** How our entries stand in the text of a file. */
export interface Form {
  /** Setup writes all of the file, and cannot take its part out of one that somebody has changed. */
  readonly isWhole?: true
  /** The text with our entries. `text` has none of ours; it is undefined if there is no file. Throws a SetupProblem. */
  readonly put: (text: string | undefined, entries: readonly Entry[], at: FormPlace) => string
  /** The text without the handlers that are out. Undefined if the whole file is ours, and all of it is out. Throws a SetupProblem. */
  readonly take: (text: string, file: string, isOut: IsOut) => string | undefined
  /** Whether a text says nothing, as if there were no file. */
  readonly isBare: (text: string) => boolean
  /** The commands in it, ours and others. Empty if the text cannot be read. */
  readonly commands: (text: string) => readonly FormCommand[]
  /** Whether two texts mean the same, whatever their layout. */
  readonly isSame: (a: string, b: string) => boolean
}

export interface FormPlace {
  readonly file: string
  /** The new texts of the files that were planned before, by path. */
  readonly earlier: ReadonlyMap<string, string>
}

/** Whether to remove a handler: an object with a command. */
export type IsOut = (handler: unknown) => boolean

export interface FormCommand {
  readonly command: string
  /** The host's own name of the event, or ours; if it is known. */
  readonly event?: string
  readonly line?: number
}

/** The host's own names for an event. */
export function ownNames({ events }: Pick<HostSetup, 'events'>, event: string): readonly string[] {
  const names = Object.hasOwn(events, event) ? (events[event] as string | readonly string[]) : []
  return typeof names === 'string' ? [names] : names
}
