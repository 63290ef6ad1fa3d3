import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ListedHook } from '../../src/hooks.js'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const list = (...args: readonly string[]) => project.call(['list', ...args])

it('shows state, name, matcher and all of what runs, under the file and by the line', async () => {
  project.hooks({ PreToolUse: [['Bash', './guard.sh --strict', 'true']], Stop: [['', 'make\ntest']] })
  const { code, stdout, stderr } = await list()
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toBe(`.amplifier/hooks/hooks.json
   7  untrusted  project:PreToolUse#1  Bash
      ./guard.sh --strict
  11  untrusted  project:PreToolUse#2  Bash
      true
  22  untrusted  project:Stop#1
      make
        test

3 hooks: 3 untrusted
untrusted project (.amplifier/hooks/hooks.json): It is waiting for your review.
next carabiner trust project
`)
})

it('fits 80 columns', async () => {
  project.hooks({ PreToolUse: [['Bash|Write|Edit', 'true']], PermissionRequest: [['mcp__.*', 'true']] })
  const { stdout } = await list()
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
})

it('as JSON: an entry for each handler', async () => {
  const file = project.hooks({ PreToolUse: [['Bash', 'a', 'b']], Stop: [['', 'c']] })
  const { stdout } = await list('--json', '--trust-all')
  const { hooks, diagnostics } = JSON.parse(stdout) as { hooks: ListedHook[]; diagnostics: unknown[] }
  expect(diagnostics).toEqual([])
  expect(hooks.map(({ command }) => command)).toEqual(['a', 'b', 'c'])
  expect(hooks[0]).toMatchObject({
    name: 'project:PreToolUse#1',
    kind: 'command',
    events: ['PreToolUse'],
    matcher: 'Bash',
    state: 'ready',
    scope: 'project',
    file,
    line: 7,
  })
})

it('a broken file is told, also as JSON, and the others are listed', async () => {
  project.hooks({ Stop: [['', 'true']] })
  const file = project.file('.amplifier/hooks/plug/hooks.json', '{\n  "hooks": {,}\n}')
  const { code, stdout } = await list()
  expect(code).toBe(0)
  expect(stdout).toContain('1 hook: 1 untrusted')
  expect(stdout).toContain('broken config-invalid .amplifier/hooks/plug/hooks.json:2 ')
  expect(stdout).toContain('next Correct .amplifier/hooks/plug/hooks.json:2\n')
  const asJson = await list('--json')
  expect(asJson.code).toBe(0)
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    hooks: [{ name: 'project:Stop#1' }],
    diagnostics: [{ code: 'config-invalid', file, line: 2 }],
  })
})

it('the user’s own hooks are ready', async () => {
  project.file('../home/.amplifier/hooks/hooks.json', {
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
  })
  const { stdout } = await list()
  expect(stdout).toMatch(/^~\/\.amplifier\/hooks\/hooks\.json\n +\d+ {2}ready {2}user:Stop#1\n/)
})

it('hooks that are switched off say by what', async () => {
  project.hooks({ Stop: [['', 'true']] })
  project.file('../home/.amplifier/settings.json', { hooks: { enabled: false } })
  const { stdout } = await list()
  expect(stdout).toContain('disabled  project:Stop#1')
  expect(stdout).toContain('"enabled": false in ')
})

it('says what to type where there is nothing', async () => {
  const { code, stdout } = await list()
  expect(code).toBe(0)
  expect(stdout).toBe(
    'no hooks\nnext carabiner new my-guard --matcher Bash   # a first hook, with its tests\n',
  )
})

it('finds hooks of Claude Code, and says how they come over', async () => {
  const settings = (command: string) =>
    project.file('.claude/settings.json', { hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })
  settings('./stop.sh')
  const { stdout } = await list()
  expect(stdout).toBe(
    'no hooks\n' +
      'next carabiner migrate   # .claude/settings.json has hooks of Claude Code\n' +
      'next carabiner new my-guard --matcher Bash   # a first hook, with its tests\n',
  )
  settings('carabiner fire Stop --as claude-code')
  expect((await list()).stdout).not.toContain('migrate')
})

it('finds that it is in a plugin', async () => {
  project.file('.claude-plugin/plugin.json', { name: 'mine' })
  expect((await list()).stdout).toBe('no hooks\nnext carabiner list --plugin .   # this folder is a plugin\n')
})

it('says when everything is bypassed', async () => {
  project.hooks({ Stop: [['', 'true']] })
  const { stdout } = await project.call(['list'], { env: { CARABINER_OFF: '1' } })
  expect(stdout).toContain('broken bypassed CARABINER_OFF=1 is set')
})

it('lists the standard hooks that Claude Code runs itself', async () => {
  expect((await list()).stdout).toMatch(/^no hooks\n/)
  await project.call(['setup', 'claude-code', '--only', 'guard,stop'])
  const { stdout } = await list()
  expect(stdout).toMatch(/^~\/\.claude\/settings\.json {2}run by Claude Code\n/)
  expect(stdout).toMatch(/\n +\d+ {2}guard {2}PreToolUse {2}Blocks commands /)
  expect(stdout).toContain(
    '\nno other hooks; Claude Code runs guard and stop of the standard pack\nnext echo ',
  )
  const { hooks, packHooks } = JSON.parse((await list('--json')).stdout)
  expect(hooks).toEqual([])
  expect(packHooks).toContainEqual({
    name: 'guard',
    hook: 'pre-tool-use',
    event: 'PreToolUse',
    agent: 'Claude Code',
    file: join(project.home, '.claude/settings.json'),
    line: expect.any(Number),
  })
})

it('calls ready only what can start and can match, in the words of the bare command', async () => {
  project.hooks({ PreToolUse: [['Bash', './gone.sh', 'true']], PostToolUse: [['bash', 'true']] })
  const { stdout } = await list('--trust-all')
  expect(stdout).toMatch(
    /cannot start +project:PreToolUse#1 .*\n +\.\/gone\.sh\n +it runs \.\/gone\.sh, but /,
  )
  expect(stdout).toMatch(/ready +project:PreToolUse#2 /)
  expect(stdout).toMatch(/matches nothing +project:PostToolUse#1 /)
  expect(stdout).toContain('\n3 hooks: 1 cannot start, 1 ready, 1 matches nothing\n')
  expect(stdout).toMatch(/\nnext carabiner doctor --trust-all\n$/)
  const bare = (await project.call(['--trust-all'])).stdout
  expect(bare).toContain('\n  1 hook ready\n  1 cannot start\n  1 matches nothing\n')
  const { hooks } = JSON.parse((await list('--json', '--trust-all')).stdout) as { hooks: object[] }
  expect(hooks.map((hook) => 'cannotStart' in hook)).toEqual([true, false, false])
})

it('shows a changed hook once', async () => {
  project.hooks({ PreToolUse: [['Bash', 'true']] })
  await project.call(['trust', 'project', '--yes'])
  project.hooks({ PreToolUse: [['Bash', 'true # changed']] })
  const { stdout } = await list()
  expect(stdout.match(/project:PreToolUse#1 {2}Bash/g)).toHaveLength(1)
  expect(stdout).toContain('\n1 hook: 1 ready\n')
})
