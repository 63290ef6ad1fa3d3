import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { setup } from '../../../src/hosts/claude-code/setup.js'
import { isOurs } from '../../../src/hosts/entries.js'
import type { Entry, Form } from '../../../src/hosts/host-setup.js'
import { SetupProblem } from '../../../src/hosts/setup-problem.js'
import { runs } from '../../property/runs.js'
import { engineEntries, packEntries } from '../grouped.js'

const FILE = '/home/u/.claude/settings.json'
const PROGRAM = { node: '/opt/my node/bin/node', script: '/opt/carabiner/dist/bin/carabiner.js' }
const PACK = packEntries(PROGRAM)
const ENGINE = engineEntries(PROGRAM)
const theirs = (command: string) => ({ type: 'command', command })

const { form } = setup.files[0] as { readonly form: Form }
const AT = { file: FILE, earlier: new Map<string, string>() }
const put = (text: string | undefined, entries: readonly Entry[] = PACK) => form.put(text, entries, AT)
const take = (text: string) => form.take(text, FILE, isOurs) ?? ''

describe('a handler is ours', () => {
  it.each(
    [
      ...[...PACK, ...ENGINE].map(({ group }) => group.hooks[0].command),
      '"/old place/node" "/old place/node_modules/carabiner/dist/bin/carabiner.js" hook session-start',
      '"/n$/\\$x/node" "/with \\"quotes\\"/carabiner.js" hook stop',
      "'/usr/bin/nodejs' '/a b/carabiner.js' hook stop",
      'carabiner hook pre-tool-use',
      '/usr/local/bin/carabiner  hook  agentStop ',
      'node /x/carabiner.js fire PreToolUse --as claude-code',
      'npx carabiner hook pre-tool-use',
      'npx --yes carabiner@1.2.3 hook stop',
      '/usr/bin/bunx carabiner fire Stop --as claude-code',
      'node /x/carabiner.js fire --as claude-code PreToolUse',
      'node /x/carabiner.js fire --as gemini --timeout 54 Stop',
      'carabiner hook pre-tool-use --as codex --timeout 540 --memory',
      '"/d/bin/clip" "/n/node" "/x/carabiner.js" fire --as claude-code PreToolUse',
      "NODE_OPTIONS= NODE_PATH= '/a b/clip' '/usr/bin/node' '/x/carabiner.js' hook pre-tool-use",
    ].filter((command) => !command.includes('$/')),
  )('%s', (command) => {
    expect(isOurs({ type: 'command', command })).toBe(true)
    expect(isOurs({ command, timeout: 3, async: true })).toBe(true)
  })

  it.each([
    'carabiner',
    'carabiner hook',
    'carabiner hook stop --verbose',
    'carabiner hook stop && ./mine.sh',
    'carabiner hook stop\n./mine.sh',
    'carabiner hook stop; true',
    'carabiner hook $(cat name)',
    '"$HOME/carabiner" hook stop',
    'carabiner list',
    'carabiner fire PreToolUse',
    'carabiner fire PreToolUse --as claude-code --config mine.json',
    'carabiner fire WorktreeCreate --as claude-code',
    'X=1 carabiner hook stop',
    'my-carabiner hook stop',
    'bash carabiner hook stop',
    '"/x/carabiner.js hook stop',
    'node"/x/carabiner.js" hook stop',
    'echo carabiner hook stop',
    'node /x/carabiner.js fire --as claude-code',
    'node /x/carabiner.js fire --as claude-code Stop --config mine.json',
    'clip carabiner hook stop',
    'clip clip node carabiner.js hook stop',
    'my-clip node carabiner.js hook stop',
    'clip node other.js hook stop',
    'node /x/carabiner.js hook "stop --memory"',
    'npx',
    'npx -y',
    'npx -p evil carabiner hook stop',
    'npx my-carabiner hook stop',
    'npx @other/carabiner@1 hook',
    '',
  ])('but not %j', (command) => {
    expect(isOurs({ type: 'command', command })).toBe(false)
  })

  it('not in another form', () => {
    for (const one of [null, 'carabiner hook stop', [], { type: 'prompt', command: 'carabiner hook stop' }]) {
      expect(isOurs(one)).toBe(false)
    }
    expect(isOurs({ type: 'command', command: 'carabiner hook stop', args: ['x'] })).toBe(false)
    expect(isOurs({ type: 'command', command: 7 })).toBe(false)
  })

  it('whatever its path is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        const program = { node: `/${a}/node`, script: `/${b}/carabiner.js` }
        for (const { group } of packEntries(program)) expect(isOurs(group.hooks[0])).toBe(true)
      }),
      { numRuns: runs(100) },
    )
  })
})

describe('settings with our entries', () => {
  const guard = { matcher: 'Bash', hooks: [theirs('./guard.sh')], note: 'mine' }

  it('have ours first, and all that was there', () => {
    const before = { model: 'opus', hooks: { PreToolUse: [guard], Odd: [1] }, permissions: { deny: ['x'] } }
    const { hooks, ...rest } = JSON.parse(put(JSON.stringify(before, null, 4)))
    expect(rest).toEqual({ model: 'opus', permissions: { deny: ['x'] } })
    expect(hooks.PreToolUse).toEqual([PACK[2]?.group, guard])
    expect(hooks.Odd).toEqual([1])
    expect(hooks.UserPromptSubmit).toEqual([PACK[4]?.group, PACK[5]?.group])
  })

  it('keep comments, a byte order mark, CRLF and tabs', () => {
    const before =
      '\uFEFF{\r\n\t// mine\r\n\t"model": "x", /* y */\r\n\t"hooks": {\r\n\t\t"Stop": [] // none\r\n\t}\r\n}'
    const after = put(before)
    expect(
      after.startsWith(
        '\uFEFF{\r\n\t// mine\r\n\t"model": "x", /* y */\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{',
      ),
    ).toBe(true)
    expect(after).toContain('// none')
    expect(after.replaceAll('\r\n', '')).not.toContain('\n')
    expect(after.endsWith('\r\n\t}\r\n}')).toBe(true)
  })

  it('are made of nothing', () => {
    for (const empty of ['', '  \n', '\uFEFF']) {
      expect(JSON.parse(put(empty).replace('\uFEFF', ''))).toEqual(JSON.parse(put(undefined)))
    }
    expect(put('\uFEFF').startsWith('\uFEFF')).toBe(true)
  })
})

describe('settings without our entries', () => {
  it('lose what ours alone kept there', () => {
    for (const entries of [PACK, ENGINE]) {
      expect(take(put(undefined, entries))).toBe('{}\n')
      expect(take(put('{\n  "model": "x"\n}\n', entries))).toBe('{\n  "model": "x"\n}\n')
    }
  })

  it('lose our handler in a group with others, and nothing beside', () => {
    const group = { matcher: 'Bash', hooks: [theirs('a'), theirs('carabiner hook stop'), theirs('b')] }
    const before = { hooks: { Stop: [group, { hooks: [] }, 3], Other: {} } }
    const left = {
      hooks: { Stop: [{ ...group, hooks: [theirs('a'), theirs('b')] }, { hooks: [] }, 3], Other: {} },
    }
    expect(take(JSON.stringify(before))).toBe(JSON.stringify(left))
    expect(take(JSON.stringify(before, null, 2))).toBe(JSON.stringify(left, null, 2))
  })

  it('are the same text where there are none', () => {
    for (const text of [
      '{ }',
      '{"hooks":[]}',
      '{"hooks":{"Stop":{}}}',
      '{"hooks":{"Stop":[],}}',
      ' ',
      '{"hooks":null}',
    ]) {
      expect(take(text)).toBe(text)
    }
  })

  it('lose drift, duplicates and old paths when they are added again', () => {
    const [first, ...rest] = PACK
    const drifted = [...rest.reverse(), first, first].flatMap((one) => (one ? [one] : []))
    const old = packEntries({ node: '/gone/node', script: '/gone/carabiner.js' })
    const text = put(put('{\n  "a": 1\n}', drifted), old.slice(0, 3))
    expect(put(take(text))).toBe(put('{\n  "a": 1\n}'))
  })
})

describe('settings that are left alone', () => {
  it.each([
    ['[]', 'is not a JSON object'],
    ['null', 'is not a JSON object'],
    ['"text"', 'is not a JSON object'],
    ['{"a": 1', ':1 is not valid JSON: the text ends too early'],
    ['{\n "a": 1\n} {', ':3 is not valid JSON'],
    ['{"hooks": []}', ':1 "hooks" is not an object'],
    ['{\n"hooks": null}', ':2 "hooks" is not an object'],
    ['{"hooks":\n{"Stop":\n {}}}', ':3 "Stop" is not a list'],
  ])('%j', (text, why) => {
    expect(() => put(text)).toThrow(SetupProblem)
    expect(() => put(text)).toThrow(why)
  })

  it('a repeated key is refused, because removing one would bring back the other', () => {
    const mine = JSON.stringify([{ hooks: [theirs('mine')] }])
    const ours = JSON.stringify([{ hooks: [theirs('carabiner hook stop')] }])
    const text = `{"hooks": {\n"Stop": ${mine},\n"Stop": ${ours}}}`
    expect(() => take(text)).toThrow(SetupProblem)
    expect(() => take(text)).toThrow(':2 "Stop" is there twice')
    expect(() => put(`{"hooks": {}, "hooks": {"Stop": ${mine}}}`)).toThrow(':1 "hooks" is there twice')
  })

  it('nested deeper than a stack, without one', () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    expect(() => put(deep)).toThrow('is nested deeper than')
    expect(() => put(deep)).toThrow(SetupProblem)
  })
})

// ---- for any settings -----------------------------------------------------------------------------------------

const handler = fc.oneof(
  fc.constantFrom('./x.sh', 'echo "carabiner hook stop"', 'carabiner list').map(theirs),
  fc.constantFrom(null, 1, 'text', {}),
)
const group = fc.record({ matcher: fc.constantFrom('Bash', '*'), hooks: fc.array(handler, { maxLength: 3 }) })
const event = fc.constantFrom('Stop', 'PreToolUse', 'SessionEnd', 'UserPromptSubmit', 'Mine')
const hooks = fc.dictionary(event, fc.array(fc.oneof(group, fc.constant('odd')), { maxLength: 3 }))
const settings = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), fc.option(hooks, { nil: undefined }))
  .map(([rest, some]) => (some === undefined ? rest : { ...rest, hooks: some }))
const layouts = fc.record({
  unit: fc.constantFrom<string | undefined>(undefined, '  ', '\t', '    '),
  crlf: fc.boolean(),
  mark: fc.boolean(),
  end: fc.constantFrom('', '\n', '\n\n'),
  remark: fc.constantFrom('', '// "hooks": {\n', '/* } */ '),
})

describe('whatever the settings are', () => {
  it('our entries can be removed again, and everything else stays', () => {
    fc.assert(
      fc.property(
        settings,
        layouts,
        fc.constantFrom(PACK, ENGINE),
        (value, { unit, crlf, mark, end, remark }, entries) => {
          const plain = remark + JSON.stringify(value, null, unit) + end
          const text = (mark ? '\uFEFF' : '') + (crlf ? plain.replaceAll('\n', '\r\n') : plain)
          const longer = put(text, entries)
          expect(form.isSame(put(take(longer), entries), longer)).toBe(true)
          // An empty list or object of theirs cannot be told from one that ours left behind.
          const isFull = Object.values(value.hooks ?? { a: [1] }).every(
            (list) => (list as unknown[]).length > 0,
          )
          if (isFull && Object.keys(value.hooks ?? { a: 1 }).length > 0) expect(take(longer)).toBe(text)
          const shorter = take(longer)
          expect(take(shorter)).toBe(shorter)
        },
      ),
      { numRuns: runs(100) },
    )
  })
})

it('texts that say the same do so in any layout', () => {
  expect(form.isSame('{"a":[1,2]}', '{ // x\n "a": [\n1, 2,] }')).toBe(true)
  expect(form.isSame('{"a":[1,2]}', '{"a":[2,1]}')).toBe(false)
  expect(form.isSame('{', '{')).toBe(false)
})
