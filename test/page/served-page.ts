// The page of a test's project, served by the test's own process. HOME must be the project's.

import { dirname, join } from 'node:path'
import { COMMANDS } from '../../src/cli/commands.js'
import { pageAnswers } from '../../src/cli/open/page-answers.js'
import { readAssets } from '../../src/page/assets.js'
import { openPage, type Page, type PageOptions } from '../../src/page/page-server.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
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
  let end: (why: 'idle' | 'stopped') => void = () => undefined
  const ended = new Promise<'idle' | 'stopped'>((resolve) => {
    end = resolve
  })
  const { trace, answers } = pageAnswers({
    commands: COMMANDS,
    project: project.folder,
    by: 'tester',
    onProblem,
    approversFile: approversFile(project),
    program: programFile(),
  })
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
