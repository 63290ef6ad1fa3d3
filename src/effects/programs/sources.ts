// Where data that a call sends comes from: files, pipes, variables.

import type { Source } from '../effect.js'
import type { Use } from '../program.js'
import type { Call } from '../script/shell-script.js'
import type { Word } from '../script/word.js'

/** Variables without anything secret in them. */
const PLAIN_NAME =
  /^(?:HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|LANG|TERM|TMPDIR|PORT|HOST|HOSTNAME|URL|\w+_(?:URL|HOST|PORT|VERSION|ID|NAME)|VERSION|i|n|x|id|f|file|name|url|\d+|_)$/

const SUBSTITUTION = /\$\(((?:[^()]|\([^()]*\))*)\)|`([^`]*)`/g

/** What the shell fills into a word: the output of commands, and variables. */
export function sourcesIn(word: Word, use: Use): readonly Source[] {
  if (!/[$`]/.test(word.text) || word.known) return []
  const found: Source[] = []
  const rest = word.text.replace(SUBSTITUTION, (_, script: string | undefined, old: string | undefined) => {
    const text = script ?? old ?? ''
    const files = use.script.calls
      .filter(({ command }) => command.source !== undefined && text.includes(command.source))
      .flatMap((call) => filesReadBy(call, use))
    const isText = /^\s*cat\s*<</.test(text)
    found.push(...files, isText ? { of: 'text' } : { of: 'pipe', text: text.trim() })
    return ''
  })
  for (const [, name = ''] of rest.matchAll(/\$\{?(\w+)/g))
    if (!PLAIN_NAME.test(name)) found.push({ of: 'variable', name })
  return found
}

/** The same for words as they are written, because the output of `whoami` counts as known elsewhere. */
export function sourcesInWords(use: Use, isCarried: (text: string) => boolean): readonly Source[] {
  return use.call.command.words
    .slice(1)
    .flatMap((text) =>
      /[$`]/.test(text) && isCarried(text) ? sourcesIn({ text, known: false, glob: false }, use) : [],
    )
}

/** What the call gets on standard input. Nothing if it is the shell's own. */
export function sourcesOfInput(use: Use): readonly Source[] {
  const { readsFrom, inputFiles, input } = use.call
  const files = inputFiles
    .flatMap((word) => use.places(word))
    .map((place) => ({ of: 'file', place }) as const)
  const piped = readsFrom.flatMap((call) => filesReadBy(call, use))
  const [nearest] = readsFrom
  const isText =
    readsFrom.length > 0 &&
    readsFrom.every(({ name, args }) => /^(?:echo|printf)$/.test(name) && args.every(({ known }) => known))
  const pipe: readonly Source[] =
    nearest && !isText
      ? [{ of: 'pipe', text: nearest.command.source ?? nearest.command.words.join(' ') }]
      : []
  const texts: readonly Source[] = input.length > 0 || isText ? [{ of: 'text' }] : []
  return [...files, ...piped, ...pipe, ...texts]
}

function filesReadBy(call: Call, use: Use): readonly Source[] {
  const effects = use.of(call)
  return effects.flatMap((one) => (one.kind === 'read' ? [{ of: 'file', place: one.place } as const] : []))
}
