// Command lines that code in another language passes to a shell, as far as they are string literals.

import { shellQuoted } from '../shell/shell-quoted.js'
import { isDangerous } from './inner-calls.js'
import { codeOf, inPlainText, isInterpreter } from './program-code.js'
import type { Call, Script } from './shell-script.js'

/** String literals. Longer ones are not command lines. */
const LITERAL = /'((?:[^'\\\n]|\\.){0,2000})'|"((?:[^"\\\n]|\\.){0,2000})"|`([^`]{0,2000})`/g

const RUNNING =
  /\b(?:system|popen\w*|exec\w*|spawn\w*|subprocess|check_\w+|getoutput|shell_exec|passthru|proc_open|Command|qx|capture2e?|run|shell\S*|cmd|sh)\b|`|\|/i

/** A function whose first argument is a command line, or the list of its words. */
const RUN_CALL =
  /(?<![\w$])(?:os\.(?:system|popen)|system|popen\w*|execSync|execFileSync|execFile|spawnSync|spawn|exec|subprocess\.\w+|check_\w+|getoutput|shell_exec|passthru|proc_open|Popen|qx|do shell script|Open3\.\w+)\s*\(?\s*\[?\s*$/

const MOST = 50

interface Group {
  readonly words: readonly string[]
  readonly before: string
  readonly isTicked: boolean
}

export function scriptsInCode(call: Call, script: Script): readonly string[] {
  if (!isInterpreter(call.name)) return []
  const code = codeOf(call, script)
  if (code === undefined || !RUNNING.test(code)) return []
  const runsTicks = /^(?:perl|ruby|php)/.test(call.name)
  return groupsIn(inPlainText(code.slice(0, 200_000)))
    .map(({ words: [first = '', ...rest], before, isTicked }) => ({
      line: /\s/.test(first) ? first : [first, ...rest].map(shellQuoted).join(' '),
      isRun: RUN_CALL.test(before) || (isTicked && runsTicks),
    }))
    .filter(({ line, isRun }) => isRun || line.split(/[\s;&|]+/).some(isDangerous))
    .map(({ line }) => line)
    .slice(0, MOST)
}

/** `'rm', '-rf', 'x'` are the words of one command. */
function groupsIn(code: string): readonly Group[] {
  const groups: { words: string[]; before: string; isTicked: boolean }[] = []
  let end = -1
  for (const found of code.matchAll(LITERAL)) {
    const text = found[1] ?? found[2] ?? found[3] ?? ''
    const follows =
      end >= 0 &&
      /^\s*[,\s]\s*(?:\{\s*\w+:\s*)?\[?\s*$/.test(code.slice(end, Math.min(found.index, end + 50)))
    if (follows) groups.at(-1)?.words.push(text)
    else {
      const before = code.slice(Math.max(0, found.index - 40), found.index)
      groups.push({ words: [text], before, isTicked: found[3] !== undefined })
    }
    end = found.index + found[0].length
  }
  return groups
}
