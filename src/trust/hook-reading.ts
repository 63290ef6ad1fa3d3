// Parses a hook's command: what it would run, what it sets, and which files it reads.

import { dirname } from 'node:path'
import type { Assignment, Command, ParsedScript, Redirection, SyntaxNode, Word } from 'unbash'
import { inQuotes } from '../effects/shell/shell-quoted.js'
import { readShell } from '../effects/shell/shell-reading.js'
import { isOpen, SimpleCommand, wordOf, wordsOf } from '../effects/shell/simple-command.js'
import { userHome } from '../files/homes.js'
import { nonce } from '../files/nonce.js'
import { AGENTS } from '../hosts/hosts.js'
import { partsOf } from '../hosts/late-parts.js'
import { isHarmless, isReader, isRunner, isWriter } from './known-programs.js'
import type { Unit, UnitHook } from './unit.js'

export interface HookReading {
  readonly commands: readonly SimpleCommand[]
  /** Why more may run than the commands show. */
  readonly why: string | undefined
  /** Texts that were parsed as scripts. */
  readonly scripts: ReadonlySet<string>
  /** Whether files that are named only by reading commands are plain data. */
  readonly isDataSafe: boolean
  /** Files that it reads as input, unless they are plain data. */
  readonly inputs: readonly string[]
  /** `NAME=value`: shell assignments, and words that look like one. */
  readonly assignments: readonly string[]
  /** Words as written, with quotes. */
  readonly written: readonly string[]
  /** The folder that everything starts in: `cd X && …`. */
  readonly begin: string | undefined
  /** Whether a command may run more than once or under another name. */
  readonly repeats: boolean
}

export function readHook(text: string): HookReading {
  const notes = new Notes()
  const { commands, why } = readShell(text, (node, source) => notes.take(node, source))
  return notes.reading(commands, why)
}

/** For text that is not shell code: nothing is known about it. */
export function unreadHook(): HookReading {
  return { ...new Notes().reading([], undefined), isDataSafe: false }
}

const REPEATING: ReadonlySet<SyntaxNode['type']> = new Set([
  'While',
  'For',
  'ArithmeticFor',
  'Select',
  'Function',
])

/** Collects facts while walking the syntax tree. */
class Notes {
  readonly #scripts = new Set<string>()
  readonly #inputs: string[] = []
  /** Files that are read by programs that only read. */
  readonly #data: string[] = []
  readonly #assignments: string[] = []
  readonly #written: string[] = []
  #begin: string | undefined
  #repeats = false
  #writes = false
  #defines = false

  take(node: SyntaxNode, source: string): void {
    if (node.type === 'Script') {
      if (this.#scripts.size === 0) this.#begin = beginOf(node)
      this.#scripts.add(source)
    } else if (node.type === 'Command') this.#command(node)
    else if (node.type === 'Redirected') this.#redirects(node.redirects, false)
    else if (REPEATING.has(node.type)) this.#repeats = true
    this.#defines ||= node.type === 'Function'
  }

  reading(commands: readonly SimpleCommand[], why: string | undefined): HookReading {
    // `sh run` is reported as `sh run` and as `run`.
    const operands = new Set(commands.filter(isRunner).map(({ words }) => words[1]))
    const isDataSafe =
      why === undefined &&
      !this.#defines &&
      !this.#assignments.some((one) => one.startsWith('PATH=')) &&
      commands.every((command) => operands.has(command.program) || isHarmless(command)) &&
      // A file that is written may be run afterwards.
      !(this.#writes && commands.some(isRunner))
    return {
      commands,
      why,
      scripts: this.#scripts,
      isDataSafe,
      inputs: [...this.#inputs, ...(isDataSafe ? [] : this.#data)],
      assignments: this.#assignments,
      written: this.#written,
      begin: this.#begin,
      repeats: this.#repeats,
    }
  }

  #command(node: Command): void {
    for (const item of [...node.prefix, ...node.args]) {
      if (item.type === 'Assignment') this.#assignments.push(assignmentText(item))
      else if (item.type === 'Word' && /^["']?\w+=/.test(item.text)) this.#assignments.push(wordOf(item).text)
    }
    const call = callOf(node)
    this.#redirects(node.redirects, call !== undefined && isReader(call))
    const words = node.args.filter((arg): arg is Word => arg.type === 'Word')
    if (node.name) this.#written.push(node.name.text, ...words.map(({ text }) => text))
    if (call && isWriter(call)) for (const word of words) this.#output(word)
  }

  #redirects(redirects: readonly Redirection[], isReading: boolean): void {
    for (const redirect of redirects) {
      if (redirect.type !== 'Redirect' || !redirect.target) continue
      const { operator, target } = redirect
      // `<>` reads, too.
      if (operator.includes('>') && operator !== '<>') this.#output(target)
      else if (operator.startsWith('<') && !/^<<|^<&/.test(operator))
        (isReading ? this.#data : this.#inputs).push(wordOf(target).text)
    }
  }

  #output(word: Word): void {
    this.#writes ||= !/^(?:\d+|-|\/dev\/(?:null|stderr|stdout))$/.test(wordOf(word).text)
  }
}

/** If the `cd` fails, nothing else runs. */
function beginOf({ commands }: ParsedScript): string | undefined {
  const [statement] = commands
  if (commands.length !== 1 || statement?.command.type !== 'AndOr') return undefined
  const { operators, commands: parts } = statement.command
  const [first] = parts
  if (first?.type !== 'Command' || operators.some((operator) => operator !== '&&')) return undefined
  const [target, ...more] = first.suffix
  if (first.name?.text !== 'cd' || first.prefix.length > 0 || more.length > 0) return undefined
  return target?.type === 'Word' && !isOpen(wordOf(target)) ? wordOf(target).text : undefined
}

function callOf(node: Command): SimpleCommand | undefined {
  const [program] = wordsOf(node)
  return node.name && program && !isOpen(program) ? new SimpleCommand(program.text, node) : undefined
}

function assignmentText({ name, value, text }: Assignment): string {
  return value.type === 'ArrayValue' ? text : `${name}=${wordOf(value).text}`
}

// ---- our variables in a command: each becomes a mark, which shows whether a word leads into the copy ----------

/** A variable that holds a folder. */
export interface Variable {
  readonly name: string
  readonly folder: string
  /** True if it leads into the copy at run time. */
  readonly isCopied: boolean
}

/** The position of a variable in this list determines its mark. */
export function variablesOf({
  kind,
  path,
  projectDir,
  hooksDir = dirname(path),
  hooks,
}: Unit): readonly Variable[] {
  const isCopied = kind === 'folder'
  const own = ['CLAUDE_PLUGIN_ROOT', 'PLUGIN_ROOT', 'AMPLIFIER_SKILL_DIR', 'CLAUDE_SKILL_DIR']
  return [
    { name: 'CLAUDE_PROJECT_DIR', folder: projectDir, isCopied: false },
    { name: 'AMPLIFIER_PROJECT_DIR', folder: projectDir, isCopied: false },
    { name: 'HOME', folder: userHome(), isCopied: false },
    { name: 'AMPLIFIER_HOOKS_DIR', folder: hooksDir, isCopied },
    ...(isCopied ? own.map((name) => ({ name, folder: path, isCopied })) : []),
    ...(hooks.some(({ agent }) => agent !== undefined)
      ? PROJECT_IN_AGENTS.map((name) => ({ name, folder: projectDir, isCopied: false }))
      : []),
  ]
}

/** Names that other agents have for the folder of the project. Only their own hooks get them. */
const PROJECT_IN_AGENTS = [
  ...AGENTS.flatMap((agent) =>
    partsOf(agent).hooks && agent.projectVariable ? [agent.projectVariable] : [],
  ),
  'workspaceFolder',
]

let drawn: string | undefined

/** Plain text to every shell parser. It differs in each process, so no folder in a project can have this name. */
function sign(): string {
  drawn ??= `/%${nonce()}`
  return drawn
}

/** Until a sign is drawn no text has a mark, and drawing one would load Node's cryptography. */
const NO_MARK = /(?!)/g

function marks(): RegExp {
  return drawn === undefined ? NO_MARK : new RegExp(`${drawn}(\\d+)%`, 'g')
}

/** The text as a shell would read it, with a mark for each of our variables. */
export function markedText(hook: UnitHook, unit: Unit, variables: readonly Variable[]): string {
  const isSkill = unit.kind === 'folder' && unit.hooksDir === unit.path
  const inSkill = (text: string) => (isSkill && /^\.\.?\//.test(text) ? `\${CLAUDE_SKILL_DIR}/${text}` : text)
  const text =
    hook.args === undefined
      ? inFolder(hook, inSkill(hook.command))
      : `${circumstances(hook, unit)}${[inSkill(hook.command), ...hook.args].map(inQuotes).join(' ')}`
  return variables.reduce(
    (marked, { name }, i) => marked.replace(patternOf(name), () => `${sign()}${i}%`),
    text,
  )
}

/** A command line that starts in a folder of its own, written as shell. */
function inFolder({ dir }: UnitHook, command: string): string {
  return dir === undefined ? command : `cd ${inQuotes(dir)} && { ${command}\n}`
}

/** A process's folder and variables, written as shell. */
function circumstances({ dir, env = {} }: UnitHook, { kind }: Unit): string {
  const variables = Object.entries(env).map(([name, value]) =>
    /^[A-Za-z_]\w*$/.test(name) ? `${name}=${inQuotes(value)} ` : '',
  )
  if (dir === undefined) return variables.join('')
  const isBelow = !/^[/$]/.test(dir)
  const folder = isBelow && kind === 'folder' ? `\${CLAUDE_PLUGIN_ROOT}/${dir}` : dir
  return `cd ${inQuotes(folder)} && ${variables.join('')}`
}

/** `$NAME`, `${NAME}` and `${NAME:-x}`. The last is NAME too, because it is always set. */
function patternOf(name: string): RegExp {
  return new RegExp(`\\$(?:${name}(?!\\w)|\\{${name}(?::?[-=?][^{}]*)?\\}|env:${name}(?!\\w))`, 'g')
}

/** A word with its marks resolved. */
export interface Lead {
  /** The word with folders in place of its marks. */
  readonly text: string
  readonly variable: Variable | undefined
}

export function unmarked(word: string, variables: readonly Variable[]): Lead {
  let variable: Variable | undefined
  const text = word.replace(marks(), (_, i: string) => {
    variable ??= variables[Number(i)]
    return variables[Number(i)]?.folder ?? ''
  })
  return { text, variable }
}

/** For people: with variable names in place of the marks, even for a mark that was cut short. */
export function readable(text: string, variables: readonly Variable[]): string {
  const named = text.replace(marks(), (_, i: string) => `$${variables[Number(i)]?.name}`)
  return named.replace(/\/%[0-9a-f]*\d*…$/, (cut) =>
    `${sign()}0`.startsWith(cut.slice(0, -1)) || cut.startsWith(sign()) ? '/…' : cut,
  )
}

/** Whether the shell leaves a variable as it is: in single quotes, or after a backslash. */
export function isUnfilled(written: string): boolean {
  return drawn !== undefined && (written.startsWith(`'${drawn}`) || written.startsWith(`\\${drawn}`))
}
