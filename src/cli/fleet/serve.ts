// `fleet serve`: the gateway. Any number of them may run.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createSecureContext } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { localTime, timestamp } from '../../core/base/time.js'
import { callerEnv, callerPath } from '../../files/caller.js'
import { type Database, openDatabase } from '../../fleet/database/connection.js'
import { checkSchema } from '../../fleet/database/migrate.js'
import { Bells } from '../../fleet/gateway/bells.js'
import { gateway } from '../../fleet/gateway/gateway.js'
import { isNumeric, type Listening, listen } from '../../fleet/gateway/listener.js'
import { Webhook, type WebhookOptions } from '../../fleet/gateway/webhook.js'
import { isLoopback } from '../../fleet/protocol.js'
import { type FleetPage, fleetPage } from '../../page/fleet/fleet-page.js'
import { Interruption } from '../interruption.js'
import { pageFiles } from '../page-files.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { databaseUrl, type Given, orgOf } from './action.js'
import { refusing } from './failure.js'

const PORT = 8443

/** A thousand machines that begin to wait at once would make the heap's young half grow, and it never shrinks again. */
const SMALL_HEAP = '--semi-space-growth-factor=1'

export async function run({ options, output, signal: given }: Given): Promise<number> {
  const tls = tlsOf(options)
  const { host = '127.0.0.1' } = options
  const port = portOf(options.port)
  const origin = pageOf(options.page)
  const told = webhookOf(options, origin)
  if (tls && origin?.startsWith('http:'))
    throw usage('--page must begin with https:// where the gateway has a certificate')
  const url = databaseUrl(options)
  const org = orgOf(options)
  const tell = (text: string) => void output.complain([`carabiner: ${visible(text)}`])
  const database = await refusing(async () => {
    const opened = await openDatabase({
      url,
      org,
      onLost: (error) => tell(`a connection was lost: ${error.message}`),
    })
    // A wrong address or role is told now, not to the first machine.
    try {
      await checkMay(opened, APPENDS, 'serve the gateway', 'fleet_gateway')
      await checkSchema(opened)
      return opened
    } catch (error) {
      await opened.close()
      throw error
    }
  })
  const ending = tls && endOf(tls.cert)
  if (ending !== undefined) tell(ending)
  const interruption = new Interruption(given)
  const bells = new Bells()
  const webhook = told && new Webhook(database, { ...told, onTrouble: tell })
  setFlagsFromString(SMALL_HEAP)
  try {
    const machines = gateway({ database, bells, onTrouble: tell })
    const page = origin === undefined ? undefined : await pageAt(origin, { database, org, tell })
    if (page) bells.onChanged(() => page.changed())
    const server = await listenAt(host, port, tls, page ? beside(machines, page) : machines)
    bells.onAsked(() => webhook?.look())
    webhook?.look()
    const [row] = await database.rows<{ org: number }>('select fleet.own_org() as org')
    const listening = bells.listen(database, row?.org ?? 0, interruption.signal, tell)
    await output.result({ url: server.url, org, ...(page && { page: origin }) }, () => [
      `the gateway of ${org} listens on ${server.url}; Ctrl-C stops it`,
      ...(page ? [`  people find its page at ${origin}`] : []),
    ])
    await new Promise<void>((resolve) => {
      interruption.signal.addEventListener('abort', () => resolve(), { once: true })
      if (interruption.signal.aborted) resolve()
    })
    await listening
    page?.end()
    await server.close()
  } finally {
    interruption.end(true)
    await webhook?.end()
    await database.close()
  }
  return EXIT.ok
}

/** Machines have their own paths, and prove themselves. Everything else is for people. */
function beside(machines: RequestListener, page: FleetPage): RequestListener {
  return (request, response) =>
    request.url?.startsWith('/v1/') ? machines(request, response) : page.listener(request, response)
}

interface Around {
  readonly database: Database
  readonly org: string
  readonly tell: (text: string) => void
}

const APPENDS = `has_function_privilege('fleet.append(uuid, text, int, bigint, text, int, text, text, text)', 'execute')`
const READS_SESSIONS = `has_table_privilege('fleet.page_session', 'select')`

/** Throws unless the condition holds for this user of the database. */
async function checkMay(database: Database, condition: string, what: string, role: string): Promise<void> {
  const [row] = await database.rows<{ user: string; quoted: string; may: boolean }>(
    `select current_user as "user", quote_ident(current_user) as quoted, ${condition} as may`,
  )
  if (row?.may) return
  throw new Refusal('FLEET_DATABASE', `The user ${row?.user} of the database may not ${what}`, {
    hint: `Let the owner of the database type in psql: grant ${role} to ${row?.quoted}`,
  })
}

/** Throws if this user of the database may not read what the page shows. */
async function pageAt(origin: string, { database, org, tell }: Around): Promise<FleetPage> {
  await refusing(() => checkMay(database, READS_SESSIONS, 'serve the page', 'fleet_page'))
  return fleetPage({ database, assets: pageFiles('fleet-page'), origin, org, onTrouble: tell })
}

/** Passkeys are bound to the name in it. */
function pageOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isBare = url && url.href === `${url.origin}/`
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isOwn(url.hostname))
  if (isBare && isSafe && !isNumeric(url.hostname)) return url.origin
  throw usage(
    `--page must be the address that people type, such as https://fleet.example: https, a name and not a number, without a path; got ${JSON.stringify(text)}`,
  )
}

function isOwn(name: string): boolean {
  return isLoopback(name) || name.endsWith('.localhost')
}

const SECRET_VARIABLE = 'CARABINER_FLEET_WEBHOOK_SECRET'

/** Its messages link to the page, so there must be one. */
function webhookOf(
  { webhook: url }: Given['options'],
  page: string | undefined,
): Omit<WebhookOptions, 'onTrouble'> | undefined {
  if (url === undefined) return undefined
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (protocol !== 'https:' && !(protocol === 'http:' && isOwn(hostname)))
    throw usage(
      '--webhook must be an address that begins with https://, or with http:// on this machine, such as http://localhost:3000',
    )
  if (page === undefined)
    throw usage('--webhook needs --page: its messages link to the page, such as https://fleet.example')
  const secret = callerEnv()[SECRET_VARIABLE]
  if (secret) return { url, secret, page }
  throw usage(`Set ${SECRET_VARIABLE}: it signs what the webhook is sent`)
}

async function listenAt(
  host: string,
  port: number,
  tls: { cert: string; key: string } | undefined,
  listener: Parameters<typeof listen>[1],
): Promise<Listening> {
  try {
    return await listen({ host, port, ...(tls && { tls }) }, listener)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const hint =
      code === undefined
        ? 'Give --cert and --cert-key, or leave out --host.'
        : (LISTENING[code] ?? 'Choose another --host or --port.')
    throw new Refusal('FLEET_UNUSABLE', `The gateway cannot listen: ${textOf(error)}`, { hint })
  }
}

/** What to do, by the code of the operating system. */
const LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Another program has this port. Choose another --port, or end that program.',
  EADDRNOTAVAIL: 'No network of this machine has this address. Choose another --host.',
  ENOTFOUND: 'Check --host: no machine has this name.',
  EACCES: 'Choose a --port above 1023.',
}

const SOON_MS = 7 * 24 * 3_600_000

/** What to tell about a certificate that is over, or will be in a week: without a valid one, no machine connects. */
function endOf(cert: string): string | undefined {
  const { validTo } = new X509Certificate(cert)
  const end = Date.parse(validTo)
  if (end > Date.now() + SOON_MS) return undefined
  const ended = end <= Date.now() ? 'expired on' : 'expires on'
  return `the certificate of the gateway ${ended} ${localTime(timestamp(end))}; machines refuse it from then on: renew it, and start the gateway again`
}

function tlsOf({ cert, 'cert-key': key }: Given['options']): { cert: string; key: string } | undefined {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) throw usage('--cert and --cert-key belong together: give both')
  const pair = { cert: contentOf(cert, '--cert'), key: contentOf(key, '--cert-key') }
  try {
    createSecureContext(pair)
    return pair
  } catch (error) {
    throw usage(
      `The gateway cannot use --cert with --cert-key: ${textOf(error)}`,
      `${cert} must be a certificate in PEM form, and ${key} the private key that belongs to it, without a passphrase.`,
    )
  }
}

function contentOf(file: string, option: string): string {
  try {
    return readFileSync(callerPath(file), 'utf8')
  } catch (error) {
    throw usage(`${option} cannot be read: ${textOf(error)}`)
  }
}

function portOf(text: string | undefined): number {
  if (text === undefined) return PORT
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port < 65_536) return port
  throw usage(`--port must be a number from 0 to 65535, got ${JSON.stringify(text)}`)
}
