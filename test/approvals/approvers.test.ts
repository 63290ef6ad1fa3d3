// On a machine with a list of approvers, only the signature of one of their passkeys allows a call.

import { chmodSync, chownSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { queueApprover } from '../../src/asking/queue-approver.js'
import { grantDigest } from '../../src/core/base/digest.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import type { AnswerGiven } from '../../src/store/approvals.js'
import { enrolmentCode, readApprovers, readEnrolment, writeApprovers } from '../../src/store/approvers.js'
import { FileStore } from '../../src/store/sessions/file-store.js'
import { madeQuestion } from './made-question.js'
import { ownFolder } from './own-folder.js'
import { passkey } from './passkey.js'

const isRoot = process.getuid?.() === 0
const project = '/somewhere/project'
const question = madeQuestion({ answer: { approvalOptions: ['Allow', 'Allow always', 'Deny'] } })

/** A queue on a machine where only Ann may allow, and a question in it. */
function machine() {
  const root = ownFolder()
  const [stateDir, dataDir, approversFile] = ['state', 'data', 'etc/approvers.json'].map((name) =>
    join(root, name),
  ) as [string, string, string]
  const ann = passkey('ann')
  writeApprovers([ann.approver], approversFile)
  const troubles: string[] = []
  const places = { stateDir, dataDir, approversFile, onTrouble: (text: string) => void troubles.push(text) }
  const queue = new FileApprovals(places)
  const pending = queue.raise(question, { project })
  const sign = (given: Partial<AnswerGiven> & Pick<AnswerGiven, 'signature'>) =>
    queue.answer(pending.id, { option: 'Allow', by: 'somebody', ...given } as AnswerGiven)
  return { ...places, ann, queue, pending, troubles, sign, root }
}

describe.runIf(isRoot)('on a machine with approvers', () => {
  it('a signed allow counts once, under the name of the signer, even from an agent', async () => {
    const { ann, queue, pending, sign } = machine()
    vi.stubEnv('CLAUDECODE', '1')
    const answered = await sign({ signature: ann.sign(pending, 'Allow') })
    vi.unstubAllEnvs()
    expect(answered).toMatchObject({ status: 'answered', answer: { by: 'ann' } })
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
    expect(await queue.take(question)).toBeUndefined()
  })

  it('no allow counts for longer than a day, whatever the question says', async () => {
    const { ann, queue, stateDir, dataDir, approversFile } = machine()
    const other = madeQuestion({ session: 'another' })
    const later = () => Date.now() + 3 * 86_400_000
    const ahead = new FileApprovals({ stateDir, dataDir, approversFile, now: later })
    const pending = ahead.raise(other, { project })
    const given = { option: 'Allow', by: 'ann', signature: ann.sign(pending, 'Allow') }
    expect(await queue.answer(pending.id, given)).toEqual({
      status: 'not-signed',
      why: 'the question would be open for longer than a day',
    })
  })

  it('anybody may deny', async () => {
    const { queue, pending } = machine()
    expect(await queue.answer(pending.id, { decision: 'deny', by: 'ben' })).toMatchObject({
      status: 'answered',
    })
    expect(await queue.take(question)).toMatchObject({ decision: 'deny', by: 'ben' })
  })

  const REFUSED: Readonly<
    Record<string, readonly [(at: ReturnType<typeof machine>) => Partial<AnswerGiven>, RegExp]>
  > = {
    'is not signed': [() => ({}), /only a passkey may allow calls on this machine; type carabiner open/],
    'is for always': [
      ({ ann, pending }) => ({ option: 'Allow always', signature: ann.sign(pending, 'Allow always') }),
      /one call at a time/,
    ],
    'has the signature of a stranger': [
      ({ pending }) => ({ signature: passkey('ann').sign(pending, 'Allow') }),
      /not on the list of approvers/,
    ],
    "has a stranger's signature under the id of a known passkey": [
      ({ ann, pending }) => ({
        signature: { ...passkey('ann').sign(pending, 'Allow'), id: ann.approver.id },
      }),
      /its signature is wrong/,
    ],
    'was signed for another option': [
      ({ ann, pending }) => ({ signature: ann.sign(pending, 'Deny') }),
      /challenge/,
    ],
    'was signed for another question': [
      ({ ann, pending }) => ({ signature: ann.sign({ ...pending, id: 'aaaa-aaaa' }, 'Allow') }),
      /challenge/,
    ],
    'was signed for another call': [
      ({ ann, pending }) => ({
        signature: ann.sign({ ...pending, question: { ...pending.question, digest: 'other' } }, 'Allow'),
      }),
      /challenge/,
    ],
    'was signed for a question that looked different': [
      ({ ann, pending }) => {
        const asks = pending.question.asks.map((one) => ({ ...one, prompt: 'Run the tests?' }))
        return { signature: ann.sign({ ...pending, question: { ...pending.question, asks } }, 'Allow') }
      },
      /challenge/,
    ],
    'was signed for another time': [
      ({ ann, pending }) => ({
        signature: ann.sign({ ...pending, expires: '2099-01-01T00:00:00.000Z' }, 'Allow'),
      }),
      /challenge/,
    ],
    'was signed on another page': [
      ({ ann, pending }) => ({ signature: ann.sign(pending, 'Allow', { origin: 'http://localhost:7810' }) }),
      /signed on another page/,
    ],
    'was signed on a page with a longer name': [
      ({ ann, pending }) => ({
        signature: ann.sign(pending, 'Allow', { origin: 'http://carabiner.localhost:80.evil.example' }),
      }),
      /signed on another page/,
    ],
    'was signed for another host': [
      ({ ann, pending }) => ({ signature: ann.sign(pending, 'Allow', { host: 'localhost' }) }),
      /RP ID/,
    ],
    'is a registration': [
      ({ ann, pending }) => ({ signature: ann.sign(pending, 'Allow', { type: 'webauthn.create' }) }),
      /webauthn.create/,
    ],
    'was signed without verifying the person': [
      ({ ann, pending }) => ({ signature: ann.sign(pending, 'Allow', { flags: 0x01 }) }),
      /[Uu]ser verification/,
    ],
    'has no client data': [
      ({ ann, pending }) => ({ signature: { ...ann.sign(pending, 'Allow'), clientDataJSON: 'AAAA' } }),
      /not a signature of a passkey/,
    ],
  }

  it.for(Object.entries(REFUSED))('an allow that %s does not count', async ([, [given, why]]) => {
    const at = machine()
    expect(await at.sign({ signature: undefined, ...given(at) } as never)).toEqual({
      status: 'not-signed',
      why: expect.stringMatching(why),
    })
    expect(await at.queue.take(question)).toBeUndefined()
    expect(at.queue.open()).toHaveLength(1)
  })

  it.for(Object.entries(REFUSED))(
    'nor if a program of this user wrote it: an allow that %s',
    async ([, [given, why]]) => {
      const at = machine()
      // It knows the key that seals answers, and leaves the list out.
      const { stateDir, dataDir, root, pending } = at
      const forger = new FileApprovals({ stateDir, dataDir, approversFile: join(root, 'none') })
      const forged = { option: 'Allow', by: 'ann', ...given(at) } as AnswerGiven
      expect(forger.answer(pending.id, forged)).toMatchObject({ status: 'answered' })
      expect(await at.queue.take(question)).toBeUndefined()
      expect(at.troubles.join()).toMatch(why)
    },
  )

  it('grants neither count nor are made', () => {
    const at = machine()
    const grant = {
      id: 'g1',
      hook: 'guard',
      event: 'PreToolUse',
      tool: 'Bash',
      cwd: project,
      digest: grantDigest('PreToolUse', question.call),
      created: '2026-01-01T00:00:00.000Z',
    } as const
    const places = {
      projectDir: project,
      stateDir: at.stateDir,
      dataDir: at.dataDir,
      onTrouble: at.onTrouble,
    }
    const before = new FileStore({ ...places, approversFile: join(at.root, 'none') })
    before.addGrant(grant)
    expect(before.grants()).toHaveLength(1)
    const store = new FileStore({ ...places, approversFile: at.approversFile })
    expect(store.grants()).toEqual([])
    expect(at.troubles.join()).toMatch(/1 grant does not count: on this machine only a passkey/)
    expect(() => store.addGrant(grant)).toThrow(/only a passkey/)
  })

  it('the agent is told where a person can allow it', async () => {
    const { queue } = machine()
    const approver = queueApprover({ queue, project })
    expect(await approver(question, new AbortController().signal)).toEqual({
      unanswered: expect.stringMatching(
        /approve this with a passkey\. Ask the user to type .*: carabiner open/,
      ),
    })
  })

  it('a program that answers its own questions needs no passkey', async () => {
    const { stateDir, dataDir, approversFile } = machine()
    const own = new FileApprovals({ stateDir, dataDir, approversFile, answersOwnQuestions: true })
    const { id } = own.raise(question, { project })
    expect(own.answer(id, { decision: 'allow', by: 'program' })).toMatchObject({ status: 'answered' })
    expect(own.take(question)).toMatchObject({ decision: 'allow' })
  })
})

describe.runIf(isRoot)('a list that cannot be relied on closes every allow', () => {
  const BROKEN: Readonly<Record<string, readonly [(path: string) => void, RegExp]>> = {
    "it is another user's": [(path) => chownSync(path, 65534, 65534), /belongs to user 65534, not to root/],
    "its folder is another user's": [
      (path) => chownSync(join(path, '..'), 65534, 65534),
      /belongs to user 65534/,
    ],
    'others may write to it': [
      (path) => chmodSync(path, 0o666),
      /others than root may write to .*approvers.json/,
    ],
    'others may write to its folder': [
      (path) => chmodSync(join(path, '..'), 0o777),
      /others than root may write/,
    ],
    'it is not JSON': [(path) => writeFileSync(path, '{'), /cannot be used/],
    'it has no list': [(path) => writeFileSync(path, '{}'), /approvers must be a list/],
    'a name in it has control characters': [
      (path) =>
        writeFileSync(path, JSON.stringify({ approvers: [{ name: 'a\u001b[2J', id: 'x', publicKey: 'x' }] })),
      /name must be/,
    ],
    'a newer version wrote it': [
      (path) => writeFileSync(path, JSON.stringify({ format: 99, approvers: [] })),
      /newer version/,
    ],
  }

  it.for(Object.entries(BROKEN))('%s', async ([, [breakIt, why]]) => {
    const { queue, pending, approversFile, ann, sign } = machine()
    await sign({ signature: ann.sign(pending, 'Allow') })
    breakIt(approversFile)
    expect(() => readApprovers(approversFile)).toThrow(why)
    expect(() => queue.take(question)).toThrow(/no call is allowed until root repairs or removes it/)
  })

  it('it is a link', () => {
    const root = ownFolder()
    mkdirSync(join(root, 'etc'), { mode: 0o755 })
    writeFileSync(join(root, 'elsewhere'), '{"approvers":[]}')
    symlinkSync('../elsewhere', join(root, 'etc/approvers.json'))
    expect(() => readApprovers(join(root, 'etc/approvers.json'))).toThrow(/link|others than root may write/)
  })

  it('somebody who was removed may no longer allow', async () => {
    const { queue, pending, approversFile, ann, sign, troubles } = machine()
    await sign({ signature: ann.sign(pending, 'Allow') })
    writeApprovers([passkey('ben').approver], approversFile)
    expect(await queue.take(question)).toBeUndefined()
    expect(troubles.join()).toMatch(/not on the list of approvers/)
  })
})

describe('the list', () => {
  it('is readable by everybody and writable by its owner, and is removed with the last person', () => {
    const path = join(ownFolder(), 'etc', 'approvers.json')
    writeApprovers([passkey('ann').approver], path)
    expect(statSync(path).mode & 0o777).toBe(0o644)
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o755)
    writeApprovers([], path)
    expect(existsSync(path)).toBe(false)
    expect(readApprovers(path)).toBeUndefined()
  })

  it('takes a passkey from the code that the page shows, and nothing else', () => {
    const { approver } = passkey('Ann Example')
    expect(readEnrolment(enrolmentCode(approver))).toEqual(approver)
    for (const code of [
      '',
      'x',
      enrolmentCode({ ...approver, name: '' }),
      enrolmentCode({ ...approver, id: 'a b' }),
    ])
      expect(() => readEnrolment(code)).toThrow(/is not an enrolment code|must be/)
  })
})
