// Where an update would come from, when somebody has to agree to that: what was accepted, what it is now, and the question.

import { visible } from '../../core/base/text.js'
import { type FoundSource, type Origin, SourceProblem } from '../../plugins/sources/accepted-source.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { agrees, canAsk } from '../asking/agreement.js'
import type { Output } from '../output.js'
import { optionOf, typedTrust } from '../print/typed.js'
import { originOf, typedSource } from './plugin-commands.js'

export interface SourceTerms {
  readonly name: string
  /** Whether the user trusts what is there now. */
  readonly isTrusted: boolean
  /** `--accept-moved`. */
  readonly acceptsMoved: boolean
  /** `--overwrite`: what is there goes, so that nobody need trust it. */
  readonly overwrites: boolean
  /** `--project`. */
  readonly project: string | undefined
}

/**
 * The lock file of a project came with it: nothing is fetched from where it says unless the user accepted that very
 * source, and trusts the plugin or has it overwritten; or sees the source now, and agrees. `--yes` is said before anybody has seen it.
 */
export async function checkSource(source: FoundSource, terms: SourceTerms, output: Output): Promise<void> {
  const { name, isTrusted, acceptsMoved, overwrites, project } = terms
  const isAccepted = source.state === 'accepted' || (source.state === 'moved-by-catalog' && acceptsMoved)
  if (isTrusted && isAccepted) return
  if (overwrites && source.state === 'accepted') return
  const why = isTrusted ? REASONS[source.state] : 'You do not trust it as it is in this project'
  if (!output.json && canAsk()) {
    await output.print([`${name}: ${why}.`, ...sourceLines(source)])
    if (await agrees('Fetch it from there?', output)) return
  }
  const code = isTrusted ? 'SOURCE_MOVED' : 'NOT_TRUSTED'
  const isEnough = !isTrusted && source.state === 'accepted'
  const todo =
    isTrusted && source.state === 'moved-by-catalog'
      ? 'On a terminal you are asked; --accept-moved takes it without asking.'
      : `${isEnough ? `Trust it first: ${visible(typedTrust([name], { project }))}; or let --overwrite replace it.` : 'On a terminal you are asked.'} ${namedAnew(source, terms)}`
  throw new SourceProblem(code, `${why}, so nothing was fetched`, source, todo)
}

const REASONS: Readonly<Record<FoundSource['state'], string>> = {
  accepted: 'You accepted where it comes from',
  'moved-by-project': 'The lock file of this project names another source than the one that you accepted',
  'moved-by-catalog': 'The catalogue has it from somewhere else than when you accepted it',
  unknown: 'The lock file of this project says where it comes from, and you have not accepted that',
}

/** What to type for a source that one knows. */
export function namedAnew(
  { now }: FoundSource,
  { name, project }: Pick<SourceTerms, 'name' | 'project'>,
): string {
  const where = project === undefined ? [] : optionOf('--project', project)
  const here = visible(['--here', ...where].map(shellQuoted).join(' '))
  return `If you know the source: carabiner uninstall ${name} ${here} && carabiner install ${typedSource(now)} ${here}`
}

/** From where it came, if anybody accepted that, and from where it would come. */
export function sourceLines({
  was,
  now,
  state,
}: Pick<FoundSource, 'was' | 'now' | 'state'>): readonly string[] {
  const line = (when: string, origin: Origin) => `  ${when} ${visible(originOf(partsOf(origin)))}`
  return [...(was && state !== 'accepted' ? [line('was', was)] : []), line('now', now)]
}

/** For programs; nothing where it is what was accepted. */
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
