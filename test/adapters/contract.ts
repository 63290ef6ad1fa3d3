// The contract of adapters: every scene, streamed and not, inside the SDK's own agent loop, with a mock model on the loopback.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { source } from '../../scripts/source.mjs'
import type { Capabilities, Capability } from '../../src/adapters/capabilities.js'
import { MockModel } from '../../src/verify/model/mock-model.js'
import { type Played, SCENES, type SceneName } from './scenes.js'
import { sdkProject } from './sdk-project.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What happened, and the requests that reached the model. */
export interface Seen extends Played {
  readonly requests: readonly string[]
}

type Expectation = (seen: Seen, streaming: boolean) => void

interface Adapter {
  /** The folder of its agent, below test/adapters: `agent.ts`, and a folder with a lock file for each version. */
  readonly name: string
  readonly version: string
  /** The Node that this version needs. */
  readonly node?: string
  /** Where the SDK cannot do what the contract says, and its `capabilities` say so. */
  readonly differs?: Readonly<Partial<Record<SceneName, Expectation>>>
  readonly leftOut?: readonly SceneName[]
  /** The example of examples/sdks does not run with this version. */
  readonly noExample?: true
  /** Plays the scenes and checks types only: the other version of this major proves the rest. */
  readonly isLowEnd?: true
}

const CONTRACT: Readonly<Record<SceneName, Expectation>> = {
  plain(seen) {
    CONTRACT['no hooks'](seen, false)
    expect(named(seen.events)).toEqual(['PreToolUse', 'PostToolUse'])
  },
  'no hooks'({ ran, requests, text }) {
    expect(ran).toEqual(['look a'])
    expect(requests).toHaveLength(2)
    expect(requests[1]).toContain('saw a')
    expect(text).toBe('All done.')
  },
  deny({ ran, requests, text }) {
    expect(ran).toEqual([])
    expect(requests[1]).toContain('not this way')
    expect(text).toBe('All done.')
  },
  rewrite({ ran, requests }) {
    expect(ran).toEqual(['look b'])
    expect(requests[1]).toContain('saw b')
  },
  'rewrite a result'({ ran, requests }) {
    expect(ran).toEqual(['look a'])
    expect(requests[1]).toContain('saw nothing')
    expect(requests[1]).not.toContain('saw a')
  },
  inject({ requests, text }) {
    expect(requests[0]).toContain('mind the gap')
    expect(requests[1]).toContain('it rains')
    expect(text).toBe('All done.')
  },
  'ask, yes'({ ran, events, requests, text }) {
    expect(ran).toEqual(['look a'])
    expect(named(events)).toEqual(['PreToolUse', 'PostToolUse'])
    expect(requests[1]).toContain('saw a')
    expect(text).toBe('All done.')
  },
  'ask, no'({ ran, events, requests }) {
    expect(ran).toEqual([])
    expect(named(events)).toEqual(['PreToolUse'])
    expect(requests[1]).not.toContain('saw a')
  },
  respond({ ran, requests }) {
    expect(ran).toEqual([])
    expect(requests[1]).toContain('from the cache')
  },
  'respond for the model'({ requests, text, shown }, streaming) {
    expect(requests).toEqual([])
    expect(text).toBe('cached answer')
    if (streaming) expect(shown).toBe('cached answer')
  },
  'deny a request'({ requests, error }) {
    expect(requests).toEqual([])
    expect(error?.message).toContain('over budget')
  },
  'deny a response'({ text, shown, error }) {
    expect(error?.message).toContain('a secret')
    expect(`${text}${shown}`).not.toContain('pass')
  },
  'rewrite a response'({ text, shown }) {
    expect(text).toBe('redacted')
    expect(shown).not.toContain('pass')
  },
  'deny a call in a response'({ ran, requests, error }) {
    expect(ran).toEqual([])
    expect(requests).toHaveLength(1)
    expect(error?.message).toContain('no such call')
  },
  'rewrite a call in a response'({ ran, requests, text }) {
    expect(ran).toEqual(['look b'])
    expect(requests[1]).toContain('saw b')
    expect(text).toBe('All done.')
  },
  parallel({ ran, requests, text }) {
    expect([...ran].sort()).toEqual(['look D', 'meet a', 'meet b'])
    for (const result of ['met at a', 'met at b', 'not to c', 'saw D', 'e is known'])
      expect(requests[1]).toContain(result)
    expect(text).toBe('All done.')
  },
  abort({ ran, requests, events, error }) {
    expect(ran).toEqual(['wait a'])
    expect(requests).toHaveLength(1)
    expect(error?.name).toBe('AbortError')
    expect(events.at(-1)).toMatchObject({ hook_event_name: 'PostToolUseFailure', is_interrupt: true })
  },
  'tool error'({ ran, requests, events, text }) {
    expect(ran).toEqual(['fail a'])
    expect(events.at(-1)).toMatchObject({ hook_event_name: 'PostToolUseFailure', error: 'no such place' })
    expect(requests[1]).toContain('no such place')
    expect(text).toBe('All done.')
  },
  subagent({ ran, requests, events, text }) {
    expect(ran).toEqual(['helper the river'])
    expect(events).toContainEqual(expect.objectContaining({ tool_name: 'look', agent_id: 'helper-1' }))
    expect(requests[2]).toContain('no helper looks')
    expect(requests[3]).toContain('The helper is done.')
    expect(text).toBe('All done.')
  },
}

/** The row of `capabilities` that a scene proves. */
const ROWS: Readonly<Record<SceneName, keyof Capabilities | undefined>> = {
  plain: undefined,
  'no hooks': undefined,
  deny: 'deny',
  'deny a request': 'deny',
  'deny a response': 'deny',
  'deny a call in a response': 'deny',
  rewrite: 'rewrite',
  'rewrite a result': 'rewrite',
  'rewrite a response': 'rewrite',
  'rewrite a call in a response': 'rewrite',
  inject: 'inject',
  'ask, yes': 'ask',
  'ask, no': 'ask',
  respond: 'respond',
  'respond for the model': 'respond',
  parallel: 'parallel',
  abort: 'abort',
  'tool error': 'errors',
  subagent: 'subagents',
}

/** Some SDKs start a program for every scene, on a machine that may be busy. */
const PATIENCE_MS = 600_000

const named = (events: Seen['events']) => events.map(({ hook_event_name }) => hook_event_name)

export function contract(adapter: Adapter): void {
  const { name, version, node, differs = {}, leftOut = [], isLowEnd, noExample = isLowEnd } = adapter
  const agent = `test/adapters/${name}/agent.ts`
  const project = sdkProject(`${name}/${version}`, node)

  it(`${name} ${version} has a note in the row of every scene that it plays differently`, async () => {
    const { capabilities } = await source<{ capabilities: Capabilities }>(`adapters/${name}.ts`)
    const different = [...leftOut, ...(Object.keys(differs) as SceneName[])]
    const silent = different.filter((scene) => {
      const row = ROWS[scene]
      return row === undefined || (capabilities[row] as Capability).note === undefined
    })
    expect(silent).toEqual([])
  })

  describe.skipIf(!project)(`${name} ${version}`, () => {
    const seen = new Map<string, Seen>()
    const names = (Object.keys(SCENES) as SceneName[]).filter((scene) => !leftOut.includes(scene))
    const wanted = [false, true].flatMap((streaming) => names.map((scene) => ({ name: scene, streaming })))

    beforeAll(async () => {
      const requests = wanted.map((): string[] => [])
      const model = new MockModel(({ path, body }) => {
        const at = Number(path.split('/')[1])
        const turns = SCENES[wanted[at]?.name ?? 'plain'].turns
        requests[at]?.push(body)
        return turns[(requests[at]?.length ?? 0) - 1] ?? { text: 'nothing more to say' }
      })
      const port = await model.start()
      const scenes = wanted.map((scene, at) => ({ ...scene, baseURL: `http://127.0.0.1:${port}/${at}` }))
      try {
        const lines = (await project?.run(agent, JSON.stringify(scenes)))?.trim().split('\n') ?? []
        for (const [at, { name: scene, streaming }] of wanted.entries()) {
          const played = JSON.parse(lines[at] ?? '{}') as Played
          seen.set(`${scene} ${streaming}`, { ...played, requests: requests[at] ?? [] })
        }
      } finally {
        await model.stop()
      }
    }, PATIENCE_MS)
    afterAll(() => project?.[Symbol.dispose]())

    it.each(wanted)('$name, streaming: $streaming', ({ name: scene, streaming }) => {
      const expectation = differs[scene] ?? CONTRACT[scene]
      expectation(seen.get(`${scene} ${streaming}`) as Seen, streaming)
    })

    it.skipIf(isLowEnd)(
      'lets npm install the package beside it',
      () => {
        expect(project?.conflicts()).toBe('')
      },
      PATIENCE_MS,
    )

    it('type-checks: the adapter itself, and an agent with the declarations of the package', () => {
      project?.add('src', 'test/adapters/scenes.ts', agent)
      expect(project?.check(`src/adapters/${name}.ts`, agent)).toBe('')
    })

    it.skipIf(noExample)('the example prints what its README shows', async () => {
      const example = `examples/sdks/${name}`
      const readme = readFileSync(join(ROOT, example, 'README.md'), 'utf8')
      const [, shown] = /^```text\n([\s\S]*?)^```$/m.exec(readme) ?? []
      expect(await project?.run(`${example}/agent.mjs`)).toBe(shown)
    })

    it('is a version that the adapter names', () => {
      const { dependencies } = JSON.parse(
        readFileSync(join(ROOT, 'test/adapters', name, version, 'package.json'), 'utf8'),
      )
      const source = readFileSync(join(ROOT, 'src/adapters', `${name}.ts`), 'utf8')
      const [, sdk = ''] = /package: '([^']+)'/.exec(source) ?? []
      expect(source).toContain(`'${dependencies[sdk]}'`)
    })
  })
}
