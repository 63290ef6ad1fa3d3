// The page of a test's project, served by the test's own process. HOME must be the project's.

import { dirname, join } from 'node:path'
import { record, recordAnswer, recordRevoked } from '../../src/cli/answer-record.js'
import { COMMANDS } from '../../src/cli/commands.js'
import { actsIn } from '../../src/cli/open/acts.js'
import { agentAnswers } from '../../src/cli/open/agent-answers.js'
import { commandAnswers } from '../../src/cli/open/command-answers.js'
import { playgroundAnswers } from '../../src/cli/open/playground-answers.js'
import { pluginAnswers } from '../../src/cli/open/plugin-answers.js'
import { actAnswers } from '../../src/page/act-answers.js'
import type { Answers } from '../../src/page/answers.js'
import { readAssets } from '../../src/page/assets.js'
import { decisionAnswers } from '../../src/page/decision-answers.js'
import { openPage, type Page, type PageOptions } from '../../src/page/page-server.js'
import { questionAnswers } from '../../src/page/question-answers.js'
import { PageTrace } from '../../src/page/trace.js'
import { traceAnswers } from '../../src/page/trace-answers.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { fileAuditLog, fileCalls, fileStores } from '../../src/store/file-stores.js'
import { type Project, programFile } from '../cli/program.js'

export interface Served extends Page {
  readonly problems: string[]
  readonly ended: Promise<'idle' | 'stopped'>
}

const anyPort = 0

/** Where the page looks for people who may allow. */
export function approversFile(project: Project): string {
  return join(project.base, 'etc', 'approvers.json')
}

/** The queue as the page sees it. */
export function pageQueue(project: Project): FileApprovals {
  return new FileApprovals({ approversFile: approversFile(project) })
}

/** `shown`: what becomes of answers on their way to the browser. */
export async function servePage(
  project: Project,
  more: Partial<PageOptions> = {},
  shown: (answer: unknown) => unknown = (answer) => answer,
): Promise<Served> {
  const problems: string[] = []
  const onProblem = (text: string) => void problems.push(text)
  const places = { projectDir: project.folder }
  const trace = new PageTrace(fileAuditLog(places), () => fileCalls(places), onProblem)
  let end: (why: 'idle' | 'stopped') => void = () => undefined
  const ended = new Promise<'idle' | 'stopped'>((resolve) => {
    end = resolve
  })
  const answers: Answers = {
    'GET api/about': async () => ({ project: 'shop', folder: project.folder, version: '0.0.0' }),
    ...traceAnswers(trace),
    ...commandAnswers(COMMANDS, project.folder, approversFile(project)),
    ...questionAnswers({
      queue: async () => pageQueue(project),
      record: (pending, answer) => recordAnswer(pending, answer, 'page'),
      by: 'tester',
      approversFile: approversFile(project),
    }),
    ...pluginAnswers(COMMANDS, project.folder, approversFile(project)),
    ...playgroundAnswers(project.folder, { program: programFile(), onProblem }),
    ...actAnswers({
      acts: actsIn(COMMANDS, project.folder),
      record: (entry) => record(project.folder, [entry]),
      by: 'tester',
      approversFile: approversFile(project),
    }),
    ...decisionAnswers({
      trace,
      grants: (onTrouble) =>
        fileStores({ ...places, onTrouble, approversFile: approversFile(project) }).sessions,
      record: (grant) => recordRevoked(project.folder, [grant], 'tester'),
    }),
    ...agentAnswers(project.folder),
  }
  const page = await openPage({
    assets: readAssets(join(dirname(programFile()), 'page')),
    trace,
    answers: Object.fromEntries(
      Object.entries(answers).map(([key, answer]) => [key, async (asked) => shown(await answer(asked))]),
    ),
    port: anyPort,
    idleMs: 600_000,
    onEnd: end,
    onProblem,
    ...more,
  })
  return {
    problems,
    ended,
    port: page.port,
    origin: page.origin,
    link: () => page.link(),
    close: () => page.close(),
  }
}
