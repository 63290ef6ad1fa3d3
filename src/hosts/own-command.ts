// Carabiner's own commands in Claude Code's settings, from any installation, and the folder of the user's settings.

import { statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { isObject } from '../core/base/json.js'
import { ifThere } from '../files/if-there.js'

/** Clears variables that load code into Node before our program starts. Entries of older versions lack it. */
export const WITHOUT_CODE: readonly string[] = ['NODE_OPTIONS=', 'NODE_PATH=']

export interface OwnCommand {
  /** `hook`: a standard hook. `fire`: the hooks of the project. */
  readonly call: 'hook' | 'fire'
  /** The name of the hook, or of the event. */
  readonly name: string
  /** As written; a bare name is looked up in PATH. */
  readonly script: string
  readonly node: string | undefined
}

/** Undefined if the handler is not ours: a command that does anything more belongs to somebody else. Other fields may have changed. */
export function ownCommand(handler: unknown): OwnCommand | undefined {
  if (!isObject(handler) || typeof handler.command !== 'string') return undefined
  const { type = 'command', args } = handler
  const all = type === 'command' && args === undefined ? wordsOf(handler.command) : undefined
  if (!all) return undefined
  const words = all.slice(WITHOUT_CODE.every((word, i) => all[i] === word) ? WITHOUT_CODE.length : 0)
  const node = /^node(?:js)?(?:\.exe)?$/i.test(baseName(words[0])) ? words[0] : undefined
  const [script = '', call, name = '', ...options] =
    node === undefined ? withoutLauncher(words) : words.slice(1)
  if (!/^carabiner(?:\.js)?$/.test(baseName(script))) return undefined
  const isHook = call === 'hook' && /^[a-z][a-z-]*$/i.test(name) && /^(?:--memory)?$/.test(options.join(' '))
  if (isHook) return { call, name, script, node }
  if (call === 'fire' && options.join(' ') === '--as claude-code') return { call, name, script, node }
  return undefined
}

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
  return env.CLAUDE_CONFIG_DIR ? resolve(env.CLAUDE_CONFIG_DIR) : join(home, '.claude')
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
