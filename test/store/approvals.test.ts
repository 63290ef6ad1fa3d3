// Approvals in files, and in memory with answers that come later, keep the same contract.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { queueApprover } from '../../src/asking/queue-approver.js'
import { askUser } from '../../src/core/events/result.js'
import { createHooks } from '../../src/runtime.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { madeQuestion } from '../approvals/made-question.js'
import { ownFolder } from '../approvals/own-folder.js'
import { contract, START } from './contracts/approvals.js'
import { MemoryApprovals } from './contracts/memory-approvals.js'

contract('FileApprovals', () => {
  const root = ownFolder()
  const clock = { now: START }
  const places = { stateDir: join(root, 'state'), dataDir: join(root, 'data') }
  const open = () => new FileApprovals({ ...places, now: () => clock.now })
  return { queue: open(), open, clock }
})

contract('MemoryApprovals', () => {
  const clock = { now: START }
  const queue = new MemoryApprovals(() => clock.now)
  return { queue, open: () => queue, clock }
})

describe('approvals that answer later', () => {
  const project = '/somewhere/project'
  const never = new AbortController().signal

  it('are awaited by the approver', async () => {
    const queue = new MemoryApprovals()
    const approver = queueApprover({ queue, project })
    expect(await approver(madeQuestion(), never)).toMatchObject({ unanswered: expect.any(String) })
    const [pending] = await queue.open()
    await queue.answer(pending?.id ?? '', { decision: 'allow', by: 'ann' })
    expect(await approver(madeQuestion(), never)).toEqual({ option: 'Allow', by: 'ann' })
    expect(await approver(madeQuestion(), never)).toMatchObject({ unanswered: expect.any(String) })
  })

  it('are waited for while somebody watches', async () => {
    const queue = new MemoryApprovals()
    const watching = await queue.watching()
    const onRaised = ({ id }: { readonly id: string }) =>
      void queue.answer(id, { decision: 'deny', by: 'ben', reason: 'no' })
    const reply = await queueApprover({ queue, project, onRaised })(madeQuestion(), never)
    expect(reply).toEqual({ option: 'Deny', by: 'ben', reason: 'no' })
    await watching.end()
  })

  it('refuse the call when they fail', async () => {
    const queue = new MemoryApprovals()
    queue.take = async () => {
      throw new Error('the gateway is away')
    }
    const reply = await queueApprover({ queue, project })(madeQuestion(), never)
    expect(reply).toEqual({ option: 'Deny', reason: 'the gateway is away', by: 'default' })
  })

  it('decide a call of a session', async () => {
    const queue = new MemoryApprovals()
    const hooks = await createHooks({ approver: queueApprover({ queue, project }), globals: false })
    hooks.register('PreToolUse', () => askUser('Deploy?'), { name: 'guard' })
    const session = hooks.session({ id: 's1' })
    const call = { name: 'Bash', input: { command: 'make deploy' } }
    expect((await session.callTool(call, async () => 'done')).status).toBe('needs_approval')
    const [pending] = await queue.open()
    await queue.answer(pending?.id ?? '', { decision: 'allow', by: 'ann' })
    expect((await session.callTool(call, async () => 'done')).status).toBe('ok')
    await hooks.close()
  })
})
