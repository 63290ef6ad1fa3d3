// Everything that the page of a project asks, put together from the answers of its screens.

import { actAnswers } from '../../page/act-answers.js'
import type { Answers } from '../../page/answers.js'
import { decisionAnswers } from '../../page/decision-answers.js'
import { questionAnswers } from '../../page/question-answers.js'
import { path } from '../../page/shown-text.js'
import { PageTrace } from '../../page/trace.js'
import { traceAnswers } from '../../page/trace-answers.js'
import type { About } from '../../page/view/about.js'
import { approvalsIn, fileCalls, fileStores } from '../../store/file-stores.js'
import { record, recordAnswer, recordRevoked } from '../answer-record.js'
import type { Commands } from '../command.js'
import { auditOf } from '../project-audit.js'
import { version } from '../version.js'
import { agentAnswers } from './agent-answers.js'
import { commandAnswers } from './command-answers.js'
import { playgroundAnswers } from './playground-answers.js'
import { pluginAnswers } from './plugin-answers.js'
import { switchAct } from './switch-act.js'
import { trustAct } from './trust-act.js'
import { updateAct } from './update-act.js'

export interface PageAnswersOptions {
  readonly commands: Commands
  readonly project: string
  /** Who acts without a passkey. */
  readonly by: string
  readonly onProblem: (text: string) => void
  /** Default: the list of this machine. */
  readonly approversFile?: string
  /** The program that fires events in a copy. Default: the one that runs now. */
  readonly program?: string
}

/** `trace` is what the stream follows. */
export function pageAnswers(options: PageAnswersOptions): {
  readonly trace: PageTrace
  readonly answers: Answers
} {
  const { commands, project, by, onProblem, approversFile, program } = options
  const list = approversFile === undefined ? {} : { approversFile }
  const trace = new PageTrace(auditOf(project), () => fileCalls({ projectDir: project }), onProblem)
  const answers = {
    'GET api/about': async (): Promise<About> => ({ project: path(project), version }),
    ...traceAnswers(trace),
    ...commandAnswers({ commands, project, callOf: (seq) => trace.call(seq), ...list }),
    ...questionAnswers({
      queue: () => approvalsIn({ onTrouble: onProblem, ...list }),
      project,
      record: (pending, answer) => recordAnswer(pending, answer, 'page'),
      by,
      ...list,
    }),
    ...pluginAnswers(commands, project, approversFile),
    ...playgroundAnswers(project, { onProblem, ...(program !== undefined && { program }) }),
    ...actAnswers({
      acts: {
        trust: (body) => trustAct(project, body),
        switch: (body) => switchAct(project, body),
        update: (body) => updateAct(commands, project, body),
      },
      record: (entry) => record(project, [entry]),
      by,
      ...list,
    }),
    ...decisionAnswers({
      trace,
      grants: (onTrouble) => fileStores({ projectDir: project, onTrouble, ...list }).sessions,
      record: (grant) => recordRevoked(project, [grant], by),
    }),
    ...agentAnswers(project),
  }
  return { trace, answers }
}
