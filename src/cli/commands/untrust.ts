// `carabiner untrust`: takes trust back, even for files that are gone.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { didYouMean, visible, visibleName } from '../../core/base/text.js'
import { realOf } from '../../files/within.js'
import { isCalled } from '../../plugins/plugin-name.js'
import { SHORT_DIGEST } from '../../trust/expectation.js'
import { type TrustStore, trustStore } from '../../trust/trust-store.js'
import type { TrustRecord } from '../../trust/unit.js'
import type { Command } from '../command.js'
import { checkPerson } from '../person.js'
import { fitted } from '../print/fit.js'
import { nextLines, shortPath } from '../print/lines.js'
import { typedTrust } from '../print/next-command.js'
import { Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectOf } from '../sources.js'

const OPTIONS = {
  all: { type: 'boolean', help: 'Everything that you trusted in this project.' },
  project: PLACE_OPTIONS.project,
} as const

type Gone = Pick<TrustRecord, 'kind' | 'name' | 'path' | 'projectDir'>

export const command: Command<typeof OPTIONS> = {
  name: 'untrust',
  summary: 'Take trust back, so that it no longer runs.',
  positionals: ['WHAT|--all'],
  completes: ['plugins'],
  about:
    'WHAT is the name of a plugin or hook file in this project, its path, or the start of its digest. Uses the record of what you trusted, ' +
    'so it works even if the project is gone. The trusted copy is removed.',
  options: OPTIONS,
  exits: [
    [0, 'no longer trusted'],
    [1, 'it was not trusted, or trust could not be taken back'],
  ],
  examples: [{ does: 'Trust nothing in this project any more.', line: 'carabiner untrust --all' }],
  mayRun: () => checkPerson('Taking trust back'),
  async run({ options, positionals: [what] }, output) {
    if ((what === undefined) !== options.all) {
      throw usage(
        'Give the name of what you no longer trust, or --all',
        'carabiner trust --show lists the names.',
      )
    }
    const store = trustStore()
    const project = projectOf(options)
    const meant = what === undefined ? ofProject(recordsIn(store), project) : called(what, project, store)
    const gone = meant
      .filter((one) => taken(store, one))
      .map(({ kind, name, path }) => ({ kind, name, path }))
    if (what !== undefined && gone.length === 0) throw notTrusted(what, ofProject(recordsIn(store), project))
    return output.result({ untrusted: gone }, (paint) =>
      gone.length === 0
        ? ['nothing in this project is trusted']
        : [
            ...fitted(
              gone.map((one) => `untrusted ${visibleName(one.name)}  ${visible(shortPath(one.path))}`),
            ),
            ...nextLines(trustAgain(gone, options), paint),
          ],
    )
  },
}

/** For what is still there. */
function trustAgain(
  gone: readonly Pick<Gone, 'name' | 'path'>[],
  given: { readonly project: string | undefined },
) {
  const names = gone.filter(({ path }) => existsSync(path)).map(({ name }) => name)
  return names.length === 0 ? [] : [`${typedTrust(names, given)}   # trusts it again, after a review`]
}

function taken(store: TrustStore, record: Gone): boolean {
  try {
    return store.untrust(record)
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', `${visibleName(record.path)} is still trusted: ${textOf(error)}`)
  }
}

function recordsIn(store: TrustStore): readonly TrustRecord[] {
  try {
    return store.records()
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', textOf(error), {
      hint: 'Give the path of what you no longer trust: that needs no other record.',
    })
  }
}

function ofProject(records: readonly TrustRecord[], project: string): readonly TrustRecord[] {
  return records.filter(({ projectDir }) => realOf(projectDir) === realOf(project))
}

const DIGEST_START = new RegExp(`^[0-9a-f]{${SHORT_DIGEST},64}$`)

/** Names and digests count in this project, paths everywhere. */
function called(what: string, project: string, store: TrustStore): readonly Gone[] {
  const path = resolve(what)
  const records = what.includes('/') ? recordsOrNone(store) : recordsIn(store)
  const paths = new Set([path, realOf(path), realOf(resolve(project, what))])
  const byPath = records.filter((record) => paths.has(record.path) || paths.has(realOf(record.path)))
  const own = ofProject(records, project)
  const byName = own.filter((one) => isCalled(what, one.name, one.kind === 'folder' ? one.path : undefined))
  if (byPath.length + byName.length > 0) return [...new Set([...byPath, ...byName])]
  const byDigest = DIGEST_START.test(what) ? own.filter(({ digest }) => digest.startsWith(what)) : []
  if (byDigest.length > 0) return byDigest
  // Its record may be hidden by another one that cannot be read.
  return (['folder', 'file'] as const).map((kind) => ({ kind, name: what, path, projectDir: project }))
}

function recordsOrNone(store: TrustStore): readonly TrustRecord[] {
  try {
    return store.records()
  } catch {
    return []
  }
}

function notTrusted(what: string, own: readonly TrustRecord[]): Refusal {
  const names = [...new Set(own.map(({ name }) => name))]
  const list = names.map(visibleName).join(', ')
  return new Refusal(
    'UNKNOWN_UNIT',
    `Nothing that you trust in this project is called ${visibleName(what)}${didYouMean(what, names)}`,
    {
      hint: names.length === 0 ? 'Nothing in this project is trusted.' : `You trust ${list}; or give a path.`,
    },
  )
}
