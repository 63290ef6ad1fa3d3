// Safe changes of a command that a rule may ask for. Each changes words where they stand, and nothing else.

import type { Command } from 'unbash'
import { gitCall } from '../effects/git/git-call.js'
import { readShell } from '../effects/shell/shell-reading.js'
import { isOpen, nameOf, wordOf } from '../effects/shell/simple-command.js'
import type { RewriteName } from './rewrite-names.js'

/** A word of a call, and where it is in the text. */
interface PlacedWord {
  readonly text: string
  readonly pos: number
  readonly end: number
  /** Whether it is written exactly like its text. */
  readonly bare: boolean
}

/** Replaces the text from `pos` to `end`. */
interface Edit {
  readonly pos: number
  readonly end: number
  readonly text: string
}

/** Undefined: the call is none that it is about. A text: why it cannot be changed. No edit: it is as wanted. */
type Edits = readonly Edit[] | string | undefined

const REWRITES: Readonly<Record<RewriteName, (words: readonly PlacedWord[]) => Edits>> = {
  'force-with-lease': (words) => {
    const given = afterVerb(words, ['git'], ['push'])
    if (!given) return undefined
    const options = optionsOf(given.rest, /^(?:-o|--push-option|--repo|--receive-pack|--exec)$/)
    const other = given.rest.find(({ text }) => /^\+|^--(?:mirror|no-force.*)$|^-\w+f|^-f\w/.test(text))
    if (other) return `${other.text} cannot be changed`
    const forced = options.filter(({ text }) => text === '--force' || text === '-f')
    if (forced.some(({ bare }) => !bare)) return 'it is written with quotes'
    return forced.map(({ pos, end }) => ({ pos, end, text: '--force-with-lease' }))
  },
  'ignore-scripts': (words) =>
    withOption('--ignore-scripts', /ignore-scripts/, [
      afterVerb(words, ['npm', 'pnpm'], ['install', 'i', 'add', 'ci', 'update', 'up']),
      afterVerb(words, ['bun'], ['install', 'i', 'add', 'update']),
    ]),
  'dry-run': (words) =>
    withOption('--dry-run', /dry-run/, [
      afterVerb(words, ['git'], ['clean', 'push']),
      afterVerb(words, ['npm', 'pnpm'], ['publish']),
      afterName(words, ['rsync']),
    ]),
}

export type Rewritten =
  /** The same text if nothing has to change. */
  { readonly text: string } | { readonly problem: string }

/** Changes those calls in the text whose words are among `which`. All of them must be there. */
export function rewritten(text: string, name: RewriteName, which: ReadonlySet<string>): Rewritten {
  const found = new Map<string, Edits>()
  const edits: Edit[] = []
  const { malformed, why } = readShell(text, (node, source) => {
    if (node.type !== 'Command' || source !== text) return
    const call = text.slice(node.pos, node.end)
    if (!which.has(call)) return
    const words = placedWords(node)
    const made = words ? REWRITES[name](words) : 'a word of it is known only when it runs'
    if (typeof made === 'object') edits.push(...made)
    if (typeof found.get(call) !== 'string') found.set(call, made)
  })
  if (malformed) return { problem: why ?? 'the command cannot be read' }
  for (const call of which) {
    const made = found.get(call)
    if (!found.has(call)) return { problem: 'its words are not a call of their own' }
    if (made === undefined) return { problem: `there is no such change of ${call}` }
    if (typeof made === 'string') return { problem: made }
  }
  return { text: edited(text, edits) }
}

/** Whether the words are one call that is already as wanted. */
export function isAsWanted(words: string, name: RewriteName): boolean {
  const made = rewritten(words, name, new Set([words]))
  return 'text' in made && made.text === words
}

function edited(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.pos - a.pos)
    .reduce((whole, { pos, end, text: word }) => whole.slice(0, pos) + word + whole.slice(end), text)
}

/** Undefined if a word is only known at run time. */
function placedWords({ name, suffix }: Command): readonly PlacedWord[] | undefined {
  const words: PlacedWord[] = []
  for (const one of name ? [name, ...suffix] : []) {
    if (one.type === 'Assignment') return undefined
    if (one.type !== 'Word') continue
    const word = wordOf(one)
    if (isOpen(word) || word.splits) return undefined
    words.push({ text: word.text, pos: one.pos, end: one.end, bare: one.text === word.text })
  }
  return words
}

interface Given {
  /** New words go behind this one. */
  readonly behind: PlacedWord
  readonly rest: readonly PlacedWord[]
}

function afterName(words: readonly PlacedWord[], names: readonly string[]): Given | undefined {
  const [name, ...rest] = words
  return name && names.includes(nameOf(name.text)) ? { behind: name, rest } : undefined
}

/** `git` may have options before its verb. */
function afterVerb(
  words: readonly PlacedWord[],
  names: readonly string[],
  verbs: readonly string[],
): Given | undefined {
  const given = afterName(words, names)
  if (!given) return undefined
  const texts = given.rest.map(({ text }) => text)
  const { verb, args } =
    nameOf(given.behind.text) === 'git' ? gitCall(texts) : { verb: texts[0], args: texts.slice(1) }
  const behind = given.rest[texts.length - args.length - 1]
  return behind && verb !== undefined && verbs.includes(verb)
    ? { behind, rest: given.rest.slice(texts.length - args.length) }
    : undefined
}

/** The words before `--` that are options, without their values. */
function optionsOf(words: readonly PlacedWord[], valued: RegExp): readonly PlacedWord[] {
  const found: PlacedWord[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as PlacedWord
    if (word.text === '--') break
    if (valued.test(word.text)) i++
    else if (word.text.startsWith('-')) found.push(word)
  }
  return found
}

/** Adds an option, unless it is there. Another spelling of it could mean the opposite. */
function withOption(option: string, like: RegExp, given: readonly (Given | undefined)[]): Edits {
  const call = given.find((one) => one !== undefined)
  if (!call) return undefined
  const other = call.rest.find(({ text }) => like.test(text) && text !== option)
  if (other) return `${other.text} cannot be changed`
  const end = call.rest.findIndex(({ text }) => text === '--')
  const options = end < 0 ? call.rest : call.rest.slice(0, end)
  if (options.some(({ text }) => text === option)) return []
  return [{ pos: call.behind.end, end: call.behind.end, text: ` ${option}` }]
}
