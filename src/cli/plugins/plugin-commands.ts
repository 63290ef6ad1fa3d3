// What install, update, uninstall and migrate share: where plugins go, where they come from, and errors as refusals.

import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { userHome } from '../../files/homes.js'
import { realOf } from '../../files/within.js'
import { targetsOf } from '../../plugins/installed.js'
import type { LockEntry } from '../../plugins/lock-file.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import type { Origin } from '../../plugins/sources/accepted-source.js'
import { type FoundSource, SourceProblem } from '../../plugins/sources/accepted-source.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import type { OptionTable } from '../command.js'
import { agrees, canAsk } from '../confirm.js'
import type { Output } from '../output.js'
import { optionOf, typedTrust } from '../print/next-command.js'
import { Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectFolder } from '../sources.js'

export const SCOPE_OPTIONS = {
  here: { type: 'boolean', help: 'In this project, for everybody who works on it.' },
  user: { type: 'boolean', help: 'For you, in all projects.' },
  project: PLACE_OPTIONS.project,
} as const satisfies OptionTable

export interface GivenScope {
  readonly here: boolean
  readonly user: boolean
  readonly project: string | undefined
}

/** Undefined if neither --here nor --user was given. */
export function targetOf(given: GivenScope): Target | undefined {
  if (given.here && given.user) throw usage('Give --here or --user, not both')
  if (given.here) return projectTarget(given)
  return given.user ? userTarget() : undefined
}

export function userTarget(): Target {
  return { scope: 'user', base: userHome() }
}

function projectTarget(given: GivenScope): Target {
  const base = projectFolder(given)
  if (realOf(base) === realOf(userHome())) {
    throw usage(
      'This folder is your home, and what you install there is for all projects',
      'Leave out --here.',
    )
  }
  return { scope: 'project', base }
}

/** The user's, and the project's unless it is the same. */
export function allTargets(given: GivenScope): readonly Target[] {
  return targetsOf({ projectDir: projectFolder(given), home: userHome() })
}

// ---- a source in words ----------------------------------------------------------------------------------------

/** The source as an argument of `carabiner install`. It may be third-party text. */
function typedSource({ source, kind, ref, path, catalog }: Origin): string {
  if (catalog !== undefined) return shellQuoted(visible(catalog))
  const at = ref === undefined ? '' : `${kind === 'npm' ? '@' : '#'}${ref}`
  const folder = path === undefined ? '' : ` --path ${shellQuoted(visible(path))}`
  return `${shellQuoted(visible(`${source}${at}`))}${folder}`
}

/** `From git …, at …, commit …` */
export function originOf(entry: Origin & Partial<LockEntry>): string {
  const { source, kind, ref, path, catalog, commit, version } = entry
  return [
    `From ${kind} ${source}`,
    ...(catalog === undefined ? [] : [`found as ${catalog}`]),
    ...(path === undefined ? [] : [`folder ${path}`]),
    ...(ref === undefined || ref === commit ? [] : [kind === 'npm' ? `version ${ref}` : `at ${ref}`]),
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    ...(version === undefined || version === ref ? [] : [`which is ${version}`]),
  ].join(', ')
}

export function pluginData(name: string, target: Target, { installed: _, ...entry }: LockEntry) {
  return { name, scope: target.scope, path: join(pluginsDir(target), name), ...entry }
}

// ---- troubles -------------------------------------------------------------------------------------------------

/** Problems with a source, a name or a disk are not bugs. */
export async function asRefusals<T>(work: () => Promise<T>): Promise<T> {
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
      hint: 'Check the permissions and the free space there, then run the same command again.',
    })
  }
}

// ---- agreeing to a source --------------------------------------------------------------------------------------

interface SourceTerms {
  readonly name: string
  /** Whether the user trusts the installed version. */
  readonly isTrusted: boolean
  /** `--accept-moved`. */
  readonly acceptsMoved: boolean
  /** `--overwrite`: the installed version is replaced, and needs no trust. */
  readonly overwrites: boolean
  /** `--project`. */
  readonly project: string | undefined
}

/**
 * A project brings its own lock file. Nothing is fetched from a source in it unless the user accepted exactly that source
 * and trusts the plugin or overwrites it, or sees the source now and agrees. `--yes` does not count: it comes before the
 * user has seen the source.
 */
export async function checkSource(source: FoundSource, terms: SourceTerms, output: Output): Promise<void> {
  const { name, isTrusted, acceptsMoved, overwrites, project } = terms
  const isAccepted = source.state === 'accepted' || (source.state === 'moved-by-catalog' && acceptsMoved)
  if (isTrusted && isAccepted) return
  if (overwrites && source.state === 'accepted') return
  const why = isTrusted ? REASONS[source.state] : 'You do not trust it as it is in this project'
  if (canAsk(output)) {
    await output.print([`${name}: ${why}.`, ...sourceLines(source)])
    if (await agrees('Fetch it from there?', output)) return
  }
  const code = isTrusted ? 'SOURCE_MOVED' : 'NOT_TRUSTED'
  const isEnough = !isTrusted && source.state === 'accepted'
  const todo =
    isTrusted && source.state === 'moved-by-catalog'
      ? 'In a terminal you are asked; --accept-moved accepts it without asking.'
      : `${isEnough ? `Trust it first: ${visible(typedTrust([name], { project }))}; or let --overwrite replace it.` : 'In a terminal you are asked.'} ${namedAnew(source, terms)}`
  throw new SourceProblem(code, `${why}, so nothing was fetched`, source, todo)
}

const REASONS: Readonly<Record<FoundSource['state'], string>> = {
  accepted: 'You accepted where it comes from',
  'moved-by-project': 'The lock file of this project names a different source than the one you accepted',
  'moved-by-catalog': 'Its source in the catalog has changed since you accepted it',
  unknown: 'The lock file of this project names its source, and you have not accepted that source',
}

/** The command line that installs from a source the user knows. */
export function namedAnew(
  { now }: FoundSource,
  { name, project }: Pick<SourceTerms, 'name' | 'project'>,
): string {
  const where = project === undefined ? [] : optionOf('--project', project)
  const here = visible(['--here', ...where].map(shellQuoted).join(' '))
  return `If you know the source: carabiner uninstall ${name} ${here} && carabiner install ${typedSource(now)} ${here}`
}

/** The accepted source, if there is one, and the new one. */
export function sourceLines({
  was,
  now,
  state,
}: Pick<FoundSource, 'was' | 'now' | 'state'>): readonly string[] {
  const line = (when: string, origin: Origin) => `  ${when} ${visible(originOf(partsOf(origin)))}`
  return [...(was && state !== 'accepted' ? [line('was', was)] : []), line('now', now)]
}

/** Empty if the source is the accepted one. */
export function movedData({ was, now, state }: FoundSource) {
  return state === 'accepted' ? {} : { moved: { was: was ? partsOf(was) : null, now: partsOf(now) } }
}

function partsOf({ source, kind, ref, path, catalog }: Origin): Origin {
  return {
    source,
    kind,
    ...(ref !== undefined && { ref }),
    ...(path !== undefined && { path }),
    ...(catalog !== undefined && { catalog }),
  }
}
