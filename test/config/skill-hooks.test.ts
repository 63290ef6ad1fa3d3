// P3: hooks in the front matter of a SKILL.md. What cannot be read is said, with its line.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as it stands in a command

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { hooksInSkill } from '../../src/config/skill-hooks.js'
import { unitsOf } from '../../src/config/units.js'
import { tree } from './temp-tree.js'

const SKILL = String.raw`---
name: planning
version: "2.1.0"
description: Plans with files. It says: anything, "here", [and there]
  on a second line.
allowed-tools:
  - Read
  - "Bash(git *)"
hooks:
  # reminders
  UserPromptSubmit:
    - hooks:
        - type: command
          command: "if [ -f plan.md ]; then echo \"[plan] active\"; head -5 plan.md; fi; true"
  PreToolUse:
    - matcher: "Write|Edit|Bash"
      hooks:
        - type: command
          command: cat plan.md 2>/dev/null | head -30 || true
          timeout: 5
          once: true
  PostToolUse:
    - matcher: 'Write|Edit'
      hooks:
        - { }
        - type: command
          command: >-
            echo one
            two

            three
  Stop:
  - hooks:
    - type: command
      command: |
        SCRIPT_DIR="${'${CLAUDE_PLUGIN_ROOT:-$HOME/x}'}/scripts"

        if [ -n "$SCRIPT_DIR" ]; then # no comment
          sh "$SCRIPT_DIR/check.sh"
        fi
  PreCompact:
    - matcher: "*"
      hooks:
        - type: command
          command: ./scripts/note.sh   # ours
user-invocable: true
---

hooks:
  Stop: not this one
`.replace('        - { }\n', '')

const read = (text: string) => {
  const found = hooksInSkill(text)
  if (found?.json === undefined) return found
  return { value: JSON.parse(found.json), json: found.json }
}

describe('P3: the front matter of a skill', () => {
  it('has the hooks of five events, as YAML means them', () => {
    const one = (command: string, more = {}) => ({ type: 'command', command, ...more })
    expect(read(SKILL)).toMatchObject({
      value: {
        hooks: {
          UserPromptSubmit: [
            {
              hooks: [one('if [ -f plan.md ]; then echo "[plan] active"; head -5 plan.md; fi; true')],
            },
          ],
          PreToolUse: [
            {
              matcher: 'Write|Edit|Bash',
              hooks: [one('cat plan.md 2>/dev/null | head -30 || true', { timeout: 5, once: true })],
            },
          ],
          PostToolUse: [{ matcher: 'Write|Edit', hooks: [one('echo one two\nthree')] }],
          Stop: [
            {
              hooks: [
                one(
                  'SCRIPT_DIR="${CLAUDE_PLUGIN_ROOT:-$HOME/x}/scripts"\n\nif [ -n "$SCRIPT_DIR" ]; then # no comment\n  sh "$SCRIPT_DIR/check.sh"\nfi\n',
                ),
              ],
            },
          ],
          PreCompact: [{ matcher: '*', hooks: [one('./scripts/note.sh')] }],
        },
      },
    })
  })

  it('keeps each value on its line', () => {
    const { json = '' } = (read(SKILL) ?? {}) as { json?: string }
    const lineOf = (text: string, part: string) => text.split('\n').findIndex((line) => line.includes(part))
    for (const part of ['cat plan.md', 'note.sh']) expect(lineOf(json, part)).toBe(lineOf(SKILL, part))
  })

  it.each([
    ['no front matter', '# Plan\n\nhooks:\n  Stop: x\n'],
    ['front matter that does not end', '---\nStop: x\n'],
    ['none in it', '---\nname: x\ndescription: hooks: none\n---\n'],
    ['the word in a list in brackets', '---\nallowed-tools: [\n  "hooks",\n]\n---\n'],
    ['the word in a text', '---\ndescription: >\n  hooks: none\n\n  hooks\n# hooks\n---\nbody\n---\n'],
    ['an odd line, and not the word', '---\n*x : {a: b}\n---\n'],
    ['an example in the body', '---\nname: x\n---\n# Use\nLike this:\n---\nhooks:\n  Stop: []\n---\n'],
  ])('is none with %s', (_, text) => {
    expect(hooksInSkill(text)).toBeUndefined()
  })

  it.each([
    ['an alias', 'Stop: *other', 3, /begins with \*/],
    ['an anchor', 'Stop: &x', 3, /begins with &/],
    ['a tag', 'Stop: !!map', 3, /begins with !/],
    ['a flow', 'Stop: [{ hooks: [] }]', 3, /begins with \[/],
    ['a quote that does not end', 'Stop: "x', 3, /does not end/],
    ['a value on two lines', 'Stop: x\n    y', 4, /next line/],
    ['a key twice', 'Stop:\n  Stop:', 4, /appears twice/],
    ['a colon in a plain value', 'Stop: a: b', 3, /": "/],
    ['a tab', 'Stop:\n\t- x', 4, /./],
    ['a strange block', 'Stop: |2x', 3, /write "\|"/],
    ['an unknown escape', 'Stop: "\\q"', 3, /escape/],
    ['a line that is nothing', 'Stop:\n  nothing', 4, /KEY: VALUE/],
    ['another blank', 'Stop:\n  \u00a0- hooks: []', 4, /spaces/],
  ])('is refused with %s, and its line is named', (_, body, line, said) => {
    const found = hooksInSkill(`---\nhooks:\n  ${body}\n---\n`)
    expect(found).toMatchObject({ line, problem: expect.stringMatching(said) })
  })

  const BODY = '  Stop:\n    - hooks:\n        - type: command\n          command: exit 2\n'
  const FLOW = '{Stop: [{hooks: [{type: command, command: exit 2}]}]}'
  it.each([
    ['an escaped key', `---\n"\\x68ooks":\n${BODY}---\n`, 2],
    ['a key with \\u', `---\n"hoo\\u006bs":\n${BODY}---\n`, 2],
    ['a key with \\U', `---\n"hoo\\U0000006bs":\n${BODY}---\n`, 2],
    ['a key on two lines', `---\n? "ho\\\n  oks"\n:\n${BODY}---\n`, 2],
    ['a flow', `---\n{name: s, hooks: ${FLOW}}\n---\n`, 2],
    ['a flow behind the mark', `--- {hooks: ${FLOW}}\n---\n`, 1],
    ['a flow as value', `---\nhooks: ${FLOW}\n---\n`, 2],
    ['a key with a question mark', `---\nname: s\n? hooks\n:\n${BODY}---\n`, 3],
    ['a tag', `---\n!!str hooks:\n${BODY}---\n`, 2],
    ['an anchor', `---\n&a hooks:\n${BODY}---\n`, 2],
    ['an alias', `---\nname: &a hooks\n*a :\n${BODY}---\n`, 3],
    ['a merge key', `---\nx: &h\n  hooks: ${FLOW}\n<<: *h\n---\n`, 4],
    ['a quoted key without a blank', `---\n"hooks":${FLOW}\n---\n`, 2],
    ['indented keys', `---\n  name: s\n  hooks:\n  ${BODY.replaceAll('\n', '\n  ')}\n---\n`, 2],
    ['a tab before the key', `---\nname: s\n\thooks:\n${BODY}---\n`, 3],
    ['a byte order mark before the key', `---\nname: s\n\uFEFFhooks:\n${BODY}---\n`, 3],
    ['a capital', `---\nHooks:\n${BODY}---\n`, 2],
    ['one hook', `---\nhook:\n${BODY}---\n`, 2],
    ['no end', `---\nhooks:\n${BODY}`, 7],
    ['a document that ended before', `---\nname: s\n...\nhooks:\n${BODY}---\n`, 3],
    ['a second document', `---\nname: s\n---\nhooks:\n${BODY}---\n`, 4],
    ['a first document that is empty', `---\n---\nname: s\nhooks:\n${BODY}---\n`, 4],
    ['UTF-16', `\uFFFD\uFFFD${[...`---\nhooks:\n${BODY}---\n`].join('\0')}\0`, 1],
  ])('is refused with hooks behind %s, and its line is named', (_, text, line) => {
    expect(hooksInSkill(text)).toMatchObject({ line, problem: expect.stringContaining('cannot be read') })
  })

  it.each([
    ['a byte order mark', `\uFEFF---\nhooks:\n${BODY}---\n`],
    ['CRLF', `---\nhooks:\n${BODY}---\n`.replaceAll('\n', '\r\n')],
    ['CR', `---\nhooks:\n${BODY}---\n`.replaceAll('\n', '\r')],
    ['a blank line first', `\n---\nhooks:\n${BODY}---\n`],
    ['comments behind the marks', `--- # a\nhooks:\n${BODY}--- # b\n`],
    ['another end', `---\nhooks:\n${BODY}...\nbody\n`],
    ['a tab behind the key', `---\nhooks:\t\n${BODY}---\n`],
  ])('is read with %s', (_, text) => {
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'exit 2' }] }] }
    expect(read(text)).toMatchObject({ value: { hooks } })
    expect(hooksInSkill(text)).not.toHaveProperty('problem')
  })

  it('is read beside a line that could hide a second "hooks", which is told', () => {
    expect(hooksInSkill(`---\nhooks:\n${BODY}"hoo\\x6bs": {}\n---\n`)).toMatchObject({
      json: expect.stringContaining('exit 2'),
      problem: expect.stringContaining('KEY: VALUE'),
      line: 7,
    })
  })

  it('takes no longer than its length, whatever it holds', () => {
    const size = 100_000
    for (const text of [
      `  a${' '.repeat(size)}b`,
      `  Stop: |\n    a${'\n'.repeat(size)}    b`,
      Array.from({ length: size / 8 }, (_, i) => `  k${i}:`).join('\n'),
      `a${' '.repeat(size)}b`,
      `"a"${' '.repeat(size)}b`,
    ])
      expect(hooksInSkill(`---\nhooks:\n${text}\n---\n`)).toBeDefined()
  })

  it('never throws, whatever it holds', () => {
    for (let i = 0; i < SKILL.length; i += 7) {
      expect(() => hooksInSkill(SKILL.slice(0, i) + SKILL.slice(i + 3))).not.toThrow()
      expect(() => hooksInSkill(`${SKILL.slice(0, i)}\n---\n`)).not.toThrow()
    }
  })
})

describe('P3: a plugin with skills', () => {
  async function loaded(skills: Readonly<Record<string, string>>, manifest: object = { name: 'plan' }) {
    const root = tree()
    const project = join(root, 'project')
    const files = { '.claude-plugin/plugin.json': JSON.stringify(manifest), ...skills }
    for (const [path, text] of Object.entries(files)) {
      const file = join(project, '.amplifier/hooks/plan', path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
    return { ...(await loadConfig({ projectDir: project })), folder: join(project, '.amplifier/hooks/plan') }
  }

  it('has their hooks, in force from the start and trusted with the plugin', async () => {
    const { specs, diagnostics, folder } = await loaded({ 'skills/plan/SKILL.md': SKILL })
    expect(diagnostics).toEqual([])
    expect(specs.map(({ hook }) => [...hook.events][0])).toEqual([
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'Stop',
      'PreCompact',
    ])
    expect(specs.map(({ hook }) => hook.once)).toEqual([false, true, false, false, false])
    expect(specs[1]?.hook.origin).toMatchObject({
      file: join(folder, 'skills/plan/SKILL.md'),
      line: SKILL.split('\n').findIndex((line) => line.includes('Write|Edit|Bash')) + 3,
    })
    expect(specs[0]?.place.skillDir).toBe(join(folder, 'skills/plan'))
    const [unit] = unitsOf(specs).keys()
    expect(unit).toMatchObject({ kind: 'folder', path: folder })
    expect(unit?.hooks.at(-1)?.command).toBe('"${CLAUDE_PLUGIN_ROOT}/skills/plan"/./scripts/note.sh')
  })

  it('has those that plugin.json names, too, and none from elsewhere', async () => {
    const skill =
      '---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: exit 2\n---\n'
    const { specs } = await loaded(
      { 'more/a/SKILL.md': skill, 'SKILL.md': skill, '../other/SKILL.md': skill },
      { name: 'plan', skills: ['./more', './', '../other', '/etc'] },
    )
    expect(specs.map(({ hook }) => hook.origin.file?.split('/plan/')[1])).toEqual([
      'more/a/SKILL.md',
      'SKILL.md',
    ])
  })

  it('says which of them cannot be read, and keeps the others', async () => {
    const bad = '---\nhooks:\n  Stop: *x\n---\n'
    const { specs, diagnostics } = await loaded({ 'skills/a/SKILL.md': bad, 'skills/plan/SKILL.md': SKILL })
    expect(specs).toHaveLength(5)
    expect(diagnostics).toMatchObject([
      { code: 'config-invalid', file: expect.stringContaining('skills/a/SKILL.md'), line: 3 },
    ])
  })
})
