// Who is signed in at the page of a gateway. A session is a row: it ends with its time, or when its person is removed.

import { createHash, randomBytes } from 'node:crypto'
import type { Database } from '../../fleet/database/connection.js'
import { arePeopleOver, type Person, type PersonKey, peopleIn, ROLES, type Role } from '../../store/people.js'

/** Somebody who is signed in. */
export interface Visitor {
  readonly name: string
  readonly role: Role
  /** The passkey that they signed in with. */
  readonly passkey: PageKey
  /** The digest of their cookie. */
  readonly session: Buffer
}

export type PageKey = Extract<PersonKey, { readonly kind: 'passkey' }>

/** A person and one of their passkeys of this page. */
export interface PasskeyOwner {
  readonly person: Person
  readonly key: PageKey
}

const COOKIE = '__Host-carabiner'
const LASTS_HOURS = 8
const TOKEN = /^[\w-]{43}$/

export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

export class Visitors {
  readonly #database: Database
  readonly #origin: string

  constructor(database: Database, origin: string) {
    this.#database = database
    this.#origin = origin
  }

  /** Everybody with a passkey of this page. Throws if the list of people cannot be relied on. */
  async owners(): Promise<readonly PasskeyOwner[]> {
    const [row] = await this.#database.rows<ListRow>(
      `select p.list, p.signature, o.root_key from fleet.org o
        join lateral (${NEWEST}) p on true where o.org = fleet.own_org()`,
    )
    return row ? this.#ownersIn(row) : []
  }

  /** Returns the value of the header that gives a browser its cookie. */
  async begin(passkey: string): Promise<string> {
    const token = randomBytes(32).toString('base64url')
    await this.#database.rows("select fleet.begin_page_session($1, $2, $3 * interval '1 hour')", [
      digestOf(token),
      passkey,
      LASTS_HOURS,
    ])
    return `${COOKIE}=${token}; HttpOnly; Secure; SameSite=Strict; Path=/; Max-Age=${LASTS_HOURS * 3600}`
  }

  /** Looks in the database each time: whoever was removed is out at once. */
  async of(cookies: string | undefined): Promise<Visitor | undefined> {
    const token = tokenIn(cookies)
    if (token === undefined) return undefined
    const session = digestOf(token)
    const [row] = await this.#database.rows<ListRow & { passkey: string }>(
      `select s.passkey, p.list, p.signature, o.root_key from fleet.page_session s
        join fleet.org o on o.org = s.org join lateral (${NEWEST}) p on true
        where s.org = fleet.own_org() and s.digest = $1 and s.expires > clock_timestamp()`,
      [session],
    )
    const owner = row && this.#ownersIn(row).find(({ key }) => key.id === row.passkey)
    return owner && { name: owner.person.name, role: owner.person.role, passkey: owner.key, session }
  }

  async end({ session }: Visitor, everywhere: boolean): Promise<void> {
    await this.#database.rows('select fleet.end_page_session($1, $2)', [session, everywhere])
  }

  #ownersIn({ list, signature, root_key }: ListRow): readonly PasskeyOwner[] {
    const all = peopleIn({ list, signature }, root_key)
    if (arePeopleOver(all)) return []
    return all.people.flatMap((person) =>
      person.keys.flatMap((key) =>
        key.kind === 'passkey' && key.origin === this.#origin ? [{ person, key }] : [],
      ),
    )
  }
}

interface ListRow {
  readonly list: string
  readonly signature: string
  readonly root_key: Buffer
}

const NEWEST = 'select list, signature from fleet.people where org = o.org order by version desc limit 1'

/** Undefined if the cookie is there twice: another host below the same name may have set one of them. */
function tokenIn(cookies = ''): string | undefined {
  const found = cookies.split(/; */).filter((pair) => pair.startsWith(`${COOKIE}=`))
  const token = found.length === 1 ? found[0]?.slice(COOKIE.length + 1) : undefined
  return token !== undefined && TOKEN.test(token) ? token : undefined
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
