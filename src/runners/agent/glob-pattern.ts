// Glob patterns, and what grep looks for: both matched in linear time, because a model wrote them.

import { isHookError } from '../../core/errors.js'
import { compileMatcher } from '../../core/matcher.js'
import { Refused } from './project-folder.js'

const LONGEST_PATTERN = 300

export type Test = (text: string) => boolean

/** A regular expression, found anywhere in the text. */
export function expression(pattern: string): Test {
  if (pattern.length > LONGEST_PATTERN)
    throw new Refused(`a pattern has at most ${LONGEST_PATTERN} characters`)
  let unsafe = false
  try {
    // In a group it is a pattern, whatever its words: a matcher reads `a|b` as a list of names.
    const matcher = compileMatcher(`(?:${pattern})`, {
      note: () => {
        unsafe = true
      },
    })
    if (matcher && !unsafe) return matcher.test
  } catch (error) {
    if (!isHookError(error, 'MATCHER_INVALID')) throw error
    throw new Refused('that is no valid regular expression')
  }
  throw new Refused(
    'that expression cannot be matched in linear time: no lookaround, no backreference, no large repeats',
  )
}

/** `*` and `?` stay within a folder, `**` does not; a pattern without a slash is for names in any folder. */
export function glob(pattern: string): Test {
  const plain = pattern.replace(/^\.\//, '')
  return expression(`^${plain.includes('/') ? '' : ANY_FOLDER}${sourceOf(plain)}$`)
}

const TOKENS = /\*\*\/|\*\*|\*|\?|\{[^{}/]*\}|\[!?[^\]/\\[]+\]|./gs
const ANY_FOLDER = '(?:[^/]*/)*'

function sourceOf(pattern: string): string {
  return (pattern.match(TOKENS) ?? []).map(translated).join('')
}

function translated(token: string): string {
  if (token === '**/') return ANY_FOLDER
  if (token === '**') return '.*'
  if (token === '*') return '[^/]*'
  if (token === '?') return '[^/]'
  if (token.length === 1) return token.replace(/[\\^$.*+?()[\]{}|]/, '\\$&')
  if (token.startsWith('[')) return token.replace('[!', '[^')
  return `(?:${token.slice(1, -1).split(',').map(sourceOf).join('|')})`
}
