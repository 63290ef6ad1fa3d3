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
  if (!found || 'problem' in found) return found
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
    ['front matter that does not end', '---\nhooks:\n  Stop: x\n'],
    ['none in it', '---\nname: x\ndescription: hooks: none\n---\n'],
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
    ['a key twice', 'Stop:\n  Stop:', 4, /there twice/],
    ['a colon in a plain value', 'Stop: a: b', 3, /": "/],
    ['a tab', 'Stop:\n\t- x', 4, /./],
    ['a strange block', 'Stop: |2x', 3, /write "\|"/],
    ['an unknown escape', 'Stop: "\\q"', 3, /escape/],
    ['a line that is nothing', 'Stop:\n  nothing', 4, /KEY: VALUE/],
  ])('is refused with %s, and its line is named', (_, body, line, said) => {
    const found = hooksInSkill(`---\nhooks:\n  ${body}\n---\n`)
    expect(found).toMatchObject({ line, problem: expect.stringMatching(said) })
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
