// Asking through the queue, in a whole session and alone.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type QueueApproverOptions, queueApprover } from '../../src/asking/queue-approver.js'
import { askUser } from '../../src/core/events/result.js'
import { createHooks } from '../../src/runtime.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import type { Pending } from '../../src/store/approvals.js'
import { madeQuestion } from './made-question.js'
import { ownFolder } from './own-folder.js'

const project = '/somewhere/project'
const question = madeQuestion()
const never = new AbortController().signal

function place(options: Partial<QueueApproverOptions> = {}) {
  const root = ownFolder()
  const queue = new FileApprovals({ stateDir: join(root, 'state'), dataDir: join(root, 'data') })
  return { root, queue, approver: queueApprover({ queue, project, ...options }) }
}

/** What tells a waiting process where it is; nothing here waits for time to pass. */
const afterRaised = (queue: FileApprovals, act: (id: string) => void) => ({
  onRaised: ({ id }: Pending) => setImmediate(() => act(id)),
  queue,
})

describe('where nobody watches', () => {
  it('says at once how to answer, and takes the answer the next time', async () => {
    const { queue, approver } = place()
    const reply = await approver(question, never)
    const [{ id = '', expires = '' } = {}] = queue.open()
    const until = new Date(expires).toTimeString().slice(0, 5)
    expect(reply).toEqual({
      unanswered: `A person must approve this. Ask the user to type in their own terminal: carabiner approvals allow ${id} (or deny ${id} --reason "…"). Then try the same call again. The question is open until ${until}.`,
    })
    expect(await approver(question, never)).toEqual(reply)
    void queue.answer(id, { decision: 'allow', by: 'ann' })
    expect(await approver(question, never)).toEqual({ option: 'Allow', by: 'ann' })
    expect(await approver(question, never)).toMatchObject({ unanswered: expect.not.stringContaining(id) })
  })

  it('an answer counts in its project alone', async () => {
    const { queue, approver } = place()
    await approver(question, never)
    void queue.answer(queue.open()[0]?.id ?? '', { decision: 'allow', by: 'ann' })
    const elsewhere = queueApprover({ queue, project: '/somewhere/else' })
    expect(await elsewhere(question, never)).toMatchObject({ unanswered: expect.any(String) })
    expect(await approver(question, never)).toMatchObject({ option: 'Allow' })
  })

  it('an answer that lies in the project is nobody’s', async () => {
    const { root, queue, approver } = place()
    await approver(question, never)
    void queue.answer(queue.open()[0]?.id ?? '', { decision: 'allow', by: 'ann' })
    const inside = queueApprover({ queue, project: root })
    expect(await inside(question, never)).toMatchObject({ option: 'Deny', by: 'default' })
    expect(await approver(question, never)).toMatchObject({ option: 'Allow' })
  })

  it('a question that times out leaves the call unanswered, whatever the hook’s default is', async () => {
    const { approver } = place({ wait: 60 })
    const due = madeQuestion({ answer: { approvalTimeout: 0.5, approvalDefault: 'allow' } })
    expect(await approver(due, never)).toMatchObject({
      unanswered: expect.stringContaining('approvals allow'),
    })
  })

  it('a deny is heard with its reason, again and again', async () => {
    const { queue, approver } = place()
    await approver(question, never)
    void queue.answer(queue.open()[0]?.id ?? '', { decision: 'deny', by: 'ben', reason: 'not today' })
    for (let i = 0; i < 2; i++)
      expect(await approver(question, never)).toEqual({ option: 'Deny', by: 'ben', reason: 'not today' })
    expect(queue.open()).toEqual([])
  })

  it('who is told of new questions is told once', async () => {
    const onRaised = vi.fn()
    const { approver, queue } = place({ onRaised })
    await approver(question, never)
    await approver(question, never)
    expect(onRaised.mock.calls).toEqual([[expect.objectContaining({ id: queue.open()[0]?.id })]])
  })
})

describe('waiting', () => {
  it('goes on for the seconds given', async () => {
    const { queue } = place()
    const approver = queueApprover({
      project,
      wait: 60,
      ...afterRaised(queue, (id) => queue.answer(id, { decision: 'allow', by: 'ann' })),
    })
    expect(await approver(question, never)).toEqual({ option: 'Allow', by: 'ann' })
  })

  it('goes on while somebody watches, and ends when nobody does', async () => {
    const { queue } = place()
    const watching = queue.watching()
    const answered = queueApprover({
      project,
      ...afterRaised(queue, (id) => queue.answer(id, { decision: 'deny', by: 'ben' })),
    })
    expect(await answered(question, never)).toEqual({ option: 'Deny', by: 'ben' })
    const left = queueApprover({ project, ...afterRaised(queue, () => watching.end()) })
    expect(await left(madeQuestion({ session: 'other' }), never)).toMatchObject({
      unanswered: expect.any(String),
    })
  })

  it('ends before the host does', async () => {
    const { queue } = place()
    queue.watching()
    const wait = vi.spyOn(queue, 'wait').mockResolvedValueOnce(undefined)
    const approver = queueApprover({ queue, project, wait: 60, waitUntil: 5000 })
    expect(await approver(question, never)).toMatchObject({ unanswered: expect.any(String) })
    expect(wait.mock.calls[0]?.[1].until).toBe(4000)
    const over = queueApprover({ queue, project, wait: 60, waitUntil: 0 })
    expect(await over(question, never)).toMatchObject({ unanswered: expect.any(String) })
  })

  it('ends when nobody waits any more, and takes nothing then', async () => {
    const { queue } = place()
    const aborting = new AbortController()
    const approver = queueApprover({
      project,
      wait: 60,
      ...afterRaised(queue, (id) => {
        aborting.abort()
        void queue.answer(id, { decision: 'allow', by: 'ann' })
      }),
    })
    expect(await approver(question, aborting.signal)).toMatchObject({ unanswered: expect.any(String) })
    expect(await queueApprover({ queue, project })(question, never)).toMatchObject({ option: 'Allow' })
  })
})

describe('what goes wrong', () => {
  it('refuses the call with the reason, also where a hook would allow by default', async () => {
    const { root, queue } = place()
    writeFileSync(join(root, 'state'), '')
    const approver = queueApprover({ queue, project })
    const lenient = madeQuestion({ answer: { approvalDefault: 'allow' } })
    expect(await approver(lenient, never)).toEqual({
      option: 'Deny',
      reason: expect.stringContaining('ENOTDIR'),
      by: 'default',
    })
  })

  it('with an option is told at once', () => {
    const { queue } = place()
    expect(() => queueApprover({ queue, project, wait: -1 })).toThrow(/wait must be a number of seconds/)
    expect(() => queueApprover({ queue } as never)).toThrow(/project must be/)
    expect(() => queueApprover({ queue, project, patience: 1 } as never)).toThrow(/unknown option patience/)
  })
})

describe('in a session', () => {
  const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })

  async function session(queue: FileApprovals, id = 's1') {
    const hooks = await createHooks({ approver: queueApprover({ queue, project }) })
    hooks.register(
      'PreToolUse',
      () => askUser('Deploy?', { approvalOptions: ['Allow', 'Allow always', 'Deny'] }),
      { name: 'guard' },
    )
    return hooks.session({ id })
  }

  it('a call is asked about, answered elsewhere, and allowed once', async () => {
    const { queue } = place()
    const first = await (await session(queue)).fire('PreToolUse', bash('make deploy'))
    expect(first).toMatchObject({
      action: 'ask_user',
      reason: expect.stringContaining('carabiner approvals allow'),
    })
    const [{ id = '', question: asked } = {}] = queue.open()
    expect(asked?.call).toEqual(bash('make deploy'))
    void queue.answer(id, { decision: 'allow', by: 'ann' })
    const fire = async (command: string, of = 's1') =>
      (await (await session(queue, of)).fire('PreToolUse', bash(command))).action
    expect(await fire('make  deploy')).toBe('ask_user')
    expect(await fire('make deploy', 's2')).toBe('ask_user')
    const again = await (await session(queue)).fire('PreToolUse', bash('make deploy'))
    expect(again).toMatchObject({
      action: 'continue',
      approval: { answer: { decision: 'allow', by: 'ann' } },
    })
    expect(await fire('make deploy')).toBe('ask_user')
  })

  it('A3: an approval counts for one retry of the same call, under whatever id', async () => {
    const { queue } = place()
    const one = await session(queue)
    const call = (id: string) => one.fire('PreToolUse', { ...bash('make deploy'), tool_use_id: id })
    await call('t1')
    const [pending] = queue.open()
    expect(pending?.question.call).toEqual({ ...bash('make deploy'), tool_use_id: 't1' })
    void queue.answer(pending?.id ?? '', { decision: 'allow', by: 'ann' })
    const retried = await Promise.all(['t2', 't3', 't4'].map(call))
    expect(retried.map(({ action }) => action).sort()).toEqual(['ask_user', 'ask_user', 'continue'])
  })

  it('A2: an approval for one agent counts for no other', async () => {
    const { queue } = place()
    const one = await session(queue)
    const call = (agent_id?: string) =>
      one.fire('PreToolUse', { ...bash('make deploy'), ...(agent_id && { agent_id }) })
    await call('a1')
    void queue.answer(queue.open()[0]?.id ?? '', { decision: 'allow', by: 'ann' })
    expect((await call()).action).toBe('ask_user')
    expect((await call('a2')).action).toBe('ask_user')
    expect((await call('a1')).action).toBe('continue')
  })

  it('a deny reaches the model with the words of the person', async () => {
    const { queue } = place()
    const one = await session(queue)
    await one.fire('PreToolUse', bash('make deploy'))
    void queue.answer(queue.open()[0]?.id ?? '', { decision: 'deny', by: 'ben', reason: 'use staging' })
    expect(await one.fire('PreToolUse', bash('make deploy'))).toMatchObject({
      action: 'deny',
      reason: 'User denied: Deploy? (use staging)',
    })
  })

  it('"always" makes a grant', async () => {
    const { queue } = place()
    const one = await session(queue)
    await one.fire('PreToolUse', bash('make deploy'))
    void queue.answer(queue.open()[0]?.id ?? '', { decision: 'always', by: 'ann' })
    for (let i = 0; i < 3; i++)
      expect(await one.fire('PreToolUse', bash('make deploy'))).toMatchObject({ action: 'continue' })
  })

  it('a forged answer leaves it asked', async () => {
    const { root, queue } = place()
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const one = await session(queue)
    await one.fire('PreToolUse', bash('make deploy'))
    const [pending] = queue.open()
    const answer = {
      id: pending?.id,
      binding: pending?.question.binding,
      option: 'Allow',
      by: 'ann',
      at: pending?.asked,
      expires: pending?.expires,
    }
    const own = join(root, 'state', 'approvals', pending?.id ?? '')
    writeFileSync(join(own, 'answer-1.json'), JSON.stringify({ answer, seal: '0'.repeat(64) }), {
      mode: 0o600,
    })
    expect(readdirSync(own)).toHaveLength(2)
    expect(await one.fire('PreToolUse', bash('make deploy'))).toMatchObject({ action: 'ask_user' })
    expect(warned.mock.calls.flat().join()).toMatch(/was not given through Carabiner/)
    warned.mockRestore()
    expect(readFileSync(join(own, 'question.json'), 'utf8')).toContain('make deploy')
  })
})
