// What a tool call is about, whatever the host calls the tool: command lines, files that it changes, or neither.

import { isObject, type Json } from '../../core/base/json.js'
import { parseJson } from '../../core/base/strict-json.js'
import { lossesInPatch, pathsInPatch } from '../files/patch-paths.js'
import { remembered } from '../remembered.js'
import { shellQuoted } from '../shell/shell-quoted.js'
import { codeIn, gitIn, textAt } from './code-tools.js'

export type ToolCall =
  | {
      readonly kind: 'shell'
      readonly commands: readonly string[]
      /** The folder they start in, if the call names one. */
      readonly folder: string | undefined
      /** Whether it is PowerShell, which shares only plain words with other shells. */
      readonly isPowerShell: boolean
    }
  | {
      readonly kind: 'files'
      readonly paths: readonly string[]
      /** Whether everything below a folder changes too. */
      readonly deep: boolean
      /** The paths that are deleted or moved away. */
      readonly gone: readonly string[]
      /** Where files are moved by a patch, from their old paths. */
      readonly moved?: ReadonlyMap<string, string>
      /** Whether it is a change of files to hooks, so that the paths that are gone are written too. */
      readonly isChange?: boolean
      /** Whether it is known to change files. */
      readonly writes: boolean
    }
  /** The call should name a command or path, but does not. */
  | { readonly kind: 'unclear'; readonly missing: 'command' | 'path' }
  | { readonly kind: 'other' }

const OTHER: ToolCall = { kind: 'other' }

const SHELLS = new Set(
  `bash bashtool cmd command commandline console containerexec developershell exec execbash execcommand execute
  executebash executecommand executeshell executeshellcommand interactiveshell interactwithprocess localshell monitor
  powershell process pwsh run runbash runcommand runcommandline runcommands runinterminal runprocess runscript runshell
  runshellcommand runterminal runterminalcmd runterminalcommand sendinput sh shell shellcommand shellexec shelltool
  startprocess createandruntask createterminal openterminal newterminal executeintask runtask terminal terminalcommand unifiedexec userbash writestdin zsh`.split(
    /\s+/,
  ),
)

const COMMAND_KEYS = [
  ...[
    'command',
    'cmd',
    'script',
    'commands',
    'cmds',
    'commandLine',
    'command_line',
    'shell_command',
    'shellCommand',
  ],
  ...['argv', 'bash_command', 'code', 'chars', 'input', 'powershell', 'bash'],
]
/** Those of tools that are no shell. */
const COMMANDS_OF_OTHERS = COMMAND_KEYS.slice(0, 9)
const FOLDER_KEYS = [
  'workdir',
  'cwd',
  'working_directory',
  'workingDirectory',
  'working_dir',
  'directory',
  'dir_path',
  'dir',
]

const READS =
  /read|^get|^list|search|^find|view|glob|grep|stat|info|^ls$|^cat$|show|fetch|tree|exists|lookup|query|open|diagnostic/
const WRITES =
  /trash|erase|purge|unlink|^del|write|edit|create|delete|remove|move|rename|replace|patch|insert|append|copy|link|save|update|download|mkdir|truncate|touch|chmod|modify|overwrite|applydiff|multiedit|^put|^set/
const GONE = /delete|remove|trash|erase|purge|unlink|destroy|wipe|shred|^del|^rm/
const DEEP = /delete|remove|move|rename|copy|link|chmod|trash|erase|purge|destroy|wipe|shred|^del|^rm/
/** `dirPath`, `savePath`, `pathInProject`, `old_name`. */
const PATH_KEY =
  /(?:path|file|uri|dir|directory|folder)s?$|directories$|^path|^(?:(?:target|source|destination|dest|src|old|new|from|to|notebook|absolute|relative|abs|full|output|input|link|base)?_?(?:file_?)?names?|files?|targets?|source|destination|dest|src|from|to|edits|replacements|changes|operations?|moves)$/i

/** Fields that hold a path before it is moved. */
const FROM_KEY = /^(?:source|src|from|old)/i

const PATCH_KEYS = [
  'patch',
  'input',
  'command',
  'diff',
  'patch_text',
  'patchText',
  'content',
  'cmd',
  'changes',
]

/** The input is text that two parsers could read differently. */
export class AmbiguousInput extends Error {
  override readonly name = 'AmbiguousInput'
}

/** `hostName`: the agent's own name of a tool that has one of Claude Code's names here. Throws AmbiguousInput. */
export function toolCall(toolName: string, given: Json, hostName?: string): ToolCall {
  const name = plainName(toolName)
  const input = parsedInput(given)
  if (/^(?:apply|git)?patch$|^applydiff$/.test(name)) return patchCall(input)
  const isEditor = isObject(input) && /edit|strreplace/.test(name) && typeof input.path === 'string'
  const isShell = SHELLS.has(name)
  const code = isShell ? [] : [...codeIn(name, input), ...gitIn(name, input)]
  const commands = isEditor ? [] : [...commandsIn(input, isShell), ...code]
  if (isShell || code.length > 0 || (commands.length > 0 && !WRITES.test(name) && !READS.test(name))) {
    if (commands.length === 0) return isEmpty(input) ? OTHER : { kind: 'unclear', missing: 'command' }
    return {
      kind: 'shell',
      commands,
      folder: textAt(input, FOLDER_KEYS),
      isPowerShell: /powershell|pwsh/.test(name),
    }
  }
  return fileCall(name, input, hostName)
}

/** `mcp__fs__write_file`, `MCP:write_file`, `developer__shell`, `functions.exec_command`. */
export const plainName = remembered((toolName) => {
  const last =
    toolName
      .split(/__|[:./]/)
      .filter((part) => part !== '')
      .at(-1) ?? toolName
  return last
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/(?:tool|v\d)$/, '')
})

/** Some hosts send the input as a JSON string. Throws if parsers could read it differently. */
export function parsedInput(input: Json): Json {
  if (typeof input !== 'string' || !/^\s*[[{]/.test(input)) return input
  let broken = false
  try {
    return parseJson(input, (problem, kind) => {
      broken = kind === 'broken'
      return new AmbiguousInput(`the tool's input cannot be judged: ${problem}`)
    })
  } catch (error) {
    if (broken) return input
    throw error
  }
}

function isEmpty(input: Json): boolean {
  return input === null || input === '' || (typeof input === 'object' && Object.keys(input).length === 0)
}

// ---- shells -----------------------------------------------------------------------------------------------------

/** A string, or a list of words or of strings. Every field counts, because the host may use any of them. */
function commandsIn(input: Json, isShell: boolean): readonly string[] {
  if (typeof input === 'string') return isShell ? [input] : []
  if (Array.isArray(input)) return isShell ? commandsOf(input, 'argv') : []
  if (!isObject(input)) return []
  const own =
    typeof input.command === 'string' && Array.isArray(input.args) ? withArgs(input.command, input.args) : []
  const nested = isShell && isObject(input.task) ? commandsIn(input.task as Json, true) : []
  const keys = isShell ? COMMAND_KEYS : COMMANDS_OF_OTHERS
  const found = [...own, ...nested]
  // Most calls have few fields.
  const given = Object.keys(input)
  for (const key of keys)
    if (given.includes(key)) found.push(...commandsOf(parsedInput(input[key] as Json), key))
  return found
}

/** A program with its arguments in a separate field. */
function withArgs(command: string, args: readonly Json[]): readonly string[] {
  const words = args.filter((item): item is string => typeof item === 'string')
  return [[command, ...words.map(shellQuoted)].join(' ')]
}

function commandsOf(value: Json, key: string): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  if (!Array.isArray(value)) return isObject(value) ? commandsIn(value as Json, true) : []
  const texts = value.filter((item): item is string => typeof item === 'string')
  if (/s$/.test(key)) return value.flatMap((item: Json) => commandsOf(item, 'argv'))
  return texts.length > 0 ? [texts.map(shellQuoted).join(' ')] : []
}

// ---- files ------------------------------------------------------------------------------------------------------

function patchCall(input: Json): ToolCall {
  const texts =
    typeof input === 'string' ? [input] : PATCH_KEYS.flatMap((key) => textsIn(fieldOf(input, key)))
  const paths = [...texts.flatMap(pathsInPatch), ...pathsIn(input, 0)]
  if (paths.length === 0) return isEmpty(input) ? OTHER : { kind: 'unclear', missing: 'path' }
  const { deleted, moved } = lossesInPatch(texts)
  const gone = [...deleted, ...moved.keys()]
  return { kind: 'files', paths, deep: true, gone, moved, isChange: true, writes: true }
}

function fieldOf(input: Json, key: string): Json {
  return isObject(input) && Object.hasOwn(input, key) ? (input[key] as Json) : null
}

/** `["apply_patch", "*** Begin Patch …"]`, and by files: `{ "a.txt": … }`. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.filter((item): item is string => typeof item === 'string')
  if (!isObject(value)) return []
  return Object.entries(value).map(([path, change]) =>
    isDelete(change) ? `*** Delete File: ${path}` : `*** Update File: ${path}`,
  )
}

/** `{ "type": "delete" }`, `{ "delete": … }`. */
function isDelete(change: unknown): boolean {
  return isObject(change) && (change.type === 'delete' || Object.hasOwn(change, 'delete'))
}

function fileCall(name: string, input: Json, hostName: string | undefined): ToolCall {
  const writes = WRITES.test(name) && !/^(?:todo|task|plan|memory|note(?!book)|issue|pull)/.test(name)
  // `str_replace_editor` has a command that only views.
  if (fieldOf(input, 'command') === 'view' && isLooking(name, input)) return OTHER
  if (!writes && READS.test(name)) return OTHER
  const paths = pathsIn(input, 0)
  if (paths.length === 0) {
    const isFileTool =
      /^(?:write|edit|multiedit|create|writefile|editfile|notebookedit|strreplace.*|deletefile|movefile)$/.test(
        name,
      )
    return isFileTool && !isEmpty(input) ? { kind: 'unclear', missing: 'path' } : OTHER
  }
  if (CHANGES.test(name)) {
    const lost = lostByChange(input, paths, hostName)
    if (lost) return { kind: 'files', paths, writes, isChange: true, ...lost }
  }
  const moved = /move|rename/.test(name) ? pathsIn(input, 0, FROM_KEY) : []
  return { kind: 'files', paths, deep: DEEP.test(name), gone: GONE.test(name) ? paths : moved, writes }
}

/** Claude Code's tools that other agents' tools are taken for. */
const CHANGES = /^(?:write|edit)$/

/** An agent's tool that deletes files is a Write or an Edit to hooks, as are the parts of a patch. */
function lostByChange(
  input: Json,
  paths: readonly string[],
  hostName = '',
): Pick<Extract<ToolCall, { kind: 'files' }>, 'gone' | 'deep' | 'moved'> | undefined {
  const own = plainName(hostName)
  if (GONE.test(own)) return { gone: paths, deep: DEEP.test(own) }
  const [path, to] = [fieldOf(input, 'file_path'), fieldOf(input, 'moved_to')]
  if (typeof path !== 'string') return undefined
  if (typeof to === 'string') return { gone: [path], deep: false, moved: new Map([[path, to]]) }
  return fieldOf(input, 'deleted') === true ? { gone: [path], deep: false } : undefined
}

/** An editor with many commands. A field for writing may belong to another command. */
function isLooking(name: string, input: Json): boolean {
  const written = [
    'content',
    'contents',
    'file_text',
    'new_str',
    'new_string',
    'insert_text',
    'edits',
    'old_string',
  ]
  return (
    /^strreplace|editor$|^texteditor|^fileeditor/.test(name) &&
    written.every((key) => fieldOf(input, key) === null)
  )
}

const DEEPEST = 4
const LONGEST_PATH = 4096

export function pathsIn(value: Json, depth: number, isPathKey = PATH_KEY): readonly string[] {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return []
  if (Array.isArray(value)) return value.slice(0, 1000).flatMap((item) => pathsIn(item, depth + 1, isPathKey))
  return Object.entries(value).flatMap(([key, item]: [string, Json]) => {
    if (!isPathKey.test(key)) return []
    const items = Array.isArray(item) ? item : [item]
    const texts = items.filter((one): one is string => typeof one === 'string' && isPath(one))
    // `{ "a.txt": "its text" }`
    const keys = /^files$/i.test(key) && isObject(item) ? Object.keys(item).filter(isPath) : []
    return [...texts, ...keys, ...pathsIn(item, depth + 1, isPathKey)]
  })
}

function isPath(text: string): boolean {
  return text !== '' && text.length <= LONGEST_PATH && !text.includes('\n')
}
