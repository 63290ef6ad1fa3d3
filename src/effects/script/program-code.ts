// Code in other languages that a call runs: which programs run it, and where in the call it is. It is not parsed.

import { remembered } from '../remembered.js'
import type { Call, Script } from './shell-script.js'

const INTERPRETERS =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|tsx|ts-node|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|tclsh|wish|Rscript|R|pwsh|powershell|osascript|awk|gawk|mawk|nawk|ghci|runghc|scala|groovy|julia|elixir|iex|guile|racket|jshell|sqlite3|expect|m4|bc|psql|mysql|mariadb|duckdb|swift|ipython|erl|ghc|ocaml|clojure|gdb|crystal|nim|dart|kotlinc|octave|sage|xonsh|nu|elvish|vi|vim|nvim|ex|kak|emacs|emacsclient)$/

export const isInterpreter = remembered((name) => INTERPRETERS.test(name))

/** Options that are followed by code. */
const CODE =
  /^(?:-[a-zA-Z]*[ceErpnB]|--(?:eval|print|execute|command|expression|run|cmd)|-(?:Encoded)?Command)(?:[=:]|$)/

/** `-c'…'`: the code is in the same word. */
const ATTACHED = /^-(?!m)[a-zA-Z]*[ceEr]./s

const STDIN = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/

/** Undefined if it runs a file. */
export function codeOf({ name, args, input, readsFrom }: Call, script: Script): string | undefined {
  const texts = args.map(({ text }) => text)
  const at = texts.findIndex(
    (text, i) =>
      CODE.test(text) ||
      ATTACHED.test(text) ||
      (text === 'eval' && i === 0) ||
      /^\+\D/.test(text) ||
      (text === 'timeit' && texts[i - 1] === '-m') ||
      text === '-mtimeit',
  )
  const file = texts.find((text) => !text.startsWith('-') && text !== '')
  const given = [...input]
  if (/awk$|^sqlite3$/.test(name)) return [...texts, ...given].join('\n')
  if (at >= 0) return [...texts.slice(at), ...given].join('\n')
  if (texts[0] === '-m' || (file !== undefined && !texts.some((text) => STDIN.test(text)))) return undefined
  // It reads its program from its input.
  return readsFrom.length > 0 ? [...given, script.text].join('\n') : given.join('\n')
}

/** Interpreters of general-purpose languages. */
const PROGRAMS =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|tsx|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua\w*|tclsh|Rscript|julia|osascript|pwsh)$/

/** `curl … | python3`, `python3 <(…)`, `node -e "$(…)"`: the code is not in the command. */
export function isFromElsewhere({ name, args, input, readsFrom }: Call, isRead: boolean): boolean {
  if (!PROGRAMS.test(name)) return false
  const isOpen = args.some(
    ({ text, known }, i) =>
      text.startsWith('<(') ||
      (!known &&
        CODE.test(args[i - 1]?.text ?? '') &&
        /^\s*(?:\$[({\w]|`)/.test(text) &&
        /[)}\w`]\s*$/.test(text)),
  )
  if (isOpen) return true
  const isPiped =
    isRead &&
    input.length === 0 &&
    !args.some(({ text }) => CODE.test(text) || ATTACHED.test(text) || text === 'eval')
  return isPiped && readsFrom.some((source) => !/^(?:echo|printf|cat|tee|sed|envsubst)$/.test(source.name))
}

/** Adds variants of the code with escapes decoded and split strings joined. */
export function inPlainText(code: string): string {
  const decoded = code.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,5})\}|([0-3][0-7]{2}))/gi,
    (_, ...found) => {
      const [hex, wide, braced, octal] = found as (string | undefined)[]
      return String.fromCodePoint(Number.parseInt(octal ?? hex ?? wide ?? braced ?? '', octal ? 8 : 16))
    },
  )
  const joined = decoded.replace(/(['"`])\s{0,9}(?:\+|<>)?\s{0,9}(['"`])/g, '')
  // A dot joins strings in some languages. Kept apart, because the match may also be the string '.' itself.
  const dotted = decoded.replace(/(['"`])\s{0,9}\.\.?\s{0,9}(['"`])/g, '')
  return [...new Set([code, joined, dotted])].join('\n')
}
