// `carabiner fire` and a person: asked at this terminal, or waited for.

import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEPLOYMENT as CALL, Project, programFile, withProgram } from './program.js'

withProgram()

const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0

let project: Project
beforeEach(async () => {
  project = new Project()
  const ask = {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'ask',
      permissionDecisionReason: 'deployments need a person',
    },
    approvalOptions: ['Allow once', 'Allow always', 'Deny'],
  }
  project.hooks({ PreToolUse: [['Bash', `printf '%s' '${JSON.stringify(ask)}'`]] })
  expect((await project.call(['trust', '--yes'])).code).toBe(0)
  project.file('call.json', CALL)
  project.file('stranger.json', { ...CALL, session_id: undefined })
})
afterEach(() => project.remove())

const FIRE = ['fire', '--payload', 'call.json']
const STRANGER = ['fire', '--payload', 'stranger.json']
/** Standard output is for the program that called us. */
const through = '"$@" > out.json'
const prompt = 'until denied > '

const outcome = () => JSON.parse(project.read('out.json'))

describe.skipIf(!hasPython)('A4: fire --ask', () => {
  it('asks at the terminal, and its standard output is the outcome alone', async () => {
    const { code, stdout } = await project.onTerminal([...FIRE, '--ask', '--json'], {
      input: '1\n',
      prompt,
      through,
    })
    expect([code, outcome().action]).toEqual([0, 'continue'])
    expect(outcome().approval.answer).toMatchObject({ decision: 'allow', option: 'Allow once' })
    for (const part of [/deployments need a person/, /deploy --to production/, /[45]:\d\d until denied/])
      expect(stdout).toMatch(part)
    expect(await project.openIds()).toEqual([])
  })

  it('needs no session, and "always" is kept without one', async () => {
    const no = await project.onTerminal([...STRANGER, '--ask', '--json'], {
      input: '3 use staging\n',
      prompt,
      through,
    })
    expect([no.code, outcome().reason]).toEqual([2, 'User denied: deployments need a person (use staging)'])
    const yes = await project.onTerminal([...STRANGER, '--ask', '--json'], { input: '2\n', prompt, through })
    expect(yes.code).toBe(0)
    const again = await project.onTerminal([...STRANGER, '--ask', '--json'], { through })
    expect([again.code, again.stdout]).toEqual([0, ''])
    expect((await project.call(['approvals', 'grants'])).stdout).toContain('deploy --to production')
  })

  it('says so where there is no terminal', async () => {
    const { code, stdout } = await project.run('setsid', [
      '-w',
      process.execPath,
      programFile(),
      ...FIRE,
      '--ask',
      '--json',
    ])
    expect(code).toBe(3)
    expect(JSON.parse(stdout).reason).toContain('there is no terminal to ask in')
  })

  it('is not for an agent, which may have a terminal', async () => {
    const { code, stdout } = await project.onTerminal([...FIRE, '--ask'], {
      input: '1\n',
      prompt,
      env: { CLAUDECODE: '1' },
    })
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('Answering is for a person, but CLAUDECODE says'),
    ])
    expect(stdout).not.toContain(prompt)
  })

  it.each([
    [['--as', 'claude-code'], '--ask is for people, and --as for agents', 2],
    [['--wait', '5'], '--wait waits for an answer from another: use one or the other', 64],
  ])('is not given with %j', async (more, said, exit) => {
    const { code, stdout, stderr } = await project.call([...FIRE, '--ask', ...more])
    expect([code, `${stdout}${stderr}`]).toEqual([exit, expect.stringContaining(said)])
  })
})

describe.skipIf(!hasPython)('A4: fire --wait', () => {
  /** Waits at a terminal, and answers as soon as the countdown is seen. */
  async function waited(args: readonly string[], answer: (id: string) => readonly string[]) {
    let screen = ''
    let answered: Promise<unknown> | undefined
    const run = await project.onTerminal(args, {
      through,
      onOutput: (text) => {
        screen += text
        const id = / left/.test(screen) && /waiting for a person: (\S+)/.exec(screen)?.[1]
        if (id) answered ??= project.carabiner(['approvals', ...answer(id)])
      },
    })
    await answered
    return run
  }

  it('shows the id, the call, how to answer and a countdown, and takes the countdown away', async () => {
    const { code, stdout } = await waited([...FIRE, '--wait', '60', '--json'], (id) => ['allow', id])
    expect([code, outcome().action]).toEqual([0, 'continue'])
    const [, id] = /waiting for a person: (\S+) {2}Bash {2}deploy --to production/.exec(stdout) ?? []
    expect(stdout).toContain(`carabiner approvals allow ${id} (or carabiner approvals deny ${id}`)
    expect(stdout).toMatch(/ {2}(?:1:00|0:5\d) left/)
    expect(stdout.endsWith('\r\u001b[K')).toBe(true)
  })

  it('can be answered meanwhile without a session', async () => {
    const { code } = await waited([...STRANGER, '--wait', '60', '--json'], (id) => [
      'deny',
      id,
      '--reason',
      'no',
    ])
    expect([code, outcome().reason]).toEqual([2, 'User denied: deployments need a person (no)'])
  })
})

describe('A4: without a terminal', () => {
  it('fire --wait says on standard error which question waits, once', async () => {
    const { code, stdout, stderr } = await project.call([...FIRE, '--wait', '0.1', '--json'])
    const [id] = await project.openIds()
    expect([code, JSON.parse(stdout).action]).toEqual([3, 'ask_user'])
    expect(stderr).toBe(
      `waiting for a person: ${id}  Bash  deploy --to production\n  answer in another terminal: carabiner approvals allow ${id} (or carabiner approvals deny ${id} --reason "…")\n`,
    )
  })

  it('fire --as says nothing there: an agent may show it to the model', async () => {
    const { stderr } = await project.call(['fire', '--as', 'claude-code', '--wait', '0.1'], { input: CALL })
    expect(stderr).not.toContain('waiting')
  })

  it('a call without a session is not raised, and the reason says what helps', async () => {
    const { code, stdout, stderr } = await project.call([...STRANGER, '--json'])
    expect([code, stderr]).toEqual([3, ''])
    expect(JSON.parse(stdout).reason).toMatch(
      /without a session_id .* Add one, or .* --ask .* --wait SECONDS/,
    )
    expect(await project.openIds()).toEqual([])
  })

  it('a call without a session that nobody answered in time leaves no question behind', async () => {
    const { code, stdout } = await project.call([...STRANGER, '--wait', '0.2', '--json'])
    expect(code).toBe(3)
    expect(JSON.parse(stdout).reason).toMatch(
      /nobody answered in time. A later answer does not count: without a session_id/,
    )
    await expect.poll(() => project.openIds()).toEqual([])
  })
})
