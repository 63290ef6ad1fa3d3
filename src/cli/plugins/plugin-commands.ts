// What install, update and uninstall share: where plugins go, the review of one, the question, and troubles in words.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { textOf } from '../../core/errors.js'
import { visible, visibleName } from '../../core/visible.js'
import type { PreparedPlugin, ResolveCatalog } from '../../plugins/install-plugin.js'
import type { LockEntry } from '../../plugins/lock-file.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { realOf } from '../../state/within.js'
import type { Difference } from '../../trust/review.js'
import { risksOf } from '../../trust/risks.js'
import { TrustStore } from '../../trust/trust-store.js'
import { isExecutable } from '../../trust/unit.js'
import { answerOf, forgetTyped } from '../asking/answer.js'
import type { OptionTable } from '../command.js'
import type { Output } from '../output.js'
import { Refusal, usage } from '../refusal.js'
import { projectFolder } from '../sources.js'
import { isTerminal } from '../terminal.js'
import type { Shown } from './trust-units.js'

export const SCOPE_OPTIONS = {
  here: { type: 'boolean', help: 'In this project, for everybody who works on it.' },
  user: { type: 'boolean', help: 'For you, in all projects.' },
  project: { type: 'string', value: 'DIR', help: 'The project; default: the current directory.' },
} as const satisfies OptionTable

export interface GivenScope {
  readonly here: boolean
  readonly user: boolean
  readonly project: string | undefined
}

/** The one that is asked for; undefined where neither is. */
export function targetOf(given: GivenScope): Target | undefined {
  if (given.here && given.user) throw usage('Give --here or --user, not both')
  if (given.here) return projectTarget(given)
  return given.user ? userTarget() : undefined
}

export function userTarget(): Target {
  return { scope: 'user', base: homedir() }
}

function projectTarget(given: GivenScope): Target {
  const base = projectFolder(given)
  if (realOf(base) === realOf(homedir())) {
    throw usage('This folder is your home: what is installed there is for all projects', 'Leave out --here.')
  }
  return { scope: 'project', base }
}

/** The user's, and the project's if that is another. */
export function allTargets(given: GivenScope): readonly Target[] {
  const base = projectFolder(given)
  return realOf(base) === realOf(homedir()) ? [userTarget()] : [userTarget(), { scope: 'project', base }]
}

/** Loaded where a source names a catalogue. */
export const byCatalog: ResolveCatalog = async (name, catalog) =>
  (await import('../../plugins/catalog-resolve.js')).resolveCatalog(name, catalog)

// ---- the review -----------------------------------------------------------------------------------------------

/** `differences`: from what is there now, since `before` was installed; only for somebody who trusts what is there. */
export function shownPlugin(
  { name, entry, staged }: PreparedPlugin,
  target: Target,
  update?: { readonly before: LockEntry; readonly differences: readonly Difference[] },
): Shown {
  const unit = { ...staged.unit, path: join(pluginsDir(target), name) }
  const read = new TrustStore().look(staged.unit)
  // The screen of trust shows changes since a record; here they are changes since the last installation.
  const since = update && ({ at: update.before.installed } as NonNullable<typeof read.record>)
  const review = { ...read, unit, record: since, differences: update?.differences ?? [] }
  const passthrough = staged.hooks.map((spec) =>
    spec.type === 'command' ? (spec.handler.envPassthrough ?? []) : [],
  )
  return {
    unit,
    passthrough,
    state: update ? 'modified' : 'untrusted',
    why: originOf(entry),
    review,
    risks: risksOf(read),
    problems: read.problems,
  }
}

/** What somebody types after `carabiner install` for the same; it may be a stranger's word. */
export function typedSource({ source, kind, ref, path, catalog }: LockEntry): string {
  if (catalog !== undefined) return shellQuoted(visible(catalog))
  const at = ref === undefined ? '' : `${kind === 'npm' ? '@' : '#'}${ref}`
  const folder = path === undefined ? '' : ` --path ${shellQuoted(visible(path))}`
  return `${shellQuoted(visible(`${source}${at}`))}${folder}`
}

/** In a line: from where, pinned to what. */
export function originOf({ source, kind, ref, path, catalog, commit, version }: LockEntry): string {
  return [
    `From ${kind} ${source}`,
    ...(catalog === undefined ? [] : [`found as ${catalog}`]),
    ...(path === undefined ? [] : [`folder ${path}`]),
    ...(ref === undefined || ref === commit ? [] : [kind === 'npm' ? `version ${ref}` : `at ${ref}`]),
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    ...(version === undefined || version === ref ? [] : [`which is ${version}`]),
  ].join(', ')
}

export function reviewData({ unit, review, risks, problems }: Shown) {
  return {
    digest: review?.digest ?? null,
    hooks: unit.hooks,
    files: (review?.files ?? []).map((file) => ({
      path: file.path,
      size: file.size,
      sha256: file.sha256,
      executable: isExecutable(file),
    })),
    risks,
    problems,
  }
}

export function pluginData(name: string, target: Target, { installed: _, ...entry }: LockEntry) {
  return { name, scope: target.scope, path: join(pluginsDir(target), name), ...entry }
}

// ---- asking ---------------------------------------------------------------------------------------------------

export function canAsk(): boolean {
  return isTerminal(0) && isTerminal(1)
}

export async function agrees(question: string, output: Output): Promise<boolean> {
  // What was typed before the question is no answer to it.
  forgetTyped()
  await output.prompt(`${question} [y/N] `)
  return /^y(?:es)?$/i.test((await answerOf()).trim())
}

// ---- troubles -------------------------------------------------------------------------------------------------

/** What is wrong with a source, a name or a disk is no bug of this program. */
export async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PluginProblem) {
      throw new Refusal(error.code, error.message, {
        ...(error.hint !== undefined && { hint: error.hint }),
      })
    }
    const { syscall, path } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    const where = path === undefined ? 'Something' : visibleName(path)
    throw new Refusal('NOT_WRITTEN', `${where} cannot be read or written: ${textOf(error)}`, {
      hint: 'Look who may write there, and whether there is room; the same command goes on from here.',
    })
  }
}
