// CARABINER_OFF=1 for the pack's hooks: obeyed unless the user's settings forbid it, and never silent.

import { join } from 'node:path'
import { isObject } from '../core/base/json.js'
import type { CompanyPolicy } from '../files/company-folder.js'
import { readPlain } from '../files/plain-file.js'
import { realOf } from '../files/within.js'
import { type ProjectEnv, switchedOffBy } from './deciding-variables.js'

const MAX_BYTES = 1024 * 1024

export interface Bypass {
  readonly on: boolean
  readonly message: string
}

/** Who may forbid the switch. */
interface Others {
  /** The variables that projects set for hooks. A project may not set the switch. */
  readonly found: readonly ProjectEnv[]
  /** The company's policies that count. */
  readonly company: readonly CompanyPolicy[]
}

/** Undefined if the switch is not set. */
export function bypassOf(
  env: NodeJS.ProcessEnv,
  home: string,
  { found, company }: Others,
): Bypass | undefined {
  if (env.CARABINER_OFF !== '1') return undefined
  const setBy = switchedOffBy(found)
  if (setBy !== undefined)
    return { on: false, message: `CARABINER_OFF=1 is set but has no effect: it may come from ${setBy}` }
  if (company.some(({ folder }) => mayBypass(join(folder, 'settings.json'), false) !== true))
    return { on: false, message: 'CARABINER_OFF=1 is set but has no effect: the company’s policy forbids it' }
  const file = join(home, '.amplifier', 'settings.json')
  switch (mayBypass(file)) {
    case true:
      return {
        on: true,
        message: 'CARABINER_OFF=1 is set, so nothing is guarded. Unset it to turn the guard back on.',
      }
    case false:
      return { on: false, message: `CARABINER_OFF=1 is set but has no effect: ${file} says "bypass": false` }
    default:
      return { on: false, message: `CARABINER_OFF=1 is set but has no effect: ${file} could not be read` }
  }
}

/** Undefined if the file cannot be read: it may forbid the bypass. */
function mayBypass(file: string, usually = true): boolean | undefined {
  try {
    const found = readPlain(realOf(file), MAX_BYTES)
    if ('problem' in found) return undefined
    const settings: unknown = JSON.parse(withoutComments(found.text.replace(/^\uFEFF/, '')))
    const hooks = isObject(settings) && isObject(settings.hooks) ? settings.hooks : {}
    return typeof hooks.bypass === 'boolean' ? hooks.bypass : hooks.bypass === undefined && usually
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? usually : undefined
  }
}

/** The file may have comments and trailing commas. */
function withoutComments(text: string): string {
  return text
    .replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1')
    .replace(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])/g, '$1')
}
