// On a machine in a fleet, only people on the signed list allow, each answer signed for this machine.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type KeyPair, keyPairFrom, newKeyPair, pemOf, signatureOf } from '../../src/files/ed25519.js'
import {
  arePeopleOver,
  endOfPeople,
  type People,
  type Person,
  peopleIn,
  personCode,
  type Role,
  readPeople,
  readPersonCode,
  signedPeople,
} from '../../src/files/fleet/people.js'
import { type FleetPlace, userPlace } from '../../src/files/fleet-places.js'
import { putInForce } from '../../src/fleet/machine/policy-files.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { challengeOf, signedWith } from '../../src/store/approvals/signature.js'
import type { KeySignature, Pending } from '../../src/store/approvals.js'
import type { Asker } from '../../src/store/approvers.js'
import '../files/in-a-fleet.js'
import { madeQuestion } from './made-question.js'
import { ownFolder } from './own-folder.js'
import { passkey } from './passkey.js'

const MACHINE = '11111111-2222-4333-8444-555555555555'
const ASKER: Asker = { machine: MACHINE, name: 'm' }
const ORIGIN = 'https://fleet.example:8443'
const project = '/somewhere/project'
const question = madeQuestion()
const root = newKeyPair()
const START = Date.now()
const DAY = 24 * 3_600_000

function person(name: string, key: KeyPair, role: Role = 'approver'): Person {
  return { name, role, keys: [{ kind: 'ed25519', publicKey: key.publicKey.toString('base64url') }] }
}

type List = Pick<People, 'version' | 'people'>

/** A machine in a fleet, and a question in its queue. */
function machine(people?: List, signer = root, clock = { now: Date.now() }) {
  const folder = ownFolder()
  const [stateDir, dataDir] = [join(folder, 'state'), join(folder, 'data')]
  const place = userPlace(dataDir)
  mkdirSync(dirname(place.marker), { recursive: true, mode: 0o700 })
  const rootKey = root.publicKey.toString('base64url')
  const marker = { format: 1, url: 'https://fleet.example', machine: MACHINE, name: 'm', rootKey }
  writeFileSync(place.marker, JSON.stringify(marker), { mode: 0o600 })
  const write = (list: List, by = signer, now = START) =>
    writeFileSync(place.people, JSON.stringify(signedPeople(list, by, now)), { mode: 0o600 })
  if (people) write(people)
  const troubles: string[] = []
  const approversFile = join(folder, 'none')
  const onTrouble = (text: string) => void troubles.push(text)
  const queue = new FileApprovals({ stateDir, dataDir, approversFile, onTrouble, now: () => clock.now })
  return { place, write, troubles, dataDir, rootKey, queue }
}

function sign(key: KeyPair, pending: Pending, option = 'Allow', asker: Asker = ASKER): KeySignature {
  return signedWith(key, challengeOf(pending, { option, nonce: 'n1', asker }), 'n1')
}

describe('a list of people', () => {
  it('counts with the signature of the fleet, and the newest copy counts', () => {
    const [ann, ben] = [newKeyPair(), newKeyPair()]
    const at = machine({ version: 2, people: [person('ann', ann)] })
    expect(readPeople(at.place, at.rootKey, at.dataDir).version).toBe(2)
    // A copy of root's, as it was when the machine joined: an older one does not count beside it.
    const roots = { ...at.place, people: join(at.dataDir, 'root-people.json') }
    const newer = { version: 3, people: [person('ben', ben)] }
    writeFileSync(roots.people, JSON.stringify(signedPeople(newer, root)))
    expect(readPeople(roots, at.rootKey, at.dataDir)).toMatchObject(newer)
    rmSync(at.place.people)
    expect(readPeople(roots, at.rootKey, at.dataDir)).toMatchObject(newer)
  })

  it('counts for thirty days, is told of a week before, and then allows nobody', () => {
    const at = machine({ version: 1, people: [person('ann', newKeyPair())] })
    const read = (now: number) => readPeople(at.place, at.rootKey, at.dataDir, () => now)
    const list = read(START)
    expect(Date.parse(list.until)).toBe(START + 30 * DAY)
    expect(endOfPeople(list, START + 23 * DAY - 1)).toBeUndefined()
    expect(endOfPeople(list, START + 23 * DAY)).toMatch(/expires on .* fleet people renew/)
    expect(read(START + 30 * DAY - 1)).toEqual(list)
    expect(() => read(START + 30 * DAY)).toThrow(/expired on .* fleet people renew/)
    // Of two copies, the newer one counts, also if it is over: it may have removed somebody.
    const roots = { ...at.place, people: join(at.dataDir, 'root-people.json') }
    const over = signedPeople({ version: 2, people: [] }, root, START - 31 * DAY)
    writeFileSync(roots.people, JSON.stringify(over))
    expect(() => readPeople(roots, at.rootKey, at.dataDir)).toThrow(/has expired|expired on/)
  })

  describe('with a clock that was set back', () => {
    const list = { version: 1, people: [person('ann', newKeyPair())] }
    const policy = (place: FleetPlace, time: number, rootKey?: string) => {
      const [at, expires] = [time, time + DAY].map((one) => new Date(one).toISOString())
      mkdirSync(place.policy, { recursive: true, mode: 0o755 })
      const more = { afterExpiry: 'close', ...(rootKey !== undefined && { rootKey }) } as const
      putInForce(place.policy, { rollout: 1, expires: expires ?? '', time: at ?? '', ...more })
    }

    it('does not count again when it was over at the latest time that came from the fleet', () => {
      const at = machine(list)
      const read = (now: number) => () => readPeople(at.place, at.rootKey, at.dataDir, () => now)
      policy(at.place, START + 30 * DAY - 1, at.rootKey)
      expect(read(START)).not.toThrow()
      policy(at.place, START + 30 * DAY, at.rootKey)
      for (const back of [0, 60_000, DAY])
        expect(read(START + 30 * DAY - back)).toThrow(/has expired|expired on/)
      // A file that cannot be read says nothing, and neither does that of another fleet.
      policy(at.place, START + 30 * DAY, newKeyPair().publicKey.toString('base64url'))
      expect(read(START)).not.toThrow()
      writeFileSync(join(at.place.policy, 'in-force.json'), '{')
      expect(read(START)).not.toThrow()
    })

    it('does not count before it was signed, and says that the clock is behind', () => {
      const at = machine(list)
      const read = (now: number) => () => readPeople(at.place, at.rootKey, at.dataDir, () => now)
      expect(read(START - 600_000)).not.toThrow()
      expect(read(START - 600_001)).toThrow(/the clock of this machine is behind: the list .* was signed/)
      expect(read(START - 40 * DAY)).toThrow(/no call is allowed until the clock is right/)
    })
  })

  it('that has no time is over, whoever signed it', () => {
    const list = JSON.stringify({ format: 1, version: 1, people: [] })
    const signature = signatureOf(root, `carabiner-fleet-people-v1\n${list}`).toString('base64url')
    expect(arePeopleOver(peopleIn({ list, signature }, root.publicKey))).toBe(true)
  })

  it('does not count with another signature, or when it was changed', () => {
    const list = { version: 1, people: [person('ann', newKeyPair())] }
    const stranger = machine(list, newKeyPair())
    expect(() => readPeople(stranger.place, stranger.rootKey, stranger.dataDir)).toThrow(
      /not signed by the key of the fleet; no call is allowed/,
    )
    const at = machine()
    const signed = signedPeople(list, root)
    writeFileSync(
      at.place.people,
      JSON.stringify({ ...signed, list: signed.list.replace('approver', 'admin') }),
    )
    expect(() => readPeople(at.place, at.rootKey, at.dataDir)).toThrow(/not signed by the key of the fleet/)
  })

  it.each([
    ['two people with one key', (key: KeyPair) => [person('ann', key), person('ben', key)], /the same key/],
    [
      'two people of one name',
      (key: KeyPair) => [person('ann', key), person('ann', newKeyPair())],
      /the same name/,
    ],
    ['a name with control characters', (key: KeyPair) => [person('a\u001b[2J', key)], /must be a name/],
    ['no role', (key: KeyPair) => [{ ...person('ann', key), role: 'owner' as Role }], /must be viewer or/],
    [
      'a passkey of another host',
      () => [
        {
          ...person('ann', newKeyPair()),
          keys: [
            { kind: 'passkey' as const, id: 'aWQ', publicKey: 'a2V5', rpId: 'evil.example', origin: ORIGIN },
          ],
        },
      ],
      /rpId must be the host/,
    ],
  ])('is not signed with %s', (_, people, why) => {
    expect(() => signedPeople({ version: 1, people: people(newKeyPair()) }, root)).toThrow(why)
  })

  it('takes a key from its code, and nothing else', () => {
    const [key] = person('ann', newKeyPair()).keys
    if (!key) throw new Error('no key')
    expect(readPersonCode(personCode(key))).toEqual(key)
    for (const code of ['', 'x', Buffer.from('{"kind":"ed25519","publicKey":"AA"}').toString('base64url')])
      expect(() => readPersonCode(code)).toThrow(/is not the code of a key|must be/)
  })
})

describe('on a machine in a fleet', () => {
  it('an Ed25519 key on the list allows, once, under the name on the list', async () => {
    const ann = newKeyPair()
    const { queue } = machine({ version: 1, people: [person('ann', ann)] })
    const pending = queue.raise(question, { project })
    const given = { option: 'Allow', by: 'somebody', signature: sign(ann, pending) }
    expect(await queue.answer(pending.id, given)).toMatchObject({ status: 'answered', answer: { by: 'ann' } })
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
    expect(await queue.take(question)).toBeUndefined()
  })

  it('a passkey allows on the page that it is bound to, and on no other', async () => {
    const ann = passkey('ann')
    const { id, publicKey } = ann.approver
    const keys = [{ kind: 'passkey' as const, id, publicKey, rpId: 'fleet.example', origin: ORIGIN }]
    const { queue } = machine({ version: 1, people: [{ name: 'ann', role: 'admin', keys }] })
    const pending = queue.raise(question, { project })
    const signed = (changes: object) =>
      queue.answer(pending.id, {
        option: 'Allow',
        by: 'x',
        signature: ann.sign(pending, 'Allow', { asker: ASKER, ...changes }),
      })
    for (const changes of [
      {},
      { origin: 'https://evil.example:8443', host: 'fleet.example' },
      { origin: 'https://fleet.example:9443', host: 'fleet.example' },
      { origin: ORIGIN, host: 'carabiner.localhost' },
      { origin: ORIGIN, host: 'fleet.example', asker: { ...ASKER, machine: 'another' } },
      { origin: ORIGIN, host: 'fleet.example', asker: { ...ASKER, name: 'sandbox' } },
    ])
      expect(await signed(changes)).toMatchObject({ status: 'not-signed' })
    expect(await signed({ origin: ORIGIN, host: 'fleet.example' })).toMatchObject({ status: 'answered' })
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
  })

  it('nothing is allowed by typing, nor without a list that counts', async () => {
    const ann = newKeyPair()
    const at = machine({ version: 1, people: [person('ann', ann)] })
    const { id } = at.queue.raise(question, { project })
    expect(await at.queue.answer(id, { decision: 'allow', by: 'ann' })).toEqual({
      status: 'not-signed',
      why: expect.stringMatching(/only the people of the fleet may allow/),
    })
    rmSync(at.place.people)
    expect(() => at.queue.answer(id, { decision: 'allow', by: 'ann' })).toThrow(/no call is allowed until/)
    expect(() => at.queue.take(question)).toThrow(/no call is allowed until/)
    expect(at.queue.answer(id, { decision: 'deny', by: 'anybody' })).toMatchObject({ status: 'answered' })
  })

  const ann = newKeyPair()
  const FORGED: Readonly<Record<string, (pending: Pending) => KeySignature>> = {
    'by a stranger': (pending) => sign(newKeyPair(), pending),
    'by a stranger under a known key': (pending) => ({
      ...sign(newKeyPair(), pending),
      id: ann.publicKey.toString('base64url'),
    }),
    'for another option': (pending) => sign(ann, pending, 'Deny'),
    'for another machine': (pending) => sign(ann, pending, 'Allow', { ...ASKER, machine: 'another' }),
    'for a machine that was shown under another name': (pending) =>
      sign(ann, pending, 'Allow', { ...ASKER, name: 'sandbox' }),
    'for no machine': (pending) =>
      signedWith(ann, challengeOf(pending, { option: 'Allow', nonce: 'n1' }), 'n1'),
    'for another question': (pending) => sign(ann, { ...pending, id: 'aaaa-aaaa' }),
    'for another project': (pending) => sign(ann, { ...pending, project: '/elsewhere' }),
    'for another time': (pending) => sign(ann, { ...pending, expires: '2099-01-01T00:00:00.000Z' }),
    'for another session': (pending) =>
      sign(ann, { ...pending, question: { ...pending.question, session: 'other' } }),
    'with another nonce': (pending) => ({ ...sign(ann, pending), nonce: 'n2' }),
    'that is empty': (pending) => ({ ...sign(ann, pending), signature: '' }),
  }

  it.for(Object.entries(FORGED))('a signature %s does not allow', async ([, forged]) => {
    const at = machine({ version: 1, people: [person('ann', ann)] })
    const pending = at.queue.raise(question, { project })
    const given = { option: 'Allow', by: 'ann', signature: forged(pending) }
    expect(await at.queue.answer(pending.id, given)).toMatchObject({ status: 'not-signed' })
    expect(await at.queue.take(question)).toBeUndefined()
  })

  it('nobody allows when the list is over, also what they signed before', async () => {
    const clock = { now: START + 30 * DAY - 60_000 }
    const at = machine({ version: 1, people: [person('ann', ann)] }, root, clock)
    const pending = at.queue.raise(question, { project })
    const given = { option: 'Allow', by: 'ann', signature: sign(ann, pending) }
    expect(await at.queue.answer(pending.id, given)).toMatchObject({ status: 'answered' })
    clock.now = START + 30 * DAY
    expect(() => at.queue.take(question)).toThrow(/has expired|expired on/)
    expect(() => at.queue.raise(madeQuestion({ session: 'next' }), { project })).toThrow(
      /has expired|expired on/,
    )
    // Setting the clock back a little brings nothing back.
    clock.now = START + 30 * DAY - 1000
    expect(() => at.queue.take(question)).toThrow(/has expired|expired on/)
    at.write({ version: 2, people: [person('ann', ann)] }, root, clock.now)
    expect(await at.queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
  })

  it('a viewer does not allow, nor does somebody who was removed after they signed', async () => {
    const viewer = machine({ version: 1, people: [person('ann', ann, 'viewer')] })
    const shown = viewer.queue.raise(question, { project })
    const given = { option: 'Allow', by: 'ann', signature: sign(ann, shown) }
    expect(await viewer.queue.answer(shown.id, given)).toMatchObject({ status: 'not-signed' })

    const at = machine({ version: 1, people: [person('ann', ann)] })
    const pending = at.queue.raise(question, { project })
    const signed = { option: 'Allow', by: 'ann', signature: sign(ann, pending) }
    expect(await at.queue.answer(pending.id, signed)).toMatchObject({ status: 'answered' })
    at.write({ version: 2, people: [] })
    expect(await at.queue.take(question)).toBeUndefined()
    expect(at.troubles.join()).toMatch(/not on the list of approvers/)
  })
})

it('a key with a passphrase is of no use without it', () => {
  const key = newKeyPair()
  const pem = pemOf(key, 'correct horse')
  expect(keyPairFrom(pem, 'correct horse').publicKey).toEqual(key.publicKey)
  expect(() => keyPairFrom(pem)).toThrow(/needs its passphrase/)
  expect(() => keyPairFrom(pem, 'wrong')).toThrow(/needs its passphrase/)
})
