// The bare `carabiner`: how this project stands, and the next command to type.

import type { Diagnostic } from '../../core/errors.js'
import type { ListedHook } from '../../hooks.js'
import { noHooks } from '../advice.js'
import { COMMON_OPTIONS, type Command } from '../command.js'
import { counted, grouped, nextLines, noticeLines, placeOf, shortPath } from '../lines.js'
import { plainData } from '../output.js'
import { painter } from '../paint.js'
import { EXIT } from '../refusal.js'
import { noticesOf, openHooks, projectOf, SOURCE_OPTIONS, type Sources } from '../sources.js'
import { typed } from '../typed.js'
import { version } from '../version.js'

const OPTIONS = {
  ...SOURCE_OPTIONS,
  ...COMMON_OPTIONS,
  version: { type: 'boolean', short: 'v', help: 'Print the version.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: '',
  summary: 'Show how this project stands, and what to type next.',
  positionals: [],
  about: '',
  options: OPTIONS,
  examples: [
    { does: 'How does this project stand?', line: 'carabiner' },
    { does: 'Why does my hook not run?', line: 'carabiner explain PreToolUse --tool Bash' },
    {
      does: 'Would this command be allowed?',
      line: `echo '{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}' | carabiner fire PreToolUse`,
    },
  ],
  async run({ options }, output) {
    if (options.version) {
      await (output.json ? output.document({ version }) : output.print([version]))
      return EXIT.ok
    }
    const hooks = await openHooks(options)
    const state = stateOf(hooks.list(), noticesOf(hooks), options)
    await hooks.close()
    await (output.json ? output.document(state) : output.print(stateLines(state)))
    return EXIT.ok
  },
}

export interface State {
  readonly version: string
  readonly project: string
  /** How many hooks are in which state. */
  readonly hooks: Readonly<Record<ListedHook['state'], number>>
  /** How many listen to which event; `all` is every event. */
  readonly events: Readonly<Record<string, number>>
  readonly diagnostics: readonly Diagnostic[]
  readonly next: readonly string[]
}

export function stateOf(
  hooks: readonly ListedHook[],
  diagnostics: readonly Diagnostic[],
  sources: Sources,
): State {
  const count = (state: ListedHook['state']) => hooks.filter((hook) => hook.state === state).length
  const events = grouped(
    hooks.flatMap(({ events }) => events),
    (event) => event,
  )
  return {
    version,
    project: projectOf(sources),
    hooks: { ready: count('ready'), untrusted: count('untrusted'), disabled: count('disabled') },
    events: Object.fromEntries([...events].map(([event, some]) => [event, some.length])),
    diagnostics,
    next: nextOf(hooks, diagnostics, sources),
  }
}

/** What is most wrong comes first: off as a whole, broken, not trusted, not there. */
function nextOf(
  hooks: readonly ListedHook[],
  diagnostics: readonly Diagnostic[],
  sources: Sources,
): readonly string[] {
  if (diagnostics.some(({ code }) => code === 'bypassed')) return ['unset CARABINER_OFF']
  const broken = diagnostics.find((one) => one.file !== undefined)
  const untrusted = hooks.find(({ state }) => state === 'untrusted')
  const ready = hooks.find(({ state }) => state === 'ready')
  const next = [
    ...(broken ? [`Correct ${placeOf(broken)}`] : []),
    ...(untrusted ? [`${typed(['list'], sources)}   # look at what the untrusted would run, then`] : []),
    ...(untrusted ? [typed(['explain', ...questionAbout(untrusted)], sources, true)] : []),
    ...(ready ? [typed(['explain', ...questionAbout(ready)], sources)] : []),
    ...(hooks.length === 0 && !broken ? noHooks(sources).next : []),
  ]
  return next.length > 0 ? next : [typed(['list'], sources)]
}

/** The event of a hook, and a tool that it takes. */
function questionAbout({ events, matcher }: ListedHook): readonly string[] {
  const event = events === 'all' ? 'PreToolUse' : (events[0] ?? 'PreToolUse')
  const tool = /^[A-Za-z0-9_-]+/.exec(matcher ?? '')?.[0]
  return /ToolUse|Permission/.test(event) ? [event, '--tool', tool ?? 'Bash'] : [event]
}

export function stateLines(given: State): readonly string[] {
  const paint = painter(1)
  const state = plainData(given)
  const { ready, untrusted, disabled } = state.hooks
  const events = Object.entries(state.events).map(([event, count]) => `${event} ${count}`)
  const rows = [
    `${counted(ready, 'hook')} ready`,
    ...(untrusted > 0 ? [paint.yellow(`${untrusted} untrusted: not run until trusted`)] : []),
    ...(disabled > 0 ? [paint.yellow(`${disabled} disabled`)] : []),
    ...(events.length > 0 ? [paint.dim(events.join(', '))] : []),
  ]
  return [
    `${paint.bold('carabiner')} ${state.version}  ${shortPath(state.project)}`,
    ...rows.map((row) => `  ${row}`),
    ...noticeLines(state.diagnostics, paint, 2),
    ...nextLines(state.next, paint),
  ]
}
