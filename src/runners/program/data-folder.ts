// The folder in which a plugin may keep what it wants to find again.

import { mkdirSync } from 'node:fs'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import type { Place } from '../hook-spec.js'

/** A plugin that writes into it must not fail because nobody made it. False: it could not be made, which is said. */
export function madeDataFolder({ plugin }: Place, note: (d: Diagnostic) => void): boolean {
  try {
    if (plugin) mkdirSync(plugin.dataDir, { recursive: true })
    return true
  } catch (error) {
    note({ code: 'host-failed', text: `its data folder cannot be made: ${textOf(error)}` })
    return false
  }
}
