// Who is signed in at the page of a gateway. A session is a row: it ends with its time, or when its person is removed.

import { createHash, randomBytes } from 'node:crypto'
import { arePeopleOver, type Person, type PersonKey, ROLES, type Role } from '../../files/fleet/people.js'
import type { Database } from '../../fleet/database/connection.js'
import { readList } from '../../fleet/database/people.js'

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
    const all = (await readList(this.#database))?.checked()
    if (!all || arePeopleOver(all)) return []
    return all.people.flatMap((person) =>
      person.keys.flatMap((key) =>
        key.kind === 'passkey' && key.origin === this.#origin ? [{ person, key }] : [],
      ),
    )
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
    const [row] = await this.#database.rows<{ passkey: string }>(
      `select passkey from fleet.page_session
        where org = fleet.own_org() and digest = $1 and expires > clock_timestamp()`,
      [session],
    )
    const owner = row && (await this.owners()).find(({ key }) => key.id === row.passkey)
    return owner && { name: owner.person.name, role: owner.person.role, passkey: owner.key, session }
  }

  async end({ session }: Visitor, everywhere: boolean): Promise<void> {
    await this.#database.rows('select fleet.end_page_session($1, $2)', [session, everywhere])
  }
}

/** Undefined if the cookie is there twice: another host below the same name may have set one of them. */
function tokenIn(cookies = ''): string | undefined {
  const found = cookies.split(/; */).filter((pair) => pair.startsWith(`${COOKIE}=`))
  const token = found.length === 1 ? found[0]?.slice(COOKIE.length + 1) : undefined
  return token !== undefined && TOKEN.test(token) ? token : undefined
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
