// What somebody expects of this project and is not there as expected: by trust, by the list of digests, by a lock file.

import { existsSync } from 'node:fs'
import type { Diagnostic } from '../../core/base/errors.js'
import { userHome } from '../../files/homes.js'
import { lockPath } from '../../plugins/target.js'
import { diagnosticOf, type Expectation } from '../../trust/expectation.js'
import type { Untrusted } from '../../trust/unit.js'
import type { Command } from '../command.js'
import { EXIT } from '../refusal.js'
import { type Places, projectOf } from '../sources.js'

export interface Unmet {
  readonly expectations: readonly Expectation[]
  readonly notices: readonly Diagnostic[]
}

/** `known`: what the records of trust and the list of digests say. */
export async function unmetIn(places: Places, known: readonly Expectation[]): Promise<Unmet> {
  const own = known.filter(({ state }) => state !== 'as trusted')
  const expectations = [...own, ...(await uninstalled(projectOf(places), known))]
  return { expectations, notices: expectations.flatMap(diagnosticOf) }
}

export const EXITS: Command['exits'] = [
  [EXIT.ok, 'everything you trusted here is unchanged'],
  [EXIT.failed, 'something trusted, listed or installed has changed or is missing'],
]

/** A gate that is missing or changed fails the command, so that a script notices. */
export function exitOf({ expectations }: Pick<Unmet, 'expectations'>): number {
  return expectations.length > 0 ? EXIT.failed : EXIT.ok
}

/** Whether a unit that waits for trust is not told as an expectation already. */
export function unsaid(expectations: readonly Expectation[]): (unit: Untrusted) => boolean {
  const paths = new Set(expectations.map(({ unit }) => unit.path))
  return ({ path }) => !paths.has(path)
}

/** Whether the user has a new version to take. */
export function hasChanged(expectations: readonly Expectation[]): boolean {
  return expectations.some(({ state }) => state === 'modified')
}

/** Loaded only if there is a lock file: most projects have none. */
async function uninstalled(
  projectDir: string,
  known: readonly Expectation[],
): Promise<readonly Expectation[]> {
  const home = userHome()
  if (![projectDir, home].some((base) => existsSync(lockPath({ base })))) return []
  const { missingPlugins } = await import('../plugins/missing-plugins.js')
  return missingPlugins(projectDir, home, new Set(known.map(({ unit }) => unit.path)))
}
