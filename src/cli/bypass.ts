// CARABINER_OFF=1, the panic switch. The user's settings may forbid it, and it is never silent.

import type { MergedSettings } from '../config/merged-settings.js'
import type { Diagnostic } from '../core/base/errors.js'
import { callerEnv } from '../files/caller.js'
import { companyFolder, companyPolicies, enforcedIn } from '../files/company-folder.js'
import { userHome } from '../files/homes.js'
import { type Bypass, bypassOf } from '../pack/bypass.js'
import { projectEnvOf } from '../pack/deciding-variables.js'

/** Any other value, such as `0`, `no` or a typo, leaves the hooks on. */
export function isSwitchedOff(): boolean {
  return callerEnv().CARABINER_OFF === '1'
}

interface Settled {
  readonly settings: Pick<MergedSettings, 'bypass'>
}

export function isBypassed({ settings }: Settled): boolean {
  return settings.bypass && theSwitch()?.on === true
}

/** Read as the pack reads it: a project cannot set it for its user. */
function theSwitch(): Bypass | undefined {
  const home = userHome()
  const env = callerEnv()
  return bypassOf(env, home, {
    found: projectEnvOf(undefined, env, home),
    company: enforcedIn(companyPolicies(companyFolder())),
  })
}

/** A diagnostic, so that a program that reads the JSON knows that nothing was judged. */
export const BYPASSED: Diagnostic = {
  code: 'bypassed',
  text: 'CARABINER_OFF=1 is set: no hook runs and nothing is guarded; unset it to guard again',
}

const REFUSED: Diagnostic = {
  code: 'bypass-refused',
  text: 'CARABINER_OFF=1 is set and has no effect: your settings say "bypass": false',
}

export function bypassNotices(hooks: Settled): readonly Diagnostic[] {
  if (!isSwitchedOff()) return []
  if (isBypassed(hooks)) return [BYPASSED]
  const refused = theSwitch()
  return [refused?.on === false ? { ...REFUSED, text: refused.message } : REFUSED]
}
