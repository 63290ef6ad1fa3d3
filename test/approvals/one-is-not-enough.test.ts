// A question for two people is never put to the one person of a terminal or a dialog.

import { expect, it, vi } from 'vitest'
import { mcpApprover } from '../../src/adapters/mcp/approver.js'
import { approverOf } from '../../src/cli/fire/ask-person.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { MemoryApprovals } from '../store/contracts/memory-approvals.js'
import { madeQuestion } from './made-question.js'
import { ownFolder } from './own-folder.js'

const project = '/somewhere/project'
const forTwo = madeQuestion({ answer: { approvalPeople: 2 } })
const forOne = madeQuestion()
const never = new AbortController().signal
const NOT_HERE = { option: 'Deny', reason: expect.stringMatching(/several different people must allow/) }

it('in the dialog of an MCP client', async () => {
  vi.stubEnv('CARABINER_HOME', ownFolder())
  const asked: string[] = []
  const client = {
    asks: () => true,
    ask: async (method: string) => {
      asked.push(method)
      return { result: { action: 'accept', content: { decision: 'Allow' } } }
    },
  }
  const approver = mcpApprover(client, { projectDir: project, log: () => {} })
  expect(await approver(forTwo, never)).toMatchObject(NOT_HERE)
  expect(asked).toEqual([])
  expect(await approver(forOne, never)).toEqual({ option: 'Allow', by: 'person' })
  vi.unstubAllEnvs()
})

it.each([{ ask: true }, { ask: true, dialog: true }, { dialog: true }])(
  'at the terminal of fire or in the dialog of an agent: %j',
  async (asking) => {
    const folder = ownFolder()
    const queue = new FileApprovals({ stateDir: folder, dataDir: folder, approversFile: `${folder}/none` })
    const stores = { approvals: async () => queue }
    const place = { project, stores, onTrouble: () => {}, isKnown: true }
    const approver = approverOf(
      asking as Parameters<typeof approverOf>[0],
      place as unknown as Parameters<typeof approverOf>[1],
    )
    expect(await approver(forTwo, never)).toMatchObject(NOT_HERE)
  },
)

it('where a queue has people elsewhere, which are then asked', async () => {
  const queue = new MemoryApprovals()
  const place = { project, stores: { approvals: async () => queue }, onTrouble: () => {}, isKnown: true }
  const approver = approverOf(
    { ask: true } as Parameters<typeof approverOf>[0],
    place as unknown as Parameters<typeof approverOf>[1],
  )
  expect(await approver(forTwo, never)).toMatchObject({
    unanswered: expect.stringMatching(/2 different people/),
  })
  expect(await queue.open()).toHaveLength(1)
})
