// The command of a hook with our own variables filled in: what readShell can then see, and which words lead into the copy.

import { homedir } from 'node:os'
import { dirname } from 'node:path'
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

/** Plain for every reader of shell, and no name that anybody has. */
const MARK = /\/%carabiner(\d)%/g

/** As a shell would read it, with a mark for each variable of ours. */
export function markedText(hook: UnitHook, unit: Unit, variables: readonly Variable[]): string {
  const isSkill = unit.kind === 'folder' && unit.hooksDir === unit.path
  const inSkill = (text: string) => (isSkill && /^\.\.?\//.test(text) ? `\${CLAUDE_SKILL_DIR}/${text}` : text)
  const text =
    hook.args === undefined
      ? inSkill(hook.command)
      : [inSkill(hook.command), ...hook.args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  return variables.reduce((marked, { name }, i) => marked.replace(patternOf(name), `/%carabiner${i}%`), text)
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
  const text = word.replace(MARK, (_, i: string) => {
    variable ??= variables[Number(i)]
    return variables[Number(i)]?.folder ?? ''
  })
  return { text, variable }
}
