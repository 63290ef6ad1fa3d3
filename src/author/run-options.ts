// The options of runHook, held against what there is: one that is misspelt must not leave a gate open in silence.

import { shown } from '../core/base/text.js'
import { HOST_NAMES, hostNamed } from '../hosts/hosts.js'
import type { RunHookOptions } from './run-hook.js'

/** A mistake of whoever wrote the hook, who may have meant it to be closed. */
export class InvalidOption extends TypeError {
  override readonly name = 'InvalidOption'
}

interface Check {
  readonly takes: (value: unknown) => boolean
  readonly must: string
}

const TEXT: Check = { takes: (value) => typeof value === 'string', must: 'a text' }

const CHECKS: Readonly<Record<keyof RunHookOptions, Check>> = {
  name: TEXT,
  event: TEXT,
  stdin: TEXT,
  onFailure: {
    takes: (value) => ['open', 'closed', 'continue', 'block'].includes(value as string),
    must: "'open' or 'closed' (or 'continue' or 'block', which are the same two)",
  },
  host: {
    takes: (value) => typeof value === 'string' && hostNamed(value) !== undefined,
    must: `one of ${HOST_NAMES.join(', ')}`,
  },
  timeout: {
    takes: (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
    must: 'a number of seconds above 0',
  },
  answered: { takes: (value) => typeof value === 'function', must: 'a function' },
}

export interface CheckedOptions {
  /** Those that are as they should be. */
  readonly options: RunHookOptions
  readonly problem?: InvalidOption
}

export function checkedOptions(given: unknown): CheckedOptions {
  if (typeof given !== 'object' || given === null) {
    return { options: {}, problem: new InvalidOption(`The options of runHook() are ${shown(given)}`) }
  }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  const wrong = entries.find(([key, value]) => problemOf(key, value) !== undefined)
  const options: RunHookOptions = Object.fromEntries(
    entries.filter(([key, value]) => problemOf(key, value) === undefined),
  )
  if (!wrong) return { options }
  // Who hands in the input does not mean that of the process.
  const stdin = 'stdin' in given && { stdin: options.stdin ?? '' }
  return { options: { ...options, ...stdin }, problem: new InvalidOption(problemOf(...wrong)) }
}

function problemOf(key: string, value: unknown): string | undefined {
  if (!Object.hasOwn(CHECKS, key)) {
    return `runHook() has no option ${shown(key)}; there are ${Object.keys(CHECKS).join(', ')}`
  }
  const { takes, must } = CHECKS[key as keyof RunHookOptions]
  return takes(value) ? undefined : `${key} of runHook() must be ${must}, got ${shown(value)}`
}
