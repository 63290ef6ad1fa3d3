// A file that a script writes before it runs it: its text, as far as the script says it.

import { posix } from 'node:path'
import { wordOf } from '../shell/simple-command.js'
import type { Call, Script } from './shell-script.js'

/** Programs that write a file that one of their words names. Compilers and chmod make no scripts. */
const WRITERS = /^(?:tee|dd|sed|gsed|perl|sponge|xxd|openssl|base64|awk|gawk|curl|wget)$/

export interface WrittenText {
  /** What it may be: `echo` decodes escapes in some shells. Undefined if it is only known when it runs. */
  readonly texts: readonly string[] | undefined
  /** Whether the old text stays in front of it. */
  readonly isAppended: boolean
}

type TextOf = (path: string) => string | undefined

/** Undefined if the script does not write the file. `writes`: whether a call changes it. */
export function writtenText(
  path: string,
  { calls, outputs }: Script,
  textOf: TextOf,
  writes: (call: Call, path: string) => boolean,
): WrittenText | undefined {
  const isRedirected = outputs.some(({ words, folders }) =>
    words.some(({ text }) => folders.some((folder) => posix.resolve(folder, text) === path)),
  )
  const redirecting = isRedirected
    ? calls.filter((call, i) => operatorsTo(call, path).length > 0 && !isOnlyBefore(call, calls[i + 1]))
    : []
  const writers = [
    ...redirecting,
    ...calls.filter((call) => WRITERS.test(call.name) && !call.isGuess && writes(call, path)),
  ]
  if (writers.length === 0) return isRedirected ? { texts: undefined, isAppended: false } : undefined
  return {
    texts: textsBy(writers, textOf),
    isAppended: writers.every((call) => {
      const operators = operatorsTo(call, path)
      return operators.length > 0 ? operators.every((one) => one.includes('>>')) : isAppending(call)
    }),
  }
}

/** What a call prints, if its words say it. */
export function printedText(call: Call | undefined): string | undefined {
  return call && textsBy([call], () => undefined)?.join('\n')
}

function textsBy(writers: readonly Call[], textOf: TextOf): readonly string[] | undefined {
  const found = new Set<string>()
  for (const decodes of [false, true]) {
    const texts = writers.map((call) => printedBy(call, textOf, decodes))
    if (texts.some((text) => text === undefined)) return undefined
    found.add(texts.join('\n'))
  }
  return [...found]
}

/** Programs that run another one and print nothing themselves. */
const BEFORE =
  /^(?:builtin|chrt|command|doas|env|exec|flock|ionice|nice|nohup|prlimit|setarch|setsid|stdbuf|sudo|taskset|time|timeout)$/

/** `nice echo x > file`: the file gets what the next call prints. */
function isOnlyBefore({ name, node }: Call, next: Call | undefined): boolean {
  return BEFORE.test(name) && next?.isInner === true && next.node === node
}

function isAppending({ name, args }: Call): boolean {
  return name === 'tee' && args.some(({ text }) => /^-\w*a|^--append/.test(text))
}

function operatorsTo({ node, folders }: Call, path: string): readonly string[] {
  return (node?.redirects ?? []).flatMap((redirect) => {
    if (redirect.type !== 'Redirect' || !redirect.target) return []
    const { operator, target } = redirect
    if (!operator.includes('>')) return []
    const { text } = wordOf(target)
    return folders.some((folder) => posix.resolve(folder, text) === path) ? [operator] : []
  })
}

const MOST_PIPES = 8

/** What a call prints, if the script says it. `decodes`: whether `echo` decodes escapes without an option. */
function printedBy(call: Call, textOf: TextOf, decodes: boolean, depth = 0): string | undefined {
  const { name, args, input, inputFiles, readsFrom, folders } = call
  if (args.some(({ known }) => !known) || depth > MOST_PIPES) return undefined
  const words = args.map(({ text }) => text)
  if (name === 'echo') return echoed(words, decodes)
  if (name === 'printf') return formatted(words)
  if (name !== 'cat' && name !== 'tee') return undefined
  const files = name === 'cat' ? words.filter((word) => !word.startsWith('-')) : []
  const named = [...files, ...inputFiles.map(({ text }) => text)]
  if (named.length > 0) {
    const texts = named.map((file) =>
      folders.map((folder) => textOf(posix.resolve(folder, file))).find((text) => text !== undefined),
    )
    return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined
  }
  if (input.length > 0) return input.join('\n')
  const [source] = readsFrom
  return source && printedBy(source, textOf, decodes, depth + 1)
}

function echoed(words: readonly string[], decodes: boolean): string | undefined {
  const at = words.findIndex((word) => !/^-[neE]+$/.test(word))
  const text = (at < 0 ? [] : words.slice(at)).join(' ')
  const isAsked = words.slice(0, Math.max(at, 0)).some((word) => word.includes('e'))
  return text.includes('\\') && (decodes || isAsked) ? decoded(text) : text
}

/** Undefined for a format that is not plain. */
function formatted([format = '', ...given]: readonly string[]): string | undefined {
  const pattern = decoded(format)
  if (pattern === undefined || /%(?![sb%])/.test(pattern) || format.startsWith('-')) return undefined
  const rest = [...given]
  let text = ''
  let isPlain = true
  do {
    const before = rest.length
    text += pattern.replace(/%([sb%])/g, (_, kind) => {
      if (kind === '%') return '%'
      const word = rest.shift() ?? ''
      const printed = kind === 'b' ? decoded(word) : word
      isPlain &&= printed !== undefined
      return printed ?? ''
    })
    if (rest.length === before) break
  } while (rest.length > 0)
  return isPlain ? text : undefined
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  '"': '"',
  "'": "'",
}

/** Undefined if it has escapes of other letters, which may be any. */
function decoded(text: string): string | undefined {
  let isPlain = true
  const plain = text.replace(/\\([\s\S])/g, (all, letter: string) => {
    if (/[0-7xuUc]/.test(letter)) isPlain = false
    return ESCAPES[letter] ?? all
  })
  return isPlain ? plain : undefined
}
