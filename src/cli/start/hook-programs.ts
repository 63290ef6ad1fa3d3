// Which file holds which hook of the pack, as a host starts it: the guard has its own, for the others need nothing of it.

import type { PackName } from '../../pack/names.js'

/** What each of these files exports; scripts/bundle.mjs makes both of hook-program.ts. */
export type HookProgram = typeof import('./hook-program.js')

const GUARD = 'guard-program.js'
const OTHERS = 'hook-program.js'

export const HOOK_PROGRAMS = [GUARD, OTHERS] as const

export function programOf(name: PackName): (typeof HOOK_PROGRAMS)[number] {
  return name === 'pre-tool-use' ? GUARD : OTHERS
}
