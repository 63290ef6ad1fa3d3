import { describe, expect, it } from 'vitest'
import { JsonText } from '../../src/files/json-text.js'
import { HOST_NAMES } from '../../src/hosts/hosts.js'
import { guardFile, presetRules } from '../../src/rules/presets.js'
import { PRESET_NAMES } from '../../src/rules/rule.js'
import { type RulesOwner, readRules } from '../../src/rules/rules-file.js'

const NOW = Date.parse('2026-06-01T12:00:00Z')

/** Problems as `line: text`, those that close first marked with `!`. */
function problemsOf(text: string, owner: RulesOwner = 'user'): readonly string[] {
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed) throw new Error(parsed.problem)
  return readRules(parsed.value, { owner, now: NOW, agents: HOST_NAMES }).problems.map(
    ({ text, at, todo, closes }) =>
      `${closes ? '!' : ''}${json.lineOf(at)}: ${text}${todo ? ` | ${todo}` : ''}`,
  )
}

function rule(fields: object): string {
  return JSON.stringify({ rules: [{ id: 'one', effects: ['delete'], then: 'ask', ...fields }] })
}

describe('a rules file', () => {
  it('may have comments, a schema and remarks', () => {
    const text = `{
      // what leaves this machine
      "$schema": "x", "description": "y",
      "rules": [{ "id": "out", "effects": ["send"], "then": "ask", "//": "why" }]
    }`
    expect(problemsOf(text)).toEqual([])
  })

  it('may be empty', () => {
    expect(problemsOf('{}')).toEqual([])
    expect(problemsOf('{"rules": []}')).toEqual([])
  })

  it('names the line of each mistake', () => {
    const text = `{
      "preset": "standrad",
      "rules": [
        { "id": "a", "effects": ["delet"], "then": "ask" },
        { "id": "b", "effects": ["delete"], "then": "dney" },
        { "id": "c", "effects": ["delete"] },
        { "id": "d", "effects": ["git"], "where": { "forced": true }, "then": "deny" },
        { "effects": ["git"], "then": "deny" },
        { "id": "a b", "effects": ["git"], "then": "deny" }
      ]
    }`
    expect(problemsOf(text)).toEqual([
      '!2: "preset" must be one of "careful", "standard", "relaxed", got "standrad" | Did you mean "standard"?',
      '!4: the rule "a": "delet" is not an effect | Did you mean "delete"?',
      '!5: the rule "b": "then" must be "end_turn" or "deny" or "ask" or "rewrite" or "tell" or "allow", got "dney" | Did you mean "deny"?',
      '!6: the rule "c" needs "then" | Write {"id": "…", "effects": ["…"], "then": "ask"}.',
      '!7: the rule "d": "forced" is not a field of the effect git | Did you mean "force"?',
      '!8: a rule needs "id" | Write {"id": "…", "effects": ["…"], "then": "ask"}.',
      '!9: the rule "a b": "id" must be a name of up to 80 letters, digits, dots, dashes and underscores, got "a b"',
    ])
  })

  it.each([
    ['[]', 'the file must be a JSON object'],
    ['{"rules": {}}', '"rules" must be a list'],
    ['{"rules": [1]}', 'a rule must be an object'],
    ['{"ruels": []}', '"ruels" is not known | Did you mean "rules"?'],
    [rule({ excpt: ['x'] }), '"excpt" is not known | Did you mean "except"?'],
    [rule({ of: '' }), '"of" must be a pattern or a list'],
    [rule({ of: [] }), '"of" must be a pattern or a list'],
    [rule({ of: ['x'.repeat(301)] }), 'a pattern may have at most 300 characters'],
    [rule({ of: ['{a,b}'.repeat(40)] }), 'cannot be read | Write {a,b} with at most 64 alternatives.'],
    [rule({ of: Array.from({ length: 201 }, () => 'x') }), 'a list of up to 200 patterns'],
    [rule({ say: 'x'.repeat(1001) }), 'a text of up to 1000 characters'],
    [rule({ until: 'tomorrow' }), 'a date such as "2030-01-31"'],
    [rule({ mode: 'shadows' }), 'Did you mean "shadow"?'],
    [rule({ off: true }), '"off" is only for rules of a preset'],
    [rule({ then: 'tell' }), 'needs "say"'],
    [rule({ where: { deep: 'yes' } }), '"deep" must be true or false, got "yes"'],
    [rule({ effects: ['git'], where: { loses: 'histroy' } }), 'Did you mean "history"?'],
    [rule({ effects: ['git', 'delete'], where: { force: true } }), 'is not a field of the effect delete'],
    [rule({ effects: ['unknown'], of: 'x' }), 'has nothing that "of" could mean'],
    [rule({ unless: { of: 'x' } }), '"unless" must be a list of up to 200 exceptions'],
    [rule({ unless: [{}] }), '"unless" must be a list'],
    [rule({ unless: [{ of: 'x', off: true }] }), '"unless" must be a list'],
    [rule({ unless: [{ of: [] }] }), '"unless" must be a list'],
    [rule({ unless: [{ of: ['{a'] }] }), 'the braces in "{a" cannot be read'],
    [rule({ unless: [{ effects: ['send'] }] }), '"send" is not an effect of this rule | Choose from delete.'],
    [rule({ unless: [{ where: { force: true } }] }), '"force" is not a field of the effect delete'],
    [rule({ unless: [{ where: { deep: 'no' } }] }), '"deep" must be true or false, got "no"'],
    [rule({ effects: [] }), '"effects" must be an effect, a list of effects'],
    [rule({ id: 'standard/x' }), 'and this file has no preset | Add "preset": "standard" to the file'],
    [rule({ id: 'careful/send' }), 'this file has no preset | Add "preset": "careful"'],
    [rule({ effects: 'delet' }), '"delet" is not an effect | Did you mean "delete"?'],
    [rule({ effects: ['push'] }), 'Use "effects": ["git"] with "where": {"operation": "push"}.'],
    [rule({ effects: ['upload'] }), 'Did you mean "send"?'],
    [rule({ effects: ['zzzzzz'] }), 'Choose from read, write, delete, move, run, send'],
    [rule({ effects: ['git'], where: { operation: ['push', 'psuh'] } }), '"operation" is never "psuh"'],
    [rule({ effects: ['install'], where: { manager: 'nmp' } }), 'Did you mean "npm"?'],
    [rule({ effects: ['send', 'fetch'], of: 'https://example.com/' }), 'hosts | Write "example.com".'],
    [rule({ effects: ['send'], of: 'https://{a,b}.com' }), 'patterns of send are hosts | Write "a.com".'],
    [rule({ effects: ['send'], except: ['localhost:3000'] }), 'hosts | Write "localhost".'],
    [rule({ effects: ['git'], unless: [{ of: ['origin/main'] }] }), 'branches | Write "main".'],
    [rule({ of: '${HOME}/.ssh' }), 'patterns have no variables | Write "~/.ssh".'],
    [rule({ in: { mode: ['x'] } }), '"in" must be an object such as'],
    [rule({ at_most: 0, per: 'turn' }), '"at_most" must be a whole number from 1 to 1000000, got 0'],
    [rule({ at_most: -3, per: 'turn' }), '"at_most" must be a whole number from 1 to 1000000, got -3'],
    [rule({ at_most: 1.5, per: 'turn' }), '"at_most" must be a whole number'],
    [rule({ at_most: 1e9, per: 'turn' }), '"at_most" must be a whole number'],
    [rule({ at_most: '3', per: 'turn' }), '"at_most" must be a whole number'],
    [rule({ cost: 0, per: 'turn' }), '"cost" must be a number above 0, up to 1000000, got 0'],
    [rule({ at_most: 3 }), '"at_most" needs "per" | Add "per": "session" or "turn" or "hour".'],
    [rule({ at_most: 3, per: 'day' }), '"per" must be "session" or "turn" or "hour", got "day"'],
    [rule({ at_most: 3, per: 'sesion' }), 'Did you mean "session"?'],
    [rule({ per: 'turn' }), '"per" needs a limit | Add one of at_most, same_call, tokens, cost, denies'],
    [rule({ uncounted: 'warn' }), '"uncounted" needs a limit'],
    [rule({ at_most: 3, per: 'turn', uncounted: 'allow' }), '"uncounted" must be "deny" or "warn"'],
    [
      rule({ at_most: 3, same_call: 3, per: 'turn' }),
      'has two limits, "at_most" and "same_call" | Write two',
    ],
    [rule({ then: 'allow', at_most: 3, per: 'turn' }), 'a rule that allows cannot have a limit'],
    [rule({ atmost: 3 }), 'Did you mean "at_most"?'],
    [rule({ then: 'rewrite' }), 'needs "to": how it rewrites | Add "to": "force-with-lease" or'],
    [rule({ then: 'rewrite', to: 'force-with-leese' }), 'Did you mean "force-with-lease"?'],
    [rule({ to: 'dry-run' }), '"to" is only for rules that rewrite'],
    [rule({ otherwise: 'deny' }), '"otherwise" is only for rules that rewrite'],
    [rule({ then: 'rewrite', to: 'dry-run', otherwise: 'allow' }), '"otherwise" must be "ask" or "deny"'],
    [
      rule({ then: 'rewrite', to: 'dry-run', at_most: 2, per: 'turn' }),
      'a rule that rewrites cannot have a limit',
    ],
    [rule({ in: {} }), '"in" must be an object such as'],
    [rule({ until: '2030-02-31' }), '"until" must be a date such as'],
    [rule({ of: '!src' }), '"!src" never applies: it means no path | Use "except", or write ./!'],
    [rule({ of: ['a', ' x '] }), '" x " never applies: it means no path | Remove the spaces'],
    [rule({ of: '$HOME/**' }), 'patterns have no variables | Write "~/**".'],
    [rule({ except: '${HOME}/a' }), 'patterns have no variables | Write "~/a".'],
    [rule({ of: '~root' }), '"~root" never applies: it means no path | Write ~ for your own'],
    [rule({ of: 'src\\**' }), 'means no path | Write / between folders.'],
    [rule({ unless: [{ of: '!a' }] }), '"!a" never applies: it means no path'],
    [rule({ in: { agents: [] } }), '"in" must be an object such as'],
    [
      rule({ in: { modes: ['bypassPermission'] } }),
      'no permission mode "bypassPermission" | Did you mean "bypassPermissions"?',
    ],
    [rule({ in: { modes: ['accept-edits'] } }), 'Did you mean "acceptEdits"?'],
    [rule({ in: { modes: ['plan', 'Default'] } }), 'Did you mean "default"?'],
    [rule({ in: { agents: ['codx'] } }), 'there is no agent "codx" | Did you mean "codex"?'],
    [rule({ in: { agents: ['somebody'] } }), 'there is no agent "somebody" | Choose from amazon-q'],
  ])('%s closes', (text, problem) => {
    const problems = problemsOf(text)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^!/)
    expect(problems[0]).toContain(problem)
  })

  it.each([
    rule({ of: ['~', '~/x', './!a', 'a b', 'a!', 'a$b', '*~', '/a/b ', './a\\b', '../ x'] }),
    rule({ effects: ['run'], of: ['!x', '$EDITOR', 'a\\ b'] }),
    rule({ until: '2032-02-29' }),
  ])('may have %s', (text) => {
    expect(problemsOf(text)).toEqual([])
  })

  it('may be for a permission mode of its embedder, with a note', () => {
    const [note = '', ...more] = problemsOf(rule({ in: { modes: ['plan', 'review-only'] } }))
    expect(more).toEqual([])
    expect(note).not.toMatch(/^!/)
    expect(note).toContain('no known agent has the permission mode "review-only" | Agents have default, plan')
  })

  it('may name a single effect without a list', () => {
    const text = rule({ effects: 'send' })
    expect(problemsOf(text)).toEqual([])
    const read = readRules(JSON.parse(text), { owner: 'user', now: NOW, agents: [] })
    expect(read.rules.rules[0]?.effects).toEqual(['send'])
  })

  it('may have a pattern that only one of its effects can meet', () => {
    expect(problemsOf(rule({ effects: ['read', 'git'], of: 'origin/main' }))).toEqual([])
    expect(problemsOf(rule({ effects: '*', of: 'origin/main' }))).toEqual([])
  })

  it('uses an id only once', () => {
    const one = { id: 'a', effects: ['run'], then: 'ask' }
    expect(problemsOf(JSON.stringify({ rules: [one, one] }))[0]).toContain('the id "a" is used twice')
  })

  it('has a limit', () => {
    const rules = Array.from({ length: 1001 }, (_, i) => ({ id: `r${i}`, effects: ['run'], then: 'ask' }))
    expect(problemsOf(JSON.stringify({ rules }))[0]).toContain(
      'there are 1001 rules; a file may have at most 1000',
    )
    expect(problemsOf(JSON.stringify({ rules: rules.slice(1) }))).toEqual([])
  })

  it('has a limit for its patterns, in which each alternative counts', () => {
    const six = '{a,b}'.repeat(6)
    const rules = (count: number, more: object = {}) => ({
      rules: Array.from({ length: count }, (_, i) => ({
        id: `r${i}`,
        effects: ['delete'],
        of: [`**/${six}*${i}`],
        then: 'deny',
        ...more,
      })),
    })
    expect(problemsOf(JSON.stringify(rules(78)))).toEqual([])
    // The file that hung has 25,000 of them. One problem is enough.
    const huge = rules(500, { of: Array.from({ length: 50 }, (_, i) => `**/${six}*${i}`) })
    for (const text of [
      rules(79),
      rules(40, { except: [six] }),
      rules(40, { unless: [{ of: six }] }),
      huge,
    ]) {
      const problems = problemsOf(JSON.stringify(text, null, 1))
      expect(problems).toHaveLength(1)
      expect(problems[0]).toMatch(
        /^!\d\d+: the rule "r\d+": the file has more than 5000 patterns; \{a,b\} counts as two \| Use stars/,
      )
    }
  })

  it('says which of two contradicting rules is in force, whatever their order', () => {
    const allow = { id: 'yes', effects: ['delete', 'move'], of: ['a', 'b'], then: 'allow' }
    const no = { id: 'no', effects: ['move', 'delete'], of: ['b', 'a'], then: 'deny' }
    for (const rules of [
      [allow, no],
      [no, allow],
    ]) {
      expect(problemsOf(JSON.stringify({ rules }))).toEqual([
        '1: the rule "no" contradicts "yes"; deny is in force | Remove one of them.',
      ])
    }
    expect(problemsOf(JSON.stringify({ rules: [allow, { ...no, of: ['a'] }] }))).toEqual([])
  })

  it('says which of two limits of the same is in force', () => {
    const three = { id: 'three', effects: ['install'], then: 'deny', at_most: 3, per: 'turn' }
    const five = { ...three, id: 'five', at_most: 5 }
    expect(problemsOf(JSON.stringify({ rules: [three, five] }))).toEqual([
      '1: the rules "three" and "five" limit the same to different numbers; the smaller is in force | Remove one of them.',
    ])
    const others = [
      { ...five, per: 'hour' },
      { ...five, id: 'asks', then: 'ask' },
      { id: 'yes', effects: ['install'], then: 'allow' },
    ]
    expect(problemsOf(JSON.stringify({ rules: [three, ...others] }))).toEqual([])
  })

  it('says when a rule has ended', () => {
    expect(problemsOf(rule({ until: '2026-05-30' }))[0]).toContain('the rule "one" ended on 2026-05-30')
    expect(problemsOf(rule({ until: '2026-06-01' }))).toEqual([])
  })

  it('does not let a project allow anything, and leaves the rest in force', () => {
    const rules = [
      { id: 'yes', effects: ['run'], then: 'allow' },
      { id: 'no', effects: ['send'], then: 'deny' },
    ]
    const read = readRules({ rules }, { owner: 'project', now: NOW, agents: [] })
    expect(read.rules.rules.map(({ id }) => id)).toEqual(['no'])
    expect(read.problems.map(({ closes }) => closes)).toEqual([false])
  })
})

describe('a change of the preset', () => {
  const first = presetRules('standard').find(({ then }) => then === 'ask')
  const id = first?.id ?? ''

  it.each([
    ['the user may switch a rule off', { off: true }, 'user', 1],
    ['the user may loosen a rule', { then: 'allow' }, 'user', 1],
    ['the user may except something', { except: ['~/scratch'] }, 'user', 1],
    ['a project may tighten a rule', { then: 'deny' }, 'project', 1],
    ['a project may not loosen a rule', { then: 'allow' }, 'project', 0],
    ['a project may not give a rule a limit', { at_most: 5, per: 'turn' }, 'project', 0],
    ['the user may give a rule a limit', { at_most: 5, per: 'turn' }, 'user', 1],
    ['a project may not switch a rule off', { off: true }, 'project', 0],
    ['a project may not except anything', { except: ['x'] }, 'project', 0],
    ['a project may not except certain effects', { unless: [{ of: ['x'] }] }, 'project', 0],
    ['a project may not put a rule into shadow mode', { mode: 'shadow' }, 'project', 0],
  ] as const)('%s', (_, change, owner, kept) => {
    const read = readRules(
      { preset: 'standard', rules: [{ id, ...change }] },
      { owner, now: NOW, agents: [] },
    )
    expect(read.rules.rules).toHaveLength(kept)
    expect(read.problems.map(({ closes }) => closes)).toEqual(kept === 1 ? [] : [false])
  })

  it('suggests the id with the name of the preset', () => {
    const text = JSON.stringify({ preset: 'standard', rules: [{ id: 'sned', then: 'deny' }] })
    expect(problemsOf(text)).toEqual(['!1: the rule "sned" needs "effects" | Did you mean "standard/send"?'])
  })

  it('suggests the id that was meant', () => {
    const text = JSON.stringify({ preset: 'standard', rules: [{ id: `${id}x`, off: true }] })
    expect(problemsOf(text)[0]).toContain(`Did you mean "${id}"?`)
  })
})

describe('a rule of the guard', () => {
  const read = (rules: readonly object[], owner: RulesOwner = 'user') =>
    readRules({ rules }, { owner, now: NOW, agents: [] })

  it('is changed by the user by its id, with any preset or none', () => {
    const change = { id: 'guard/send', off: true }
    for (const preset of [undefined, ...PRESET_NAMES]) {
      const found = readRules({ preset, rules: [change] }, { owner: 'user', now: NOW, agents: [] })
      expect(found).toMatchObject({ rules: { rules: [] }, guard: [change], problems: [] })
    }
  })

  it('is not changed by a project, not even to be stricter', () => {
    const { guard, problems } = read([{ id: 'guard/send', then: 'deny' }], 'project')
    expect(guard).toEqual([])
    expect(problems).toMatchObject([{ closes: false, text: expect.stringContaining('only the user') }])
  })

  it.each([
    [{ id: 'guard/sned', off: true }, 'Did you mean "guard/send"?'],
    [{ id: 'guard/send', at_most: 3, per: 'turn' }, 'Remove it, or write a rule of your own.'],
    [{ id: 'guard/send', then: 'rewrite' }, 'Write "deny", "ask" or "allow", or a rule of your own.'],
    [{ id: 'guard/send', of: ['https://example.org'] }, undefined],
  ])('with a mistake closes the file: %j', (rule, todo) => {
    const { guard, problems } = read([rule])
    expect(guard).toEqual([])
    expect(problems[0]?.closes).toBe(true)
    if (todo !== undefined) expect(problems[0]?.todo).toBe(todo)
  })

  it('follows the rules of a rules file, and gives a reason', () => {
    const { rules } = guardFile()
    expect(read(rules).problems).toEqual([])
    expect(rules.filter(({ say }) => say === undefined)).toEqual([])
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
  })
})

describe.each(PRESET_NAMES)('the preset %s', (preset) => {
  const rules = presetRules(preset).map((one) => ({ ...one, id: one.id.slice(preset.length + 1) }))

  it('follows its own rules, and gives a reason for each', () => {
    expect(rules.length).toBeGreaterThan(5)
    expect(readRules({ rules }, { owner: 'user', now: NOW, agents: [] }).problems).toEqual([])
    expect(rules.filter(({ say }) => say === undefined)).toEqual([])
  })
})
