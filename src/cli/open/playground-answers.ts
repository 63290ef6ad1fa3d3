// What the screen Playground asks: what an event looks like, what is wrong with a payload, and what hooks do about it in a copy.

import { isHookError, textOf } from '../../core/base/errors.js'
import { type Data, isObject } from '../../core/base/json.js'
import { visible } from '../../core/base/text.js'
import type { FieldType } from '../../core/events/catalogue.js'
import {
  checkRequired,
  checkTypes,
  type EventKind,
  knownEvents,
  resolveEvent,
} from '../../core/events/events.js'
import { JsonText, under } from '../../files/json-text.js'
import { type Answers, NotAnswered, textIn } from '../../page/answers.js'
import { PageTrace } from '../../page/trace.js'
import type { EventHelpView, PayloadProblemView, PlayedView } from '../../page/view/playground.js'
import { fileAuditLog, fileCalls } from '../../store/file-stores.js'
import { fireElsewhere, outcomeIn } from '../fire/fire-process.js'
import { EXAMPLE_TOOLS, examplePayload } from '../fire/payload.js'
import { withFolders, withStandIns } from '../test-cases/case-stage.js'
import { PlaygroundCopy } from './playground-copy.js'

const LONGEST_PAYLOAD = 48 * 1024
/** Hooks that are not done by then have failed. */
const TIMEOUT_S = 30
const GRACE_MS = 10_000

export interface PlaygroundOptions {
  /** Default: the program that runs now. */
  readonly program?: string
  readonly onProblem: (text: string) => void
}

export function playgroundAnswers(project: string, options: PlaygroundOptions): Answers {
  let isBusy = false
  return {
    'GET api/playground': async ({ query }) =>
      helpView(eventCalled(query.get('event')), query.get('tool') ?? ''),
    'POST api/playground/check': async ({ body }) => ({
      problems: problemsIn(eventCalled(textIn(body, 'event', 100)), textIn(body, 'payload', LONGEST_PAYLOAD)),
    }),
    'POST api/playground': async ({ body, signal }) => {
      const kind = eventCalled(textIn(body, 'event', 100))
      const text = textIn(body, 'payload', LONGEST_PAYLOAD)
      const [problem] = problemsIn(kind, text)
      if (problem) throw new NotAnswered(400, `Line ${problem.line}: ${problem.text}`)
      if (isBusy) throw new NotAnswered(409, 'Another event is fired right now')
      isBusy = true
      try {
        return await played(project, { kind, payload: JSON.parse(text) as Data, signal, ...options })
      } finally {
        isBusy = false
      }
    },
  }
}

function eventCalled(name: string | null): EventKind {
  const found = knownEvents().find((kind) => kind.name === name)
  if (!found) throw new NotAnswered(400, 'There is no such event')
  return resolveEvent(found.name)
}

// ---- help and checks ------------------------------------------------------------------------------------------

function helpView(kind: EventKind, tool: string): EventHelpView {
  const { required, optional, when, denyMeans, matcher, matcherValues = [] } = kind
  const fields = (all: Readonly<Record<string, FieldType>>, isRequired: boolean) =>
    Object.entries(all).map(([name, type]) => ({
      name,
      type,
      isRequired,
      values: name === matcher ? matcherValues : [],
    }))
  const hasTool = 'tool_name' in required
  return {
    when,
    deny: denyMeans,
    hasTool,
    fields: [...fields(required, true), ...fields(optional, false)],
    tools: hasTool ? EXAMPLE_TOOLS : [],
    example: JSON.stringify(
      {
        ...(JSON.parse(examplePayload(kind, tool || undefined)) as object),
        ...(hasTool && tool !== '' && { tool_name: tool }),
      },
      null,
      2,
    ),
  }
}

/** Every mistake at its line. The engine has the last word, and says only the first. */
function problemsIn(kind: EventKind, text: string): readonly PayloadProblemView[] {
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed) return [{ line: parsed.line, text: visible(parsed.problem) }]
  const { value } = parsed
  if (!isObject(value)) return [{ line: 1, text: 'A payload is an object: { … }' }]
  const strict = strictProblem(text)
  if (strict !== undefined) return [{ line: 1, text: strict }]
  const doubles = json.doubleKeys().map(({ key, line }) => ({ line, text: `${visible(key)} is there twice` }))
  const mistyped = Object.keys(value).flatMap((field) => {
    const why = thrownBy(() => checkTypes(kind, { [field]: value[field] }))
    return why === undefined ? [] : [{ line: json.lineOf(under(null, field)), text: why }]
  })
  const missing = mistyped.length > 0 ? undefined : thrownBy(() => checkRequired(kind, value))
  return [...doubles, ...mistyped, ...(missing === undefined ? [] : [{ line: 1, text: missing }])]
}

/** Comments and trailing commas, which files may have and payloads may not. */
function strictProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return visible(textOf(error))
  }
}

function thrownBy(work: () => void): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (isHookError(error)) return visible(error.message)
    throw error
  }
}

// ---- firing ---------------------------------------------------------------------------------------------------

interface Played extends PlaygroundOptions {
  readonly kind: EventKind
  readonly payload: Data
  readonly signal: AbortSignal
}

async function played(project: string, given: Played): Promise<PlayedView> {
  const { kind, payload, signal, program, onProblem } = given
  const copy = new PlaygroundCopy(project)
  try {
    await copy.make()
    const there = withFolders(withStandIns(payload, { project }), { project: copy.project })
    const file = copy.payloadFile({ session_id: 'playground', ...there, cwd: copy.project })
    const run = await fireElsewhere(
      [
        ...['fire', kind.name, '--json', '--payload', file, '--project', copy.project],
        ...['--pre-trusted', copy.trustedFile, '--timeout', String(TIMEOUT_S)],
      ],
      {
        cwd: copy.project,
        env: copy.env(),
        longestMs: TIMEOUT_S * 1000 + GRACE_MS,
        signal,
        ...(program !== undefined && { program }),
      },
    )
    const outcome = outcomeIn(run, `a hook has ${TIMEOUT_S} seconds here`)
    if (typeof outcome === 'string') throw new NotAnswered(409, visible(outcome))
    const details = await recorded(copy, onProblem)
    const back = withFolders(withStandIns(details, { project: copy.project }), { project })
    return { details: back, notes: copy.notes.map(visible) }
  } finally {
    copy.remove()
  }
}

/** The copy has an audit log of its own, and it is shown like any other. */
async function recorded(copy: PlaygroundCopy, onProblem: (text: string) => void) {
  const { project: projectDir, carabinerHome: dataDir } = copy
  const log = fileAuditLog({ projectDir, dataDir })
  const trace = new PageTrace(log, () => fileCalls({ projectDir, stateDir: `${dataDir}/state` }), onProblem)
  const { rows } = await trace.rows({ limit: 1, kind: 'fire' })
  const [row] = rows
  if (!row) throw new NotAnswered(409, 'Nothing was recorded: the settings of the project say "audit": "off"')
  return trace.details(row.seq)
}
