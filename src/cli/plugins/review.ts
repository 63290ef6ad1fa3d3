// What the review screen shows: the parts of a project that can be trusted, or a plugin that is about to be installed. Runs nothing.

import { join } from 'node:path'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import { loadConfig, loadSkills } from '../../config/load.js'
import { hooksInSkill } from '../../config/skill-hooks.js'
import { TrustGate } from '../../config/trust-gate.js'
import { unitsOf } from '../../config/units.js'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import type { Skill } from '../../core/session/session-store.js'
import { loadedSkill } from '../../core/session/skills.js'
import { type PreparedPlugin, trustInstalled } from '../../plugins/install-plugin.js'
import type { LockEntry } from '../../plugins/lock-file.js'
import type { Origin } from '../../plugins/sources/accepted-source.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import { kindOf } from '../../runners/kinds.js'
import { type Expectation, trustedName } from '../../trust/expectation.js'
import { preTrusted } from '../../trust/pre-trusted.js'
import type { Difference, Review } from '../../trust/review.js'
import { type RiskNote, risksOf } from '../../trust/risks.js'
import { type TrustStore, trustStore } from '../../trust/trust-store.js'
import { isExecutable, type Unit } from '../../trust/unit.js'
import { unseenCode } from '../../trust/unseen-code.js'
import type { LeftOut } from '../confirm.js'
import { scripts } from '../doctor/scripts.js'
import type { Payload } from '../fire/payload.js'
import { type Output, plainData } from '../output.js'
import { noticeLines, shortPath } from '../print/lines.js'
import { painter } from '../print/terminal.js'
import { Refusal } from '../refusal.js'
import { configSources, type Places, preTrustedFile, projectFolder } from '../sources.js'
import { originOf } from './plugin-commands.js'
import { reviewScreen, type Screen, type Shown } from './print-review.js'

export interface Units {
  readonly store: TrustStore
  /** Each unit's hooks, in the same order as in the unit. */
  readonly units: ReadonlyMap<Unit, readonly ConfiguredHook[]>
  readonly diagnostics: readonly Diagnostic[]
  /** What the user trusts here, and what became of it. */
  readonly expectations: () => Promise<readonly Expectation[]>
}

/** `loaded`: the payload of a `skill:loaded`, whose hooks are not in a file. */
export async function findUnits(places: Places, loaded: Payload | undefined): Promise<Units> {
  const sources = configSources(places)
  const config = await loadConfig(sources)
  const skills: readonly Skill[] = loaded ? [loadedSkill(loaded)] : []
  const ofSkills = await loadSkills(skills, sources, config)
  const store = openStore(places)
  return {
    store,
    units: unitsOf([...config.specs, ...ofSkills.specs]),
    diagnostics: [...config.diagnostics, ...ofSkills.diagnostics],
    expectations: async () => (await new TrustGate(store).settle(config, sources)).expectations,
  }
}

function openStore(places: Places): TrustStore {
  const list = preTrustedFile(places)
  if (list === undefined) return trustStore()
  try {
    return trustStore({ preTrusted: preTrusted(list, projectFolder(places)) })
  } catch (error) {
    throw new Refusal('PRE_TRUSTED_INVALID', textOf(error), {
      hint: 'carabiner trust --show prints the lines for this file.',
    })
  }
}

export function show({ store, units }: Units, unit: Unit): Shown {
  const standing = store.standingOf(unit)
  const hooks = units.get(unit) ?? []
  const passthrough = passthroughOf(hooks)
  const why = standing.state === 'trusted' ? undefined : standing.why
  const known = { unit, passthrough, state: standing.state, why }
  try {
    const review = store.look(unit)
    return { ...known, review, risks: remarksOn(review, hooks), problems: review.problems }
  } catch (error) {
    const todo = 'check that folder, or set CARABINER_HOME to another one'
    const problem = `Your trust records cannot be read (${textOf(error)}); ${todo}.`
    return { ...known, review: undefined, risks: [], problems: [problem] }
  }
}

/** Above all, hooks in the front matter of skills, agents and commands that an agent may run and that we do not. */
function remarksOn(review: Review, hooks: readonly ConfiguredHook[]): readonly RiskNote[] {
  const read = new Set(hooks.map(({ hook }) => hook.origin.file))
  const unread = review.files.flatMap(({ path, text }): RiskNote[] => {
    const found = /\.md$/i.test(path) && text !== undefined ? hooksInSkill(text) : undefined
    if (!found || (found.problem === undefined && read.has(join(review.unit.path, path)))) return []
    const why = found.problem ?? 'has hooks that only an agent would run; put gates into hooks/hooks.json'
    const line = found.line === undefined ? {} : { line: found.line }
    return [{ kind: 'unseen', where: path, text: `Its front matter ${why}.`, ...line }]
  })
  return [...unread, ...risksOf(review), ...unstartable(review, hooks)]
}

/** Files that cannot be started as they are; missing ones have a section of their own. */
function unstartable({ unit }: Review, hooks: readonly ConfiguredHook[]): readonly RiskNote[] {
  return scripts({ specs: hooks })
    .findings.filter(
      ({ code }) => code === 'not-executable' || code === 'crlf' || code === 'interpreter-missing',
    )
    .map(({ hook = unit.name, text }) => ({
      kind: 'cannot-start',
      where: hook,
      text: `It cannot start: ${text.replace(`${visible(shortPath(unit.path))}/`, '')}.`,
    }))
}

function passthroughOf(hooks: readonly ConfiguredHook[]): Shown['passthrough'] {
  return hooks.map((spec) => kindOf(spec).passthrough?.(spec.handler) ?? [])
}

// ---- a plugin that is about to be installed --------------------------------------------------------------------

interface Coming extends Pick<PreparedPlugin, 'name' | 'staged' | 'isUnpinned'> {
  readonly entry: Origin & Partial<LockEntry>
}

/** `update`: the changes since `before` was installed, for a user who trusts the installed version. */
export function shownPlugin(
  { name, entry, staged, isUnpinned }: Coming,
  target: Target,
  update?: { readonly before: LockEntry; readonly differences: readonly Difference[] },
): Shown {
  const unit = { ...staged.unit, path: join(pluginsDir(target), name) }
  const read = trustStore().look(staged.unit)
  // The review screen shows changes since a record; here, since the last installation.
  const since = update && ({ at: update.before.installed } as NonNullable<typeof read.record>)
  const review = { ...read, unit, record: since, differences: update?.differences ?? [] }
  return {
    unit,
    passthrough: passthroughOf(staged.hooks),
    state: update ? 'modified' : 'untrusted',
    why: [
      isUnpinned ? `${originOf(entry)}, ${UNPINNED}` : originOf(entry),
      ...(update ? [] : replacedBy(review)),
    ].join('. '),
    review,
    risks: remarksOn(read, staged.hooks),
    problems: read.problems,
  }
}

/** A gate whose folder is gone still guards; what is installed in its place takes over. */
function replacedBy({ unit, digest }: Review): readonly string[] {
  try {
    const before = trustStore()
      .records()
      .find(({ kind, path }) => kind === 'folder' && path === unit.path)
    return before === undefined || before.digest === digest
      ? []
      : [`It replaces ${trustedName(before)}, which is gone and still guards`]
  } catch {
    return [] // trusting it says why
  }
}

export const UNPINNED = 'a folder as it is now; add #REF to pin a commit'

/** Returns what the question about it has to say. */
export async function pageScreen(
  { lines, leftOut }: Screen,
  shown: Shown,
  isAsked: boolean,
  output: Output,
): Promise<LeftOut | undefined> {
  await output.page(lines, isAsked)
  return leftOut === undefined
    ? undefined
    : { text: leftOut, showAll: () => output.page(reviewScreen(shown, true).lines) }
}

/** Throws if it cannot be trusted. Returns what the question about it has to say. */
export async function printReview(
  shown: Shown,
  { name, staged: { diagnostics } }: Pick<Coming, 'name' | 'staged'>,
  { full, yes }: { readonly full: boolean; readonly yes: boolean },
  output: Output,
): Promise<LeftOut | undefined> {
  if (!output.json) await output.complain(noticeLines(plainData(diagnostics), painter(2)))
  const leftOut = output.json ? undefined : await pageScreen(reviewScreen(shown, full), shown, !yes, output)
  const [problem] = shown.problems
  if (problem !== undefined) throw new Refusal('UNSAFE_ENTRY', `${name} was not installed: ${problem}`)
  return leftOut
}

/** For programs. */
export function reviewData(shown: Shown) {
  const { review, risks, problems } = shown
  return {
    digest: review?.digest ?? null,
    hooks: hooksData(shown),
    files: (review?.files ?? []).map((file) => ({
      path: file.path,
      size: file.size,
      sha256: file.sha256,
      executable: isExecutable(file),
    })),
    unchecked: (review && unseenCode(review)) ?? null,
    risks,
    problems,
  }
}

/** Hooks with the variables that they get in addition. */
export function hooksData({ unit, passthrough }: Shown) {
  return unit.hooks.map((hook, i) => ({
    ...hook,
    ...(passthrough[i]?.length && { envPassthrough: passthrough[i] }),
  }))
}

/** True, or why it is not trusted: then it is installed, but blocked. */
export async function trustShown(name: string, { review }: Shown, target: Target): Promise<true | string> {
  try {
    await trustInstalled(name, target, review?.digest ?? '')
    return true
  } catch (error) {
    return textOf(error)
  }
}
