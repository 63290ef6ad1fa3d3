// Every payload, case and probe of the corpus as a call of clip, with the hooks that answer it in files of its own.

import { createHash } from 'node:crypto'
import { HOST_NAMES } from '../../src/hosts/hosts.js'
import { PACK_NAMES } from '../../src/hosts/pack-names.js'
import { stubText } from '../conformance/stub.mjs'
import { corpusFiles, corpusIsHere, readCorpus } from '../systems/claude-code/replay.js'

/** A call and the files it meets. Paths begin with `home/` or `project/`; @HOME@ and @PROJECT@ in texts are these folders. */
export interface CorpusCall {
  readonly name: string
  readonly args: readonly string[]
  readonly input: string
  readonly files: Readonly<Record<string, FileText>>
}

interface FileText {
  readonly text: string
  readonly isProgram?: boolean
}

const text = (value: unknown): FileText => ({
  text: typeof value === 'string' ? value : JSON.stringify(value, undefined, 1),
})
const program = (lines: string): FileText => ({ text: `#!/bin/sh\n${lines}\n`, isProgram: true })

// ---- payloads, to hooks that do something for every event --------------------------------------------------------

const SAYS = `cat > "$0.in"
case "$(cat "$0.in")" in
  *Bash*|*shell*) echo 'not this' >&2; exit 2;;
  *Write*|*Stop*) echo '{"decision":"block","reason":"först ä test"}';;
  *prompt*) echo 'remember: 日本';;
esac`

/** Answers every event in one of several ways. */
function answering(): CorpusCall['files'] {
  const events = Object.keys(readCorpus<Record<string, unknown>>('payload-keys.json'))
  const hook = { hooks: [{ type: 'command', command: '"$HOME"/says' }] }
  return {
    'home/says': program(SAYS),
    'home/.amplifier/hooks/hooks.json': text({
      hooks: Object.fromEntries(events.map((event) => [event, [hook]])),
    }),
  }
}

/** The folder of the corpus, by host. */
const FOLDERS: Readonly<Record<string, string>> = {
  claude: 'claude-code',
  clinesdk: 'cline-core',
}

function filesIn(folder: string): readonly string[] {
  return corpusFiles(folder).filter((file) => file.endsWith('.json'))
}

/** The payload in the project of the call, and with its transcript. */
function sentFrom(payload: object): string {
  const sent = { ...payload } as Record<string, unknown>
  if ('cwd' in sent) sent.cwd = '@PROJECT@'
  return JSON.stringify(sent)
}

function payloadCalls(): readonly CorpusCall[] {
  const files = answering()
  const wild = filesIn('payloads').map((file) => ({ file, host: 'claude-code' }))
  const hosts = corpusFiles('hosts').flatMap((folder) => {
    const short = folder.slice('hosts/'.length)
    return filesIn(folder).map((file) => ({ file, host: FOLDERS[short] ?? short }))
  })
  return [...wild, ...hosts].flatMap(({ file, host }) => {
    const input = sentFrom(readCorpus<object>(file))
    // case.Event.json in hosts/, number-Event.json in payloads/
    const event = /(?:\.|\d-)([A-Za-z]+)(?:\.\d+)?\.json$/.exec(file)?.[1] ?? ''
    const fires = [{ name: `${file} as ${host}`, args: ['fire', '--as', host], input, files }]
    const isNamed = host === 'copilot' || host === 'cline'
    return isNamed
      ? [...fires, { name: `${file} as ${host} ${event}`, args: ['fire', '--as', host, event], input, files }]
      : fires
  })
}

/** Every host gets a call, a prompt and an end, whether or not the corpus has payloads of it. */
function hostCalls(): readonly CorpusCall[] {
  const files = answering()
  const sent = [
    {
      hook_event_name: 'PreToolUse',
      session_id: 's',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      cwd: '/p',
    },
    { hook_event_name: 'UserPromptSubmit', session_id: 's', prompt: 'prompt 日本', cwd: '/p' },
    { hook_event_name: 'Stop', session_id: 's', cwd: '/p' },
    {},
  ]
  const inputs = [...sent.map(sentFrom), '', '{', '[1]', '"x"']
  return HOST_NAMES.flatMap((host) =>
    inputs.map((input, at) => ({
      name: `${host}: ${at} ${input.slice(0, 40)}`,
      args: ['fire', '--as', host],
      input,
      files,
    })),
  )
}

/** Hooks of the pack, each with the payloads of its events, and every tenth of the others. */
function packCalls(): readonly CorpusCall[] {
  const payloads = filesIn('payloads').map((file) => ({ file, payload: readCorpus<object>(file) }))
  return PACK_NAMES.flatMap((hook) => {
    const event = hook.replaceAll('-', '').toLowerCase()
    const own = payloads.filter(({ file }, at) => file.toLowerCase().includes(event) || at % 10 === 0)
    const broken = ['', '{', '[]', '{"hook_event_name":"PreToolUse"}'].map((input) => ({
      file: input,
      input,
    }))
    return [...own.map(({ file, payload }) => ({ file, input: sentFrom(payload) })), ...broken].map(
      ({ file, input }) => ({ name: `${hook}: ${file}`, args: ['hook', hook], input, files: {} }),
    )
  })
}

// ---- real plugins, whose commands say what they said once ---------------------------------------------------------

interface Plugin {
  readonly source: {
    readonly kind: 'plugin' | 'project' | 'user'
    readonly install_as: string
    readonly config: string
  }
  readonly config: string
  readonly cases: readonly {
    readonly id: string
    readonly payload: object
    readonly observed: readonly { command: string; exit: number; stdout?: string; stderr?: string }[]
  }[]
}

const COMMAND = /("command"\s*:\s*)("(?:[^"\\]|\\.)*")/g

function keyOf(command: string): string {
  return createHash('sha256').update(command).digest('hex').slice(0, 12)
}

function pluginCalls(): readonly CorpusCall[] {
  return filesIn('cases').flatMap((file) => {
    const { source, config, cases } = readCorpus<Plugin>(file)
    const isPlugin = source.kind === 'plugin'
    const root = isPlugin ? `home/.amplifier/hooks/${source.install_as}` : 'home/.amplifier/hooks'
    const place = `${root}/${isPlugin ? source.config : 'hooks.json'}`
    const stubs = isPlugin ? `${root}/.stubs` : 'home/stubs'
    const folder = isPlugin ? `"\${CLAUDE_PLUGIN_ROOT}"/.stubs` : '"$HOME"/stubs'
    const replaced = config.replace(COMMAND, (_, key: string, json: string) => {
      return key + JSON.stringify(`${folder}/${keyOf(JSON.parse(json) as string)}`)
    })
    const commands = [...config.matchAll(COMMAND)].map(([, , json]) => JSON.parse(json as string) as string)
    return cases.map(({ id, payload, observed }) => {
      const said = new Map(observed.map((one) => [one.command, one]))
      const files: Record<string, FileText> = { [place]: text(replaced) }
      for (const command of commands) {
        const { exit = 0, stdout = '', stderr = '' } = said.get(command) ?? {}
        const stub = `${stubs}/${keyOf(command)}`
        files[`${stub}.out`] = text(filled(stdout))
        files[`${stub}.err`] = text(filled(stderr))
        files[stub] = program(
          `cat > "$HOME/\${0##*/}.in"\necho "\${0##*/}" >> "$HOME/ran"\ncat "$0.out"\ncat "$0.err" >&2\nexit ${exit}`,
        )
      }
      const input = filled(JSON.stringify(payload))
      return { name: `${file} ${id}`, args: ['fire', '--as', 'claude-code'], input, files }
    })
  })
}

function filled(template: string): string {
  return template
    .replaceAll('{{PROJECT_DIR}}', '@PROJECT@')
    .replaceAll('{{HOME}}', '@HOME@')
    .replaceAll('{{PLUGIN_ROOT}}', '@HOME@/.amplifier/hooks/plugin')
    .replaceAll('{{TRANSCRIPT}}', '@HOME@/transcript.jsonl')
}

// ---- probes of Claude Code ----------------------------------------------------------------------------------------

interface Probe {
  readonly name: string
  readonly event: string | null
  readonly tool_name: string | null
  readonly tool_input?: unknown
  readonly hooks: readonly ProbeHook[]
}

interface ProbeHook {
  readonly event: string
  readonly group: number
  readonly matcher?: unknown
  readonly fields?: { readonly timeout?: unknown }
  readonly id?: string
  readonly exit?: number
  readonly stdout?: string
  readonly stderr?: string
  readonly sleep?: number
  readonly handler?: { readonly timeout?: unknown }
}

/** Only the first event of a probe is fired: the others are the same in other words. */
function probeCalls(): readonly CorpusCall[] {
  const keys = readCorpus<Record<string, { readonly example?: object }>>('payload-keys.json')
  // Hooks that take too long are in callers.whole.test.ts: what they have done by then depends on the machine.
  const probes = readCorpus<readonly Probe[]>('observed.json').filter(({ hooks }) =>
    hooks.every(
      ({ sleep = 0, fields, handler }) => sleep < 2 && typeof (fields ?? handler)?.timeout !== 'number',
    ),
  )
  return probes.flatMap((probe) => {
    const event = probe.event ?? 'PreToolUse'
    const { tool_name, tool_input } = probe
    if (event === '*') return []
    const call = tool_name === null ? {} : { tool_name, tool_input: tool_input ?? {} }
    const payload = { ...keys[event]?.example, ...call, hook_event_name: event, cwd: '/p' }
    const files: Record<string, FileText> = {}
    const events: Record<string, object[]> = {}
    for (const hook of probe.hooks) {
      events[hook.event] ??= []
      const group: { matcher?: unknown; hooks: object[] } = { hooks: [handlerOf(hook, files)] }
      if ('matcher' in hook) group.matcher = hook.matcher
      events[hook.event]?.push(group)
    }
    files['home/.amplifier/hooks/hooks.json'] = text({ hooks: events })
    // Lives longer than the hook. A child that ends by itself would be reported only if it is slow.
    if (probe.name === 't2-bg-after-exit0') files['project/gc.py'] = text('import time; time.sleep(300)')
    return [{ name: probe.name, args: ['fire', '--as', 'claude-code'], input: sentFrom(payload), files }]
  })
}

function handlerOf(hook: ProbeHook, files: Record<string, FileText>): object {
  if (hook.handler) return hook.handler
  const { id = '', stdout = '', stderr = '', sleep = 0 } = hook
  const stub = `home/stubs/${id}`
  files[`${stub}.out`] = text(stdout)
  files[`${stub}.err`] = text(stderr)
  const where = { dir: '@HOME@', out: `@HOME@/stubs/${id}.out`, err: `@HOME@/stubs/${id}.err` }
  files[stub] = { text: stubText(hook, { ...where, seconds: sleep * 0.2 }), isProgram: true }
  return { type: 'command', command: `"$HOME"/stubs/${id}`, ...hook.fields }
}

// ---- all ----------------------------------------------------------------------------------------------------------

export const CORPUS_CALLS: Readonly<Record<string, readonly CorpusCall[]>> = corpusIsHere
  ? {
      'payloads of agents': payloadCalls(),
      'every agent': hostCalls(),
      'hooks of the pack': packCalls(),
      'real plugins': pluginCalls(),
      'probes of Claude Code': probeCalls(),
    }
  : {}
