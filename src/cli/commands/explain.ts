// `carabiner explain`: which hooks would run for an event, why the others would not, and what could come of it. Runs nothing.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import { KNOWN_TOOLS } from '../../config/matcher-slips.js'
import { isObject } from '../../core/base/json.js'
import { matcherValue, openPayload, resolveEvent } from '../../core/events/events.js'
import type { Plan } from '../../core/run/plan.js'
import type { ListedHook } from '../../hooks.js'
import { fileStores } from '../../store/file-stores.js'
import { BYPASSED } from '../bypass.js'
import type { Command } from '../command.js'
import { matcherPlace } from '../doctor/facts.js'
import { eventOf, examplePayload, type Payload, readAsSent, readPayload } from '../fire/payload.js'
import type { Output } from '../output.js'
import { projectLine } from '../print/lines.js'
import { usage } from '../refusal.js'
import {
  noticesOf,
  type OpenHooks,
  openHooks,
  projectFolder,
  SOURCE_OPTIONS,
  type Sources,
  specOf,
  specsIn,
} from '../sources.js'
import { adviceFor, listedOf, type Question, undoOf } from '../why/advice.js'
import { alsoAsked, askingThem, packHooks } from '../why/first-steps.js'
import { type Forecast, forecastOf, type Terms, termsOf } from '../why/forecast.js'
import { answerFor, type HookAnswer, hookCalled } from '../why/hook-answer.js'
import { type Explained, focusLines, planLines } from '../why/print-plan.js'

const OPTIONS = {
  tool: {
    type: 'string',
    value: 'NAME',
    completes: KNOWN_TOOLS,
    help: 'The tool: tool_name.',
  },
  input: { type: 'string', value: 'JSON', help: 'The input of the tool: tool_input.' },
  payload: { type: 'string', value: 'FILE', help: 'Read the payload from a file; - is standard input.' },
  example: { type: 'boolean', help: 'Fill in missing fields with an example.' },
  hook: { type: 'string', value: 'NAME', help: 'Explain only this hook.' },
  ...SOURCE_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'explain',
  summary: 'Show which hooks would run for an event, and why not.',
  positionals: ['[EVENT]'],
  about:
    "Runs nothing. EVENT defaults to the payload's hook_event_name, or to the event of --hook. Shows the order (hooks " +
    'with the same number run at once), the settings of each hook, and the effect of a deny, a failure, a change or a ' +
    'question. If nothing would run, it says the most likely reason and what to type next.',
  options: OPTIONS,
  examples: [
    { does: 'Which hooks run before a shell command?', line: 'carabiner explain PreToolUse --tool Bash' },
    {
      does: 'Why did my hook not run?',
      line: 'carabiner explain PreToolUse --tool Bash --hook project:PreToolUse#1',
      needs: 'a hook of that name; carabiner list shows them',
    },
    {
      does: 'With the input of the call, for hooks that have an "if".',
      line: `carabiner explain PreToolUse --tool Bash --input '{"command":"git push"}'`,
    },
    {
      does: 'With a payload, as fire takes it.',
      line: `echo '{"hook_event_name":"SessionStart","source":"startup"}' | carabiner explain --payload -`,
    },
  ],
  async run({ options, positionals: [named] }, output, { stdin }) {
    const given = await dataOf({ ...options, stdin })
    const hooks = await openHooks(options)
    const focus = options.hook === undefined ? undefined : hookCalled(hooks.list(), options.hook)
    const event = eventOf('explain', named || (given.hook_event_name ? undefined : firstEvent(focus)), given)
    const data =
      options.example || isWithoutMatcher(event, given)
        ? { ...exampleOf(event, given.tool_name), ...given }
        : given
    const asked = await ask(hooks, event, data, options)
    await hooks.close()
    const explained = await explain(asked, options)
    return focus ? tellOne(focus, asked, explained, options, output) : tellAll(asked, explained, output)
  },
}

// ---- what is asked --------------------------------------------------------------------------------------------

function firstEvent(focus: readonly ListedHook[] | undefined): string | undefined {
  const [hook] = focus ?? []
  return hook === undefined || hook.events === 'all' ? undefined : hook.events[0]
}

/** The field that matchers look at must be given; the rest can be an example. */
function isWithoutMatcher(event: string, given: Payload): boolean {
  return resolveEvent(event).matcher === null && Object.keys(given).length === 0
}

function exampleOf(event: string, tool: unknown): Payload {
  return JSON.parse(examplePayload(resolveEvent(event), tool)) as Payload
}

interface Asked {
  readonly question: Question
  readonly data: Payload
  readonly untrusted: ReturnType<OpenHooks['untrusted']>
  readonly settings: OpenHooks['settings']
  /** How many PermissionRequest hooks would be asked about the same call. */
  readonly permissions: number
}

async function ask(hooks: OpenHooks, event: string, data: Payload, sources: Sources): Promise<Asked> {
  const kind = resolveEvent(event)
  const plan = hooks.explain(event, data)
  const question: Question = {
    kind,
    plan,
    value: matcherValue(kind, openPayload(kind, {}, data)),
    hooks: hooks.list(),
    notices: noticesOf(hooks),
    foreseen: await hooks.foresee(kind.name, data),
    sources,
  }
  const permission =
    kind.asksFirst === undefined ? undefined : hooks.explain(kind.asksFirst, withoutName(data))
  return {
    question,
    data,
    untrusted: hooks.untrusted(),
    settings: hooks.settings,
    permissions: permission ? namesIn(permission).length : 0,
  }
}

function withoutName({ hook_event_name: _, ...data }: Payload): Payload {
  return data
}

function namesIn({ steps, approvers, observers }: Plan): readonly string[] {
  return [...steps.flatMap(({ lanes }) => lanes.flat()), ...approvers, ...observers]
}

// ---- what is answered -----------------------------------------------------------------------------------------

interface WithSpecs extends Explained {
  readonly specs: readonly ConfiguredHook[]
}

async function explain(
  { question, data, settings, permissions }: Asked,
  sources: Sources,
): Promise<WithSpecs> {
  const { kind, plan } = question
  const specs = await specsIn(sources)
  const terms = new Map<number, Terms>()
  const how = { trustAll: sources['trust-all'], failClosed: settings.on_failure === 'block' }
  for (const one of plan.candidates) {
    const listed = listedOf(question, one)
    const spec = specOf(specs, { name: one.name, ...one.origin })
    if (listed) terms.set(one.order, termsOf(listed, spec, specs, kind, how))
  }
  const runners = plan.candidates
    .filter(({ matched }) => matched)
    .map((one) => ({
      name: one.name,
      listed: listedOf(question, one),
      spec: specOf(specs, { name: one.name, ...one.origin }),
    }))
  const grants = await grantsOn(kind.name, question.value, sources)
  const forecast: Forecast | undefined =
    runners.length === 0 ? undefined : forecastOf({ kind, plan, runners, settings, permissions, grants })
  const pack = (await packHooks(projectFolder(sources))).filter(({ event }) => event === kind.name)
  const payload = pack.length === 0 ? data : { ...exampleOf(kind.name, data.tool_name), ...data }
  return {
    specs,
    terms,
    forecast,
    pack,
    also: { text: alsoAsked(pack, kind.name), next: askingThem(pack, kind.name, payload) },
    faults: await faultsIn(question, specs, settings),
    advice: await adviceFor(question, specs),
  }
}

async function faultsIn(
  question: Question,
  specs: readonly ConfiguredHook[],
  settings: Asked['settings'],
): Promise<Explained['faults']> {
  const { faultsOf } = await import('../doctor/faults.js')
  const faults = new Map<number, string>()
  for (const one of question.plan.candidates) {
    const { matched, name, origin, order } = one
    const spec = matched ? specOf(specs, { name, ...origin }) : undefined
    const [first] = spec && listedOf(question, one)?.kept === undefined ? faultsOf(spec, settings) : []
    if (first) faults.set(order, first.text)
  }
  return faults
}

/** Zero if they cannot be read: fire reports that, and asks. */
async function grantsOn(event: string, tool: string, sources: Sources): Promise<number> {
  try {
    const all = await fileStores({ projectDir: projectFolder(sources) }).sessions.grants()
    return all.filter((grant) => grant.event === event && grant.tool === tool).length
  } catch {
    return 0
  }
}

async function tellAll({ question, data }: Asked, explained: Explained, output: Output): Promise<number> {
  return output.result(documentOf(question, data, explained), (paint) => [
    ...projectLine(question.sources, paint),
    ...planLines(question, explained),
  ])
}

function documentOf(question: Question, data: Payload, { terms, forecast, advice, faults, pack }: Explained) {
  const { plan, notices, sources } = question
  return {
    project: projectFolder(sources),
    ...plan,
    candidates: plan.candidates.map((one) => {
      const cannotStart = faults.get(one.order)
      return { ...terms.get(one.order), ...one, ...(cannotStart !== undefined && { cannotStart }) }
    }),
    payload: data,
    packHooks: pack,
    ...(forecast && { forecast }),
    diagnostics: notices,
    ...(advice && { advice }),
  }
}

/** A process has several hooks under one name: tells about the one that listens. */
async function tellOne(
  focus: readonly ListedHook[],
  { question, data, untrusted, settings }: Asked,
  explained: WithSpecs,
  sources: Sources,
  output: Output,
): Promise<number> {
  const { kind, plan, value, notices } = question
  const listening = focus.find(({ events }) => events === 'all' || events.includes(kind.name))
  const hook = (listening ?? focus[0]) as ListedHook
  const one = plan.candidates.find((candidate) => listedOf({ hooks: [hook] }, candidate))
  const terms = one && explained.terms.get(one.order)
  const spec = specOf(explained.specs, hook)
  const [{ faultsOf }, { lastEntryOf }] = await Promise.all([
    import('../doctor/faults.js'),
    import('../why/hook-answer.js'),
  ])
  const answer: HookAnswer = answerFor({
    hook,
    kind,
    plan,
    value,
    sources,
    untrusted,
    sameAs: terms?.sameAs ?? [],
    matcherAt: spec && matcherPlace(spec),
    undo: hook.state === 'disabled' ? undoOf(hook, spec, projectFolder(sources)) : undefined,
    rule: terms?.if,
    hasInput: data.tool_input !== undefined,
    bypassed: notices.includes(BYPASSED),
    last: await lastEntryOf(projectFolder(sources), hook.name),
    payload: { ...exampleOf(kind.name, data.tool_name), ...data },
    faults: spec ? faultsOf(spec, settings) : [],
  })
  return output.result({ ...documentOf(question, data, explained), hook: answer }, (paint) => [
    ...projectLine(sources, paint),
    ...focusLines(question, hook, terms, answer),
  ])
}

// ---- the payload ----------------------------------------------------------------------------------------------

/** Reads standard input only with `--payload -`: an open terminal or pipe would never end. */
async function dataOf(options: {
  readonly tool: string | undefined
  readonly input: string | undefined
  readonly payload: string | undefined
  readonly stdin: string | undefined
}): Promise<Payload> {
  const { tool, input, payload, stdin } = options
  return {
    ...(payload === undefined
      ? undefined
      : readAsSent((await readPayload(payload, { stdin })).payload ?? {})),
    ...(tool !== undefined && { tool_name: tool }),
    ...(input !== undefined && { tool_input: inputOf(input) }),
  }
}

function inputOf(text: string): Payload {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // refused below
  }
  if (isObject(value)) return value
  throw usage(
    `--input must be a JSON object, got ${JSON.stringify(text)}`,
    `For example: --input '{"command":"ls"}'`,
  )
}
