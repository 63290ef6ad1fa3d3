import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const bare = (...args: readonly string[]) => project.carabiner(args)
const ofUser = (hooks: object) => project.file('../home/.amplifier/hooks/hooks.json', { hooks })
const STOP = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] }

it('how many hooks are ready and what they listen to, and what to type next', async () => {
  ofUser(STOP)
  const { code, stdout, stderr } = await bare()
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.split('\n').slice(1)).toEqual([
    '  1 hook ready',
    '  Stop 1',
    'next carabiner explain Stop',
    '',
  ])
})

it('what is not trusted, and what is broken', async () => {
  project.hooks({ PreToolUse: [['Bash', 'true']], Stopp: [['', 'true']] })
  const { stdout } = await bare()
  expect(stdout).toContain('0 hooks ready\n  1 untrusted')
  expect(stdout).toContain('note unknown-event .amplifier/hooks/hooks.json:')
  expect(stdout).toContain('next Correct .amplifier/hooks/hooks.json:')
  expect(stdout).toContain(
    '1 waits for trust\n    untrusted project (.amplifier/hooks/hooks.json): It was not',
  )
  expect(stdout).toContain('next carabiner trust project\n')
})

it('where there is nothing: what to type for a first hook, and it works', async () => {
  const { code, stdout } = await bare()
  expect(code).toBe(0)
  const [, typed = ''] = /0 hooks ready\nnext (.*)\n$/.exec(stdout) ?? []
  expect(await project.run('sh', ['-c', typed])).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse((await bare('--json')).stdout)).toMatchObject({
    hooks: { untrusted: 1 },
    diagnostics: [],
  })
  const fire = (command: string) => {
    const input = { tool_name: 'Bash', tool_input: { command } }
    return project.carabiner(['fire', 'PreToolUse', '--trust-all'], { input })
  }
  expect([(await fire('rm -rf /')).code, (await fire('ls')).code]).toEqual([2, 0])
})

it('where there is nothing elsewhere: the same for there', async () => {
  const { stdout } = await project.carabiner(['--project', project.folder], { cwd: project.base })
  expect(stdout).toContain("next mkdir -p 'my project/.amplifier/hooks' && ")
})

it('what is switched off', async () => {
  ofUser(STOP)
  project.file('../home/.amplifier/settings.json', { hooks: { enabled: false } })
  const { stdout } = await bare()
  expect(stdout).toContain('0 hooks ready\n  1 disabled')
  expect(stdout).toContain('next carabiner list\n')
})

it('as JSON', async () => {
  ofUser(STOP)
  const { stdout } = await bare('--json')
  expect(JSON.parse(stdout)).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    project: project.folder,
    hooks: { ready: 1, untrusted: 0, modified: 0, disabled: 0 },
    events: { Stop: 1 },
    untrusted: [],
    diagnostics: [],
    next: ['carabiner explain Stop'],
  })
})

it('says when everything is bypassed', async () => {
  const { stdout } = await project.carabiner([], { env: { CARABINER_OFF: '1' } })
  expect(stdout).toContain('note bypassed')
  expect(stdout).toContain('next unset CARABINER_OFF')
})
