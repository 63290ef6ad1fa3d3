// `carabiner explain`: which hooks would run for an event and which would not, and why. Runs nothing.

import { matcherValue, openPayload, resolveEvent } from '../../core/events.js'
import { isObject } from '../../core/json.js'
import { adviceFor, type Question } from '../advice.js'
import { COMMON_OPTIONS, type Command } from '../command.js'
import { eventOf, type Payload, readPayload } from '../payload.js'
import { planLines } from '../print-plan.js'
import { EXIT, usage } from '../refusal.js'
import { noticesOf, openHooks, SOURCE_OPTIONS } from '../sources.js'

const OPTIONS = {
  tool: { type: 'string', value: 'NAME', help: 'The tool that is called: tool_name.' },
  input: { type: 'string', value: 'JSON', help: 'What it is called with: tool_input.' },
  payload: { type: 'string', value: 'FILE', help: 'Read the payload from a file; - is standard input.' },
  ...SOURCE_OPTIONS,
  ...COMMON_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'explain',
  summary: 'Say which hooks would run for an event, and why not.',
  positionals: ['[EVENT]'],
  about:
    "Runs nothing. EVENT may be left out where the payload's hook_event_name says it. " +
    'When nothing would run it says the most likely reason and what to type next.',
  options: OPTIONS,
  examples: [
    { does: 'Why does my hook not run?', line: 'carabiner explain PreToolUse --tool Bash' },
    {
      does: 'With the input of the call, for hooks that have an "if".',
      line: `carabiner explain PreToolUse --tool Bash --input '{"command":"git push"}'`,
    },
    {
      does: 'With a payload, as fire takes it.',
      line: `echo '{"hook_event_name":"SessionStart","source":"startup"}' | carabiner explain --payload -`,
    },
  ],
  async run({ options, positionals: [named] }, output) {
    const data = await dataOf(options)
    const event = eventOf('explain', named, data)
    const kind = resolveEvent(event)
    const value = matcherValue(kind, openPayload(kind, {}, data))
    const hooks = await openHooks(options)
    const plan = hooks.explain(event, data)
    const question: Question = {
      kind,
      plan,
      value,
      hooks: hooks.list(),
      notices: noticesOf(hooks),
      sources: options,
    }
    await hooks.close()
    const advice = adviceFor(question)
    if (output.json)
      await output.document({ ...plan, diagnostics: question.notices, ...(advice && { advice }) })
    else await output.print(planLines(question, advice))
    return EXIT.ok
  },
}

/** Standard input is read only where it is asked for: a terminal or a pipe that stays open would hold everything up. */
async function dataOf(options: {
  readonly tool: string | undefined
  readonly input: string | undefined
  readonly payload: string | undefined
}): Promise<Payload> {
  const { tool, input, payload } = options
  return {
    ...(payload === undefined ? undefined : await readPayload(payload)),
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
