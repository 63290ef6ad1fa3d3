// Real plugins, through the whole engine: their own configuration file is read, the event is fired, and every command
// that would have run answers what it really answered once. What differs from the corpus is in the table below.

import { createHash } from 'node:crypto'
import type { Hooks, Outcome } from 'carabiner'
import { describe, expect, it } from 'vitest'
import { sample } from '../property/runs.js'
import { corpusFiles, corpusIsHere, readCorpus, seen } from '../systems/claude-code/replay.js'
import { NO_HANG, ShellProject, texts, traces, withoutLooks } from './shell-project.js'

interface PluginFile {
  readonly source: {
    readonly repo: string
    readonly kind: 'plugin' | 'project' | 'user'
    readonly install_as: string
    /** Where the configuration stands in the plugin, the project or the user's folder. */
    readonly config: string
  }
  readonly config: string
  readonly cases: readonly Case[]
}

interface Case {
  readonly id: string
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly observed: readonly Observed[]
  readonly expect: {
    readonly decision: string
    readonly accept?: readonly string[]
    readonly reason_contains?: string
    readonly context_contains?: string
    readonly system_message_contains?: string
    readonly permission?: string
    readonly updated_input?: object
    readonly non_blocking_errors?: readonly string[]
  }
}

interface Observed {
  readonly command: string
  readonly exit: number
  readonly stdout?: string
  readonly stderr?: string
  readonly async?: boolean
}

/** `FILE ID`: what is another with us, and why. There is none so far; a case that differs fails until it is listed. */
const DIFFERENT: Readonly<Record<string, { readonly why: string }>> = {}

// ---- a plugin on disk, its commands replaced by what they said ---------------------------------------------------

/** `named`: the host names the folder or file; `installed`: it was copied into .amplifier/hooks/. */
type Way = 'named' | 'installed'

class Stage {
  readonly project = new ShellProject()
  readonly #source: PluginFile['source']
  readonly #way: Way
  /** Of the plugin's folder, in the project. */
  readonly #root: string

  constructor({ source }: PluginFile, way: Way) {
    this.#source = source
    this.#way = way
    const folders = { plugin: `plugins/${source.install_as}`, project: '.', user: '../home' }
    this.#root = way === 'installed' ? `.amplifier/hooks/${source.install_as}` : folders[source.kind]
  }

  /** Every other byte of the file stays as it is. */
  install(config: string): void {
    const variable = this.#source.kind === 'plugin' ? 'CLAUDE_PLUGIN_ROOT' : 'CLAUDE_PROJECT_DIR'
    const text = config.replace(/("command"\s*:\s*)("(?:[^"\\]|\\.)*")/g, (_, key: string, json: string) => {
      const stub = `"\${${variable}}"/.stubs/${keyOf(JSON.parse(json) as string)}`
      return key + JSON.stringify(stub)
    })
    this.project.file(`${this.#root}/${this.#source.config}`, text)
    for (const [, json] of config.matchAll(/"command"\s*:\s*("(?:[^"\\]|\\.)*")/g)) {
      this.#stub(JSON.parse(json as string) as string, { exit: 0 })
    }
  }

  /** What each command answers; one that was not observed answers nothing, and is found out by the log. */
  answer(observed: readonly Observed[]): void {
    for (const one of observed) this.#stub(one.command, one)
  }

  #stub(command: string, { exit, stdout = '', stderr = '' }: Omit<Observed, 'command'>): void {
    const folder = this.#source.kind === 'plugin' ? this.#root : '.'
    const key = `${folder}/.stubs/${keyOf(command)}`
    this.project.file(`${key}.out`, this.filled(stdout))
    this.project.file(`${key}.err`, this.filled(stderr))
    this.project.script(
      key,
      `#!/bin/sh\ncat > "$0.in"\necho "\${0##*/}" >> "$CLAUDE_PROJECT_DIR/ran"\ncat "$0.out"\ncat "$0.err" >&2\nexit ${exit}\n`,
    )
  }

  /** Which commands ran, each as often as it did, apart from final looks. */
  ran(outcome: Outcome): readonly string[] {
    return withoutLooks(this.project.lines('ran'), [outcome])
  }

  async open(): Promise<Hooks> {
    if (this.#way === 'installed') return this.project.open()
    const path = this.project.path(this.#root)
    if (this.#source.kind === 'plugin') return this.project.open({ plugins: [path] })
    return this.project.open({ configs: [`${path}/${this.#source.config}`] })
  }

  filled(text: string): string {
    return text
      .replaceAll('{{PROJECT_DIR}}', this.project.dir)
      .replaceAll('{{PLUGIN_ROOT}}', this.project.path(this.#root))
      .replaceAll('{{HOME}}', this.project.home)
      .replaceAll('{{TRANSCRIPT}}', `${this.project.home}/transcript.jsonl`)
  }
}

function keyOf(command: string): string {
  return createHash('sha256').update(command).digest('hex').slice(0, 12)
}

// ---- the cases --------------------------------------------------------------------------------------------------

const files = corpusIsHere
  ? corpusFiles('cases').map((file) => ({ file, plugin: readCorpus<PluginFile>(file) }))
  : []
const cases = files.flatMap(({ file, plugin }) => plugin.cases.map((one) => ({ file, plugin, one })))
/** Every case of a plugin that the host names; of one that was installed the first in which a command runs. */
const runs = cases.flatMap((each) => {
  const { file, plugin, one } = each
  const first = plugin.cases.find(({ observed }) => observed.length > 0)
  const ways: readonly Way[] =
    plugin.source.kind === 'plugin' && one === first ? ['named', 'installed'] : ['named']
  const name = `${file.slice('cases/'.length, -'.json'.length)} ${one.id}`
  return ways.map((way) => [`${name} (${way})`, { ...each, way, name }] as const)
})

function differences(outcome: Outcome, { event, expect: expected }: Case): readonly string[] {
  const ours = seen(event, outcome)
  const messages = texts(outcome.messages).join('\n')
  const failed = traces(outcome, 'failed')
  const found: (string | false)[] = [
    ours.decision !== expected.decision && `decision ${ours.decision}, expected ${expected.decision}`,
    ours.permission !== expected.permission && `permission ${ours.permission}, not ${expected.permission}`,
    failed.length !== (expected.non_blocking_errors?.length ?? 0) && `${failed.length} hooks failed`,
    !contains(ours.reason, expected.reason_contains) && `reason ${ours.reason}`,
    !contains(ours.context, expected.context_contains) && `context ${ours.context}`,
    !contains(messages, expected.system_message_contains) && `messages ${messages}`,
    expected.updated_input !== undefined &&
      JSON.stringify(ours.updated) !== JSON.stringify(expected.updated_input) &&
      `input ${JSON.stringify(ours.updated)}`,
    ...failed.map(({ name }) => !messages.includes(name) && `${name} failed, and nobody was told`),
  ]
  return found.filter((one) => one !== false)
}

function contains(text: string | undefined, part: string | undefined): boolean {
  return part === undefined || (text ?? '').includes(part)
}

describe.skipIf(!corpusIsHere)(
  '141 cases of real plugins (../shared/corpus/cases, absent in a bare checkout)',
  () => {
    it('are all here, and every listed difference is one of them', () => {
      expect([files.length, cases.length]).toEqual([28, 141])
      const names = new Set(runs.map(([, { name }]) => name))
      expect(Object.keys(DIFFERENT).filter((name) => !names.has(name))).toEqual([])
    })

    // The time-outs are the plugins' own, and one is a second: a very busy machine may miss it.
    const patient = { concurrent: true, retry: 3, ...NO_HANG }

    describe('decision, reason, context and messages', patient, () => {
      it.for(sample(runs))('%s', async ([, { plugin, one, way, name }], { expect }) => {
        const stage = new Stage(plugin, way)
        try {
          stage.install(plugin.config)
          stage.answer(one.observed)
          const hooks = await stage.open()
          const payload = JSON.parse(stage.filled(JSON.stringify(one.payload))) as { session_id?: string }
          const { session_id: id = 'corpus' } = payload
          const outcome = await hooks.session({ id }).fire(one.event, payload)
          await stage.project.settled()
          // Who runs is the configuration's doing alone: matchers, `if`, repetition.
          expect(stage.ran(outcome)).toEqual(one.observed.map(({ command }) => keyOf(command)).sort())
          const found = differences(outcome, one)
          if (DIFFERENT[name]) expect(found).not.toEqual([])
          else expect(found).toEqual([])
          expect(stage.project.running()).toEqual([])
        } finally {
          await stage.project.remove()
        }
      })
    })

    describe('configuration', () => {
      it.for(files)(
        '$file loads: every entry is a hook or a diagnostic with file and line',
        async ({ plugin }, { expect }) => {
          const stage = new Stage(plugin, 'named')
          try {
            stage.install(plugin.config)
            const hooks = await stage.open()
            const handlers = [
              ...plugin.config.matchAll(/"type"\s*:\s*"(?:command|prompt|agent|http|mcp_tool)"/g),
            ]
            const left = hooks.diagnostics.filter(({ code }) => code.startsWith('entry-'))
            expect(hooks.list().length + left.length).toBe(handlers.length)
            for (const { file, line } of hooks.diagnostics) {
              expect(file).toContain(plugin.source.config)
              expect(line).toBeGreaterThan(0)
            }
          } finally {
            await stage.project.remove()
          }
        },
      )
    })
  },
)
