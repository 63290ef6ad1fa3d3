// Who may answer on the page: anybody with the cookie denies, and only a passkey on root's list allows.

import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { callDigest } from '../../src/core/base/digest.js'
import type { QuestionView } from '../../src/page/view/approvals.js'
import { writeApprovers } from '../../src/store/approvers.js'
import { madeQuestion } from '../approvals/made-question.js'
import { passkey } from '../approvals/passkey.js'
import { Project, withProgram } from '../cli/program.js'
import { approversFile, pageQueue, type Served, servePage } from './served-page.js'
import { fireBash, shopHooks } from './shop.js'
import { type Ask, tabOf } from './visitor.js'

withProgram()

const isRoot = process.getuid?.() === 0

let project: Project
let served: Served
let ask: Ask
beforeEach(async () => {
  project = new Project()
  vi.stubEnv('HOME', project.home)
  shopHooks(project)
  await fireBash(project, 'deploy production')
  served = await servePage(project)
  ask = await tabOf(served)
})
afterEach(async () => {
  await served.close()
  vi.unstubAllEnvs()
  project.remove()
})

const questions = async () => (await ask('GET', 'api/questions')).answer as { questions: { id: string }[] }
const pending = () => {
  const [first] = pageQueue(project).open()
  if (!first) throw new Error('no question is open')
  return first
}

describe('a question', () => {
  it('is shown whole, with the command that allows it', async () => {
    const { id } = pending()
    expect(await questions()).toMatchObject({
      passkeys: { state: 'none' },
      questions: [
        {
          id,
          asks: [{ hook: 'deploy-gate:PreToolUse#1', prompt: 'Deploy to production?' }],
          session: 's-91c4',
          call: expect.arrayContaining([{ name: 'tool_input.command', value: 'deploy production' }]),
          allow: `carabiner approvals allow ${id}`,
        },
      ],
    })
  })

  it('is denied with a reason, on record, once', async () => {
    const { id, question } = pending()
    expect(await ask('POST', 'api/deny', { id, reason: 'use staging' })).toMatchObject({ status: 200 })
    expect((await questions()).questions).toEqual([])
    const again = await ask('POST', 'api/deny', { id, reason: '' })
    expect(again).toMatchObject({
      status: 409,
      answer: { problem: expect.stringContaining('answered already') },
    })
    expect(await pageQueue(project).take(question)).toMatchObject({ decision: 'deny', reason: 'use staging' })
    const { rows } = (await ask('GET', 'api/rows?kind=approval')).answer as { rows: { seq: number }[] }
    expect(rows).toMatchObject([
      { said: 'denied', gist: 'answered by tester: deploy production', reason: 'use staging' },
    ])
    const { answer: details } = await ask('GET', `api/entry?seq=${rows[0]?.seq}`)
    expect(details).toMatchObject({
      call: expect.arrayContaining([
        { name: 'by', value: 'tester' },
        { name: 'tool_input.command', value: 'deploy production' },
      ]),
    })
  })
})

describe('a question of another project', () => {
  it('is counted, and neither shown nor answered here, like its grants and its record', async () => {
    const { question, project: own } = pending()
    const queue = pageQueue(project)
    const other = queue.raise({ ...question, session: 'other' }, { project: `${own}-other` })
    expect(await questions()).toMatchObject({ questions: [{ id: pending().id }], more: 0, elsewhere: 1 })
    expect((await ask('GET', 'api/waiting')).answer).toEqual({ count: 1 })
    if (isRoot) writeApprovers([passkey('ann').approver], approversFile(project))
    for (const path of ['api/deny', 'api/challenge'])
      expect(await ask('POST', path, { id: other.id, reason: '' })).toMatchObject({
        status: 409,
        answer: { problem: expect.stringContaining('another project') },
      })
    expect(queue.get(other.id)).toMatchObject({ status: 'open' })
  })

  it('is not read in full either', async () => {
    const { question, project: own } = pending()
    const other = pageQueue(project).raise({ ...question, session: 'other' }, { project: `${own}-other` })
    expect(await ask('GET', `api/question?id=${other.id}`)).toMatchObject({ status: 409 })
    expect(await ask('GET', 'api/question')).toMatchObject({ status: 409 })
  })

  it('and more than twenty of its own are counted', async () => {
    const { question, project: own } = pending()
    const queue = pageQueue(project)
    for (let i = 0; i < 22; i++)
      queue.raise({ ...question, session: `s${i}`, binding: `b${i}` }, { project: own })
    const { questions: shown, ...rest } = await questions()
    expect([shown.length, rest]).toMatchObject([20, { more: 3, elsewhere: 0 }])
    expect((await ask('GET', 'api/waiting')).answer).toEqual({ count: 23 })
  })
})

it('a long call is sent in part, says so, and is whole for who asks for it', async () => {
  const { question, project: own } = pending()
  const content = 'x'.repeat(3_000_000)
  const call = { tool_name: 'Write', tool_input: { content } }
  const long = { ...question, session: 'long', call, digest: callDigest('PreToolUse', call) }
  const { id } = pageQueue(project).raise(long, { project: own })
  const { questions: shown } = (await ask('GET', 'api/questions')).answer as { questions: QuestionView[] }
  const valueIn = (view: QuestionView | undefined) =>
    view?.call.find(({ name }) => name === 'tool_input.content')?.value ?? ''
  const part = shown.find((one) => one.id === id)
  expect(part?.isCut).toBe(true)
  expect(valueIn(part)).toBe(`${content.slice(0, 16_384)}…`)
  expect(shown.filter((one) => one.id !== id).map(({ isCut }) => isCut)).toEqual([undefined])
  const whole = (await ask('GET', `api/question?id=${id}`)).answer as QuestionView
  expect([whole.isCut, valueIn(whole)]).toEqual([undefined, content])
})

const forged = (id: string) => ({
  id,
  option: 'Allow',
  nonce: 'x',
  passkey: 'x',
  authenticatorData: 'x',
  clientDataJSON: 'x',
  signature: 'x',
})

describe('an allow', () => {
  it('is refused while nobody has a passkey, with any signature or none', async () => {
    const { id } = pending()
    for (const body of [{ id }, { id, option: 'Allow' }, forged(id)])
      expect([403, 400]).toContain((await ask('POST', 'api/allow', body)).status)
    expect((await ask('POST', 'api/challenge', { id })).status).toBe(403)
    expect((await questions()).questions).toMatchObject([{ id }])
  })

  it('is refused if the list cannot be relied on', async () => {
    const { id } = pending()
    writeApprovers([passkey('ann').approver], approversFile(project))
    writeFileSync(approversFile(project), 'not a list')
    expect(await questions()).toMatchObject({ passkeys: { state: 'broken' } })
    expect((await ask('POST', 'api/allow', forged(id))).status).toBe(409)
  })

  it.runIf(isRoot)(
    'counts with the signature of a person on the list, for this question and answer',
    async () => {
      const ann = passkey('ann')
      writeApprovers([ann.approver], approversFile(project))
      const { id, question } = pending()
      interface Challenge {
        readonly challenge: string
        readonly nonce: string
        readonly option: string
        readonly passkeys: readonly string[]
      }
      const begin = async () => (await ask('POST', 'api/challenge', { id })).answer as Challenge
      expect(await begin()).toMatchObject({
        option: expect.stringMatching(/^allow/i),
        passkeys: [ann.approver.id],
      })
      type Changes = Parameters<typeof ann.signChallenge>[2]
      const own = { origin: served.origin }
      const sent = ({ challenge, nonce }: Challenge, who = ann, changes: Changes = own) => {
        const { id: key, ...signature } = who.signChallenge(challenge, nonce, changes)
        return { passkey: key, ...signature }
      }
      const stranger = passkey('ann')
      const wrong: ((challenge: Challenge) => object)[] = [
        (one) => sent(one, stranger),
        (one) => ({ ...sent(one, stranger), passkey: ann.approver.id }),
        (one) => sent({ ...one, challenge: 'another' }),
        (one) => sent(one, ann, { ...own, flags: 0x01 }),
        (one) => sent(one, ann, { origin: 'http://carabiner.localhost:1' }),
        (one) => sent(one, ann, { origin: 'http://evil.example' }),
      ]
      for (const made of wrong) {
        const challenge = await begin()
        expect((await ask('POST', 'api/allow', made(challenge))).status).toBe(403)
        // One try: the right signature comes too late.
        expect((await ask('POST', 'api/allow', sent(challenge))).status).toBe(409)
      }
      const mine = { ...(await begin()), nonce: 'another' }
      expect((await ask('POST', 'api/allow', sent(mine))).status).toBe(409)
      expect((await ask('POST', 'api/allow', forged(id))).status).toBe(409)
      const right = sent(await begin())
      expect(await ask('POST', 'api/allow', right)).toMatchObject({ status: 200, answer: { by: 'ann' } })
      expect((await ask('POST', 'api/allow', right)).status).toBe(409)
      expect(await pageQueue(project).take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
    },
  )
})

describe('a new passkey', () => {
  it('is refused if no browser made it for this page just now', async () => {
    const { challenge } = (await ask('POST', 'api/passkey/challenge', {})).answer as { challenge: string }
    const made = { name: 'ann', id: 'x', attestationObject: 'x', clientDataJSON: 'x' }
    expect((await ask('POST', 'api/passkey', { ...made, challenge: 'another' })).status).toBe(409)
    expect((await ask('POST', 'api/passkey', { ...made, challenge })).status).toBe(400)
    expect((await ask('POST', 'api/passkey', { ...made, challenge })).answer).toMatchObject({
      problem: expect.stringContaining('Begin again'),
    })
  })
})

it.runIf(isRoot)('the allow of one of two people counts, and leaves the question open', async () => {
  const [ann, ben] = [passkey('ann'), passkey('ben')]
  writeApprovers([ann.approver, ben.approver], approversFile(project))
  const { id, question } = pageQueue(project).raise(madeQuestion({ answer: { approvalPeople: 2 } }), {
    project: project.folder,
  })
  const allow = async (who: typeof ann) => {
    const { challenge, nonce } = (await ask('POST', 'api/challenge', { id })).answer as Record<
      'challenge' | 'nonce',
      string
    >
    const { id: key, ...signature } = who.signChallenge(challenge, nonce, { origin: served.origin })
    return ask('POST', 'api/allow', { passkey: key, ...signature })
  }
  expect(await allow(ann)).toMatchObject({
    status: 200,
    answer: { by: 'ann', problem: 'one more person has to allow it' },
  })
  expect(await pageQueue(project).take(question)).toBeUndefined()
  expect(await allow(ann)).toMatchObject({
    status: 200,
    answer: { problem: 'one more person has to allow it' },
  })
  expect(await allow(ben)).toMatchObject({ status: 200, answer: { by: expect.stringContaining('ben') } })
  expect(await pageQueue(project).take(question)).toMatchObject({ decision: 'allow' })
})
