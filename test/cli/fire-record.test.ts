// `fire --record`: only what `carabiner test` can come to is recorded, and what to type next can be typed.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASH, GUARD, Project, withProgram } from './program.js'

withProgram()

const CASES = '.amplifier/hooks/guard/hooks.test.json'

let project: Project
beforeEach(() => {
  project = new Project()
  gate('.amplifier/hooks/guard', 'true')
  gate('.amplifier/hooks/other', GUARD)
})
afterEach(() => project.remove())

function gate(folder: string, command: string): void {
  project.file(`${folder}/hooks.json`, {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] },
  })
}

const record = (file = CASES, more: readonly string[] = [], cwd?: string) =>
  project.call(['fire', 'PreToolUse', '--record', file, ...more], { input: BASH, ...(cwd && { cwd }) })

const type = (line: string) => project.call(line.split(' '))

describe('a hook that had no say', () => {
  it('waits for trust: nothing is recorded, and it is said what to type', async () => {
    const { code, stderr } = await record()
    expect([code, project.has(CASES)]).toEqual([1, false])
    expect(stderr).toBe(
      'carabiner: The case was not recorded: guard:PreToolUse#1 did not run (untrusted), but carabiner test would run it\n' +
        '  carabiner trust guard; then record again, or with --trust-all.\n',
    )
  })

  it('is switched off: the same', async () => {
    await type('trust guard --yes')
    await type('disable guard --user')
    const { code, stderr } = await record()
    expect([code, project.has(CASES)]).toEqual([1, false])
    expect(stderr).toContain('guard:PreToolUse#1 did not run (disabled)')
    expect(stderr).toContain('  carabiner enable guard --user; then record again.\n')
  })

  it('of another plugin than the case is about is not in the test either', async () => {
    await type('trust guard --yes')
    expect(await record()).toMatchObject({ code: 0, stderr: expect.stringContaining('recorded as') })
    expect(await type('test .amplifier/hooks/guard')).toMatchObject({ code: 0 })
  })

  it('is of the project, which the case is about', async () => {
    await type('trust guard --yes')
    const { code, stderr } = await record('calls.json')
    expect([code, project.has('calls.json')]).toEqual([1, false])
    expect(stderr).toContain('other:PreToolUse#1 did not run (untrusted)')
  })

  it('is off by its own file: so it is in the test', async () => {
    project.file('.amplifier/hooks/guard/hooks.json', {
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }] },
      processes: { idle: { command: ['true'], enabled: false } },
    })
    await type('trust guard --yes')
    expect(await record()).toMatchObject({ code: 0, stderr: expect.stringContaining('recorded as') })
  })
})

it('what to type next names the project, in words that a shell takes', async () => {
  const { stderr } = await record(
    `my project/${CASES}`,
    ['--project', 'my project', '--trust-all'],
    project.base,
  )
  expect(stderr).toContain(
    `next carabiner trust guard --project 'my project'   # one of its files has changed\n`,
  )
})

describe('a trusted plugin that gets a case', () => {
  const states = async () => {
    const { hooks } = JSON.parse((await project.call(['list', '--json'])).stdout)
    type Listed = { name: string; state: string; kept?: string }
    return hooks.map(({ name, state, kept }: Listed) => `${name} ${kept ?? state}`)
  }
  const recorded = async (options: { readonly env?: Readonly<Record<string, string>> } = {}) => {
    const { code, stderr } = await project.call(['fire', 'PreToolUse', '--record', CASES], {
      input: BASH,
      ...options,
    })
    return [code, stderr.includes('recorded as'), stderr.includes('next carabiner trust guard')]
  }

  it('stays trusted', async () => {
    await type('trust guard --yes')
    expect(await recorded()).toEqual([0, true, false])
    expect(await states()).toContain('guard:PreToolUse#1 ready')
    expect(await type('test guard')).toMatchObject({ code: 0, stderr: '' })
  })

  it('waits where an agent recorded it', async () => {
    await type('trust guard --yes')
    expect(await recorded({ env: { CLAUDECODE: '1' } })).toEqual([0, true, true])
    expect(await states()).toContain('guard:PreToolUse#1 modified')
  })

  it('waits where a hook of it names the file', async () => {
    gate('.amplifier/hooks/guard', 'test ! -x "$CLAUDE_PLUGIN_ROOT"/hooks.test.json')
    await type('trust guard --yes')
    expect(await recorded()).toEqual([0, true, true])
    expect(await states()).toContain('guard:PreToolUse#1 modified')
  })

  it('waits where the hook itself changed another file meanwhile', async () => {
    gate('.amplifier/hooks/guard', 'echo more > .amplifier/hooks/guard/notes.txt')
    await type('trust guard --yes')
    expect(await recorded()).toEqual([0, true, true])
    expect(await states()).toContain('guard:PreToolUse#1 modified')
  })
})
