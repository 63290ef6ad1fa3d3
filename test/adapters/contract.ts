// The contract of adapters: every scene, streamed and not, inside the SDK's own agent loop, with a mock model on the loopback.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hold } from 'carabiner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { source } from '../../scripts/source.mjs'
import type { Capabilities } from '../../src/adapters/capabilities.js'
import { MockModel } from '../../src/verify/model/mock-model.js'
import { programFile, withProgram } from '../approvals/programs.js'
import { type Played, SCENES, type SceneName, SYSTEM, TOKEN, type Wanted } from './scenes.js'
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
  /** If there are several ways to put hooks into an agent, the scenes are played in each. */
  readonly ways?: readonly string[]
  /** It has the option `hold`: its values are played in every scene that they change, and in a sample of the others. */
  readonly holds?: true
  /** Where the SDK cannot do what the contract says, and its `capabilities` say so. */
  readonly differs?: Readonly<Partial<Record<SceneName, Expectation>>>
  readonly leftOut?: readonly SceneName[]
  /** The example of examples/sdks does not run with this version. */
  readonly noExample?: true
  /** Plays every scene once, streamed or not, and checks types: the other version of this major proves the rest. */
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
  deny(seen) {
    denied(seen)
    expect(seen.errors).toBe(1)
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
  'ask, no'({ ran, events, requests, text }) {
    expect(ran).toEqual([])
    expect(named(events)).toEqual(['PreToolUse'])
    expect(requests[1]).not.toContain('saw a')
    expect(text).toBe('All done.')
  },
  'ask elsewhere, yes'({ ran, events, told, requests, text }) {
    expect(told).toEqual(['asked about {"at":"b"}'])
    expect(ran).toEqual(['look b'])
    // Hooks before the one that changes the input see the new one too.
    expect(named(events)).toEqual(['PreToolUse', 'PreToolUse', 'PostToolUse'])
    expect(requests[1]).toContain('saw b')
    expect(text).toBe('All done.')
  },
  'ask elsewhere, no'({ ran, told, requests, text }) {
    expect(told).toEqual(['asked about {"at":"b"}'])
    expect(ran).toEqual([])
    expect(requests[1]).not.toContain('saw')
    expect(text).toBe('All done.')
  },
  // The question stays open, so the SDK asks in its own way.
  'ask elsewhere, no answer'(seen) {
    CONTRACT['ask elsewhere, no'](seen, false)
  },
  respond({ ran, requests, errors, text }) {
    expect(ran).toEqual([])
    expect(requests[1]).toContain('from the cache')
    expect(errors).toBe(0)
    expect(text).toBe('All done.')
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
  'rewrite a request'({ requests, text }) {
    expect(requests[0]).toContain('Please listen.')
    for (const gone of ['Please look.', SYSTEM, '"helper"']) expect(requests[0]).not.toContain(gone)
    expect(text).toBe('All done.')
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
  'parallel, at once': tells(['meet a', 'meet b'], ['met at a', 'met at b']),
  'parallel, all verdicts': tells(['look C', 'look a'], ['saw a', 'not to b', 'saw C', 'd is known']),
  'parallel, ask, yes'(seen) {
    tells(['look a', 'look b', 'look c'], ['saw a', 'saw b', 'saw c'])(seen)
    expect(named(seen.events).sort()).toEqual([...three('PostToolUse'), ...three('PreToolUse')])
  },
  'parallel, ask, no'(seen) {
    tells(['look c'], ['saw c'])(seen)
    expect(named(seen.events).sort()).toEqual(['PostToolUse', ...three('PreToolUse')])
  },
  'parallel, ask and deny'(seen) {
    tells(['look a', 'look c'], ['saw a', 'not to b', 'saw c'])(seen)
    expect(named(seen.events).sort()).toEqual(['PostToolUse', 'PostToolUse', ...three('PreToolUse')])
  },
  'parallel, error'(seen) {
    tells(['fail b', 'look a', 'look c'], ['saw a', 'no such place', 'saw c'])(seen)
    expect(named(seen.events).filter((name) => name === 'PostToolUseFailure')).toHaveLength(1)
  },
  'parallel, abort'({ ran, requests, events, error }) {
    expect(ran).toContain('wait b')
    expect(requests).toHaveLength(1)
    expect(error?.name).toBe('AbortError')
    const ends = events.filter(({ hook_event_name }) => hook_event_name !== 'PreToolUse')
    expect(ends).toHaveLength(ran.length)
    expect(ends).toContainEqual(expect.objectContaining({ tool_name: 'wait', is_interrupt: true }))
  },
  abort({ ran, requests, events, error }) {
    expect(ran).toEqual(['wait a'])
    expect(requests).toHaveLength(1)
    expect(error?.name).toBe('AbortError')
    expect(events.at(-1)).toMatchObject({ hook_event_name: 'PostToolUseFailure', is_interrupt: true })
  },
  'abort in a hook'({ ran, requests, told, error }) {
    expect(ran).toEqual([])
    expect(requests).toHaveLength(1)
    expect(told).toEqual([expect.stringContaining('AbortError')])
    expect(error?.name).toBe('AbortError')
  },
  'tool error'({ ran, requests, events, text }) {
    expect(ran).toEqual(['fail a'])
    expect(events.at(-1)).toMatchObject({ hook_event_name: 'PostToolUseFailure', error: 'no such place' })
    expect(requests[1]).toContain('no such place')
    expect(text).toBe('All done.')
  },
  'rules, nothing': tells(['bash ls'], ['ran ls']),
  'rules, deny'({ ran, requests, text }) {
    expect(ran).toEqual([])
    expect(requests[1]).toContain('The rule keep forbids this')
    expect(text).toBe('All done.')
  },
  'rules, ask, yes': tells(['bash curl -d @a https://example.com'], ['ran curl']),
  'rules, ask, no'({ ran, requests, text }) {
    expect(ran).toEqual([])
    expect(requests[1]).not.toContain('ran curl')
    expect(text).toBe('All done.')
  },
  'rules, rewrite': tells(
    ['bash git push --force-with-lease origin topic'],
    ['ran git push --force-with-lease origin topic'],
  ),
  'rules, redact'(seen) {
    tells(['bash env'], ['TOKEN=[redacted]'])(seen)
    expect(seen.requests[1]).not.toContain(TOKEN)
  },
  'rules, tell': tells(['bash npm install left-pad'], ['Use pnpm here.', 'ran npm install']),
  subagent({ ran, requests, events, text }) {
    expect(ran).toEqual(['helper the river'])
    expect(events).toContainEqual(
      expect.objectContaining({ tool_name: expect.stringMatching(/look$/), agent_id: 'helper-1' }),
    )
    expect(requests[2]).toContain('no helper looks')
    expect(requests[3]).toContain('The helper is done.')
    expect(text).toBe('All done.')
  },
}

/** The call did not run, and the model is told why. */
export function denied({ ran, requests, text }: Seen): void {
  expect(ran).toEqual([])
  expect(requests[1]).toContain('not this way')
  expect(text).toBe('All done.')
}

/** These calls ran, in any order, and the model is told these results of all calls. */
export function tells(ran: readonly string[], results: readonly string[]): (seen: Seen) => void {
  return (seen) => {
    expect([...seen.ran].sort()).toEqual(ran)
    for (const result of results) expect(seen.requests.at(-1)).toContain(result)
    expect(seen.text).toBe('All done.')
  }
}

function three(name: string): readonly string[] {
  return [name, name, name]
}

/** What is different in a stream that shows a response, or a part of it, before hooks have judged it. */
const EARLY: Readonly<Record<Hold, Readonly<Partial<Record<SceneName, Expectation>>>>> = {
  all: {},
  'tool-calls': { 'deny a response': refusedLate('a secret'), 'rewrite a response': refusedLate('changed') },
  none: {
    'deny a response': refusedLate('a secret'),
    'rewrite a response': refusedLate('changed'),
    'deny a call in a response': callRefusedLate('no such call'),
    'rewrite a call in a response': callRefusedLate('changed'),
  },
}

/** The text was shown, and the run fails. */
function refusedLate(why: string): Expectation {
  return ({ shown, text, error }) => {
    expect(shown).toBe('the password is x')
    expect(text).toBeUndefined()
    expect(error?.message).toContain(why)
  }
}

/** The run fails before the model is asked again. The call may have been started. */
function callRefusedLate(why: string): Expectation {
  return ({ requests, error }) => {
    expect(requests).toHaveLength(1)
    expect(error?.message).toContain(why)
  }
}

type Row = Exclude<keyof Capabilities, 'sdk' | 'package' | 'versions'>

/** The rows of `capabilities` that a scene proves. */
const ROWS: Readonly<Record<SceneName, readonly Row[]>> = {
  plain: [],
  'no hooks': [],
  deny: ['deny'],
  'deny a request': ['deny'],
  'deny a response': ['deny', 'streaming'],
  'deny a call in a response': ['deny'],
  rewrite: ['rewrite'],
  'rewrite a result': ['rewrite'],
  'rewrite a request': ['rewrite'],
  'rewrite a response': ['rewrite', 'streaming'],
  'rewrite a call in a response': ['rewrite'],
  inject: ['inject'],
  'ask, yes': ['ask'],
  'ask, no': ['ask'],
  'ask elsewhere, yes': ['ask'],
  'ask elsewhere, no': ['ask'],
  'ask elsewhere, no answer': ['ask'],
  respond: ['respond'],
  'respond for the model': ['respond'],
  'parallel, at once': ['parallel'],
  'parallel, all verdicts': ['parallel'],
  'parallel, ask, yes': ['ask'],
  'parallel, ask, no': ['ask'],
  'parallel, ask and deny': ['ask'],
  'parallel, error': ['errors'],
  'parallel, abort': ['abort'],
  abort: ['abort'],
  'abort in a hook': ['abort'],
  'tool error': ['errors'],
  'rules, nothing': [],
  'rules, deny': ['deny'],
  'rules, ask, yes': ['ask'],
  'rules, ask, no': ['ask'],
  'rules, rewrite': ['rewrite'],
  'rules, redact': ['rewrite'],
  'rules, tell': ['inject'],
  subagent: ['subagents'],
}

const ALL: readonly Hold[] = ['all']
const HOLDS = Object.keys(EARLY) as Hold[]

/** Every fourth scene stands for those that are the same with each value. */
const holdsOf = (scene: SceneName, at: number): readonly Hold[] =>
  HOLDS.filter((hold) => hold === 'all' || EARLY[hold][scene] !== undefined || at % 4 === 0)

/** The next scene is played in the next of all combinations. */
const inTurn = (name: SceneName, at: number, ways: readonly string[]): Wanted => ({
  ...{ name, streaming: at % 2 === 0, hold: 'all' },
  way: ways[Math.floor(at / 2) % ways.length] ?? '',
})

/** Some SDKs start a program for every scene, on a machine that may be busy. */
const PATIENCE_MS = 600_000

export const named = (events: Seen['events']) => events.map(({ hook_event_name }) => hook_event_name)

export function contract(adapter: Adapter): void {
  const { name, version, node, ways = [''], holds, differs = {}, leftOut = [] } = adapter
  const { isLowEnd, noExample = isLowEnd } = adapter
  const agent = `test/adapters/${name}/agent.ts`
  const project = sdkProject(`${name}/${version}`, node)

  it(`${name} ${version} says in \`capabilities\` what it plays differently, and nothing else`, async () => {
    const { capabilities } = await source<{ capabilities: Capabilities }>(`adapters/${name}/index.ts`)
    const different = [...leftOut, ...(Object.keys(differs) as SceneName[])]
    const unsaid = different.filter(
      (scene) => ROWS[scene].length === 0 || ROWS[scene].some((row) => capabilities[row].limit === undefined),
    )
    expect(unsaid).toEqual([])
    const proven = new Set(different.flatMap((scene) => ROWS[scene]))
    const rows = new Set(Object.values(ROWS).flat())
    expect([...rows].filter((row) => !capabilities[row].works && !proven.has(row))).toEqual([])
  })

  describe.skipIf(!project)(`${name} ${version}`, () => {
    const seen = new Map<Wanted, Seen>()
    const names = (Object.keys(SCENES) as SceneName[]).filter((scene) => !leftOut.includes(scene))
    const allWays = (scene: SceneName, at: number): readonly Wanted[] =>
      ways.flatMap((way) => [
        { name: scene, streaming: false, way, hold: 'all' },
        ...(holds ? holdsOf(scene, at) : ALL).map((hold) => ({ name: scene, streaming: true, way, hold })),
      ])
    const wanted = isLowEnd ? names.map((scene, at) => inTurn(scene, at, ways)) : names.flatMap(allWays)

    withProgram('answerer')
    beforeAll(async () => {
      const requests = wanted.map((): string[] => [])
      const model = new MockModel(({ path, body }) => {
        const at = Number(path.split('/')[1])
        const turns = SCENES[wanted[at]?.name ?? 'plain'].turns
        requests[at]?.push(body)
        return turns[(requests[at]?.length ?? 0) - 1] ?? { text: 'nothing more to say' }
      })
      const port = await model.start()
      const answerer = programFile('answerer')
      const scenes = wanted.map((scene, at) => ({
        ...scene,
        baseURL: `http://127.0.0.1:${port}/${at}`,
        answerer,
      }))
      try {
        const lines = (await project?.run(agent, JSON.stringify(scenes)))?.trim().split('\n') ?? []
        for (const [at, one] of wanted.entries()) {
          const played = JSON.parse(lines[at] ?? '{}') as Played
          seen.set(one, { ...played, requests: requests[at] ?? [] })
        }
      } finally {
        await model.stop()
      }
    }, PATIENCE_MS)
    afterAll(() => project?.[Symbol.dispose]())

    it.each(wanted)('$name, streaming: $streaming, hold: $hold $way', (one) => {
      const early = one.streaming ? EARLY[one.hold][one.name] : undefined
      const expectation = early ?? differs[one.name] ?? CONTRACT[one.name]
      expectation(seen.get(one) as Seen, one.streaming)
    })

    it.skipIf(isLowEnd)(
      'lets npm install the package beside it',
      () => {
        expect(project?.conflicts()).toBe('')
      },
      PATIENCE_MS,
    )

    it(
      'type-checks: the adapter itself, and an agent with the declarations of the package',
      () => {
        project?.add('src', 'test/adapters/scenes.ts', agent)
        expect(project?.check(`src/adapters/${name}/index.ts`, agent)).toBe('')
      },
      PATIENCE_MS,
    )

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
      const source = readFileSync(join(ROOT, 'src/adapters', name, 'index.ts'), 'utf8')
      const [, sdk = ''] = /package: '([^']+)'/.exec(source) ?? []
      expect(source).toContain(`'${dependencies[sdk]}'`)
    })
  })
}
