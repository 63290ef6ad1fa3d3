// The command of a hook with our own variables filled in: what readShell can then see, and which words lead into the copy.

import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { nonce } from '../files/nonce.js'
import { inQuotes } from '../shell/shell-quoted.js'
import type { Unit, UnitHook } from './unit.js'

/** A folder that a variable stands for. */
export interface Variable {
  readonly name: string
  readonly folder: string
  /** When the hook runs, it leads into the copy. */
  readonly isCopied: boolean
}

/** In the order of their marks. */
export function variablesOf({ kind, path, projectDir, hooksDir = dirname(path) }: Unit): readonly Variable[] {
  const isCopied = kind === 'folder'
  const own = ['CLAUDE_PLUGIN_ROOT', 'PLUGIN_ROOT', 'AMPLIFIER_SKILL_DIR', 'CLAUDE_SKILL_DIR']
  return [
    { name: 'CLAUDE_PROJECT_DIR', folder: projectDir, isCopied: false },
    { name: 'AMPLIFIER_PROJECT_DIR', folder: projectDir, isCopied: false },
    { name: 'HOME', folder: homedir(), isCopied: false },
    { name: 'AMPLIFIER_HOOKS_DIR', folder: hooksDir, isCopied },
    ...(isCopied ? own.map((name) => ({ name, folder: path, isCopied })) : []),
  ]
}

let drawn: string | undefined

/** Plain for every reader of shell. Another in every process: no folder of a project can be called like it. */
function sign(): string {
  drawn ??= `/%${nonce()}`
  return drawn
}

function marks(): RegExp {
  return new RegExp(`${sign()}(\\d)%`, 'g')
}

/** As a shell would read it, with a mark for each variable of ours. */
export function markedText(hook: UnitHook, unit: Unit, variables: readonly Variable[]): string {
  const isSkill = unit.kind === 'folder' && unit.hooksDir === unit.path
  const inSkill = (text: string) => (isSkill && /^\.\.?\//.test(text) ? `\${CLAUDE_SKILL_DIR}/${text}` : text)
  const text =
    hook.args === undefined
      ? inSkill(hook.command)
      : `${circumstances(hook, unit)}${[inSkill(hook.command), ...hook.args].map(inQuotes).join(' ')}`
  return variables.reduce((marked, { name }, i) => marked.replace(patternOf(name), `${sign()}${i}%`), text)
}

/** Where a process starts, and with which variables: as a shell would be told. */
function circumstances({ dir, env = {} }: UnitHook, { kind }: Unit): string {
  const variables = Object.entries(env).map(([name, value]) =>
    /^[A-Za-z_]\w*$/.test(name) ? `${name}=${inQuotes(value)} ` : '',
  )
  if (dir === undefined) return variables.join('')
  const isBelow = !/^[/$]/.test(dir)
  const folder = isBelow && kind === 'folder' ? `\${CLAUDE_PLUGIN_ROOT}/${dir}` : dir
  return `cd ${inQuotes(folder)} && ${variables.join('')}`
}

/** `$NAME`, `${NAME}`, and `${NAME:-x}`, which is NAME since it is always set. */
function patternOf(name: string): RegExp {
  return new RegExp(`\\$(?:${name}(?!\\w)|\\{${name}(?::?[-=?][^{}]*)?\\}|env:${name}(?!\\w))`, 'g')
}

/** Where a word leads. */
export interface Lead {
  /** With the folders in place of the marks. */
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

/** For people: with the names of the variables in place of the marks, also of one that was cut short. */
export function readable(text: string, variables: readonly Variable[]): string {
  const named = text.replace(marks(), (_, i: string) => `$${variables[Number(i)]?.name}`)
  return named.replace(/\/%[0-9a-f]*\d?…$/, (cut) =>
    `${sign()}0`.startsWith(cut.slice(0, -1)) || cut.startsWith(sign()) ? '/…' : cut,
  )
}

/** As it is written: a shell does not fill in what is in single quotes, or behind a backslash. */
export function isUnfilled(written: string): boolean {
  return written.startsWith(`'${sign()}`) || written.startsWith(`\\${sign()}`)
}
