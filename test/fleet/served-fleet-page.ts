// A gateway with its page on the loopback, and people with passkeys in software who visit it.

import { dirname, join } from 'node:path'
import { type Person, type PersonKey, signedPeople } from '../../src/files/fleet/people.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { addPeople } from '../../src/fleet/database/people.js'
import { Bells } from '../../src/fleet/gateway/bells.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { readAssets } from '../../src/page/assets.js'
import { type FleetPage, fleetPage } from '../../src/page/fleet/fleet-page.js'
import { type Passkey, passkey } from '../approvals/passkey.js'
import { programFile } from '../cli/program.js'
import { type Reply, visit } from '../page/visitor.js'
import { type Fleet, ORG, opened, ROOT } from './fleet-scene.js'

const HOST = 'fleet.localhost'

/** A gateway of this fleet. Several of them are copies of each other. */
export class ServedFleetPage {
  readonly problems: string[]
  readonly #database: Database
  readonly #listening: Listening
  readonly #page: FleetPage
  readonly #end: () => Promise<void>
  readonly port: number
  readonly origin: string

  private constructor(
    database: Database,
    listening: Listening,
    page: FleetPage,
    problems: string[],
    end: () => Promise<void>,
  ) {
    this.#end = end
    this.#database = database
    this.#listening = listening
    this.#page = page
    this.problems = problems
    this.port = Number(new URL(listening.url).port)
    this.origin = `http://${HOST}:${this.port}`
  }

  /** `origin`: that of another copy, which stands behind the same name. */
  static async start(fleet: Fleet, origin?: string): Promise<ServedFleetPage> {
    const database = await opened(fleet.page)
    const problems: string[] = []
    const onTrouble = (text: string) => void problems.push(text)
    const bells = new Bells()
    const over = new AbortController()
    const machines = gateway({ database, bells, onTrouble })
    let page: FleetPage | undefined
    const listening = await listen({ host: '127.0.0.1', port: 0 }, (request, response) =>
      request.url?.startsWith('/v1/') ? machines(request, response) : page?.listener(request, response),
    )
    const own = `http://${HOST}:${new URL(listening.url).port}`
    const assets = readAssets(join(dirname(programFile()), 'fleet-page'))
    page = fleetPage({ database, assets, origin: origin ?? own, org: ORG, onTrouble })
    const [row] = await database.rows<{ org: number }>('select fleet.own_org() as org')
    bells.onChanged(() => page?.changed())
    const listens = bells.listen(database, row?.org ?? 0, over.signal)
    const end = async () => {
      over.abort()
      await listens
    }
    return new ServedFleetPage(database, listening, page, problems, end)
  }

  get url(): string {
    return this.#listening.url
  }

  changed(): void {
    this.#page.changed()
  }

  async close(): Promise<void> {
    this.#page.end()
    await this.#end()
    await this.#listening.close()
    await this.#database.close()
  }
}

/** The key of this passkey as the list of people has it. */
export function keyOf({ approver: { id, publicKey } }: Passkey, origin: string): PersonKey {
  return { kind: 'passkey', id, publicKey, rpId: HOST, origin }
}

/** Writes lists of people, each in place of the one before. */
export class PeopleList {
  readonly #admin: Database
  #version = 0

  constructor(admin: Database) {
    this.#admin = admin
  }

  async write(...people: readonly Person[]): Promise<void> {
    const version = ++this.#version
    await addPeople(this.#admin, version, signedPeople({ version, people }, ROOT))
  }
}

export interface Guest {
  readonly passkey: Passkey
  readonly person: Person
  /** Signs in and returns the cookie. */
  enter(page: ServedFleetPage, changes?: object): Promise<Reply>
}

export function guest(name: string, role: Person['role'], origin: string): Guest {
  const own = passkey(name)
  return {
    passkey: own,
    person: { name, role, keys: [keyOf(own, origin)] },
    async enter(page, changes = {}) {
      const { body } = await say(page, 'POST', '/api/sign-in/challenge', {}, { origin })
      const { challenge, nonce } = JSON.parse(body) as { challenge: string; nonce: string }
      const { id, ...signature } = own.signChallenge(challenge, nonce, { origin, host: HOST, ...changes })
      return say(page, 'POST', '/api/sign-in', { passkey: id, ...signature }, { origin })
    },
  }
}

export function cookieIn({ headers }: Reply): string {
  return /^[^;]+/.exec(headers['set-cookie'] ?? '')?.[0] ?? ''
}

interface Around {
  readonly cookie?: string
  readonly origin?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Says it as the page in a browser does. */
export function say(
  page: ServedFleetPage,
  method: string,
  path: string,
  body?: object,
  around: Around = {},
): Promise<Reply> {
  const { origin = page.origin } = around
  const headers = {
    ...(method === 'POST' && { Origin: origin, 'Content-Type': 'application/json' }),
    ...(around.cookie !== undefined && { Cookie: around.cookie }),
    ...around.headers,
  }
  const host = new URL(origin).host
  return visit(page.port, { method, path, headers, host, ...(body && { body: JSON.stringify(body) }) })
}
