// `fleet policy list` and `diff`: what is published, who gets it, and what changes from one bundle to another.

import { readFileSync } from 'node:fs'
import { textOf } from '../../../core/base/errors.js'
import { visible } from '../../../core/base/text.js'
import { localTime } from '../../../core/base/time.js'
import { callerPath } from '../../../files/caller.js'
import { bundleText } from '../../../fleet/database/policy.js'
import { type Bundle, bundleIn } from '../../../fleet/policy/bundle.js'
import { changesBetween } from '../../../fleet/policy/bundle-changes.js'
import type { Published } from '../../../fleet/policy/checked-policy.js'
import { versionOf } from '../../../fleet/policy/metadata.js'
import { rolloutOf } from '../../../fleet/policy/publication.js'
import { digestsInUse, type Ring, type Rollout } from '../../../fleet/policy/rollout.js'
import { columns, counted, nextLines } from '../../print/lines.js'
import { Refusal } from '../../refusal.js'
import { again, type Given } from '../action.js'
import { atDesk, type Desk } from './desk.js'

export async function listed(given: Given): Promise<number> {
  return atDesk(given, async ({ state }) => {
    if (!state)
      return given.output.result({ published: false }, (paint) => [
        'no policy is published',
        ...nextLines(['carabiner fleet policy build FOLDER --out policy.bundle'], paint),
      ])
    const rollout = rolloutOf(state)
    const { expires } = state
    const bundles = state.entries.map((one) => ({
      version: versionOf(one),
      digest: one.digest,
      bytes: one.length,
    }))
    const isOver = Date.parse(expires) < Date.now()
    return given.output.result({ published: true, expires, bundles, rollout }, (paint) => [
      ...rolloutLines(rollout, state),
      `  machines may rely on it until ${localTime(expires)}${isOver ? paint.red(': that is over') : ''}`,
      `  versions: ${bundles.map(({ version, digest }) => `${version} (${digest.slice(0, 12)})`).join(', ') || 'none'}`,
      ...(isOver ? nextLines([again('carabiner fleet policy renew', given)], paint) : []),
    ])
  })
}

/** One line for each ring. `more` are versions that are not published yet. */
export function rolloutLines(
  rollout: Rollout,
  state: Published | undefined,
  more: ReadonlyMap<string, number> = new Map(),
): readonly string[] {
  const versions = new Map([
    ...(state?.entries ?? []).map((one) => [one.digest, versionOf(one)] as const),
    ...more,
  ])
  const word = (digest: string) => `version ${versions.get(digest) ?? digest.slice(0, 12)}`
  const rows = rollout.flatMap(({ name, rings }) =>
    rings.map((ring) => [`  ${name}`, `ring ${ring.name}`, whoIn(ring), bundleWords(ring, word)]),
  )
  return columns(rows).map((row) => row.join('  ').trimEnd())
}

function whoIn({ machines, percent }: Ring): string {
  if (machines) return visible(machines.join(', '))
  return percent === undefined ? 'the rest' : `${percent} %`
}

function bundleWords({ enforced, shadow }: Ring, word: (digest: string) => string): string {
  const enforces = enforced === undefined ? 'no policy' : `enforces ${word(enforced)}`
  return shadow === undefined ? enforces : `${enforces}, tries ${word(shadow)}`
}

// ---- diff -----------------------------------------------------------------------------------------------------

/** Two versions or files; with one, what is published newest is the other. */
export async function compared(given: Given): Promise<number> {
  return atDesk(given, async (desk) => {
    const [first = '', second] = given.words
    const used = digestsInUse(rolloutOf(desk.state))
    const newest = desk.state?.entries.filter(({ digest }) => used.has(digest)).at(-1)
    const [from, to] =
      second === undefined
        ? [newest && (await bundleNamed(desk, String(versionOf(newest)))), await bundleNamed(desk, first)]
        : [await bundleNamed(desk, first), await bundleNamed(desk, second)]
    const changes = changesBetween(from, to)
    return given.output.result({ from: from?.digest, to: to.digest, changes }, () =>
      changes.length === 0
        ? ['the same files']
        : [
            `${counted(changes.length, 'file')} ${changes.length === 1 ? 'differs' : 'differ'}:`,
            ...changes.map(({ change, path }) => `  ${change.padEnd(7)} ${visible(path)}`),
          ],
    )
  })
}

async function bundleNamed({ database, state }: Desk, name: string): Promise<Bundle> {
  if (!/^\d{1,9}$/.test(name)) return bundleFrom(name)
  const entry = state?.entries.find((one) => versionOf(one) === Number(name))
  const text = entry && (await bundleText(database, entry.digest))
  if (text !== undefined) return bundleIn(text)
  throw new Refusal('FLEET_POLICY', `There is no version ${name}`, {
    hint: 'carabiner fleet policy list shows the versions.',
  })
}

function bundleFrom(file: string): Bundle {
  try {
    return bundleIn(readFileSync(callerPath(file), 'utf8'))
  } catch (error) {
    throw new Refusal('FLEET_POLICY', `${file} is not a bundle: ${textOf(error)}`)
  }
}
