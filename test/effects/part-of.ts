// Whether an effect has everything that an expectation says.

import { settingFiles } from '../../src/hosts/setting-files.js'
import { HOME, PROJECT } from './command-lists.js'

/** The project and the home folder that the lists and examples assume. Neither exists. */
export const CONTEXT = {
  cwd: PROJECT,
  projectDir: PROJECT,
  home: HOME,
  env: { HOME },
  settings: settingFiles({ HOME }),
}

/** A list is part of another if each of its items is part of some item there. */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((one) => whole.some((other) => isPartOf(one, other)))
  if (typeof part !== 'object' || part === null) return part === whole
  if (typeof whole !== 'object' || whole === null) return false
  const fields = whole as Readonly<Record<string, unknown>>
  return Object.entries(part).every(([key, value]) => isPartOf(value, fields[key]))
}
