// A probe of Claude Code, played again: its hooks as files, a host that fires what Claude Code fired, what came of it.

import { type Outcome, resolveEvent } from 'carabiner/core'
import { readCorpus, type Seen, seen } from '../dialects/claude-code/replay.js'
import { ShellProject, texts, traces } from './shell-project.js'

export interface Probe {
  readonly name: string
  /** The event that was watched; `*` for a whole session, null where a file was. */
  readonly event: string | null
  readonly tool_name: string | null
  readonly tool_input?: unknown
  readonly hooks: readonly ProbeHook[]
  readonly plugin?: readonly { readonly dir: string; readonly files: readonly string[] }[]
  /** Whole files, by source. */
  readonly raw_config?: Readonly<Record<string, string>>
  readonly observed: {
    readonly decision: string
    readonly reason?: string
    readonly context?: string
    readonly permission?: string
    readonly system_message?: string
    readonly updated_input?: object
    readonly updated_output?: string
    readonly no_verdict?: boolean
    readonly hooks_run?: readonly string[]
  }
}

interface ProbeHook {
  readonly event: string
  /** `settings`, `project`, `user`, or `plugin:FILE`. */
  readonly source: string
  readonly group: number
  readonly matcher?: unknown
  readonly fields?: { readonly timeout?: unknown }
  readonly id?: string
  readonly exit?: number
  readonly stdout?: string
  readonly stderr?: string
  readonly sleep?: number
  /** Runs before the output is printed. */
  readonly script?: string
  readonly script_pre?: string
  readonly reads_stdin?: boolean
  /** Stands in the file as it is, in place of all the above. */
  readonly handler?: object
}

/** What a probe comes to, here. */
export interface Played extends Seen {
  /** Ids of the hooks that ran, each as often as it did. */
  readonly ran: readonly string[]
  readonly failed: boolean
  readonly messages: readonly string[]
  /** What hooks wrote to the files that some probes have: `okran`, and `log/count`. */
  readonly wrote: readonly string[]
  /** What came of the last event, where the watched one was fired more than once. */
  readonly last: Seen['decision']
  /** Entries of files that are reported as unsupported. */
  readonly unsupported: number
  /** Living processes after the hooks were closed. */
  readonly left: number
}

/** How a probe is played that its record alone does not tell. */
export interface Direction {
  /** The events in this order, in place of those that have hooks. */
  readonly events?: readonly string[]
  /** The answer of each hook, where the record has it shortened. */
  readonly stdout?: Readonly<Record<string, string>>
  /** In place of groups that the record leaves out. */
  readonly hole?: unknown
  /** A handler stands where a group should. */
  readonly flat?: true
  /** The only group of the event stands in place of the list. */
  readonly single?: true
  /** plugin.json, beside its name. */
  readonly manifest?: object
  /** .amplifier/settings.json, beside its hooks. */
  readonly settings?: object
  /** hooks.json of the plugin, whole. */
  readonly pluginFile?: string
  /** Programs of the plugin, or of the project where there is none. */
  readonly scripts?: Readonly<Record<string, string>>
  /** Settings of the host. */
  readonly host?: object
}

export async function play(probe: Probe, direction: Direction = {}): Promise<Played> {
  const stage = new ProbeStage(probe, direction)
  try {
    stage.write()
    return await stage.play()
  } finally {
    await stage.project.remove()
  }
}

/** What waits only so that others finish first need not wait long. */
const HASTE = 0.2
/** What is to be overdue is so for good, and has had time to start on a busy machine. */
const FOREVER = 300
const PATIENCE = 3

class ProbeStage {
  readonly project = new ShellProject()
  readonly #probe: Probe
  readonly #direction: Direction

  constructor(probe: Probe, direction: Direction) {
    this.#probe = probe
    this.#direction = direction
  }

  // ---- files ----------------------------------------------------------------------------------------------------

  write(): void {
    const { hooks, raw_config = {}, plugin = [] } = this.#probe
    const { settings, manifest, pluginFile, scripts = {} } = this.#direction
    const files = new Map<string, object>()
    if (settings) files.set(this.#pathOf('project'), settings)
    for (const { dir, files: names } of plugin) {
      for (const name of names) if (name.endsWith('.json')) files.set(`plugins/${dir}/${name}`, {})
      if (names.includes('.claude-plugin/plugin.json'))
        files.set(`plugins/${dir}/.claude-plugin/plugin.json`, { name: dir, ...manifest })
    }
    const folder = plugin[0] ? `plugins/${plugin[0].dir}` : '.'
    for (const [name, text] of Object.entries(scripts)) this.project.script(`${folder}/${name}`, text)
    for (const path of new Set(hooks.map(({ source }) => this.#pathOf(source)))) {
      const own = hooks.filter(({ source }) => this.#pathOf(source) === path)
      files.set(path, { ...files.get(path), hooks: this.#eventsOf(own) })
    }
    for (const [path, value] of files) this.project.json(path, value)
    for (const [source, text] of Object.entries(raw_config)) {
      this.project.file(this.#pathOf(source), this.#filled(text))
    }
    if (pluginFile) this.project.file(this.#pathOf('plugin:hooks/hooks.json'), this.#filled(pluginFile))
  }

  #pathOf(source: string): string {
    if (source === 'settings') return 'session-settings.json'
    if (source === 'project') return '.amplifier/settings.json'
    if (source === 'user') return '../home/.amplifier/settings.json'
    const [{ dir } = { dir: 'plug' }] = this.#probe.plugin ?? []
    return `plugins/${dir}/${source.slice('plugin:'.length)}`
  }

  #eventsOf(hooks: readonly ProbeHook[]): object {
    const events: Record<string, unknown> = {}
    for (const name of new Set(hooks.map(({ event }) => event))) {
      const own = hooks.filter(({ event }) => event === name)
      const count = Math.max(...own.map(({ group }) => group)) + 1
      const groups = Array.from({ length: count }, (_, at) =>
        this.#group(own.filter((one) => one.group === at)),
      )
      events[name] = this.#direction.single && groups.length === 1 ? groups[0] : groups
    }
    return events
  }

  #group(hooks: readonly ProbeHook[]): unknown {
    const [first] = hooks
    if (!first) return this.#direction.hole
    const handlers = hooks.map((hook) => this.#handler(hook))
    if (this.#direction.flat && first.id === 'FLAT') return handlers[0]
    return { ...('matcher' in first && { matcher: first.matcher }), hooks: handlers }
  }

  #handler(hook: ProbeHook): object {
    if (hook.handler) return JSON.parse(this.#filled(JSON.stringify(hook.handler))) as object
    const { timeout } = hook.fields ?? {}
    const slower = typeof timeout === 'number' && { timeout: timeout * PATIENCE }
    return { type: 'command', command: this.#stub(hook), ...hook.fields, ...slower }
  }

  /** A program that says what the hook said. */
  #stub(hook: ProbeHook): string {
    const { id = '', exit = 0, stdout = '', stderr = '', sleep = 0, fields } = hook
    const out = this.project.file(`stubs/${id}.out`, this.#direction.stdout?.[id] ?? stdout)
    const err = this.project.file(`stubs/${id}.err`, stderr)
    const seconds = fields?.timeout !== undefined || sleep > 5 ? FOREVER : sleep * HASTE
    return this.project.script(
      `stubs/${id}`,
      [
        `#!${hook.script ? '/usr/bin/env bash' : '/bin/sh'}`,
        hook.script_pre ?? '',
        hook.reads_stdin === false ? '' : 'cat > /dev/null',
        `echo ${id} >> ${this.project.path('ran')}`,
        `cd ${this.project.dir}`,
        sleep > 0 ? `sleep ${seconds}` : '',
        hook.script ?? '',
        `cat ${out}`,
        `cat ${err} >&2`,
        `exit ${exit}`,
      ].join('\n'),
    )
  }

  #filled(text: string): string {
    return text.replaceAll('{{PROJECT}}', this.project.dir).replaceAll('{{DIR}}', this.project.dir)
  }

  // ---- the host -------------------------------------------------------------------------------------------------

  async play(): Promise<Played> {
    const { plugin = [], event: watched } = this.#probe
    this.project.file('log/none', '') // where some commands write
    const hooks = await this.project.open({
      configs: this.project.read('session-settings.json') ? [this.project.path('session-settings.json')] : [],
      plugins: plugin.map(({ dir }) => this.project.path(`plugins/${dir}`)),
      settings: this.#direction.host ?? {},
    })
    const session = hooks.session({ id: 'probe', cwd: this.project.dir })
    const shown: Outcome[] = []
    const main = watched === null ? 'PreToolUse' : watched
    for (const event of this.#script()) {
      const data = JSON.parse(this.#filled(JSON.stringify(dataOf(this.#probe, event))))
      const outcome = await session.fire(event, data)
      if (event === main) shown.push(outcome)
    }
    await this.project.settled()
    const seens = shown.map((outcome) => seen(main, outcome))
    return {
      ...(seens[0] ?? { decision: 'continue' }),
      last: seens.at(-1)?.decision ?? 'continue',
      ran: this.project.lines('ran').sort(),
      failed: shown.some((outcome) => traces(outcome, 'failed').length > 0),
      messages: shown.flatMap((outcome) => texts(outcome.messages)),
      wrote: [...this.project.lines('okran'), ...this.project.lines('log/count')],
      unsupported: hooks.diagnostics.filter(({ code }) => code === 'entry-unsupported').length,
      left: this.project.running().length,
    }
  }

  /** What Claude Code fires when it is asked for one tool call, of the events that have hooks. */
  #script(): readonly string[] {
    const { event: watched, hooks, observed } = this.#probe
    if (this.#direction.events) return this.#direction.events
    if (watched === null) return ['PreToolUse']
    // Probes of whole sessions: the order of events is the host's, and was written down.
    if (hooks.some(({ id, event }) => id === event) && hooks.length > 5) return observed.hooks_run ?? []
    const listened = new Set([watched, ...hooks.map(({ event }) => event)])
    return HOST_ORDER.filter((event) => listened.has(event) && this.#happens(event))
  }

  /** A permission is asked for, a tool or a turn fails, only where that was watched. */
  #happens(event: string): boolean {
    const { event: watched } = this.#probe
    if (RARE.has(event)) return event === watched
    if (event === 'PostToolUse') return watched !== 'PostToolUseFailure'
    return event !== 'Stop' || watched !== 'StopFailure'
  }
}

const HOST_ORDER = [
  ...['Setup', 'SessionStart', 'UserPromptSubmit', 'UserPromptExpansion', 'ConfigChange', 'WorktreeCreate'],
  ...[
    'PreToolUse',
    'PermissionRequest',
    'SubagentStart',
    'SubagentStop',
    'PostToolUse',
    'PostToolUseFailure',
  ],
  ...['PostToolBatch', 'PreModelSwitch', 'StopFailure', 'Stop', 'PreCompact', 'SessionEnd'],
]
const RARE = new Set(['PermissionRequest', 'PostToolUseFailure', 'StopFailure', 'WorktreeRemove'])

// ---- payloads ---------------------------------------------------------------------------------------------------

const SAMPLE = { string: 'x', number: 1, boolean: true, object: {}, list: [], json: 'x' } as const
let payloads: Readonly<Record<string, { readonly example?: object }>> | undefined

/** As the real binary sends it, with the tool of the probe. */
function dataOf({ tool_name, tool_input }: Probe, event: string): object {
  payloads ??= readCorpus('payload-keys.json')
  const { required } = resolveEvent(event)
  const input = typeof tool_input === 'object' ? tool_input : { command: 'x'.repeat(5_000_000) }
  const call = tool_name && 'tool_name' in required ? { tool_name, tool_input: input } : {}
  const { cwd: _, ...example } = (payloads?.[event]?.example ?? {}) as { readonly cwd?: string }
  const { subagent_type } = (tool_input ?? {}) as { readonly subagent_type?: string }
  return {
    ...Object.fromEntries(Object.entries(required).map(([field, type]) => [field, SAMPLE[type]])),
    ...example,
    ...call,
    ...(subagent_type && event.startsWith('Subagent') && { agent_type: subagent_type }),
  }
}
