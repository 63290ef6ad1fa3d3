// `fleet people`: who may see and answer questions in the fleet. Each change is a new list, signed by the key of the fleet.

import { textOf } from '../../core/base/errors.js'
import { didYouMean, visibleName } from '../../core/base/text.js'
import { localTime, timestamp } from '../../core/base/time.js'
import type { KeyPair } from '../../files/ed25519.js'
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
} from '../../files/fleet/people.js'
import type { Database } from '../../fleet/database/connection.js'
import { addPeople, lastPeople, type NumberedPeople, numberedPeople } from '../../fleet/database/people.js'
import { firstRootKey } from '../../fleet/database/policy.js'
import { chosen } from '../command.js'
import type { Output } from '../output.js'
import { columns, counted } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'
import { type Given, withDatabase } from './action.js'
import { checkRootKey, rootKeyIn } from './root-key.js'
import { rememberPeople, seenPeople } from './seen.js'

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
  if (verb !== 'renew' && options.to !== undefined) throw usage('--to is for carabiner fleet people renew')
  if (verb === 'list') return withDatabase(options, (database) => listed(database, given))
  const key = rootKeyIn(options)
  return withDatabase(options, async (database) => {
    await checkRootKey(database, key.publicKey, options)
    return CHANGES[verb](database, key, given)
  })
}

const CHANGES = { add: added, remove: removed, renew: renewed }

const HOW = {
  list: 'list',
  add: 'add NAME CODE --role approver (carabiner fleet key makes a key and its code)',
  remove: 'remove NAME',
  renew: 'renew, or renew --to VERSION',
} as const

async function listed(database: Database, { output }: Given): Promise<number> {
  const lists = await readLists(database, await firstRootKey(database), output)
  const list = current(lists)
  const { people, until, version } = list
  const end = endOfPeople(list)
  return output.result(list, (paint) =>
    people.length === 0
      ? ['nobody is on the list, so nobody may allow calls on machines of the fleet']
      : [
          ...columns(
            people.map(({ name, role, keys }) => [visibleName(name), role, keys.map(keyWords).join(', ')]),
          ).map((row) => row.join('  ')),
          end === undefined
            ? `version ${version} of the list counts until ${localTime(until)}; renew it before: carabiner fleet people renew`
            : paint.yellow(end),
          ...nobodyAllows(people).map(paint.yellow),
          ...earlierLines(lists),
        ],
  )
}

async function renewed(database: Database, key: KeyPair, { options, output }: Given): Promise<number> {
  const lists = await readLists(database, key.publicKey, output)
  const before = options.to === undefined ? current(lists) : listAt(lists, options.to)
  if (before.version === 0)
    throw new Refusal('UNKNOWN_PERSON', 'There is no list of people yet', {
      hint: `Type carabiner fleet people ${HOW.add}.`,
    })
  const { version, until } = await written({ database, key, lists, output }, before.people)
  const { people } = before
  const newest = lists.signed[0]?.people ?? []
  const dropped = newest.filter(({ name }) => !people.some((one) => one.name === name))
  const back = people.filter(({ name }) => !newest.some((one) => one.name === name))
  const names = { people: namesIn(people), dropped: namesIn(dropped), back: namesIn(back) }
  const isOlder = options.to !== undefined
  return output.result({ renewed: true, version, until, ...(isOlder && names) }, (paint) => [
    ...(isOlder ? [`on the list: ${namesOf(before)}`] : []),
    ...(back.length === 0 ? [] : [`on it again: ${namesOf({ people: back })}`]),
    ...(dropped.length === 0 ? [] : [paint.yellow(`no longer on it: ${namesOf({ people: dropped })}`)]),
    ...nobodyAllows(people).map(paint.yellow),
    `the list counts until ${localTime(until)}; machines learn it at their next contact`,
  ])
}

function nobodyAllows(people: readonly Person[]): readonly string[] {
  return people.every(({ role }) => role === 'viewer')
    ? [
        'nobody on the list may allow calls; carabiner fleet people add NAME CODE --role approver adds somebody who may',
      ]
    : []
}

/** There may be a hundred. */
const SHOWN_VERSIONS = 3

/** For `renew --to`. */
function earlierLines({ signed }: Lists): readonly string[] {
  const earlier = signed.slice(1, 1 + SHOWN_VERSIONS)
  return earlier.length === 0
    ? []
    : [
        'carabiner fleet people renew --to VERSION goes back to an earlier version:',
        ...earlier.map((one) => `  ${one.version} with ${namesOf(one)}`),
      ]
}

function keyWords(key: PersonKey): string {
  const id = keyId(key).slice(0, 12)
  return key.kind === 'passkey' ? `passkey ${id} of ${key.origin}` : `key ${id}`
}

async function added(database: Database, key: KeyPair, { options, words, output }: Given): Promise<number> {
  const [, name = '', code = ''] = words
  const theirs = keyOf(code)
  const lists = await readLists(database, key.publicKey, output)
  // An empty list brings back nobody who was removed.
  const before = lists.signed.length === 0 ? NOBODY : current(lists)
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
  const { version, until } = await written({ database, key, lists, output }, people)
  const also = known ? `, with ${counted(keys.length, 'key')}` : ''
  return output.result({ added: name, role, version, until }, (paint) => [
    `${visibleName(name)} is on the list as ${role}${also}; machines learn it at their next contact`,
    ...nobodyAllows(people).map(paint.yellow),
  ])
}

async function removed(database: Database, key: KeyPair, { words, output }: Given): Promise<number> {
  const [, name = ''] = words
  const lists = await readLists(database, key.publicKey, output)
  const before = current(lists)
  const people = before.people.filter((one) => one.name !== name)
  if (people.length === before.people.length) {
    const names = before.people.map((one) => one.name)
    throw new Refusal(
      'UNKNOWN_PERSON',
      `Nobody on the list is called ${visibleName(name)}${didYouMean(name, names)}`,
      { hint: 'carabiner fleet people lists the names.' },
    )
  }
  const { version, until } = await written({ database, key, lists, output }, people)
  return output.result({ removed: name, version, until }, (paint) => [
    `${visibleName(name)} is no longer on the list; machines learn it at their next contact`,
    ...nobodyAllows(people).map(paint.yellow),
  ])
}

function keyOf(code: string): PersonKey {
  try {
    return readPersonCode(code)
  } catch (error) {
    throw usage(`The code ${textOf(error)}`, 'Copy it whole from carabiner fleet key, or from the page.')
  }
}

const NOBODY: People = { version: 0, people: [], until: timestamp(0) }

/** The lists in the database, which its administrator may have changed. */
export interface Lists {
  /** The version of the newest row. A new list comes after it: a machine may have had that version. */
  readonly highest: number
  /** Those that the key of the fleet signed, the newest first. */
  readonly signed: readonly People[]
  /** Why the newest row does not count. */
  readonly damage?: string
}

/** Throws if what this user has seen of the fleet cannot be relied on. */
export async function readLists(database: Database, rootKey: Buffer, output: Output): Promise<Lists> {
  const stored = await lastPeople(database)
  const seen = seenPeople(rootKey)
  const lost = seen && lossOf(stored, seen)
  const rows = lost ? [...stored, seen].sort((a, b) => b.version - a.version) : stored
  const read = rows.map((row): People | string => {
    try {
      return numberedPeople(row, rootKey)
    } catch (error) {
      return textOf(error)
    }
  })
  const [newest] = read
  const damage = typeof newest === 'string' ? newest : lost
  if (stored[0] && damage === undefined) await rememberPeople(output, rootKey, stored[0])
  return {
    highest: rows[0]?.version ?? 0,
    signed: read.filter((one) => typeof one !== 'string'),
    ...(damage !== undefined && { damage }),
  }
}

/** What became of the list that this user has seen. The database is asked for the last hundred. */
function lossOf(
  stored: readonly NumberedPeople[],
  { version, list }: NonNullable<ReturnType<typeof seenPeople>>,
): string | undefined {
  const [newest, oldest] = [stored[0]?.version ?? 0, stored.at(-1)?.version ?? 0]
  if (newest < version) return 'was removed'
  if (oldest > version || stored.some((one) => one.version === version && one.list === list)) return undefined
  return newest === version
    ? 'is another one than you have seen'
    : `follows another version ${version} than you have seen`
}

/** The newest list. Throws if an administrator of the database has put another one in its place. */
function current({ highest, signed: [newest], damage }: Lists): People {
  if (damage === undefined) return newest ?? NOBODY
  const repair = newest
    ? `Version ${newest.version} is the newest one that the key of the fleet signed, with ${namesOf(newest)}. If these people may allow calls, type carabiner fleet people renew --to ${newest.version}; the list becomes version ${highest + 1}.`
    : `carabiner fleet people add NAME CODE begins a new list, as version ${highest + 1}.`
  throw new Refusal(
    'FLEET_UNUSABLE',
    `Version ${highest} of the list of people in the database ${damage}, so nobody can rely on it`,
    { hint: `Find out who wrote it: the table fleet.people names the user. ${repair}` },
  )
}

function listAt({ signed }: Lists, text: string): People {
  const found = signed.find(({ version }) => String(version) === text)
  if (found) return found
  throw usage(
    `--to must be a version of the list that the key of the fleet signed, got ${JSON.stringify(text)}`,
    signed.length === 0
      ? 'There is none.'
      : `Choose from ${signed.map(({ version }) => version).join(', ')}.`,
  )
}

function namesIn(people: readonly Person[]): readonly string[] {
  return people.map(({ name }) => name)
}

function namesOf({ people }: Pick<People, 'people'>): string {
  return people.length === 0 ? 'nobody' : people.map(({ name }) => visibleName(name)).join(', ')
}

interface Writing {
  readonly database: Database
  readonly key: KeyPair
  readonly lists: Lists
  readonly output: Output
}

async function written(
  { database, key, lists, output }: Writing,
  people: readonly Person[],
): Promise<People> {
  const version = lists.highest + 1
  let list: ReturnType<typeof signedPeople>
  try {
    list = signedPeople({ version, people }, key)
  } catch (error) {
    throw usage(`The list ${textOf(error)}`)
  }
  if (await addPeople(database, version, list)) {
    await rememberPeople(output, key.publicKey, list)
    return peopleIn(list, key.publicKey)
  }
  throw new Refusal('FLEET_REFUSED', 'Somebody else has just changed the list of people', {
    hint: 'Type the command again.',
  })
}
