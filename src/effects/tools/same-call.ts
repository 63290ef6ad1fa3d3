// Whether two calls are the same for somebody who counts them: spaces, quotes and the order of fields make no difference.

import { digest, grantDigest } from '../../core/base/digest.js'
import type { Data, Json } from '../../core/base/json.js'
import { AmbiguousInput, parsedInput, toolCall } from './tool-call.js'

export function sameCallDigest(event: string, data: Data): string {
  const { tool_name: name, tool_input: input = null } = data
  if (typeof name !== 'string') return grantDigest(event, data)
  try {
    const call = toolCall(name, input as Json)
    if (call.kind === 'shell')
      return digest({ event, commands: call.commands.map(canonicalCommand), folder: call.folder ?? null })
    return grantDigest(event, { ...data, tool_input: parsedInput(input as Json) })
  } catch (error) {
    if (!(error instanceof AmbiguousInput)) throw error
    return grantDigest(event, data)
  }
}

const LONGEST = 100_000
/** Characters that mean something to the shell unless they are quoted. */
const SPECIAL = /[\s$`*?[\]{}~;&|<>()#!\\'"]/

/** The words and operators of a command line, each as the shell takes it. As it is if a quote is not closed. */
function canonicalCommand(text: string): readonly string[] {
  if (text.length > LONGEST) return [text]
  const parts: string[] = []
  let word: string | undefined
  const end = () => {
    if (word !== undefined) parts.push(`w${word}`)
    word = undefined
  }
  const quoted = (chars: string) => {
    word ??= ''
    for (const char of chars) word += SPECIAL.test(char) ? `\\${char}` : char
  }
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    if (char === '\\') {
      const next = text[++i]
      if (next !== '\n') quoted(next ?? '\\')
    } else if (char === "'") {
      const close = text.indexOf("'", i + 1)
      if (close < 0) return [text]
      quoted(text.slice(i + 1, close))
      i = close
    } else if (char === '"') {
      const close = closingQuote(text, i)
      if (close < 0) return [text]
      const inside = text.slice(i + 1, close)
      if (/[$`\\]/.test(inside)) word = `${word ?? ''}"${inside}"`
      else quoted(inside)
      i = close
    } else if (/[ \t\r]/.test(char)) end()
    else if (char === '#' && word === undefined) {
      const line = text.indexOf('\n', i)
      i = line < 0 ? text.length : line - 1
    } else if (/[;&|<>()\n]/.test(char)) {
      const from = /^\d+$/.test(word ?? '') && /[<>]/.test(char) ? word : ''
      if (from !== '') word = undefined
      end()
      const [operator = char] =
        /^(?:&&|\|\||;;|<<<|<<-|<<|>>|>&|<&|&>>|&>|>\||<>|\|&)/.exec(text.slice(i, i + 3)) ?? []
      i += operator.length - 1
      const shown = operator === '\n' ? ';' : operator
      if (shown !== ';' || (parts.length > 0 && parts.at(-1) !== 'o;')) parts.push(`o${from}${shown}`)
    } else word = (word ?? '') + char
  }
  end()
  return parts.at(-1) === 'o;' ? parts.slice(0, -1) : parts
}

function closingQuote(text: string, open: number): number {
  for (let i = open + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i
  }
  return -1
}
