// Fork bombs: programs that keep starting themselves without end.

import { isInterpreter } from './program-code.js'
import type { Call, Script, ShellFunction } from './shell-script.js'

export function isForkBomb({ functions, calls, loops }: Script): boolean {
  return functions.some(startsItself) || calls.some(isForking) || loops.some(startsWithoutEnd)
}

/** `:(){ :|:& };:`: a function that calls itself in a pipe or in the background. */
function startsItself({ name, body }: ShellFunction): boolean {
  const own = name.replace(/[^\w]/g, '\\$&')
  const call = `(?<![\\w./-])${own}(?![\\w./-])`
  return new RegExp(`${call}[^\\n;|&]*(?:;\\s*\\})?\\s*(?:\\|(?!\\|)|&(?!&|>))|\\|\\s*${call}`).test(body)
}

const ENDLESS = /^(?:while\s+(?:true|:|1)|until\s+false|for\s*\(\(\s*;\s*;\s*\)\))\s*;?\s*do\b/

/** `while true; do x & done`: nothing in the loop waits for the programs that it starts. */
function startsWithoutEnd(loop: string): boolean {
  if (!ENDLESS.test(loop)) return false
  const pieces = loop.replace(ENDLESS, '').split(/([;\n]|&&|\|\|?|\d?>&\d?|&>>?|&)/)
  const starts = pieces.some((_, i) => pieces[i + 1] === '&')
  const own = pieces.filter((_, i) => pieces[i + 1] !== '&').join(' ')
  return starts && !/\b(?:sleep|wait|read|inotifywait|break|exit|return)\b/.test(own)
}

/** `perl -e 'fork while fork'` */
function isForking({ name, args, input }: Call): boolean {
  if (!isInterpreter(name)) return false
  const code = [...args.map(({ text }) => text), ...input].join('\n')
  if (code.length > 100_000 || !/fork|spawn|exec/.test(code)) return false
  // The patterns are bounded, so that hostile code cannot make them slow.
  return (
    /(?:\b|_)fork\b[^\n]{0,99}?\b(?:while|until|iter)\b/.test(code) ||
    /\b(?:while|until|loop)\b[^\n]{0,99}\n?[^\n]{0,99}(?:\b|_)fork\b/.test(code) ||
    /(?:while\s?\((?:1|true)\)|for\s?\(;;\))[^\n]{0,200}\b(?:fork|spawn|exec)\w{0,20}\(/.test(code)
  )
}
