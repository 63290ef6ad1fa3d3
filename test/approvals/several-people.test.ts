// A question that several people must allow: any sequence of answers, and everything that is never enough.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { queueApprover } from '../../src/asking/queue-approver.js'
import { askUser, type HookResult, parseResult, proceed } from '../../src/core/events/result.js'
import type { Approver } from '../../src/core/verdict/approval.js'
import { newKeyPair } from '../../src/files/ed25519.js'
import { signedPeople } from '../../src/files/fleet/people.js'
import { userPlace } from '../../src/files/fleet-places.js'
import { verdictOfOutcome, verdictOfResult } from '../../src/hosts/answer.js'
import { createHooks } from '../../src/runtime.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { challengeOf, signedWith } from '../../src/store/approvals/signature.js'
import type { AnswerResult } from '../../src/store/approvals.js'
import { approvalTerms } from '../../src/systems/amplifier.js'
import { runs, seeded } from '../property/runs.js'
import '../files/in-a-fleet.js'
import { madeQuestion } from './made-question.js'
import { ownFolder } from './own-folder.js'

const MACHINE = '11111111-2222-4333-8444-555555555555'
const project = '/somewhere/project'
const root = newKeyPair()
const keys = new Map(['ann', 'ben', 'cat'].map((name) => [name, newKeyPair()]))
const stranger = newKeyPair()

function machine(names: readonly string[]) {
  const folder = ownFolder()
  const [stateDir, dataDir] = [join(folder, 'state'), join(folder, 'data')]
  const place = userPlace(dataDir)
  mkdirSync(dirname(place.marker), { recursive: true, mode: 0o700 })
  const rootKey = root.publicKey.toString('base64url')
  const marker = { format: 1, url: 'https://fleet.example', machine: MACHINE, name: 'm', rootKey }
  writeFileSync(place.marker, JSON.stringify(marker), { mode: 0o600 })
  let version = 0
  const write = (listed: readonly string[]) => {
    version++
    const people = listed.map((name) => ({
      ...{ name, role: 'approver' as const },
      keys: [{ kind: 'ed25519' as const, publicKey: keys.get(name)?.publicKey.toString('base64url') ?? '' }],
    }))
    writeFileSync(place.people, JSON.stringify(signedPeople({ version, people }, root)), { mode: 0o600 })
  }
  write(names)
  const places = { stateDir, dataDir, approversFile: join(folder, 'none'), onTrouble: () => {} }
  return { write, open: () => new FileApprovals(places) }
}

async function asked(people: number, names = [...keys.keys()]) {
  const at = machine(names)
  const question = madeQuestion({ answer: { approvalPeople: people } })
  const pending = at.open().raise(question, { project })
  const answer = async (name: string, option: string): Promise<AnswerResult> => {
    const key = keys.get(name) ?? stranger
    const signature = signedWith(
      key,
      challengeOf(pending, { option, nonce: 'n', asker: { machine: MACHINE, name: 'm' } }),
      'n',
    )
    return at.open().answer(pending.id, { option, by: name, signature })
  }
  return { ...at, question, pending, answer, take: () => at.open().take(question) }
}

describe('several people', () => {
  it('allow together, each once, and one deny is enough, in any sequence of answers', async () => {
    const step = fc.record({
      name: fc.constantFrom('ann', 'ben', 'cat', 'eve'),
      option: fc.constantFrom('Allow', 'Allow', 'Deny'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 3 }),
        fc.array(step, { maxLength: 6 }),
        async (people, steps) => {
          const { answer, take } = await asked(people)
          const allowed = new Set<string>()
          let decided: 'allow' | 'deny' | undefined
          for (const { name, option } of steps) {
            const { status } = await answer(name, option)
            if (decided) expect(status === 'too-late' || name === 'eve').toBe(true)
            else if (option === 'Deny') decided = 'deny'
            else if (name === 'eve') expect(status).toBe('not-signed')
            else {
              allowed.add(name)
              if (allowed.size >= people) decided = 'allow'
              expect(status).toBe(decided ? 'answered' : 'counted')
            }
          }
          const taken = await take()
          expect(taken?.decision).toBe(decided)
          if (decided === 'allow') expect(new Set(taken?.people)).toEqual(allowed)
          if (decided === 'allow') expect(await take()).toBeUndefined()
        },
      ),
      { numRuns: runs(100), ...seeded(27) },
    )
  })

  it('are named by the question as long as it is open', async () => {
    const { open, pending, answer } = await asked(3)
    const allowed = () => {
      const found = open().get(pending.id)
      return 'allowed' in found ? found.allowed : found.status
    }
    expect(allowed()).toEqual([])
    await answer('eve', 'Allow')
    expect(allowed()).toEqual([])
    await answer('ann', 'Allow')
    await answer('ann', 'Allow')
    expect(allowed()).toEqual(['ann'])
    await answer('cat', 'Allow')
    expect(allowed()).toEqual(['ann', 'cat'])
    await answer('ben', 'Allow')
    expect(allowed()).toBe('answered')
  })

  it('who allow at the same time are all told so, and the answer is used once', async () => {
    const { answer, take } = await asked(3)
    const results = await Promise.all([...keys.keys()].map((name) => answer(name, 'Allow')))
    expect(results.filter(({ status }) => status === 'answered').length).toBeGreaterThan(0)
    expect(results.every(({ status }) => status === 'answered' || status === 'counted')).toBe(true)
    const taken = await Promise.all(Array.from({ length: 4 }, take))
    expect(taken.filter((one) => one !== undefined)).toHaveLength(1)
  })

  it('do not count any more when one of them was removed', async () => {
    const { answer, take, write } = await asked(2)
    expect((await answer('ann', 'Allow')).status).toBe('counted')
    write(['ben', 'cat'])
    expect((await answer('ben', 'Allow')).status).toBe('counted')
    expect((await answer('cat', 'Allow')).status).toBe('answered')
    write(['ann', 'ben'])
    expect(await take()).toBeUndefined()
  })

  it('may allow again with a new key', async () => {
    const { answer, take, write, open, pending } = await asked(2)
    expect((await answer('ann', 'Allow')).status).toBe('counted')
    const old = keys.get('ann') ?? stranger
    keys.set('ann', newKeyPair())
    try {
      write(['ann', 'ben'])
      expect((await answer('ann', 'Allow')).status).toBe('counted')
      expect(open().get(pending.id)).toMatchObject({ allowed: ['ann'] })
      expect((await answer('ben', 'Allow')).status).toBe('answered')
      expect((await take())?.people).toEqual(['ann', 'ben'])
    } finally {
      keys.set('ann', old)
    }
  })

  it('are needed in the signature: an allow for a question of one person does not count', async () => {
    const { pending, open } = await asked(2)
    const { people: _, ...alone } = pending.question
    const key = keys.get('ann') ?? stranger
    const challenge = challengeOf(
      { ...pending, question: alone },
      { option: 'Allow', nonce: 'n', asker: { machine: MACHINE, name: 'm' } },
    )
    const signature = signedWith(key, challenge, 'n')
    expect((await open().answer(pending.id, { option: 'Allow', by: 'ann', signature })).status).toBe(
      'not-signed',
    )
  })

  it('cannot allow where there are not so many, which refuses the call and says why', async () => {
    const never = new AbortController().signal
    const question = madeQuestion({ answer: { approvalPeople: 2 } })
    const { open } = machine(['ann'])
    expect(await queueApprover({ queue: open(), project })(question, never)).toMatchObject({
      option: 'Deny',
      reason: expect.stringMatching(
        /cannot be allowed here: 2 different people must allow it, and only 1 may/,
      ),
    })
    const folder = ownFolder()
    const places = { stateDir: folder, dataDir: join(folder, 'data'), approversFile: join(folder, 'none') }
    for (const answersOwnQuestions of [false, true]) {
      const queue = new FileApprovals({ ...places, answersOwnQuestions })
      expect(await queueApprover({ queue, project })(question, never)).toMatchObject({
        option: 'Deny',
        reason: expect.stringMatching(/cannot be allowed here: several different people/),
      })
    }
  })
})

describe('a call that two people must allow', () => {
  const two: HookResult = askUser('Deploy?', {
    approvalPeople: 2,
    approvalDefault: 'allow',
    approvalOptions: ['Allow', 'Allow always', 'Deny'],
  })
  const call = { tool_name: 'Bash', tool_input: { command: 'make deploy' } }

  async function fired(approver?: Approver | 'deny', permission?: HookResult) {
    const hooks = await createHooks({ globals: false, ...(approver !== undefined && { approver }) })
    hooks.register('PreToolUse', () => two, { name: 'guard' })
    if (permission) hooks.register('PermissionRequest', () => permission, { name: 'helper' })
    const outcome = await hooks.session({ id: 's1' }).fire('PreToolUse', call)
    await hooks.close()
    return outcome
  }

  it.each<[string, Approver]>([
    ['one person', () => 'Allow'],
    ['one person by name', () => ({ option: 'Allow', by: 'ann' })],
    ['one person twice', () => ({ option: 'Allow', people: ['ann', ' ANN '] })],
    ['one person always', () => ({ option: 'Allow always', people: ['ann', 'ben'] })],
    ['one person with an edit', () => ({ option: 'Allow', data: { tool_input: { command: 'ls' } } })],
    ['nobody, with a default', () => Promise.reject(new Error('away'))],
  ])('is denied if %s answers', async (_, approver) => {
    expect((await fired(approver)).action).toBe('deny')
  })

  it('is denied if nobody can be asked, or a hook allows in their place', async () => {
    expect(await fired()).toMatchObject({
      action: 'deny',
      reason: expect.stringMatching(/2 different people/),
    })
    const allowed = await fired(undefined, proceed({ permission: 'allow' }))
    expect(allowed.action).toBe('deny')
    expect(allowed.diagnostics.map(({ text }) => text).join()).toMatch(/its allow is ignored/)
  })

  it('goes on with two people, who are on record', async () => {
    const outcome = await fired(() => ({ option: 'Allow', by: 'ben', people: ['ann', 'ben'] }))
    expect(outcome).toMatchObject({ action: 'continue', approval: { answer: { people: ['ann', 'ben'] } } })
    expect(outcome.approval?.question).toMatchObject({
      people: 2,
      default: 'deny',
      options: ['Allow', 'Deny'],
    })
  })

  it('is never left to the prompt of an agent', async () => {
    const open = await fired(() => ({ unanswered: 'ask them' }))
    expect(open.action).toBe('ask_user')
    expect(verdictOfOutcome(open).action).toBe('deny')
    expect(verdictOfResult(two).action).toBe('deny')
  })

  it('is one whose number of people cannot be read', () => {
    const problems: string[] = []
    expect(approvalTerms([{ approval_people: 'two' }], problems).approvalPeople).toBe(2)
    expect(problems).toHaveLength(1)
    for (const approvalPeople of [0, 1.5, 11, '2'])
      expect(() => parseResult({ action: 'ask_user', approvalPrompt: '?', approvalPeople }, [])).toThrow(
        /people/,
      )
  })
})
