import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FRESH_STATE, type SessionState } from '../../../src/core/session/session-store.js'
import { createHooks } from '../../../src/index.js'
import { storedGrants, storedState } from '../../../src/store/sessions/stored-state.js'
import { runs } from '../../property/runs.js'

const INJECTION = { text: 'i', role: 'user', ephemeral: false, source: 'h' }
const MESSAGE = { text: 'm', level: 'info', source: 'h' }
const DIAGNOSTIC = { code: 'late-failed', text: 'd' }
const SKILL = { name: 's', directory: '/s', hooks: {} }
const pending = (more: object) => ({ pending: { injections: [], messages: [], diagnostics: [], ...more } })

describe('a state that is read back', () => {
  it('has what is missing as at the start, and not what is unknown', () => {
    expect(storedState({})).toEqual(FRESH_STATE)
    expect(storedState({ turn: 2, pending: {}, later: 1 })).toEqual({ ...FRESH_STATE, turn: 2 })
    const injection = { ...INJECTION, later: 1, appendToLastToolResult: 'yes' }
    expect(storedState({ ephemeral: [injection] }).ephemeral).toEqual([INJECTION])
    const grown = JSON.parse('{"__proto__": {"turn": 9}, "constructor": 1}')
    expect(storedState(grown)).toEqual(FRESH_STATE)
  })

  it('keeps what a later version says under a code of its own', () => {
    const { diagnostics } = storedState(pending({ diagnostics: [{ code: 'new-code', text: 'd' }] })).pending
    expect(diagnostics).toEqual([{ code: 'late-failed', text: 'd' }])
  })

  it.each<[string, unknown, string]>([
    ['a list', [], 'the state must be an object, got []'],
    ['nothing', undefined, 'the state must be an object, got undefined'],
    ['a negative turn', { turn: -1 }, 'the state.turn must be a whole number, 0 or more, got -1'],
    ['half a turn', { turn: 0.5 }, 'the state.turn must be'],
    ['a turn beyond all', { turn: 1e300 }, 'the state.turn must be'],
    ['null for a key', { stopsTotal: null }, 'the state.stopsTotal must be'],
    ['a word for a flag', { announced: 'yes' }, 'the state.announced must be true or false'],
    [
      'a broken count',
      { counts: { list: [{ key: 'k', at: 0, n: -1 }] } },
      'the state.counts.list[0].n must be',
    ],
    ['a broken loss', { counts: { lost: 'yes' } }, 'the state.counts.lost must be an object'],
    ['an id that is none', { onceRan: ['a', 1] }, 'the state.onceRan[1] must be a string'],
    [
      'a role',
      { ephemeral: [{ ...INJECTION, role: 'tool' }] },
      'the state.ephemeral[0].role must be system or',
    ],
    ['a level', pending({ messages: [{ ...MESSAGE, level: 1 }] }), 'the state.pending.messages[0].level'],
    ['no text', pending({ injections: [{ ...INJECTION, text: null }] }), 'pending.injections[0].text'],
    ['a line', pending({ diagnostics: [{ ...DIAGNOSTIC, line: 'x' }] }), 'diagnostics[0].line'],
    [
      'a code',
      pending({ diagnostics: [{ ...DIAGNOSTIC, code: 1 }] }),
      'diagnostics[0].code must be a string',
    ],
    [
      'a relative skill',
      { skills: [{ ...SKILL, directory: 's' }] },
      'the state.skills[0].directory must be abs',
    ],
    ['a skill by number', { skills: [{ ...SKILL, name: 1 }] }, 'the state.skills[0].name must be a string'],
    ['a deep skill', { skills: [{ ...SKILL, hooks: deep(600) }] }, 'nested deeper than 500 levels'],
  ])('is refused: %s', (_, value, says) => {
    expect(() => storedState(value)).toThrow(says)
  })
})

function deep(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels))
}

// ---- any JSON at all ------------------------------------------------------------------------------------------

const json = fc.jsonValue({ maxDepth: 3 })
const oneOrJson = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: json })
const listed = (item: fc.Arbitrary<unknown>) => oneOrJson(fc.array(oneOrJson(item), { maxLength: 3 }))
const words = (...all: string[]) => oneOrJson(fc.constantFrom(...all))
const record = (fields: Record<string, fc.Arbitrary<unknown>>, required: string[] = []) =>
  fc.record(fields, { requiredKeys: required })
const injections = listed(
  record(
    {
      text: oneOrJson(fc.string({ unit: 'binary' })),
      role: words('system', 'user', 'assistant'),
      ephemeral: oneOrJson(fc.boolean()),
      source: oneOrJson(fc.string()),
      appendToLastToolResult: oneOrJson(fc.constant(true)),
    },
    ['text', 'role', 'ephemeral', 'source'],
  ),
)
const messages = listed(
  record({ text: fc.string(), level: words('info', 'warning', 'error'), source: fc.string() }, [
    'text',
    'level',
    'source',
  ]),
)
const diagnostics = listed(
  record({ code: words('late-failed', '__proto__'), text: fc.string(), file: fc.string(), line: fc.nat() }, [
    'code',
    'text',
  ]),
)
/** Near enough to a state that many of them are one. */
const almostState = record({
  turn: oneOrJson(fc.nat()),
  announced: oneOrJson(fc.boolean()),
  turnTokens: oneOrJson(fc.nat()),
  stopsInRow: oneOrJson(fc.nat()),
  stopsTotal: oneOrJson(fc.nat()),
  stopsCut: listed(fc.string()),
  onceRan: listed(fc.string()),
  pending: oneOrJson(record({ injections, messages, diagnostics })),
  ephemeral: injections,
  skills: listed(
    record({ name: fc.string(), directory: fc.constant('/s'), hooks: json }, ['name', 'directory']),
  ),
})

function readOrRefused(value: unknown): SessionState | undefined {
  try {
    return storedState(value)
  } catch (error) {
    expect(error).toBeInstanceOf(Error)
    expect((error as Error).message).toMatch(/the state/)
    return undefined
  }
}

describe('any JSON', () => {
  it('is a state, or refused with an error of our own', () => {
    let states = 0
    fc.assert(
      fc.property(fc.oneof(json, almostState), (value) => {
        const state = readOrRefused(JSON.parse(JSON.stringify(value)))
        if (!state) return
        states++
        expect(Object.keys(state).sort()).toEqual(Object.keys(FRESH_STATE).sort())
        expect(storedState(JSON.parse(JSON.stringify(state)))).toEqual(state)
      }),
      { numRuns: runs(2000) },
    )
    expect(states).toBeGreaterThan(runs(2000) / 20)
  })

  it('that is a state does not break the engine', async () => {
    await fc.assert(
      fc.asyncProperty(almostState, async (value) => {
        const state = readOrRefused(JSON.parse(JSON.stringify(value)))
        if (!state) return
        let now = state
        const store = {
          load: () => now,
          update: (_: string, change: (state: SessionState) => SessionState) => {
            now = change(now)
          },
          release: () => {},
          keep: () => 'nowhere',
          grants: () => [],
          addGrant: () => {},
          revokeGrant: () => false,
        }
        const hooks = await createHooks({ store, globals: false })
        hooks.register('Stop', () => ({ action: 'deny', reason: 'no' }))
        const session = hooks.session({ id: 's' })
        for (const event of ['UserPromptSubmit', 'Stop', 'PreToolUse'] as const) {
          const data = { prompt: 'p', tool_name: 'Bash', tool_input: {} }
          const { diagnostics: told } = await session.fire(event, data)
          expect(told.filter(({ code }) => code === 'host-failed')).toEqual([])
        }
        await session.callModel({ model: 'm', messages: [] }, async () => ({
          role: 'assistant',
          content: 'a',
        }))
        expect(storedState(JSON.parse(JSON.stringify(now)))).toEqual(JSON.parse(JSON.stringify(now)))
        await hooks.close()
      }),
      { numRuns: runs(100) },
    )
  })

  it('is a list of grants, or refused with an error of our own', () => {
    const keys = ['id', 'hook', 'event', 'tool', 'cwd', 'digest', 'created']
    const fields = Object.fromEntries(keys.map((key) => [key, oneOrJson(fc.string())]))
    const grants = listed(record({ ...fields, expires: fc.string() }, keys))
    fc.assert(
      fc.property(fc.oneof(json, grants), (value) => {
        try {
          const read = storedGrants(value)
          for (const grant of read)
            expect(Object.values(grant).every((one) => typeof one === 'string')).toBe(true)
        } catch (error) {
          expect((error as Error).message).toMatch(/^is not valid: the list of grants/)
        }
      }),
      { numRuns: runs(1000) },
    )
  })
})
