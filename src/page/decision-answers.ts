// What people decided: calls that are always allowed, which anybody may take back, and who answered what.

import { visible } from '../core/base/text.js'
import type { Grant } from '../core/verdict/approval.js'
import type { Sessions } from '../store/sessions.js'
import { type Answers, NotAnswered, textIn } from './answers.js'
import { block, path } from './shown-text.js'
import type { PageTrace } from './trace.js'
import type { GrantsView, GrantView, HistoryOfAnswers } from './view/approvals.js'

export interface DecisionOptions {
  readonly trace: PageTrace
  /** The grants of the project. `onTrouble` is told why some do not count. */
  readonly grants: (onTrouble: (text: string) => void) => Sessions
  /** Puts it on record that a grant was revoked. Resolves to a problem, if there is one. */
  readonly record: (grant: Grant) => Promise<string | undefined>
}

/** Taking a grant back only makes things tighter, so the cookie is enough. */
export function decisionAnswers({ trace, grants, record }: DecisionOptions): Answers {
  return {
    'GET api/grants': async (): Promise<GrantsView> => {
      const troubles: string[] = []
      const all = await grants((text) => void troubles.push(text)).grants()
      return { grants: all.map(grantView), troubles: troubles.map(visible) }
    },
    'POST api/revoke': async ({ body }) => {
      const id = textIn(body, 'id', 100)
      const store = grants(() => undefined)
      const grant = (await store.grants()).find((one) => one.id === id)
      if (!grant || !(await store.revokeGrant(id)))
        throw new NotAnswered(409, 'There is no such grant any more')
      const problem = await record(grant)
      return problem === undefined ? {} : { problem: visible(problem) }
    },
    'GET api/answers': (): Promise<HistoryOfAnswers> => trace.answers(),
  }
}

function grantView({ id, hook, event, tool, cwd, about = '', by, created, expires }: Grant): GrantView {
  return {
    id,
    what: visible(tool || event),
    about: block(about),
    hook: visible(hook.replace(/^(?:user|project|named):(.*):[0-9a-f]{16}$/s, '$1')),
    folder: path(cwd),
    ...(by !== undefined && { by: visible(by) }),
    since: created,
    ...(expires !== undefined && { until: expires }),
  }
}
