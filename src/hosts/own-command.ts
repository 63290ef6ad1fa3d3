// Carabiner's own commands in Claude Code's settings, from any installation, and the folder of the user's settings.

import { statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isObject } from '../core/base/json.js'
import { callerPath } from '../files/caller.js'
import { ifThere } from '../files/if-there.js'

/** Clears variables that load code into Node before our program starts. Entries of older versions lack it. */
export const WITHOUT_CODE: readonly string[] = ['NODE_OPTIONS=', 'NODE_PATH=']

/** `hook`: a standard hook. `fire`: the hooks of the project. */
type Call = 'hook' | 'fire'

export interface OwnCommand {
  readonly call: Call
  /** The name of the hook, or of the event. */
  readonly name: string
  /** As written; a bare name is looked up in PATH. */
  readonly script: string
  readonly node: string | undefined
  /** The client of the service, which starts Node only if the service cannot answer. */
  readonly clip: string | undefined
}

/** Undefined if the handler is not ours: a command that does anything more belongs to somebody else. Other fields may have changed. */
export function ownCommand(handler: unknown): OwnCommand | undefined {
  if (!isObject(handler) || typeof handler.command !== 'string') return undefined
  const { type = 'command', args } = handler
  const all = type === 'command' && args === undefined ? wordsOf(handler.command) : undefined
  if (!all) return undefined
  const plain = all.slice(WITHOUT_CODE.every((word, i) => all[i] === word) ? WITHOUT_CODE.length : 0)
  const clip = isNode(plain[1]) && baseName(plain[0]) === CLIP ? plain[0] : undefined
  const words = clip === undefined ? plain : plain.slice(1)
  const node = isNode(words[0]) ? words[0] : undefined
  const [script = '', ...rest] = node === undefined ? withoutLauncher(words) : words.slice(1)
  if (!/^carabiner(?:\.js)?$/.test(baseName(script))) return undefined
  const called = callIn(rest)
  return called && { ...called, script, node, clip }
}

function callIn([call, ...words]: readonly string[]): Pick<OwnCommand, 'call' | 'name'> | undefined {
  if (call === 'hook') {
    const [name = '', ...options] = words
    const isHook = /^[a-z][a-z-]*$/i.test(name) && /^(?:--memory)?$/.test(options.join(' '))
    return isHook ? { call, name } : undefined
  }
  // Older versions wrote the event first.
  const [name, ...options] = words[0] === '--as' ? [words[2], ...words.slice(0, 2), ...words.slice(3)] : words
  const isFire = call === 'fire' && name !== undefined && options.join(' ') === '--as claude-code'
  return isFire ? { call, name } : undefined
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

/** What a command calls that somebody may have written by hand: around it, a shell may do anything else. */
export function looseCall(command: string): Call | undefined {
  const [, call] = /\bcarabiner(?:\.js)?["']?\s+(fire|hook)\b/.exec(command) ?? []
  return call as Call | undefined
}

const FORMER =
  /(?:^|["'\s])(\/[^"'\s]+)["']?\s+(?:hook\s+([a-z-]+)|fire\s+(?:\w+\s+--as\s+claude-code|--as\s+claude-code\s+\w+))\b/

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

export function userSettingsFolder(home: string, env: NodeJS.ProcessEnv): string {
  return env.CLAUDE_CONFIG_DIR ? callerPath(env.CLAUDE_CONFIG_DIR) : join(home, '.claude')
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
