// What a program in awk does to files and with commands: `print > "x"`, `print | "sh"`, `getline < "x"`.

import { literalWord } from '../files/file-effect.js'
import type { Word } from './word.js'

export interface AwkDeeds {
  readonly reads: readonly Word[]
  readonly writes: readonly Word[]
  /** Whether a command runs that is only known when awk runs, such as what it prints. */
  readonly runs: boolean
}

const STRING = /"((?:[^"\\\n]|\\.)*)"/g
/** Stands for a string while the code around it is read. */
const MARK = /^\0(\d+)\0$/
const SHELL = /^\s*(?:\S*\/)?(?:ba|da|z|k)?sh\b/
const STANDARD = /^(?:\/dev\/(?:stdout|stderr|stdin)|-)$/

export function awkDeeds(code: string): AwkDeeds {
  const strings: string[] = []
  const bare = code
    .replace(STRING, (_, text: string) => `\0${strings.push(text) - 1}\0`)
    .replace(/#[^\n]*/g, '')
  const given = (target: string): string | undefined => {
    const [, at] = MARK.exec(target.trim()) ?? []
    return at === undefined ? undefined : strings[Number(at)]
  }
  const asWord = (target: string): readonly Word[] => {
    const text = given(target)
    if (text === undefined) return [{ text: target.trim(), known: false, glob: false }]
    return STANDARD.test(text) ? [] : [literalWord(text)]
  }
  const outputs = [...bare.matchAll(/\bprintf?\b([^;}\n]*)/g)].map(([, rest = '']) =>
    /(>>?|\|&?)([^>|]*)$/.exec(withoutParentheses(rest)),
  )
  const written = outputs.flatMap((found) => (found?.[1]?.startsWith('>') ? asWord(found[2] ?? '') : []))
  const piped = outputs.flatMap((found) => (found?.[1]?.startsWith('|') ? [given(found[2] ?? '')] : []))
  const read = [...bare.matchAll(/\bgetline\b\s*\w*\s*<\s*([^;})\n]*)/g)]
  return {
    reads: read.flatMap(([, target = '']) => asWord(target.replace(/\s*(?:[>&|]|==|!=).*$/s, ''))),
    writes: written,
    runs: piped.some((command) => command === undefined || SHELL.test(command)),
  }
}

/** Comparisons of what is printed are in parentheses: `print (a > b)`. */
function withoutParentheses(text: string): string {
  const shorter = text.replace(/\([^()]*\)/g, ' ')
  return shorter === text ? text : withoutParentheses(shorter)
}
