// What switches a hook on again.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import type { ListedHook } from '../../hooks.js'
import { projectKey, SwitchStore, switchOver, undoing } from '../../plugins/switches.js'
import { placeOf } from '../print/lines.js'

/** By what switched it off: a setting, or else the user. `spec`: the same hook as its file has it. */
export function undoOf(
  hook: Pick<ListedHook, 'id' | 'scope' | 'source'>,
  spec: ConfiguredHook | undefined,
  project: string,
): string {
  if (spec?.disabled) {
    const { setting, ...place } = spec.disabled
    const where = placeOf(place) || 'the settings of the host'
    return `Take ${setting} out of ${where}, if the hook is wanted`
  }
  const off = switchOver(hook, projectKey(project), new SwitchStore().inForce(Date.now()))
  return off ? undoing(off) : 'carabiner disable   # shows what is switched off'
}
