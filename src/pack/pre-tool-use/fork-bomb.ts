// A program that starts itself more than once, and so without end.

import { isInterpreter } from './code-rule.js'
import { denied, type Finding } from './finding.js'
import type { Call, Script, ShellFunction } from './shell-script.js'

const REASON = 'It starts itself again and again until the machine stands still. Leave that out.'

export function forkBombs({ functions, calls }: Script): Finding[] {
  const isBomb = functions.some(startsItself) || calls.some(isForking)
  return isBomb ? [denied('fork-bomb', REASON)] : []
}

/** `:(){ :|:& };:`: a function that runs itself in a pipe or in the background. */
function startsItself({ name, body }: ShellFunction): boolean {
  const own = name.replace(/[^\w]/g, '\\$&')
  const call = `(?<![\\w./-])${own}(?![\\w./-])`
  return new RegExp(`${call}[^\\n;|&]*(?:\\|(?!\\|)|&(?!&|>))|\\|\\s*${call}`).test(body)
}

/** `perl -e 'fork while fork'` */
function isForking({ name, args, input }: Call): boolean {
  if (!isInterpreter(name)) return false
  const code = [...args.map(({ text }) => text), ...input].join('\n')
  if (code.length > 100_000) return false
  return (
    /\bfork\b[\s();]*(?:while|until)\b/.test(code) ||
    /\b(?:while|until|loop)\b[^\n]*\n?[^\n]*\bfork\b/.test(code)
  )
}
