// `fleet people`: who may see and answer questions in the fleet. Each change is a new list, signed by the key of the fleet.

import { textOf } from '../../core/base/errors.js'
import { didYouMean, visibleName } from '../../core/base/text.js'
import { localTime, timestamp } from '../../core/base/time.js'
import type { KeyPair } from '../../files/ed25519.js'
import type { Database } from '../../fleet/database/connection.js'
import { addPeople, newestPeople } from '../../fleet/database/people.js'
import {
  endOfPeople,
  keyId,
  type People,
  type Person,
  type PersonKey,
  peopleIn,
  ROLES,
  readPersonCode,
  signedPeople,
} from '../../store/people.js'
import { chosen } from '../command.js'
import { columns, counted } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'
import { type Given, withDatabase } from './action.js'
import { rootKeyIn } from './root-key.js'

export async function run(given: Given): Promise<number> {
  const { options, words } = given
  const [first = 'list', ...more] = words
  const verb = chosen(
    first,
    ['list', 'add', 'remove', 'renew'] as const,
    'carabiner fleet people has no action',
  )
  const wanted = { list: 0, renew: 0, remove: 1, add: 2 }[verb]
  if (more.length !== wanted) throw usage(`Type carabiner fleet people ${HOW[verb]}`)
  if (verb !== 'add' && options.role !== undefined) throw usage('--role is for carabiner fleet people add')
  if (verb === 'list') return withDatabase(options, (database) => listed(database, given))
  const key = rootKeyIn(options)
  return withDatabase(options, (database) => CHANGES[verb](database, key, given))
}

const CHANGES = { add: added, remove: removed, renew: renewed }

const HOW = {
  list: 'list',
  add: 'add NAME CODE --role approver (carabiner fleet key makes a key and its code)',
  remove: 'remove NAME',
  renew: 'renew',
} as const

async function listed(database: Database, { output }: Given): Promise<number> {
  const [row] = await database.rows<{ root_key: Buffer }>(
    'select root_key from fleet.org where org = fleet.own_org()',
  )
  const list = await current(database, row?.root_key ?? Buffer.alloc(0))
  const { people, until } = list
  const end = endOfPeople(list)
  return output.result(list, (paint) =>
    people.length === 0
      ? ['nobody is on the list, so nobody may allow calls on machines of the fleet']
      : [
          ...columns(
            people.map(({ name, role, keys }) => [visibleName(name), role, keys.map(keyWords).join(', ')]),
          ).map((row) => row.join('  ')),
          end === undefined
            ? `the list counts until ${localTime(until)}; renew it before: carabiner fleet people renew`
            : paint.yellow(end),
        ],
  )
}

async function renewed(database: Database, key: KeyPair, { output }: Given): Promise<number> {
  const before = await current(database, key.publicKey)
  if (before.version === 0)
    throw new Refusal('UNKNOWN_PERSON', 'There is no list of people yet', {
      hint: `Type carabiner fleet people ${HOW.add}.`,
    })
  const { version, until } = await written(database, key, before, before.people)
  return output.result({ renewed: true, version, until }, () => [
    `the list counts until ${localTime(until)}; machines learn it at their next contact`,
  ])
}

function keyWords(key: PersonKey): string {
  const id = keyId(key).slice(0, 12)
  return key.kind === 'passkey' ? `passkey ${id} of ${key.origin}` : `key ${id}`
}

async function added(database: Database, key: KeyPair, { options, words, output }: Given): Promise<number> {
  const [, name = '', code = ''] = words
  const theirs = keyOf(code)
  const before = await current(database, key.publicKey)
  const known = before.people.find((one) => one.name === name)
  const owner = before.people.find(({ keys }) => keys.some((one) => keyId(one) === keyId(theirs)))
  if (owner && owner !== known)
    throw new Refusal('PERSON_EXISTS', `${visibleName(owner.name)} has this key`, {
      hint: 'Each person needs a key of their own: carabiner fleet key makes one.',
    })
  const role = chosen(options.role ?? known?.role ?? 'approver', ROLES, '--role has no choice')
  const keys = [...(known?.keys ?? []).filter((one) => keyId(one) !== keyId(theirs)), theirs]
  const person: Person = { name, role, keys }
  const people = [...before.people.filter((one) => one !== known), person]
  const { version, until } = await written(database, key, before, people)
  const also = known ? `, with ${counted(keys.length, 'key')}` : ''
  return output.result({ added: name, role, version, until }, () => [
    `${visibleName(name)} is on the list as ${role}${also}; machines learn it at their next contact`,
  ])
}

async function removed(database: Database, key: KeyPair, { words, output }: Given): Promise<number> {
  const [, name = ''] = words
  const before = await current(database, key.publicKey)
  const people = before.people.filter((one) => one.name !== name)
  if (people.length === before.people.length) {
    const names = before.people.map((one) => one.name)
    throw new Refusal(
      'UNKNOWN_PERSON',
      `Nobody on the list is called ${visibleName(name)}${didYouMean(name, names)}`,
      { hint: 'carabiner fleet people lists the names.' },
    )
  }
  const { version, until } = await written(database, key, before, people)
  return output.result({ removed: name, version, until }, () => [
    `${visibleName(name)} is no longer on the list; machines learn it at their next contact`,
  ])
}

function keyOf(code: string): PersonKey {
  try {
    return readPersonCode(code)
  } catch (error) {
    throw usage(`The code ${textOf(error)}`, 'Copy it whole from carabiner fleet key, or from the page.')
  }
}

/** Throws if an administrator of the database has put another list in its place. */
async function current(database: Database, rootKey: Buffer): Promise<People> {
  const newest = await newestPeople(database)
  if (!newest) return { version: 0, people: [], until: timestamp(0) }
  try {
    return peopleIn(newest, rootKey)
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', `The list of people in the database ${textOf(error)}`, {
      hint: 'No machine accepts it. Find out who wrote it, and remove its row from fleet.people.',
    })
  }
}

async function written(
  database: Database,
  key: KeyPair,
  before: People,
  people: readonly Person[],
): Promise<People> {
  const version = before.version + 1
  let list: ReturnType<typeof signedPeople>
  try {
    list = signedPeople({ version, people }, key)
  } catch (error) {
    throw usage(`The list ${textOf(error)}`)
  }
  if (await addPeople(database, version, list)) return peopleIn(list, key.publicKey)
  throw new Refusal('FLEET_REFUSED', 'Somebody else has just changed the list of people', {
    hint: 'Type the command again.',
  })
}
