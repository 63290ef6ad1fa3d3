// How the source that something would come from stands to the one that the user accepted.

import { PluginProblem } from '../plugin-problem.js'
import { isFoundAlike, isSameOrigin, type Origin } from './origin.js'

/** From where it would be fetched, and how that stands to what the user accepted. */
export interface FoundSource {
  /** `moved`: by the project's lock file, or by the catalogue. `unknown`: nobody accepted any here. */
  readonly state: 'accepted' | 'moved-by-project' | 'moved-by-catalog' | 'unknown'
  readonly was: Origin | undefined
  readonly now: Origin
}

export function findSource(was: Origin | undefined, now: Origin): FoundSource {
  if (!was) return { state: 'unknown', was, now }
  if (isSameOrigin(was, now)) return { state: 'accepted', was, now }
  return { state: isFoundAlike(was, now) ? 'moved-by-catalog' : 'moved-by-project', was, now }
}

/** Nothing was fetched because of where it would have come from. */
export class SourceProblem extends PluginProblem {
  readonly source: FoundSource

  constructor(
    code: 'SOURCE_MOVED' | 'SOURCE_REFUSED' | 'NOT_TRUSTED',
    message: string,
    source: FoundSource,
    hint?: string,
  ) {
    super(code, message, hint)
    this.source = source
  }
}
