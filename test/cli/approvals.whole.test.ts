// `carabiner approvals`: a question of one process, answered in another.

import { spawn } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEPLOYMENT as CALL, ended, Project, programFile, type Run, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const ASKS = `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"deployments need a person"}}'`

async function asking(command = ASKS): Promise<void> {
  project.hooks({ PreToolUse: [['Bash', command]] })
  expect((await project.call(['trust', '--yes'])).code).toBe(0)
}

function fire(input: object = CALL, ...more: readonly string[]): Promise<Run> {
  return project.call(['fire', '--json', ...more], { input })
}

async function raised(): Promise<string> {
  expect((await fire()).code).toBe(3)
  const [id] = await project.openIds()
  return id ?? expect.unreachable()
}

describe('a question of one process', () => {
  it('waits, is allowed in another, and the same call passes once', async () => {
    await asking()
    const id = await raised()
    const { stdout, code } = await project.call(['approvals', 'allow', id])
    expect([code, stdout]).toEqual([0, `${id} allowed once, the next time the agent makes the same call\n`])
    expect((await fire()).code).toBe(0)
    expect((await fire()).code).toBe(3)
    expect(await project.openIds()).not.toEqual([id])
  })

  it('is the same question until it is answered', async () => {
    await asking()
    const id = await raised()
    expect(await raised()).toBe(id)
    expect(await project.openIds()).toEqual([id])
  })

  it('is denied with a reason that reaches the model, also when it tries again', async () => {
    await asking()
    const id = await raised()
    await project.call(['approvals', 'deny', id, '--reason', 'use staging'])
    for (let tries = 0; tries < 2; tries++) {
      const { code, stdout } = await fire()
      expect(code).toBe(2)
      expect(JSON.parse(stdout).reason).toContain('use staging')
    }
  })

  it.each([
    ['another command', { ...CALL, tool_input: { command: 'deploy --to production --force' } }],
    ['another session', { ...CALL, session_id: 's2' }],
    ['another directory', { ...CALL, cwd: '/' }],
  ])('an answer is not for %s', async (_, other) => {
    await asking()
    await project.call(['approvals', 'allow', await raised()])
    expect((await fire(other)).code).toBe(3)
    expect((await fire()).code).toBe(0)
  })

  it('an answer is not for what a changed hook asks', async () => {
    await asking()
    await project.call(['approvals', 'allow', await raised()])
    await asking(ASKS.replace('deployments need', 'every deployment needs'))
    expect((await fire()).code).toBe(3)
  })

  it('a second answer is told what the first was', async () => {
    await asking()
    const id = await raised()
    await project.call(['approvals', 'deny', id])
    const { code, stderr } = await project.call(['approvals', 'allow', id])
    expect(code).toBe(1)
    expect(stderr).toMatch(/was answered already: Deny, by \S+ at 20/)
  })

  it('of two that answer at once one wins, and both are told', async () => {
    await asking()
    const id = await raised()
    const runs = await Promise.all(
      ['allow', 'deny', 'allow', 'deny'].map((action) => project.carabiner(['approvals', action, id])),
    )
    expect(runs.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1])
    for (const { code, stderr } of runs) if (code === 1) expect(stderr).toContain('was answered already')
  })

  it('a call without a session cannot be answered later, and says so', async () => {
    await asking()
    const { session_id: _, ...call } = CALL
    const { code, stdout } = await fire(call)
    expect(code).toBe(3)
    expect(JSON.parse(stdout).reason).toContain('without a session_id in the payload')
    expect(await project.openIds()).toEqual([])
  })

  it('what it shows can neither control the terminal nor pass for words of ours', async () => {
    await asking()
    const command = 'ls \u001b]52;c;aGk=\u0007\u202e\u200b\r\u001b[2K'
    await fire({ ...CALL, tool_input: { command } })
    const [id = ''] = await project.openIds()
    const runs = [['approvals'], ['approvals', 'show', id], ['approvals', '--json']]
    for (const args of runs) {
      const { stdout } = await project.call(args)
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
    expect((await project.call(['approvals', 'show', id])).stdout).toContain('⟨U+001B⟩]52;c;aGk=⟨U+0007⟩')
  })
})

describe('fire --wait', () => {
  it('goes on as soon as somebody answers elsewhere', async () => {
    await asking()
    const waiting = project.carabiner(['fire', '--json', '--wait', '60'], { input: CALL })
    let id: string | undefined
    while (id === undefined) [id] = await project.openIds()
    await project.call(['approvals', 'allow', id])
    const { code, stdout } = await waiting
    expect(code).toBe(0)
    expect(JSON.parse(stdout).approval.answer).toMatchObject({ decision: 'allow', option: 'Allow' })
  })
})

describe('fire --as', () => {
  // Without --wait, an agent with a dialog of its own asks there.
  const as = (...more: readonly string[]) =>
    project.call(['fire', '--as', 'claude-code', '--wait', '0.5', ...more], { input: CALL })

  it('denies before the patience of the agent ends, with what to do; then the same call passes', async () => {
    await asking()
    const { code, stdout } = await as()
    const [id = ''] = await project.openIds()
    expect(code).toBe(2)
    const { permissionDecision, permissionDecisionReason } = JSON.parse(stdout).hookSpecificOutput
    expect(permissionDecision).toBe('deny')
    expect(permissionDecisionReason).toContain(`carabiner approvals allow ${id}`)
    expect(permissionDecisionReason).toContain('deployments need a person')
    await project.call(['approvals', 'allow', id])
    expect(await as()).toMatchObject({ code: 0 })
    expect(await as()).toMatchObject({ code: 2 })
  })

  it('a deadline that comes before the answer is a deny with the id, whatever the hook has as its default', async () => {
    await asking()
    const { code, stdout } = await as('--wait=60', '--timeout', '2.5')
    const [id = ''] = await project.openIds()
    expect(code).toBe(2)
    expect(stdout).toContain(id)
  })
})

describe('an agent that answers its own question', () => {
  it.each([
    ['allow', 'CLAUDECODE'],
    ['allow', 'GEMINI_CLI'],
  ])('%s is refused where %s is set', async (action, mark) => {
    await asking()
    const id = await raised()
    const { code, stderr } = await project.call(['approvals', action, id], { env: { [mark]: '1' } })
    expect(code).toBe(1)
    expect(stderr).toContain('for a person')
    expect(await project.openIds()).toEqual([id])
  })
})

describe('deny --all', () => {
  it('denies everything that waits, is on record, and is left to people', async () => {
    await asking()
    const calls = ['a', 'b', 'c'].map((to) => ({ ...CALL, tool_input: { command: `deploy ${to}` } }))
    for (const call of calls) expect((await fire(call)).code).toBe(3)
    const all = ['approvals', 'deny', '--all', '--reason', 'not now']
    expect(await project.call(all, { env: { CLAUDECODE: '1' } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is for a person'),
    })
    expect((await project.call([...all, '--project', project.home])).stdout).toBe('no pending approvals\n')
    expect((await project.call([...all, '--project', '.'])).stdout).toBe('denied 3 questions\n')
    expect((await project.call(all)).stdout).toBe('no pending approvals\n')
    const { code, stdout } = await fire(calls[1])
    expect([code, JSON.parse(stdout).reason]).toEqual([2, expect.stringContaining('not now')])
    const kept = await project.call(['audit', '--kind', 'approval', '--json'])
    expect(JSON.parse(kept.stdout).entries).toMatchObject(
      Array(3).fill({ decision: 'deny', reason: 'not now' }),
    )
  })
})

describe('allow always', () => {
  it('is refused where the hooks do not offer it', async () => {
    await asking()
    const id = await raised()
    const { code, stderr } = await project.call(['approvals', 'allow', id, '--always'])
    expect(code).toBe(1)
    expect(stderr).toContain('do not offer this')
  })

  it('is offered by a hook, makes a grant, and ends when it is revoked', async () => {
    const offer = { approvalOptions: ['Allow once', 'Allow always', 'Deny'] }
    const ask = {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'ask',
        permissionDecisionReason: 'Deploy?',
      },
      ...offer,
    }
    await asking(`printf '%s' '${JSON.stringify(ask)}'`)
    const { stdout } = await project.call(['approvals', 'allow', await raised(), '--always'])
    expect(stdout).toContain('allowed from now on')
    for (let times = 0; times < 3; times++) expect((await fire()).code).toBe(0)
    expect((await fire({ ...CALL, tool_input: { command: 'deploy --to moon' } })).code).toBe(3)
    const listed = await project.call(['approvals', 'grants'])
    expect(listed.stdout).toMatch(/^[0-9a-f]{8} {2}Bash {2}.*deploy --to production/)
    const id = listed.stdout.slice(0, 8)
    expect((await project.call(['approvals', 'revoke', id])).stdout).toBe(`revoked ${id}  Bash\n`)
    expect((await fire()).code).toBe(3)
    const { stdout: kept } = await project.call(['audit', '--kind', 'revoked', '--json'])
    expect(JSON.parse(kept).entries).toMatchObject([{ kind: 'revoked', tool: 'Bash' }])
  })

  it('A1: said by a person, is kept by the hook of an agent, and not if the agent says it', async () => {
    const ask = { action: 'ask_user', approvalPrompt: 'Deploy?', approvalOptions: ['Allow always', 'Deny'] }
    await asking(`printf '%s' '${JSON.stringify(ask)}'`)
    const env = { CLAUDECODE: '1' }
    const asAgent = () =>
      project.carabiner(['fire', '--as', 'claude-code', '--wait', '0.5'], { input: CALL, env })
    expect((await asAgent()).code).toBe(2)
    const [id = ''] = await project.openIds()
    const refused = await project.carabiner(['approvals', 'allow', id, '--always'], { env })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is for a person')])
    expect((await project.carabiner(['approvals', 'allow', id, '--always'])).code).toBe(0)
    for (let times = 0; times < 2; times++) expect(await asAgent()).toMatchObject({ code: 0, stderr: '' })
    expect((await project.call(['approvals', 'grants'])).stdout).toContain('deploy --to production')
  })

  it('nothing is always allowed at first, and there is nothing to revoke', async () => {
    expect((await project.call(['approvals', 'grants'])).stdout).toContain('no grants in this project')
    const { code, stderr } = await project.call(['approvals', 'revoke', 'x'])
    expect(code).toBe(1)
    expect(stderr).toContain('There is no grant x')
  })
})

describe('the audit', () => {
  it('has the answer, and by whom', async () => {
    await asking()
    await project.call(['approvals', 'deny', await raised(), '--reason', 'use staging'])
    const { stdout } = await project.call(['audit', '--kind', 'approval', '--json'])
    expect(JSON.parse(stdout).entries).toMatchObject([
      { kind: 'approval', decision: 'deny', reason: 'use staging', tool: 'Bash', session: 's1' },
    ])
  })
})

describe('--watch', () => {
  /** Types the first line of its input once it was asked, and Ctrl-C when its input ends. */
  const PTY = `
import os, pty, select, sys
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
said, asked, ended = b'', False, False
while True:
    ready = select.select([master] if ended or not asked else [master, 0], [], [])[0]
    if 0 in ready:
        ended = True
        os.write(master, b'\\x03')
    if master not in ready:
        continue
    try:
        data = os.read(master, 4096)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
    said += data
    if not asked and b'Answers' in said and b'Deny' in said.split(b'Answers')[-1]:
        asked = True
        line = b''
        while not line.endswith(b'\\n'):
            line += os.read(0, 1)
        os.write(master, line.replace(b'\\n', b'\\r'))
os.waitpid(pid, 0)
`

  it('asks at the terminal what another process raises, which waits meanwhile', async () => {
    await asking()
    const watcher = spawn('python3', ['-c', PTY, process.execPath, programFile(), 'approvals', '--watch'], {
      cwd: project.folder,
      env: project.env({ TERM: 'xterm' }),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const over = ended(watcher)
    await new Promise<void>((resolve) => {
      watcher.stdout.on('data', (chunk: Buffer) => chunk.includes('waiting for questions') && resolve())
    })
    watcher.stdin.write('2 use staging\n')
    const { code, stdout } = await fire()
    expect(code).toBe(2)
    expect(JSON.parse(stdout).reason).toContain('use staging')
    watcher.stdin.end()
    const { stdout: seen } = await over
    expect(seen).toContain('deployments need a person')
    expect(seen).toContain('deploy --to production')
  })

  it('without a terminal it says so', async () => {
    const { code, stderr } = await project.call(['approvals', '--watch'])
    expect(code).toBe(1)
    expect(stderr).toContain('there is none')
  })
})

describe('wrong usage', () => {
  it.each([
    [['alow', 'x'], 'did you mean allow?'],
    [['allow'], 'Which one? carabiner approvals allow ID'],
    [['list', 'x'], 'does not accept "x"'],
    [['allow', 'k7'], 'too short to identify a question'],
    [['deny', 'k7f3-9qxd', '--always'], '--always does not work with'],
    [['deny', 'k7f3-9qxd', '--all'], 'Give an ID or --all'],
    [['allow', '--all'], '--all does not work with'],
    [['grants', '--watch'], '--watch does not work with'],
    [['--watch', '--json'], 'use one or the other'],
  ])('%j', async (args, expected) => {
    const { code, stdout, stderr } = await project.call(['approvals', ...args])
    expect(code).toBe(64)
    expect(`${stdout}${stderr}`).toContain(expected)
  })

  it('an id that is unknown', async () => {
    const { code, stderr } = await project.call(['approvals', 'allow', 'aaaa-bbbb'])
    expect(code).toBe(1)
    expect(stderr).toContain('There is no question aaaa-bbbb')
  })
})
