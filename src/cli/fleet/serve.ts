// `fleet serve`: the gateway. Any number of them may run.

import { readFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { callerEnv, callerPath } from '../../files/caller.js'
import { openDatabase } from '../../fleet/database/connection.js'
import { Bells } from '../../fleet/gateway/bells.js'
import { gateway } from '../../fleet/gateway/gateway.js'
import { type Listening, listen } from '../../fleet/gateway/listener.js'
import { webhook } from '../../fleet/gateway/webhook.js'
import { Interruption } from '../interruption.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { databaseUrl, type Given, orgOf, refusing } from './action.js'

const PORT = 8443

export async function run({ options, output, signal: given }: Given): Promise<number> {
  const tls = tlsOf(options)
  const { host = '127.0.0.1' } = options
  const port = portOf(options.port)
  const secret = secretOf(options)
  const url = databaseUrl(options)
  const org = orgOf(options)
  const tell = (text: string) => void output.complain([`carabiner: ${visible(text)}`])
  const database = await refusing('FLEET_DATABASE', async () => {
    const opened = await openDatabase({
      url,
      org,
      onLost: (error) => tell(`a connection was lost: ${error.message}`),
    })
    // A wrong address is told now, not to the first machine.
    await opened.rows('select fleet.own_org()')
    return opened
  })
  const interruption = new Interruption(given)
  const bells = new Bells()
  try {
    const server = await opened(host, port, tls, gateway({ database, bells, onTrouble: tell }))
    if (secret !== undefined && options.webhook !== undefined)
      bells.onAsked(
        webhook(database, {
          ...{ url: options.webhook, secret, page: options.page ?? server.url, onTrouble: tell },
        }),
      )
    const [row] = await database.rows<{ org: number }>('select fleet.own_org() as org')
    const listening = bells.listen(database, row?.org ?? 0, interruption.signal)
    await output.result({ url: server.url, org }, () => [
      `the gateway of ${org} listens on ${server.url}; Ctrl-C stops it`,
    ])
    await new Promise<void>((resolve) => {
      interruption.signal.addEventListener('abort', () => resolve(), { once: true })
      if (interruption.signal.aborted) resolve()
    })
    await listening
    await server.close()
  } finally {
    interruption.end(true)
    await database.close()
  }
  return EXIT.ok
}

const SECRET_VARIABLE = 'CARABINER_FLEET_WEBHOOK_SECRET'

/** Of the webhook, which knows by it who sends. */
function secretOf({ webhook: url, page }: Given['options']): string | undefined {
  if (page !== undefined && !URL.canParse(page)) throw usage('--page must be an address')
  if (url === undefined) return undefined
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw usage('--webhook must be an address that begins with https://')
  const secret = callerEnv()[SECRET_VARIABLE]
  if (secret) return secret
  throw usage(`Set ${SECRET_VARIABLE}: it signs what the webhook is sent`)
}

async function opened(
  host: string,
  port: number,
  tls: { cert: string; key: string } | undefined,
  listener: Parameters<typeof listen>[1],
): Promise<Listening> {
  try {
    return await listen({ host, port, ...(tls && { tls }) }, listener)
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', `The gateway cannot listen: ${textOf(error)}`, {
      hint: 'Choose another --host or --port, or give --cert and --cert-key.',
    })
  }
}

function tlsOf({ cert, 'cert-key': key }: Given['options']): { cert: string; key: string } | undefined {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) throw usage('--cert and --cert-key belong together: give both')
  return { cert: contentOf(cert, '--cert'), key: contentOf(key, '--cert-key') }
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
