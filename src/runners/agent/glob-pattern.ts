// Patterns for glob and grep. They come from a model, so matching takes linear time. Node's matchesGlob is experimental
// and backtracks.

import { isHookError } from '../../core/base/errors.js'
import { compileMatcher } from '../../core/hooks/matcher.js'
import { Refused } from './project-folder.js'

const LONGEST_PATTERN = 300

export type Test = (text: string) => boolean

/** A regular expression, found anywhere in the text. */
export function expression(pattern: string): Test {
  if (pattern.length > LONGEST_PATTERN)
    throw new Refused(`a pattern may have at most ${LONGEST_PATTERN} characters`)
  let unsafe = false
  try {
    // The group makes it a pattern: a matcher would read `a|b` as a list of names.
    const matcher = compileMatcher(`(?:${pattern})`, {
      note: () => {
        unsafe = true
      },
    })
    if (matcher && !unsafe) return matcher.test
  } catch (error) {
    if (!isHookError(error, 'MATCHER_INVALID')) throw error
    throw new Refused('that is not a valid regular expression')
  }
  throw new Refused(
    'that expression cannot be matched in linear time: no lookaround, no backreference, no large repeats',
  )
}

/** `*` and `?` stay within a folder, `**` does not. A pattern without a slash matches names in any folder. */
export function glob(pattern: string): Test {
  const plain = pattern.replace(/^\.\//, '')
  return expression(`^${plain.includes('/') ? '' : ANY_FOLDER}${sourceOf(plain)}$`)
}

const TOKENS = /\*\*\/|\*\*|\*|\?|\[!?[^\]/\\[]+\]|./gs
const ANY_FOLDER = '(?:[^/]*/)*'

function sourceOf(pattern: string): string {
  const tokens = pattern.match(TOKENS) ?? []
  const pairs = bracePairs(tokens)
  let depth = 0
  const sources = tokens.map((token, i) => {
    if (token === ',' && depth > 0) return '|'
    if (!pairs.has(i)) return translated(token)
    depth += token === '{' ? 1 : -1
    return token === '{' ? '(?:' : ')'
  })
  return sources.join('')
}

/** Positions of matching braces. Any other brace is an ordinary character. */
function bracePairs(tokens: readonly string[]): ReadonlySet<number> {
  const open: number[] = []
  const pairs = new Set<number>()
  for (const [i, token] of tokens.entries()) {
    if (token === '{') open.push(i)
    const start = token === '}' ? open.pop() : undefined
    if (start !== undefined) pairs.add(start).add(i)
  }
  return pairs
}

function translated(token: string): string {
  if (token === '**/') return ANY_FOLDER
  if (token === '**') return '.*'
  if (token === '*') return '[^/]*'
  if (token === '?') return '[^/]'
  if (token.length === 1) return token.replace(/[\\^$.*+?()[\]{}|]/, '\\$&')
  return token.replace('[!', '[^')
}
