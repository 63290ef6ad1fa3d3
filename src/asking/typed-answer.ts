// What a typed line answers: a number or the beginning of an option, and after a deny the reason for it.

import type { Question } from '../core/hooks/outcome.js'
import { effectOf } from '../core/verdict/approval.js'

export type TypedAnswer =
  | { readonly option: string; readonly reason?: string }
  | { readonly problem: string }
  | undefined

/** Undefined of an empty line. What could be meant otherwise chooses nothing. */
export function typedAnswer(question: Question, line: string): TypedAnswer {
  const typed = line.trim()
  if (typed === '') return undefined
  const whole = optionsLike(question, typed)
  if (whole.length === 1) return { option: whole[0] as string }
  if (whole.length > 1) return { problem: 'that could be several answers; type the number of one' }
  const { word, rest } = firstWord(typed)
  const [option, ...others] = optionsLike(question, word)
  if (option === undefined || others.length > 0)
    return { problem: 'that is none of the answers; type its number' }
  // Whoever goes on after an allow may be about to take it back.
  if (effectOf(question, option) !== 'deny')
    return { problem: 'nothing can be added to that answer; type it alone' }
  return { option, reason: rest }
}

function firstWord(typed: string): { readonly word: string; readonly rest: string } {
  const [, word = typed, rest = ''] = /^(\S+)\s+(.+)$/s.exec(typed) ?? []
  return { word, rest }
}

/** By its number; the one that is called exactly so; else all that begin so. */
function optionsLike({ options }: Question, typed: string): readonly string[] {
  if (/^\d+$/.test(typed))
    return options.slice(Number(typed) - 1, Number(typed)).filter(() => Number(typed) > 0)
  const wanted = typed.toLowerCase()
  const same = options.find((option) => option.toLowerCase() === wanted)
  return same === undefined ? options.filter((option) => option.toLowerCase().startsWith(wanted)) : [same]
}
