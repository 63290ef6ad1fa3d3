// Why a matcher that looks right does not match: the mistakes people make.

import { nearest } from '../../core/base/text.js'
import { takes } from './other-question.js'

const EXACT = /^[A-Za-z0-9_\- ,|]+$/

/** A sentence that says what to write instead; undefined where the two have nothing in common. */
export function nearMiss(pattern: string, value: string): string | undefined {
  if (value === '') return undefined
  const names = EXACT.test(pattern) ? pattern.split(/[|,]/).map((name) => name.trim()) : []
  return otherCase(pattern, value) ?? part(names, value) ?? misspelt(names, value)
}

function otherCase(pattern: string, value: string): string | undefined {
  // Lower case would turn \W into \w.
  if (pattern.includes('\\')) return undefined
  return takes(pattern.toLowerCase(), value.toLowerCase()) ? `upper and lower case count` : undefined
}

/** `Edit` is no pattern but a name: it takes neither MultiEdit nor mcp__server__Edit. */
function part(names: readonly string[], value: string): string | undefined {
  const inside = names.find((name) => name.length > 2 && value.includes(name))
  if (inside !== undefined) {
    const pattern = value.startsWith(`${inside}__`) ? `${inside}__.*` : `.*${inside}.*`
    return `${inside} is taken as a whole name: write ${inside}|${value}, or the pattern ${pattern}`
  }
  const around = names.find((name) => value.length > 2 && name.includes(value))
  return around === undefined
    ? undefined
    : `${around} is taken as a whole name, and ${value} is only part of it`
}

function misspelt(names: readonly string[], value: string): string | undefined {
  const meant = nearest(value, names)
  return meant === undefined ? undefined : `it has ${meant}, not ${value}`
}
