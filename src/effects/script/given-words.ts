// The words that xargs and `find -exec` pass to the command that they run, as far as their origin is known.

import { argumentsOf } from '../files/file-effect.js'
import { foundBy } from '../files/find-effects.js'
import { isPattern } from '../paths/path-overlap.js'
import type { Call } from './shell-script.js'
import { ITS_INPUT, type Word } from './word.js'

const UNKNOWN: Word = { text: ITS_INPUT, known: false, glob: false }

const FD = /^fd(?:find)?$/

/** Programs that drop or reorder names, but never change one. */
const FILTERS = /^(?:[ef]?grep|sort|uniq|head|tail|tac|shuf)$/

/** Options of git with which it lists only files that are gone already. */
const DELETED = /^-d$|^--deleted$|^--diff-filter=D$/

/** The same calls, each with the words that xargs or find adds. */
export function withGivenWords(calls: readonly Call[]): readonly Call[] {
  if (!calls.some(({ isInner }) => isInner)) return calls
  let given: readonly Word[] | undefined
  let found: readonly Word[] | undefined
  let marker: Marker = { sign: '{}', replaces: false }
  return calls.map((call) => {
    if (!call.isInner) {
      given = undefined
      found = undefined
      marker = { sign: '{}', replaces: false }
    }
    const filled = call.isInner ? { ...call, args: filledIn(call.args, given, found, marker) } : call
    if (call.name === 'xargs' || call.name === 'parallel') {
      given = printedBy(call.readsFrom)
      marker = markerOf(call.args)
    } else if (call.name === 'find') found = foundBy(call)
    else if (FD.test(call.name)) given = foundByFd(call.args)
    return filled
  })
}

/** find replaces `{}`. xargs appends its words, or puts them in place of a marker. */
function filledIn(
  args: readonly Word[],
  given: readonly Word[] | undefined,
  found: readonly Word[] | undefined,
  { sign: marker, replaces }: Marker,
): readonly Word[] {
  const put = (words: readonly Word[], sign: string) =>
    words.flatMap((word) => {
      const values = found ?? given ?? []
      if (!word.text.includes(sign) || values.length === 0) return [word]
      return values.map((value) => ({
        ...value,
        text: word.text.replaceAll(sign, value.text),
        either: true,
      }))
    })
  const filled = found || given ? put(args, found ? '{}' : marker) : args
  const isReplaced = replaces && args.some(({ text }) => text.includes(marker))
  return given && !isReplaced ? [...filled, ...given] : filled
}

interface Marker {
  readonly sign: string
  /** Whether the words take its place, and are not appended. */
  readonly replaces: boolean
}

/** `-I%`, `-I %`, `--replace=%`. */
function markerOf(args: readonly Word[]): Marker {
  for (const [i, { text }] of args.entries()) {
    if (text === '-I') return { sign: args[i + 1]?.text || '{}', replaces: true }
    const [, sign] = /^(?:-[0rtp]*[Ii]|--replace=)(.+)$/s.exec(text) ?? []
    if (sign !== undefined) return { sign, replaces: true }
  }
  return { sign: '{}', replaces: false }
}

function printedBy(sources: readonly Call[]): readonly Word[] {
  const producer = sources.find(({ name, args }) => !FILTERS.test(name) || listsFiles(args))
  return producer ? printed(producer) : [UNKNOWN]
}

function printed(call: Call): readonly Word[] {
  const { name, args } = call
  const { operands } = argumentsOf(args, {
    valued: 'eABCmgt',
    long: ['--include', '--exclude', '--type', '--glob'],
  })
  if (name === 'find') return foundBy(call)
  if (FD.test(name)) return foundByFd(args)
  // Each of these programs has its own options.
  if (name === 'echo' || name === 'printf') return args.flatMap(wordsIn)
  if (name === 'ls') return listed(operands)
  if (/^(?:[ef]?grep|rg)$/.test(name) && listsFiles(args)) {
    const roots = args.some(({ text }) => /^-e/.test(text)) ? operands : operands.slice(1)
    // Files among them are printed as they are.
    const isDeep =
      name === 'rg' || args.some(({ text }) => /^-\w*[rR]|^--(?:dereference-)?recursive/.test(text))
    const files = roots.filter(({ text }) => !isDeep || isPattern(text) || /\.\w+$/.test(text))
    return [...files, ...anythingIn(roots)]
  }
  if (name === 'git' && args.some(({ text }) => DELETED.test(text))) return []
  if (name === 'git' && /^(?:ls-files|diff|status|grep|show)$/.test(args[0]?.text ?? ''))
    return args[0]?.text === 'ls-files' ? anythingLike(operands.slice(1)) : anythingIn([])
  return [UNKNOWN]
}

/** The names that fd finds, by extension or by a plain part of the name. Without `{}`, fd appends them. */
function foundByFd(args: readonly Word[]): readonly Word[] {
  const end = args.findIndex(({ text }) => /^-\w*[xX]$|^--exec/.test(text))
  const { operands, valuesOf } = argumentsOf(end < 0 ? args : args.slice(0, end), {
    valued: 'etdEcSojC',
    long: ['--extension', '--type', '--exclude', '--max-depth'],
  })
  const [pattern, ...roots] = operands
  const endings = valuesOf('e', '--extension').map(({ text }) => `*.${text}`)
  const piece = pattern && /^[\w-]+$/.test(pattern.text) ? [`*${pattern.text}*`] : []
  const names = endings.length > 0 ? endings : piece
  if (names.length === 0) return anythingIn(roots)
  const from = roots.length > 0 ? roots : [{ text: '.', known: true, glob: false }]
  return from.flatMap((root) =>
    names.map((name) => ({ text: `${root.text}/**/${name}`, known: root.known, glob: true })),
  )
}

function listsFiles(args: readonly Word[]): boolean {
  return args.some(({ text }) => /^-\w*[lL]|^--files/.test(text))
}

function anythingIn(roots: readonly Word[]): readonly Word[] {
  if (roots.length === 0) return [{ text: './**/*', known: true, glob: true }]
  return roots.map((root) => ({ text: `${root.text}/**/*`, known: root.known, glob: true }))
}

/** A pattern without a folder applies in every folder. */
function anythingLike(patterns: readonly Word[]): readonly Word[] {
  if (!patterns.every(({ text, known }) => known && /^[*][\w.*-]*[\w-]$/.test(text)) || patterns.length === 0)
    return anythingIn([])
  return patterns.map(({ text }) => ({ text: `./**/${text}`, known: true, glob: true }))
}

/** For a folder, ls prints the names in it. */
function listed(operands: readonly Word[]): readonly Word[] {
  const all: Word = { text: '*', known: true, glob: true }
  const wild = operands.filter(({ text, glob }) => glob && isPattern(text))
  return operands.length > 0 && wild.length === operands.length ? wild : [all, ...operands]
}

function wordsIn(word: Word): readonly Word[] {
  const texts = word.text.split(/(?:\s|\\[nt0])+/).filter((text) => text !== '')
  return texts.map((text) => ({ ...word, text }))
}
