// `carabiner test`: runs the cases in a plugin's hooks.test.json through the real engine.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { redactedData } from '../../core/base/secrets.js'
import { callerEnv } from '../../files/caller.js'
import { realOf } from '../../files/within.js'
import type { Command } from '../command.js'
import { Interruption } from '../interruption.js'
import { type Output, plainData } from '../output.js'
import { counted, fromHere, nextLines, shortPath } from '../print/lines.js'
import { typed } from '../print/next-command.js'
import { withProgress } from '../print/progress.js'
import { isTerminal, painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { projectFolder } from '../sources.js'
import { isOfTheStage, type TestCase } from '../test-cases/case-file.js'
import { CASE_FILE, casesOf, casesOfFile, findCases, type Subject } from '../test-cases/find-cases.js'
import {
  junitXml,
  problemLines,
  resultLines,
  subjectLines,
  summaryLine,
  tallyOf,
} from '../test-cases/print-cases.js'
import { type CaseResult, readSuites, runSuites, type Suite } from '../test-cases/run-cases.js'
import { staleLines, type Unreviewed, unreviewed, unreviewedLine } from '../test-cases/test-warnings.js'
import { FolderWatch, watchedOf } from '../test-cases/watch-folders.js'

const OPTIONS = {
  config: { type: 'string', value: 'FILE', help: 'Test this hook file, of any agent.' },
  filter: { type: 'string', value: 'TEXT', help: 'Only cases whose plugin or name contains this text.' },
  watch: { type: 'boolean', short: 'w', help: 'Run again whenever a file changes.' },
  junit: { type: 'string', value: 'FILE', help: 'Also write the results as JUnit XML.' },
  env: { type: 'string', multiple: true, value: 'NAME', help: 'Pass this variable on to hooks. Repeatable.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'test',
  summary: 'Run the test cases of hooks.',
  positionals: ['[WHAT]'],
  completes: ['file'],
  about:
    'WHAT is the folder of a plugin or of a project with plugins in .amplifier/hooks, a file of cases, or the name of a ' +
    'plugin; default: the current directory, or its project. The cases are in ' +
    `${CASE_FILE} beside hooks.json: an event, a payload, and what the hooks should decide. Each is fired by ` +
    '`carabiner fire` in a temporary project and home. A hook that fails also fails its case, unless the case expects ' +
    'that. With --config, the hooks of that file are tested, with the cases in WHAT or beside it, and the files of its ' +
    'project are linked into the temporary one. Hooks that you have not trusted run too, after a warning: they run as you, but get none of your settings, ' +
    'and only the variables that --env names.',
  options: OPTIONS,
  exits: [
    [0, 'every case passed, or was skipped'],
    [1, 'a case failed, a file is wrong, or there is no case'],
  ],
  examples: [
    { does: 'All plugins of this project.', line: 'carabiner test', needs: 'cases' },
    {
      does: 'One plugin, again after every change.',
      line: 'carabiner test .amplifier/hooks/guard --watch',
      needs: 'cases',
    },
    { does: 'Cursor’s hooks.', line: 'carabiner test --config .cursor/hooks.json', needs: 'cases' },
    { does: 'For CI.', line: 'carabiner test --junit report.xml', needs: 'cases' },
    {
      does: 'Turn a call into a test case.',
      line: 'carabiner fire PreToolUse --payload call.json --record .amplifier/hooks/guard/hooks.test.json',
      needs: 'a payload',
    },
  ],
  async run({ options, positionals: [named] }, output) {
    const { filter, junit, watch, config } = options
    const where = named ?? (config === undefined ? defaultPlace() : '')
    if (watch && output.json)
      throw usage('--watch never ends, and --json is one document: use one or the other')
    const interruption = new Interruption()
    const env = Object.fromEntries(options.env.map((name) => [name, handedOn(name)]))
    const subjects = config === undefined ? () => casesOf(where) : async () => [casesOfFile(config, named)]
    const run = {
      where,
      subjects,
      filter,
      junit,
      env,
      output,
      signal: interruption.signal,
      told: new Set<string>(),
    }
    try {
      if (watch) return await watching(run)
      const code = await once(run)
      if (!output.json && isTerminal(1) && !interruption.signal.aborted && config === undefined)
        await output.print(nextLines([nextOf(where, code)], painter(1)))
      return code
    } finally {
      interruption.end(watch)
    }
  },
}

function nextOf(where: string, code: number): string {
  const again = ['test', ...(where === defaultPlace() ? [] : [where]), '--watch']
  const why =
    code === EXIT.ok ? 'runs the cases again after every change' : 'runs them again while you repair it'
  return `${typed(again, {})}   # ${why}`
}

interface Run {
  readonly where: string
  readonly subjects: () => Promise<readonly Subject[]>
  readonly filter: string | undefined
  readonly junit: string | undefined
  readonly env: TestCase['env']
  readonly output: Output
  readonly signal: AbortSignal
  /** Lines that were printed already. */
  readonly told: Set<string>
}

async function once(run: Run): Promise<number> {
  const { filter, junit, env, output, signal } = run
  const subjects = await run.subjects()
  const suites = readSuites(subjects, filter, env)
  checkSome(suites, run)
  const untrusted = await unreviewed(
    suites.flatMap(({ cases, subject }) => (cases.length > 0 ? [subject] : [])),
  )
  await announce(untrusted, run)
  await say(staleLines(subjects), run)
  const startedAt = performance.now()
  const teller = new Teller(output, suites)
  const count = suites.reduce((sum, { cases }) => sum + cases.length, 0)
  const results = await withProgress(`running ${counted(count, 'case')}`, output, (end) =>
    runSuites(suites, signal, (result) => {
      // From here on the results show the progress.
      end()
      return teller.tell(result)
    }),
  )
  // An interrupted run has no result.
  if (signal.aborted) return EXIT.failed
  const problems = suites.flatMap((suite) => suite.problems)
  if (output.json)
    await output.document(documentOf(results, suites, untrusted, performance.now() - startedAt))
  else await teller.end(results, problems.length)
  if (junit !== undefined) await writeReport(junit, suites, results, output)
  return problems.length > 0 || tallyOf(results).failed > 0 ? EXIT.failed : EXIT.ok
}

async function announce(untrusted: readonly Unreviewed[], run: Run): Promise<void> {
  await say(untrusted.length === 0 ? [] : [unreviewedLine(untrusted)], run)
}

/** Prints each line only once. */
async function say(lines: readonly string[], { output, told }: Run): Promise<void> {
  const fresh = lines.filter((line) => !told.has(line))
  for (const line of fresh) told.add(line)
  if (!output.json && fresh.length > 0) await output.complain(fresh)
}

/** The value of a variable that is passed on to hooks. */
function handedOn(name: string): string {
  if (isOfTheStage(name)) throw usage(`--env ${name}: every case has its own ${name}`)
  const value = callerEnv()[name]
  if (value === undefined)
    throw usage(`--env ${name}: the variable is not set`, `Set it first: export ${name}=…`)
  return value
}

/** The plugin around the current directory, else the project. */
function defaultPlace(): string {
  const project = projectFolder({ project: undefined })
  return findCases('.').length > 0 ? '.' : fromHere(project)
}

/** A run without any case is not a success. */
function checkSome(suites: readonly Suite[], { filter, where }: Run): void {
  if (suites.some(({ cases, problems }) => cases.length > 0 || problems.length > 0)) return
  if (filter === undefined) {
    throw new Refusal(
      'NO_CASES',
      `"cases" is empty in ${suites.map(({ subject }) => shortPath(subject.file)).join(', ')}`,
      {
        hint: 'carabiner fire --record FILE turns a call into a case.',
      },
    )
  }
  throw new Refusal('NO_CASES', `No case in ${where} has ${JSON.stringify(filter)} in its name`, {
    hint: 'Without --filter all of them run, and their names are shown.',
  })
}

// ---- telling --------------------------------------------------------------------------------------------------

/** Prints results as they come, each under its plugin. */
class Teller {
  readonly #output: Output
  readonly #suites: readonly Suite[]
  readonly #paint = painter(1)
  #told: Subject | undefined

  constructor(output: Output, suites: readonly Suite[]) {
    this.#output = output
    this.#suites = suites
  }

  async tell(result: CaseResult): Promise<void> {
    if (this.#output.json) return
    const isNew = result.subject !== this.#told
    const heading = isNew ? subjectLines(result.subject, this.#paint) : []
    this.#told = result.subject
    await this.#output.print([...heading, ...resultLines(result, this.#paint)])
  }

  async end(results: readonly CaseResult[], problems: number): Promise<void> {
    const broken = this.#suites.filter((suite) => suite.problems.length > 0)
    await this.#output.print([
      ...broken.flatMap((suite) => [
        ...subjectLines(suite.subject, this.#paint),
        ...problemLines(suite.problems, this.#paint),
      ]),
      '',
      summaryLine(results, problems, this.#paint),
    ])
  }
}

function documentOf(
  results: readonly CaseResult[],
  suites: readonly Suite[],
  untrusted: readonly Unreviewed[],
  ms: number,
) {
  return {
    ...tallyOf(results),
    ms: Math.round(ms),
    untrusted,
    cases: results.map(({ subject, case: one, ...rest }) => ({
      plugin: subject.name,
      name: one.name,
      file: one.file,
      line: one.line,
      event: one.event,
      ...redactedData(plainData(rest)),
      ms: Math.round(rest.ms),
      ...(rest.status === 'skipped' && { skip: one.skip }),
    })),
    diagnostics: suites.flatMap(({ problems }) => problems),
  }
}

async function writeReport(
  file: string,
  suites: readonly Suite[],
  results: readonly CaseResult[],
  output: Output,
): Promise<void> {
  try {
    const folder = dirname(resolve(file))
    const isMade = mkdirSync(folder, { recursive: true }) !== undefined
    writeFileSync(file, junitXml(suites, results))
    if (isMade) await output.complain([`created the folder ${shortPath(folder)} for the report`])
  } catch (error) {
    throw new Refusal('REPORT_NOT_WRITTEN', `The report cannot be written to ${file}: ${textOf(error)}`)
  }
}

// ---- again and again ------------------------------------------------------------------------------------------

/** Runs until it is interrupted, and returns the exit code of the signal. */
async function watching(run: Run): Promise<number> {
  const { where, output, signal } = run
  const subjects = await run.subjects()
  const isOne = subjects.some(({ plugin, file }) => [plugin, file].includes(realOf(resolve(where))))
  const untold = new Set<string>()
  const watch = await FolderWatch.open(watchedOf(subjects, !isOne), (text) => untold.add(text))
  try {
    do {
      await watch.during(() => once(run).catch((error: unknown) => told(error, output)))
      for (const text of untold)
        await output.complain([`carabiner: some changes will not be seen: ${plainData(text)}`])
      untold.clear()
      if (!signal.aborted) await output.print(['waiting for changes; press Ctrl-C to stop'])
    } while (await watch.next(signal))
  } finally {
    await watch.close()
  }
  return signal.reason instanceof Refusal ? signal.reason.exit : EXIT.ok
}

/** The user is editing: a mistake may be gone after the next keystroke. */
async function told(error: unknown, output: Output): Promise<void> {
  if (!(error instanceof Refusal)) throw error
  await output.complain([`carabiner: ${plainData(error.message)}`])
}
