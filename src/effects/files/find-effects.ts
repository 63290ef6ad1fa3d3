// What find deletes, and which names its expression allows. The same names go to `-exec` and to xargs.

import { canBe } from '../paths/path-overlap.js'
import type { Call } from '../script/shell-script.js'
import type { Word } from '../script/word.js'
import { baseOf, type EffectReader, type FileEffect } from './file-effect.js'

const RUNS = /^-(?:exec|ok)(?:dir)?$/

/** Stands for the names of empty files and folders. */
const EMPTY = 'an-empty-one'

const NAMED = /^-(?:name|iname|lname|path|ipath|wholename|iwholename|regex|iregex)$/

/** The paths that it may find, as patterns. */
export function foundBy({ args }: Call, action: RegExp = RUNS): readonly Word[] {
  const start = args.findIndex(({ text }) => /^[-(!]/.test(text) && !/^-[HLPO]/.test(text))
  const before = (start < 0 ? args : args.slice(0, start)).filter(({ text }) => !/^-[HLPO]/.test(text))
  const roots = before.length > 0 ? before : [{ text: '.', known: true, glob: false }]
  const names = namesIn(start < 0 ? [] : testsBefore(args.slice(start), action))
  return roots.flatMap((root) => {
    if (!names) return [root, { text: `${root.text}/**/*`, known: root.known, glob: true }]
    const isOne = names.some(
      (name) =>
        (name === EMPTY && !/^[./]*$/.test(root.text)) ||
        canBe(name.toLowerCase(), baseOf(root).toLowerCase(), true, true),
    )
    const below = names.map((name) => ({ text: `${root.text}/**/${name}`, known: root.known, glob: true }))
    return isOne ? [root, ...below] : below
  })
}

/** Tests after an action no longer restrict it, and the words of an `-exec` command are not tests. */
function testsBefore(expression: readonly Word[], action: RegExp): readonly Word[] {
  const tests: Word[] = []
  for (let i = 0; i < expression.length; i++) {
    const word = expression[i] as Word
    if (action.test(word.text)) break
    if (!RUNS.test(word.text)) tests.push(word)
    else while (i + 1 < expression.length && !/^[;+]$/.test(expression[i]?.text ?? '')) i++
  }
  return tests
}

/** Undefined if it may find anything. Otherwise each alternative in the expression asks for a name or for empty folders. */
function namesIn(expression: readonly Word[]): readonly string[] | undefined {
  const names: string[] = []
  let found: boolean | undefined
  for (const [i, { text, known }] of expression.entries()) {
    // A negated group says nothing about the names that it finds.
    if (/^(?:!|-not)$/.test(text) && expression[i + 1]?.text === '(') return undefined
    if (/^-o(?:r)?$|^,$/.test(text)) {
      if (!found) return undefined
      found = false
    } else if (NAMED.test(text) && !/^(?:!|-not)$/.test(expression[i - 1]?.text ?? '')) {
      const name = nameOf(text, expression[i + 1])
      if (name === undefined) return undefined
      names.push(name)
      found = true
    } else if (text === '-empty' && !/^(?:!|-not)$/.test(expression[i - 1]?.text ?? '')) {
      names.push(EMPTY)
      found = true
    } else if (!known) return undefined
  }
  return found ? names : undefined
}

function nameOf(test: string, pattern: Word | undefined): string | undefined {
  if (!pattern?.known || /regex/.test(test)) return undefined
  const last =
    pattern.text
      .split('/')
      .filter((part) => part !== '')
      .at(-1) ?? '*'
  if (/^[*?]*$/.test(last)) return undefined
  return /^-i/.test(test) ? inEitherCase(last) : last
}

/** `*.md` is `*.[mM][dD]`. */
function inEitherCase(pattern: string): string {
  return pattern.replace(/\[[^\]]*\]|\p{L}/gu, (part) =>
    part.startsWith('[') ? '?' : `[${part.toLowerCase()}${part.toUpperCase()}]`,
  )
}

export const findEffects: EffectReader = (call) => {
  const { args } = call
  const effects: FileEffect[] = []
  if (args.some(({ text }) => text === '-delete')) {
    const found = foundBy(call, /^-delete$/)
    const deep = !found.some(({ text }) => text.endsWith(`/**/${EMPTY}`))
    for (const target of found) effects.push({ deed: 'delete', target, deep, dots: true })
  }
  for (const [i, { text }] of args.entries()) {
    const file = args[i + 1]
    if (/^-f(?:print0?|printf|ls)$/.test(text) && file)
      effects.push({ deed: 'write', target: file, deep: false })
  }
  return effects
}
