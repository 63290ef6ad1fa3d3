// Which file beside the entry holds what: no hook, and nothing that is started often, waits for what only others need.

import type { PackName } from '../../hosts/pack-names.js'

/** What a file with hooks exports; scripts/bundle.mjs makes both of hook-program.ts. */
export type HookProgram = typeof import('./hook-program.js')
/** What a file with commands exports. */
export type CommandProgram = typeof import('./full-program.js')

const GUARD = 'guard-program.js'
const OTHERS = 'hook-program.js'
export const HOOK_PROGRAMS = [GUARD, OTHERS] as const

export function hookProgram(name: PackName): (typeof HOOK_PROGRAMS)[number] {
  return name === 'pre-tool-use' ? GUARD : OTHERS
}

const SERVICE = 'service-program.js'
const GATEWAY = 'gateway-program.js'
export const COMMAND_PROGRAMS = [
  'fire-program.js',
  'list-program.js',
  'full-program.js',
  SERVICE,
  GATEWAY,
] as const

export function commandProgram(command: string | undefined, word: string): (typeof COMMAND_PROGRAMS)[number] {
  if (command === 'service') return word === 'run' ? SERVICE : 'full-program.js'
  if (command === 'fleet' && word === 'serve') return GATEWAY
  return COMMAND_PROGRAMS.find((file) => file === `${command}-program.js`) ?? 'full-program.js'
}
