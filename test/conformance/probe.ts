// A probe of Claude Code, played again: its hooks as files, a host that fires what Claude Code fired, what came of it.

import { type Outcome, resolveEvent } from 'carabiner/core'
import { readCorpus, type Seen, seen } from '../systems/claude-code/replay.js'
import { modelReply, probeServer, RECORDED_SERVER } from './probe-server.js'
import { ShellProject, texts, traces, withoutLooks } from './shell-project.js'
import { stubText } from './stub.mjs'

export interface Probe {
  readonly name: string
  /** The event that was watched; `*` for a whole session, null where a file was. */
  readonly event: string | null
  readonly tool_name: string | null
  readonly tool_input?: unknown
  readonly hooks: readonly ProbeHook[]
  readonly plugin?: readonly {
    readonly dir: string
    readonly files?: readonly string[]
    readonly manifest?: object
  }[]
  /** Whole files, by source. */
  readonly raw_config?: Readonly<Record<string, string>>
  readonly observed: {
    readonly decision: string
    readonly reason?: string
    readonly context?: string
    readonly permission?: string
    readonly system_message?: string
    readonly updated_input?: object
    readonly updated_output?: unknown
    readonly no_verdict?: boolean
    readonly hooks_run?: readonly string[]
  }
}

export interface ProbeHook {
  readonly event: string
  /** `settings`, `project`, `user`, `plugin:FILE`, or `plugin/FOLDER:FILE` where there are several. */
  readonly source: string
  readonly group: number
  readonly matcher?: unknown
  readonly fields?: { readonly timeout?: unknown }
  readonly id?: string
  readonly exit?: number
  readonly stdout?: string
  readonly stderr?: string
  readonly sleep?: number
  /** The hook that must have ended before. */
  readonly after?: string
  /** Runs before the output is printed. */
  readonly script?: string
  readonly script_pre?: string
  readonly reads_stdin?: boolean
  /** Stands in the file as it is, in place of all the above. */
  readonly handler?: object
}

/** What a probe comes to, here. */
export interface Played extends Seen {
  /** Ids of the hooks that ran, each as often as it did, apart from final looks. */
  readonly ran: readonly string[]
  readonly failed: boolean
  readonly messages: readonly string[]
  /** What hooks wrote to the files that some probes have: `okran`, and `log/count`. */
  readonly wrote: readonly string[]
  /** Whether the host goes on with what it was about to do, at once or once it is allowed. */
  readonly proceeds: boolean
  /** What came of the watched event, each time. */
  readonly each: readonly Seen[]
  /** What was injected after the first event. */
  readonly later: readonly string[]
  /** What came of the last event, where the watched one was fired more than once. */
  readonly last: Seen['decision']
  /** Living processes after the hooks were closed. */
  readonly left: number
}

/** How a probe is played that its record alone does not tell. */
export interface Direction {
  /** The events in this order, in place of those that have hooks; with what was sent, where that was kept. */
  readonly events?: readonly (string | Fired)[]
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
  /** Files of the project, each of which may be a program. */
  readonly files?: Readonly<Record<string, string>>
  /** Further keys of a settings file, by source. */
  readonly keys?: Readonly<Record<string, object>>
  /** Async hooks end before the next event. */
  readonly settles?: boolean
  /** Settings of the host. */
  readonly host?: object
}

/** An event as it was sent to hooks. */
export interface Fired {
  readonly event: string
  readonly data: object
}

export async function play(probe: Probe, direction: Direction = {}): Promise<Played> {
  const server = await probeServer(probe)
  const stage = new ProbeStage(probe, direction, server?.origin)
  try {
    stage.write()
    return await stage.play()
  } finally {
    server?.close()
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
  readonly #server: string | undefined

  constructor(probe: Probe, direction: Direction, server: string | undefined) {
    this.#probe = probe
    this.#direction = direction
    this.#server = server
  }

  // ---- files ----------------------------------------------------------------------------------------------------

  write(): void {
    const { hooks, raw_config = {}, plugin = [] } = this.#probe
    const { settings, manifest, pluginFile, scripts = {}, keys = {} } = this.#direction
    const files = new Map<string, object>()
    if (settings) files.set(this.#pathOf('project'), settings)
    for (const [source, more] of Object.entries(keys)) files.set(this.#pathOf(source), more)
    for (const { dir, files: names = ['.claude-plugin/plugin.json'], manifest: own } of plugin) {
      for (const name of names) if (name.endsWith('.json')) files.set(`plugins/${dir}/${name}`, {})
      if (names.includes('.claude-plugin/plugin.json'))
        files.set(`plugins/${dir}/.claude-plugin/plugin.json`, { name: dir, ...manifest, ...own })
    }
    for (const [path, text] of Object.entries(this.#direction.files ?? {}))
      this.project.script(path, this.#filled(text))
    const folder = plugin[0] ? `plugins/${plugin[0].dir}` : '.'
    for (const [name, text] of Object.entries(scripts)) this.project.script(`${folder}/${name}`, text)
    for (const path of new Set(hooks.map(({ source }) => this.#pathOf(source)))) {
      const own = hooks.filter(({ source }) => this.#pathOf(source) === path)
      files.set(path, { ...files.get(path), hooks: this.#eventsOf(own) })
    }
    for (const [path, value] of files)
      this.project.file(path, this.#filled(JSON.stringify(value, undefined, 2)))
    for (const [source, text] of Object.entries(raw_config)) {
      this.project.file(this.#pathOf(source), this.#filled(text))
    }
    if (pluginFile) this.project.file(this.#pathOf('plugin:hooks/hooks.json'), this.#filled(pluginFile))
  }

  #pathOf(source: string): string {
    if (source === 'settings') return 'session-settings.json'
    if (source === 'project') return '.amplifier/settings.json'
    if (source === 'user') return '../home/.amplifier/settings.json'
    const [{ dir: only } = { dir: 'plug' }] = this.#probe.plugin ?? []
    const [, dir = only, file] = /^plugin(?:\/([^:]+))?:(.*)$/.exec(source) ?? []
    return `plugins/${dir}/${file}`
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
    const slower = typeof timeout === 'number' && timeout > 0 && { timeout: timeout * PATIENCE }
    return { type: 'command', command: this.#stub(hook), ...hook.fields, ...slower }
  }

  /** A program that says what the hook said. */
  #stub(hook: ProbeHook): string {
    const { id = '', stdout = '', stderr = '', sleep = 0, fields } = hook
    const out = this.project.file(`stubs/${id}.out`, this.#filled(this.#direction.stdout?.[id] ?? stdout))
    const err = this.project.file(`stubs/${id}.err`, stderr)
    const seconds = fields?.timeout !== undefined || sleep > 5 ? FOREVER : sleep * HASTE
    const text = stubText(hook, { dir: this.project.dir, out, err, seconds })
    return this.project.script(`stubs/${id}`, text)
  }

  #filled(text: string): string {
    const { dir, home, folder } = this.project
    return text
      .replaceAll('{{PROJECT}}', dir)
      .replaceAll('{{DIR}}', dir)
      .replaceAll('{{HOME}}', home)
      .replaceAll('{{FOLDER}}', folder)
      .replaceAll('{{NODE}}', process.execPath)
      .replaceAll(RECORDED_SERVER, this.#server ?? RECORDED_SERVER)
  }

  // ---- the host -------------------------------------------------------------------------------------------------

  async play(): Promise<Played> {
    const { plugin = [], event: watched } = this.#probe
    this.project.file('log/none', '') // where some commands write
    const hooks = await this.project.open({
      configs: this.project.read('session-settings.json') ? [this.project.path('session-settings.json')] : [],
      plugins: plugin.map(({ dir }) => this.project.path(`plugins/${dir}`)),
      settings: { allowed_private_hosts: ['127.0.0.1'], ...this.#direction.host },
      model: () => modelReply(this.#probe),
    })
    const open = () => hooks.session({ id: 'probe', cwd: this.project.dir })
    let session = open()
    const shown: Outcome[] = []
    const all: Outcome[] = []
    const main = watched === null ? 'PreToolUse' : watched
    for (const fired of this.#script()) {
      const { event, data } =
        typeof fired === 'string' ? { event: fired, data: dataOf(this.#probe, fired) } : fired
      const outcome = await session.fire(event, JSON.parse(this.#filled(JSON.stringify(data))))
      if (event === main) shown.push(outcome)
      all.push(outcome)
      if (!this.#direction.settles) continue
      await session.leave() // waits for async hooks
      session = open()
    }
    await this.project.settled()
    const seens = shown.map((outcome) => seen(main, outcome))
    return {
      ...(seens[0] ?? { decision: 'continue' }),
      each: seens,
      later: all.slice(1).flatMap(({ injections }) => texts(injections)),
      proceeds: shown.every(({ action }) => action === 'continue' || action === 'ask_user'),
      last: seens.at(-1)?.decision ?? 'continue',
      ran: withoutLooks(this.project.lines('ran'), all),
      failed: shown.some((outcome) => traces(outcome, 'failed').length > 0),
      messages: shown.flatMap((outcome) => texts(outcome.messages)),
      wrote: [...this.project.lines('okran'), ...this.project.lines('log/count')].map((line) =>
        line.replaceAll(this.project.dir, '{{PROJECT}}'),
      ),
      left: this.project.running().length,
    }
  }

  /** What Claude Code fires when it is asked for one tool call, of the events that have hooks. */
  #script(): readonly (string | Fired)[] {
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
