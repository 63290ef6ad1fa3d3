// A command line as the guard sees it: every call in it, with its arguments and the folders it may run in.

import type { Assignment, Command, HereDoc, SyntaxNode } from 'unbash'
import { SOMEWHERE } from '../paths/absolute-path.js'
import { readPlainShell, readShell, type ShellReading } from '../shell/shell-reading.js'
import { bodyOf, type SimpleCommand, wordOf } from '../shell/simple-command.js'
import { AS_IT_IS, type Mover, type Scene } from './scene.js'
import { moveOf } from './scene-moves.js'
import type { Output } from './shell-walk.js'
import { type Surroundings, Variables } from './variables.js'
import type { Word } from './word.js'

export interface Call {
  /** The program's name without its folder. */
  readonly name: string
  readonly command: SimpleCommand
  /** The words after the name. */
  readonly args: readonly Word[]
  /** Absolute, or SOMEWHERE for a folder that is only known at run time. */
  readonly folders: readonly string[]
  readonly branches: ReadonlySet<string>
  /** Whether another command starts it: `sudo`, `xargs`, `find -exec`. */
  readonly isInner: boolean
  /** Whether it is only guessed that a program runs it. */
  readonly isGuess?: boolean
  /** The syntax node, if the command is in the text itself. */
  readonly node: Command | undefined
  /** The calls whose output it reads, the nearest first. */
  readonly readsFrom: readonly Call[]
  /** Here-documents and here-strings that it is given. */
  readonly input: readonly string[]
  /** Files that `<` reads. */
  readonly inputFiles: readonly Word[]
}

export interface WrittenFile {
  readonly words: readonly Word[]
  readonly folders: readonly string[]
}

export interface ShellFunction {
  readonly name: string
  /** As it is written. */
  readonly body: string
}

export interface Script {
  readonly text: string
  readonly reading: ShellReading
  readonly calls: readonly Call[]
  /** Files that `>` and similar operators write. */
  readonly outputs: readonly WrittenFile[]
  /** Files that `<` reads for a group or a loop. */
  readonly inputs: readonly WrittenFile[]
  /** As `NAME=value`. */
  readonly assignments: readonly string[]
  readonly functions: readonly ShellFunction[]
  /** As they are written. Loops over a list of words are not included, because they end. */
  readonly loops: readonly string[]
  /** Whether a part of it may run more than once: in a loop, or in a function. */
  readonly repeats: boolean
  /** Whether a star also matches names that begin with a dot. */
  readonly dots: boolean
}

export async function readScript(text: string, folder: string, known: Surroundings): Promise<Script> {
  return plainScript(text, folder, known) ?? parsedScript(text, folder, known)
}

// ---- plain words ----------------------------------------------------------------------------------------------------

/** Commands that set variables, move, or end the script, so that those after them are not as plain as they look. */
const CHANGING: ReadonlySet<string> = new Set([
  ...['cd', 'chdir', 'pushd', 'popd', 'exit', 'return', 'exec', 'source', '.', 'setopt', 'emulate', 'shopt'],
  ...['read', 'mapfile', 'readarray', 'getopts', 'printf', 'let', 'unset', 'local', 'declare', 'typeset'],
])
const SWITCHING = /^git .*\b(?:checkout|switch)\b/

/** Plain commands such as `npm test | head` need no parser, which takes longer to load than everything else here. Undefined for all others. */
export function plainScript(text: string, folder: string, known: Surroundings): Script | undefined {
  const reading = readPlainShell(text)
  if (!reading) return undefined
  const moved = reading.commands.length > 1 ? foldersIn(reading, text, folder, known) : [folder]
  if (!moved) return undefined
  const calls: Call[] = []
  let end = 0
  for (const command of reading.commands) {
    const before = calls.at(-1)
    const isPiped = before !== undefined && text.startsWith(' | ', end)
    end = (before === undefined ? 0 : text.indexOf(' ', end + 1) + 1) + (command.source?.length ?? 0)
    calls.push({
      name: command.name,
      command,
      args: plainWords(command.words),
      folders: before === undefined ? [folder] : moved,
      branches: UNCHANGED,
      isInner: false,
      node: undefined,
      readsFrom: isPiped ? [before, ...before.readsFrom].slice(0, MOST_SOURCES) : NONE,
      input: NONE,
      inputFiles: NONE,
    })
  }
  return {
    text,
    reading,
    calls,
    outputs: NONE,
    inputs: NONE,
    assignments: NONE,
    functions: NONE,
    loops: NONE,
    repeats: false,
    dots: false,
  }
}

const NONE: readonly never[] = []
const UNCHANGED: ReadonlySet<string> = new Set([AS_IT_IS])
const MOST_SOURCES = 32

/** The words after the name. */
function plainWords(words: readonly string[]): readonly Word[] {
  const args: Word[] = []
  for (let i = 1; i < words.length; i++) args.push({ text: words[i] as string, known: true, glob: false })
  return args
}

/** The folders of all commands but the first. Undefined if they are not all the same, or a command sets a variable. */
function foldersIn(
  { commands }: ShellReading,
  text: string,
  folder: string,
  known: Surroundings,
): readonly string[] | undefined {
  const [first, ...others] = commands
  if (!first || text.includes('=') || others.some(({ name }) => CHANGING.has(name))) return undefined
  if (commands.some(({ name, source = '' }) => name === 'git' && SWITCHING.test(source))) return undefined
  if (!CHANGING.has(first.name)) return [folder]
  const isOnlyAfter = !/;|\|\|/.test(text) && text.startsWith(' && ', first.source?.length)
  const [, target = '-', ...more] = first.words
  if (first.program !== 'cd' || !isOnlyAfter || target.startsWith('-') || more.length > 0) return undefined
  if (known.env.CDPATH !== undefined) return undefined
  const scene: Scene = { folders: new Set([folder]), branches: UNCHANGED }
  const moved = moveOf(first.words, scene, scene, new Variables(known), known.home)
  return typeof moved === 'object' ? [...moved.folders] : undefined
}

// ---- everything else --------------------------------------------------------------------------------------------------

const REPEATING: ReadonlySet<string> = new Set(['For', 'While', 'ArithmeticFor', 'Function'])

let walker: typeof import('./shell-walk.js') | undefined

/** Any command line. */
export async function parsedScript(text: string, folder: string, known: Surroundings): Promise<Script> {
  walker ??= await import('./shell-walk.js')
  const { ShellWalk } = walker
  const nodes: SyntaxNode[] = []
  const functions: ShellFunction[] = []
  const loops: string[] = []
  const reading = readShell(text, (node, source) => {
    nodes.push(node)
    if (node.type === 'While' || node.type === 'ArithmeticFor') loops.push(source.slice(node.pos, node.end))
    if (node.type !== 'Function') return
    functions.push({ name: node.name.text, body: source.slice(node.body.pos, node.body.end) })
  })
  const variables = new Variables(known)
  const assignments = assignmentsIn(nodes, reading, variables)
  const sought = known.env.CDPATH !== undefined || text.includes('CDPATH')
  const mover =
    (starts: number): Mover =>
    (words, scene, seen) => {
      const moved = moveOf(words, scene, seen, variables, known.home)
      // `cd -` before any other move: the shell may have been somewhere else before the script.
      const isLost = sought || (words.includes('-') && seen.folders.size <= starts)
      if (!isLost || typeof moved !== 'object') return moved
      return { ...moved, folders: new Set([...moved.folders, SOMEWHERE]) }
    }
  const scripts = nodes.filter(({ type }) => type === 'Script')
  const walked = (folders: readonly string[]) => {
    const walk = new ShellWalk({ folders: new Set(folders), branches: UNCHANGED }, mover(folders.length))
    walk.take(scripts)
    return { walk, calls: callsOf(reading, nodes, variables, (node) => walk.sceneOf(node)) }
  }
  const first = walked([folder])
  // `env -C x bash -c '…'`: the inner script starts in another folder. Which of the scripts does is not told apart.
  const elsewhere = scripts.length > 1 ? first.calls.flatMap(startsOf) : []
  const { walk, calls } = elsewhere.length === 0 ? first : walked([folder, ...elsewhere])
  const files = (redirected: readonly Output[]) =>
    redirected.map((output) => ({
      words: variables.wordsOf(output.target, true),
      folders: [...walk.sceneOfOutput(output).folders],
    }))
  return {
    text,
    reading,
    calls: withSources(calls, walk.sources),
    outputs: files(walk.outputs),
    inputs: files(walk.inputs),
    assignments,
    functions,
    loops,
    repeats: nodes.some(({ type }) => REPEATING.has(type)),
    dots: /dotglob|GLOBIGNORE|setopt|emulate/i.test(text),
  }
}

// ---- variables ------------------------------------------------------------------------------------------------------

function assignmentsIn(nodes: readonly SyntaxNode[], reading: ShellReading, variables: Variables): string[] {
  const all: string[] = []
  for (const node of nodes) {
    if (node.type === 'Assignment') assign(node, variables, all)
    else if (node.type === 'Command') {
      for (const item of node.prefix) if (item.type === 'Assignment') assign(item, variables, all)
      for (const item of node.args) if (item.type === 'Assignment') assign(item, variables, all)
    } else if (node.type === 'For' || node.type === 'Select') {
      const words = node.wordlist?.map((word) => wordOf(word).text) ?? [undefined]
      for (const word of words) variables.add(node.name.text, word)
    } else if (node.type === 'ParameterExpansion' && /^:?=/.test(node.operation?.operator ?? '')) {
      variables.add(node.parameter, undefined)
    } else if (node.type === 'Coproc') variables.forgetAll()
  }
  for (const command of reading.commands) fromCommand(command, variables, all)
  return all
}

function assign({ name, value, append, index }: Assignment, variables: Variables, all: string[]): void {
  const words = value.type === 'ArrayValue' ? value.elements : [value]
  for (const word of words) {
    const { text } = wordOf(word)
    variables.add(name, append && value.type !== 'ArrayValue' ? undefined : text)
    all.push(`${name}=${text}`)
  }
  if (index !== undefined) variables.add(name, undefined)
}

/** `read x`, `env X=1`, `export X=1`, `printf -v x`. */
function fromCommand({ name, words }: SimpleCommand, variables: Variables, all: string[]): void {
  // A reference to another variable (`declare -n`): any variable may change through it.
  const isSecond = READERS.has(name) && DECLARES.test(name) && words.some((word) => /^-\w*n/.test(word))
  if (name === 'source' || name === '.' || isSecond) variables.forgetAll()
  const reads = READERS.has(name)
  for (const [i, word] of words.entries()) {
    if (i === 0 || (!reads && !word.includes('='))) continue
    const [, left, right] = /^(\w+)\+?=(.*)$/s.exec(word) ?? []
    if (left !== undefined && right !== undefined) {
      variables.add(left, word.includes('+=') ? undefined : right)
      all.push(`${left}=${right}`)
    } else if (reads) {
      const [, given] = /^(?:-v)?(\w+)(?:\[.*\])?$/s.exec(word) ?? []
      if (given !== undefined) variables.add(given, undefined)
    }
  }
}

const DECLARES = /^(?:declare|local|typeset)$/

/** Commands that store what they read or compute in a variable. */
const READERS: ReadonlySet<string> = new Set([
  ...['read', 'mapfile', 'readarray', 'getopts', 'printf', 'let', 'unset', 'local', 'declare', 'typeset'],
])

// ---- calls ----------------------------------------------------------------------------------------------------------

/** Commands with a source are in the text, in the order of the nodes. The others are run by the one before them. */
function callsOf(
  reading: ShellReading,
  nodes: readonly SyntaxNode[],
  variables: Variables,
  sceneOf: (node: Command | undefined) => Scene,
): Call[] {
  const named = nodes.filter((node): node is Command => node.type === 'Command' && node.name !== undefined)
  const written = reading.commands.filter(({ source }) => source !== undefined)
  // If the counts differ, the folder of each command is unknown.
  const areAligned = named.length === written.length
  let at = -1
  let moved: readonly string[] = []
  return reading.commands.map((command) => {
    const isInner = command.source === undefined
    if (!isInner) {
      at++
      moved = []
    }
    const node = areAligned ? named[at] : undefined
    const scene = sceneOf(node)
    const args: Word[] = []
    for (let i = 1; i < command.words.length; i++)
      for (const word of variables.wordsOf(command.words[i] as string, command.dynamic)) args.push(word)
    const folders = moved.length === 0 ? [...scene.folders] : [...new Set([...scene.folders, ...moved])]
    if (STARTS_ELSEWHERE.has(command.name)) moved = [...moved, ...startFolders(command.name, args, folders)]
    return {
      name: command.name,
      command,
      args,
      folders: areAligned ? folders : [...folders, SOMEWHERE],
      branches: scene.branches,
      isInner,
      node,
      readsFrom: [],
      input: node && node.redirects.length > 0 ? inputOf(node) : NONE,
      inputFiles: node && node.redirects.length > 0 ? inputFilesOf(node, variables) : NONE,
    }
  })
}

const STARTS_ELSEWHERE: ReadonlySet<string> = new Set([
  ...['env', 'sudo', 'unshare', 'nsenter', 'systemd-run', 'find', 'fd'],
])

function startsOf({ name, args, folders }: Call): readonly string[] {
  return STARTS_ELSEWHERE.has(name) ? startFolders(name, args, folders) : []
}

/** `env -C x rm y` and `sudo -D x` run their command in another folder. */
function startFolders(name: string, args: readonly Word[], folders: readonly string[]): readonly string[] {
  // The folders of the files that find matches are unknown.
  if (/^f/.test(name)) return args.some(({ text }) => /^-(?:exec|ok)dir$/.test(text)) ? [SOMEWHERE] : []
  const found: string[] = []
  for (const [i, { text }] of args.entries()) {
    const [, value] = /^(?:-C|-D|-w|--(?:chdir|wd|working-directory|working-dir))=?(.*)$/s.exec(text) ?? []
    if (value === undefined) continue
    const target = value === '' ? args[i + 1] : { text: value, known: args[i]?.known ?? false }
    if (!target?.known) found.push(SOMEWHERE)
    else
      for (const folder of folders)
        found.push(target.text.startsWith('/') ? target.text : `${folder}/${target.text}`)
  }
  return found
}

function inputOf({ redirects }: Command): readonly string[] {
  return redirects.flatMap((redirect) => {
    if (redirect.type === 'HereDoc') return [bodyOf(redirect as HereDoc).text]
    return redirect.type === 'HereString' && redirect.target ? [wordOf(redirect.target).text] : []
  })
}

function inputFilesOf({ redirects }: Command, variables: Variables): readonly Word[] {
  return redirects.flatMap((redirect) => {
    if (redirect.type !== 'Redirect' || redirect.operator !== '<' || !redirect.target) return []
    return variables.wordsOf(wordOf(redirect.target).text, true)
  })
}

function withSources(calls: readonly Call[], sources: ReadonlyMap<Command, SyntaxNode>): readonly Call[] {
  if (sources.size === 0) return calls
  const outer = new Map<SyntaxNode | undefined, Call>()
  for (const call of calls) if (!call.isInner) outer.set(call.node, call)
  return calls.map((call) => {
    const readsFrom: Call[] = []
    let node: SyntaxNode | undefined = call.node && sources.get(call.node)
    while (node?.type === 'Command' && readsFrom.length < MOST_SOURCES) {
      const source = outer.get(node)
      if (!source) break
      readsFrom.push(source)
      node = sources.get(node)
    }
    return { ...call, readsFrom }
  })
}
