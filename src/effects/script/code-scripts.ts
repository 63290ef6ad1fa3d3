// Command lines that code in another language passes to a shell, as far as they are string literals.

import { shellQuoted } from '../shell/shell-quoted.js'
import { isDangerous } from './inner-calls.js'
import { codeOf, inPlainText, isInterpreter } from './program-code.js'
import type { Call, Script } from './shell-script.js'

/** String literals. Longer ones are not command lines. */
const LITERAL = /'((?:[^'\\\n]|\\.){0,2000})'|"((?:[^"\\\n]|\\.){0,2000})"|`([^`]{0,2000})`/g

const RUNNING =
  /\b(?:system|popen\w*|exec\w*|spawn\w*|subprocess|check_\w+|getoutput|shell_exec|passthru|proc_open|Command|qx|capture2e?|run|shell\S*|cmd|sh)\b|`|\|/i

const MOST = 50

export function scriptsInCode(call: Call, script: Script): readonly string[] {
  if (!isInterpreter(call.name)) return []
  const code = codeOf(call, script)
  if (code === undefined || !RUNNING.test(code)) return []
  return groupsIn(inPlainText(code.slice(0, 200_000)))
    .map(([first = '', ...rest]) => (/\s/.test(first) ? first : [first, ...rest].map(shellQuoted).join(' ')))
    .filter((line) => line.split(/[\s;&|]+/).some(isDangerous))
    .slice(0, MOST)
}

/** `'rm', '-rf', 'x'` are the words of one command. */
function groupsIn(code: string): readonly (readonly string[])[] {
  const groups: string[][] = []
  let end = -1
  for (const found of code.matchAll(LITERAL)) {
    const text = found[1] ?? found[2] ?? found[3] ?? ''
    const follows =
      end >= 0 &&
      /^\s*[,\s]\s*(?:\{\s*\w+:\s*)?\[?\s*$/.test(code.slice(end, Math.min(found.index, end + 50)))
    if (follows) groups.at(-1)?.push(text)
    else groups.push([text])
    end = found.index + found[0].length
  }
  return groups
}
