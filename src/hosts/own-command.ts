// Carabiner's own commands in the settings of agents, from any installation.

import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { isObject } from '../core/base/json.js'
import { ifThere } from '../files/if-there.js'

/** Clears variables that load code into Node before our program starts. Entries of older versions lack some. */
export const WITHOUT_CODE: readonly string[] = ['NODE_OPTIONS=', 'NODE_PATH=', 'OPENSSL_CONF=']

const GONE = 'Carabiner is gone: one of $* cannot be run. Install it again, then run carabiner setup.'

/**
 * What a command begins with, so that one whose files are gone says so and exits with this code: an agent would go on after
 * the shell's own 127, and after the 0 of an empty file. The last file is the script. For sh, zsh and fish.
 */
export function ifGone(quotedFiles: readonly string[], exit: 1 | 2): string {
  const tests = quotedFiles.flatMap((file, i) => {
    const isScript = i === quotedFiles.length - 1
    return [`test -${isScript ? 'r' : 'x'} ${file}`, `test -s ${file}`]
  })
  return `${tests.join(' && ')} || exec sh -c 'echo "${GONE}" >&2; exit ${exit}' sh ${quotedFiles.join(' ')};`
}

/**
 * Runs a gate's program, whose words follow, and refuses if it does not come to an answer: many agents go on after a program
 * that crashed, or was killed for want of memory. An answer has the exit code 0 or 2.
 */
export const ANSWERS_OR_REFUSES: readonly string[] = [
  '/bin/sh',
  '-c',
  '"$@" || { code=$?; [ $code -eq 2 ] || echo "Carabiner ended with $code before it could answer, so this is refused. Run carabiner doctor." >&2; exit 2; }',
  'sh',
]

/** A dollar or backtick that is not escaped would run something else. */
const QUOTED = '"(?:[^"\\\\$`]|\\\\.)*"'
const IF_GONE = new RegExp(
  `^test -[xrs] ${QUOTED}(?: && test -[xrs] ${QUOTED})* \\|\\| exec sh -c 'echo "[^"'\`\\\\]*" >&2; exit [12]' sh(?: ${QUOTED})+; `,
)

/** `hook`: a standard hook. `fire`: the hooks of the project. */
type Call = 'hook' | 'fire'

export interface OwnCommand {
  readonly call: Call
  /** The name of the hook, or of the event. */
  readonly name: string
  /** The agent that it answers. */
  readonly host: string
  /** As written; a bare name is looked up in PATH. */
  readonly script: string
  readonly node: string | undefined
  /** The client of the service, which starts Node only if the service cannot answer. */
  readonly clip: string | undefined
}

/** Undefined if the handler is not ours: a command that does anything more belongs to somebody else. Other fields may have changed. */
export function ownCommand(handler: unknown): OwnCommand | undefined {
  if (!isObject(handler)) return undefined
  // Copilot CLI has one command for each shell.
  const { type = 'command', args, command = handler.bash } = handler
  if (typeof command !== 'string' || type !== 'command' || args !== undefined) return undefined
  const all = wordsOf(command.replace(IF_GONE, ''))
  if (!all) return undefined
  const begin = all.findIndex((word) => !WITHOUT_CODE.includes(word))
  const plain = after(ANSWERS_OR_REFUSES, all.slice(Math.max(begin, 0)))
  const clip = isNode(plain[1]) && baseName(plain[0]) === CLIP ? plain[0] : undefined
  const words = clip === undefined ? plain : plain.slice(1)
  const program = ownProgram(words)
  const called = program && callIn(program.rest)
  return called && { ...called, script: program.script, node: program.node, clip }
}

/** Our program at the front of these words, from any installation, and the words after it. */
export function ownProgram(
  words: readonly string[],
):
  | { readonly node: string | undefined; readonly script: string; readonly rest: readonly string[] }
  | undefined {
  const node = isNode(words[0]) ? words[0] : undefined
  const [script = '', ...rest] = node === undefined ? withoutLauncher(words) : words.slice(1)
  return /^carabiner(?:\.js|\.cmd)?$/.test(baseName(script)) ? { node, script, rest } : undefined
}

/** The words after these, if they begin with them. */
function after(first: readonly string[], words: readonly string[]): readonly string[] {
  return first.every((word, i) => words[i] === word) ? words.slice(first.length) : words
}

function callIn([call, ...words]: readonly string[]): Pick<OwnCommand, 'call' | 'name' | 'host'> | undefined {
  const { name, as, memory } = optionsIn(words)
  if (name === undefined) return undefined
  if (call === 'hook') {
    const isHook = /^[a-z][a-z-]*$/i.test(name)
    return isHook ? { call, name, host: as ?? 'claude-code' } : undefined
  }
  if (call !== 'fire' || as === undefined || memory) return undefined
  return { call, name, host: as }
}

interface Given {
  /** Undefined if there is anything that setup does not write. */
  readonly name?: string
  readonly as?: string
  readonly timeout?: string
  readonly memory?: true
}

/** Older versions wrote the event first. */
function optionsIn([word, ...rest]: readonly string[], given: Given = {}): Given {
  if (word === undefined) return given
  const [value, ...more] = rest
  if (word === '--memory' && given.memory === undefined) return optionsIn(rest, { ...given, memory: true })
  if (word === '--as' && given.as === undefined && value !== undefined && /^[a-z][a-z0-9-]*$/.test(value))
    return optionsIn(more, { ...given, as: value })
  if (word === '--timeout' && given.timeout === undefined && value !== undefined && /^[\d.]+$/.test(value))
    return optionsIn(more, { ...given, timeout: value })
  if (word.startsWith('-') || given.name !== undefined) return {}
  return optionsIn(rest, { ...given, name: word })
}

/** The name of the client's file. */
export const CLIP = 'clip'

function isNode(path: string | undefined): boolean {
  return /^node(?:js)?(?:\.exe)?$/i.test(baseName(path))
}

/** The files that must exist for the command to start. */
export function filesOf({ clip, node, script }: OwnCommand): readonly string[] {
  return [clip, node, script].filter((path) => path !== undefined && isAbsolute(path)) as string[]
}

/**
 * What a command calls that somebody may have written by hand: around it, a shell may do anything else. With --run it is
 * somebody's hook, which `migrate` wrote.
 */
export function looseCall(command: string): Call | undefined {
  if (TRANSLATED.test(command)) return undefined
  const [, call] = /\bcarabiner(?:\.js)?["']?\s+(fire|hook)\b/.exec(command) ?? []
  return call as Call | undefined
}

const TRANSLATED = /\bcarabiner fire \S+ --as .*--for \S+ .*--run=/s

const FORMER =
  /(?:^|["'\s])(\/[^"'\s]+)["']?\s+(?:hook\s+([a-z-]+)|fire\s+(?:\w+\s+--as\s+[a-z-]+|--as\s+[a-z-]+(?:\s+--timeout\s+[\d.]+)?\s+\w+))\b/

/** The script and the hook, if any, that a command once called: somebody has renamed the script or moved it since. */
export function formerCall(command: string): { readonly script: string; readonly hook?: string } | undefined {
  const [, script, hook] = FORMER.exec(command.slice(0, LONGEST)) ?? []
  return script === undefined ? undefined : { script, ...(hook !== undefined && { hook }) }
}

const LONGEST = 4000

/** People write `npx --yes carabiner@1 hook …` before they know about setup. */
function withoutLauncher(words: readonly string[]): readonly string[] {
  if (!/^(?:npx|pnpx|bunx)(?:\.cmd)?$/i.test(baseName(words[0]))) return words
  const [program = '', ...rest] = words.slice(1 + words.slice(1).findIndex((word) => !QUIETLY.includes(word)))
  return [program.replace(/@[\w.^~-]+$/, ''), ...rest]
}

const QUIETLY = ['-y', '--yes', '--no-install', '--offline', '--prefer-offline']

/** Whether it is a standard hook whose program is gone. An unreadable path does not count as gone. */
export function isDead(handler: unknown): boolean {
  const own = ownCommand(handler)
  return own?.call === 'hook' && isAbsolute(own.script) && isGone(own.script)
}

export function isGone(path: string): boolean {
  try {
    return ifThere(() => statSync(path)) === undefined
  } catch {
    return false
  }
}

const WORD = /[ \t]*(?:"((?:[^"\\$`]|\\[\\"$`])*)"|'([^']*)'|([\w@%+=:,./~-]+))(?=[ \t]|$)/y

/** Undefined if a shell would do more than run one program with these words. */
function wordsOf(command: string): readonly string[] | undefined {
  const words: string[] = []
  const text = command.trimEnd()
  WORD.lastIndex = 0
  while (WORD.lastIndex < text.length) {
    const match = WORD.exec(text)
    if (!match) return undefined
    words.push(match[1]?.replace(/\\(.)/gs, '$1') ?? match[2] ?? match[3] ?? '')
  }
  return words
}

function baseName(path = ''): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}
