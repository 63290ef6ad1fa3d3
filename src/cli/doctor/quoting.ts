// Paths with blanks in commands: where the shell takes one name for several words.

import { pathAt, typeAt } from '../../trust/file-place.js'
import type { Finding } from './finding.js'
import type { HookCommand } from './hook-command.js'

/** Variables of ours that stand for a folder with blanks in its name, outside any quotes. */
export function unquoted({ line, spec: { place }, where }: HookCommand): readonly Finding[] {
  if (line.args !== undefined) return []
  const { projectDir, hooksDir, plugin, skillDir } = place
  const folders: Readonly<Record<string, string | undefined>> = {
    CLAUDE_PROJECT_DIR: projectDir,
    AMPLIFIER_PROJECT_DIR: projectDir,
    AMPLIFIER_HOOKS_DIR: hooksDir,
    CLAUDE_PLUGIN_ROOT: plugin?.root,
    PLUGIN_ROOT: plugin?.root,
    AMPLIFIER_SKILL_DIR: skillDir,
    CLAUDE_SKILL_DIR: skillDir,
  }
  const bare = [...bareVariables(line.command)].filter((name) => /\s/.test(folders[name] ?? ''))
  return [...new Set(bare)].map((name) => ({
    severity: 'broken',
    code: 'unquoted-path',
    ...where,
    text: `$${name} stands without quotes, and is ${JSON.stringify(folders[name])}: the blank makes two words of it`,
    fix: `Put it in quotes: \\"$${name}\\" in the file.`,
  }))
}

const VARIABLE = /^\$(?:\{([A-Z_]+)[^}]*\}|([A-Z_]+))/

/** Names of variables that no quotes protect. An assignment takes its value whole. */
function* bareVariables(command: string): Generator<string> {
  let quote = ''
  for (let at = 0; at < command.length; at++) {
    const char = command[at] as string
    if (char === '\\' && quote !== "'") at++
    else if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '$' && !/(?:^|[\s;&|(])\w+=[^\s;&|]*$/.test(command.slice(0, at))) {
      const [, braced, plain] = VARIABLE.exec(command.slice(at, at + 200)) ?? []
      const name = braced ?? plain
      if (name !== undefined) yield name
    }
  }
}

const MOST_WORDS = 8

/** The path that the first words make together, if there is a file of that name. */
export function joinedPath(
  first: string,
  rest: readonly string[],
  folders: readonly string[],
): string | undefined {
  let path = first
  for (const word of rest.slice(0, MOST_WORDS)) {
    path += ` ${word}`
    if (folders.some((folder) => typeAt(pathAt(folder, path)) === 'file')) return path
  }
  return undefined
}
