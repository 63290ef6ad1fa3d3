// The condition of one rule: which effects of a kind it means.

import type { Effect, EffectKind } from '../effects/effect.js'
import { fieldsOf, patternsOf, type Subject } from './effect-kinds.js'
import { type Certainty, type PlaceTest, pathPattern, type Roots } from './path-pattern.js'
import { listOf, MOST_ALTERNATIVES, type Rule, type Where } from './rule.js'
import { alternatives, textPattern } from './text-pattern.js'

/** Whether an effect with these subjects is meant. */
export type Meets = (effect: Effect, subjects: readonly Subject[]) => boolean

/**
 * A rule that forbids counts for everything that it could mean, and its exceptions only if they certainly apply. A rule
 * that allows is the other way round.
 */
export function meeting(rule: Rule, kind: EffectKind, roots: Roots): Meets {
  const [forOf, forExcept]: readonly Certainty[] = rule.then === 'allow' ? ['must', 'may'] : ['may', 'must']
  const where = whereTest(rule.where, kind, 'may')
  const of = rule.of === undefined ? undefined : subjectTest(listOf(rule.of), kind, roots)
  const except = rule.except === undefined ? undefined : subjectTest(listOf(rule.except), kind, roots)
  const isExcepted = exceptionTest(rule, kind, forExcept as Certainty, roots)
  if (!of && !except && !isExcepted) return where
  return (effect, subjects) => {
    if (!where(effect)) return false
    if (subjects.length === 0) return !of && rule.then !== 'allow' && !isExcepted?.(effect, undefined)
    const isMeant = (subject: Subject) =>
      (!of || of(subject, forOf as Certainty)) &&
      !except?.(subject, forExcept as Certainty) &&
      !isExcepted?.(effect, subject)
    return rule.then === 'allow' ? subjects.every(isMeant) : subjects.some(isMeant)
  }
}

type ExceptionTest = (effect: Effect, subject: Subject | undefined) => boolean

/** What `unless` says. Undefined if it says nothing about this kind. */
function exceptionTest(
  { unless = [] }: Rule,
  kind: EffectKind,
  certainty: Certainty,
  roots: Roots,
): ExceptionTest | undefined {
  const tests = unless
    .filter(({ effects }) => effects === undefined || effects.includes(kind))
    .map(({ where, of }): ExceptionTest => {
      const hasFields = whereTest(where, kind, certainty)
      const isMeant = of === undefined ? undefined : subjectTest(listOf(of), kind, roots)
      return (effect, subject) =>
        hasFields(effect) && (!isMeant || (subject !== undefined && isMeant(subject, certainty)))
    })
  return tests.length === 0 ? undefined : (effect, subject) => tests.some((isMet) => isMet(effect, subject))
}

/** With `must`, all values of a field have to be wanted. */
function whereTest(
  where: Where | undefined,
  kind: EffectKind,
  certainty: Certainty,
): (effect: Effect) => boolean {
  const fields = fieldsOf(kind)
  const tests = Object.entries(where ?? {}).map(([key, wanted]) => {
    const read = fields[key]?.[1] ?? (() => undefined)
    if (typeof wanted === 'boolean') return (effect: Effect) => read(effect) === wanted
    const words = listOf(wanted).map(textPattern)
    return (effect: Effect) => {
      const values = listOf(read(effect) as string | readonly string[] | undefined)
      const isWanted = (one: string) => words.some((test) => test(one, true))
      return certainty === 'may' ? values.some(isWanted) : values.length > 0 && values.every(isWanted)
    }
  })
  return (effect) => tests.every((test) => test(effect))
}

type SubjectTest = (subject: Subject, certainty: Certainty) => boolean

/** Most rules are never asked, so their patterns are read on first use. */
function subjectTest(patterns: readonly string[], kind: EffectKind, roots: Roots): SubjectTest {
  let made: SubjectTest | undefined
  return (subject, certainty) => {
    made ??= compiledTest(patterns, kind, roots)
    return made(subject, certainty)
  }
}

function compiledTest(patterns: readonly string[], kind: EffectKind, roots: Roots): SubjectTest {
  const all = patterns.flatMap((pattern) => alternatives(pattern, MOST_ALTERNATIVES) ?? [pattern])
  const places: readonly PlaceTest[] =
    patternsOf(kind) === 'paths' ? all.map((one) => pathPattern(one, roots)) : []
  const texts = all.map((one) => textPattern(one))
  const commands = all.map(commandPattern)
  return (subject, certainty) => {
    if ('place' in subject) return places.some((test) => test(subject.place, certainty))
    const { text } = subject
    if (text === undefined) return 'any' in subject && certainty === 'may'
    if ('isCommand' in subject) return commands.some((test) => test(text))
    return texts.some((test) => test(text, true))
  }
}

/** `npm publish` means every command that begins so, and `npm` also `/usr/bin/npm`. */
function commandPattern(pattern: string): (command: string) => boolean {
  const isMeant = /[*?]/.test(pattern) ? beginsLike(pattern) : beginsWith(pattern)
  return (command) => {
    if (isMeant(command)) return true
    const end = command.indexOf(' ')
    const slash = command.lastIndexOf('/', end < 0 ? undefined : end)
    return slash >= 0 && isMeant(command.slice(slash + 1))
  }
}

function beginsWith(words: string): (command: string) => boolean {
  return (command) =>
    command.startsWith(words) && (command.length === words.length || command[words.length] === ' ')
}

function beginsLike(pattern: string): (command: string) => boolean {
  const whole = textPattern(pattern)
  const longer = textPattern(`${pattern} *`)
  return (command) => whole(command, false) || longer(command, false)
}
