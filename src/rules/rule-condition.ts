// The condition of one rule: which effects of a kind it means.

import type { Effect, EffectKind } from '../effects/effect.js'
import { plainHostPattern } from '../effects/plain-host.js'
import { certainStart } from '../effects/script/word.js'
import { fieldsOf, isOpen, isOpenDeed, nounOf, patternsOf, type Subject } from './effect-kinds.js'
import { neverMeant } from './never-met.js'
import { type Certainty, type PlaceTest, pathPattern, type Roots } from './path-pattern.js'
import { listOf, MOST_ALTERNATIVES, type Rule, type Where } from './rule.js'
import { looseNameTest, nameTest, patternForms } from './spellings.js'
import { alternatives, mayContinue, mustContinue, type TextTest, textPattern } from './text-pattern.js'

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
      (!of || of(subject, 'begins' in subject ? 'must' : (forOf as Certainty))) &&
      !except?.(subject, forExcept as Certainty) &&
      !isExcepted?.(effect, subject)
    return rule.then === 'allow' ? subjects.every(isMeant) : subjects.some(isMeant)
  }
}

/** Why an effect may be meant, or undefined if it is not. */
export type MayMeet = (effect: Effect, subjects: readonly Subject[]) => string | undefined

/** For effects that depend on something that is only known when the call runs. It may be anything that the rule means. */
export function mayMeeting(rule: Rule, kind: EffectKind, roots: Roots): MayMeet {
  const { of, where, ...anywhere } = rule
  const isMeant = of === undefined ? undefined : subjectTest(listOf(of), kind, roots)
  const hasFields = whereTest(where, kind, 'may')
  let meets: Meets | undefined
  return (effect, subjects) => {
    const open = subjects.filter(isOpen)
    const isAnyDeed = isOpenDeed(effect)
    if (!isAnyDeed && (of === undefined || open.length === 0)) return undefined
    if (!(isAnyDeed ? mayHave(where, kind, effect) : hasFields(effect))) return undefined
    const meant = (isAnyDeed ? subjects : open).filter(
      (subject) => !isMeant || ('place' in subject && !subject.place.known) || isMeant(subject, 'may'),
    )
    if (meant.length === 0 && subjects.length > 0) return undefined
    meets ??= meeting(anywhere, kind, roots)
    if (!meets(effect, meant)) return undefined
    return `the ${isAnyDeed ? 'operation' : nounOf(kind)} is only known when the call runs`
  }
}

/** The fields that depend on the operation may have any value. */
function mayHave(where: Where | undefined, kind: EffectKind, effect: Effect): boolean {
  const { operation, guess, launched, code, known } = where ?? {}
  const fixed = Object.entries({ guess, launched, code, known }).filter(([, wanted]) => wanted !== undefined)
  if (!whereTest(Object.fromEntries(fixed) as Where, kind, 'may')(effect)) return false
  const begins = 'operation' in effect ? (certainStart(effect.operation) ?? '') : ''
  return operation === undefined || listOf(operation as string).some((one) => mayContinue(one, begins))
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
  const given = patterns.flatMap((pattern) => alternatives(pattern, MOST_ALTERNATIVES) ?? [pattern])
  const isHost = patternsOf(kind) === 'hosts'
  const all = isHost ? given.map(plainHostPattern) : given.flatMap((one) => patternForms(one, kind))
  const places: readonly PlaceTest[] =
    patternsOf(kind) === 'paths' ? all.map((one) => pathPattern(one, roots)) : []
  const texts = all.map((one) => (isHost ? hostTest(one) : nameTest(one, kind)))
  const loose = isHost ? texts : all.map((one) => looseNameTest(one, kind))
  const possible = all.filter((one) => neverMeant(one, kind) === undefined)
  const commands = all.map(commandPattern)
  return (subject, certainty) => {
    if ('place' in subject) return places.some((test) => test(subject.place, certainty))
    if ('begins' in subject)
      return possible.some((one) => continues(one, subject, certainty)) || isMaybe(subject, loose, certainty)
    const { text } = subject
    if (text === undefined) return 'any' in subject && certainty === 'may'
    if ('isCommand' in subject) return commands.some((test) => test(text))
    const isMet = (name: string) => texts.some((test) => test(name, true))
    if (isMet(text) || subject.also?.some(isMet)) return true
    return (
      certainty === 'may' && (loose.some((test) => test(text, true)) || isMaybe(subject, loose, certainty))
    )
  }
}

function isMaybe(
  { maybe = [] }: { readonly maybe?: readonly string[] },
  tests: readonly TextTest[],
  certainty: Certainty,
): boolean {
  return certainty === 'may' && maybe.some((name) => tests.some((test) => test(name, true)))
}

/** `127.*` means addresses. A name such as `127.evil.example` only looks like one. */
function hostTest(pattern: string): TextTest {
  const test = textPattern(pattern)
  if (!/^[\d.*?]*\d[\d.*?]*$/.test(pattern)) return test
  return (host, ignoreCase) => ADDRESS.test(host) && test(host, ignoreCase)
}

const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}$/

function continues(
  pattern: string,
  { begins, isCommand }: Extract<Subject, { readonly begins: string }>,
  certainty: Certainty,
): boolean {
  const test = certainty === 'may' ? mayContinue : mustContinue
  if (!isCommand) return test(pattern.toLowerCase(), begins.toLowerCase())
  // Every command that begins like the pattern is meant.
  const forms = [pattern, `${pattern} *`]
  return [begins, withoutFolder(begins)].some((one) => forms.some((form) => test(form, one)))
}

/** `/usr/bin/npm publish` as `npm publish`. */
function withoutFolder(command: string): string {
  const end = command.indexOf(' ')
  return command.slice(command.lastIndexOf('/', end < 0 ? undefined : end) + 1)
}

/** `npm publish` means every command that begins so, and `npm` also `/usr/bin/npm`. */
function commandPattern(pattern: string): (command: string) => boolean {
  const isMeant = /[*?]/.test(pattern) ? beginsLike(pattern) : beginsWith(pattern)
  return (command) => {
    if (isMeant(command)) return true
    const bare = withoutFolder(command)
    return bare !== command && isMeant(bare)
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
