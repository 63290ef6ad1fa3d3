// The page of a gateway, for people: lets requests through the same gate as the page of a machine, and asks who is there.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Database, isDataException } from '../../fleet/database/connection.js'
import { answerWith, bodyOf, sendProblem } from '../answering.js'
import { type Asked, NotAnswered } from '../answers.js'
import type { Asset } from '../assets.js'
import { addressedTo, foreignTo } from '../request-gate.js'
import { send, sendText } from '../response.js'
import type { FleetAnswers } from './asked.js'
import { Challenges } from './challenges.js'
import { ChangeStreams } from './change-stream.js'
import { machineAnswers } from './machine-answers.js'
import { policyAnswers } from './policy-answers.js'
import { questionAnswers } from './question-answers.js'
import { recordAnswers } from './record-answers.js'
import { signInAnswers } from './sign-in.js'
import { mayAct, type Visitor, Visitors } from './visitors.js'

export interface FleetPageOptions {
  readonly database: Database
  readonly assets: ReadonlyMap<string, Asset>
  /** What people type: `https://fleet.example`. Passkeys are bound to it. */
  readonly origin: string
  readonly org: string
  /** Told what could not be done because of this side. */
  readonly onTrouble: (text: string) => void
}

/** Shown to anybody: the way in. Every other file and every answer needs somebody who is signed in. */
const PUBLIC_FILES: readonly string[] = ['', 'sign-in.js', 'page.css']

export interface FleetPage {
  readonly listener: RequestListener
  /** Tells open tabs to ask again. */
  changed(): void
  /** Ends what would keep connections open. */
  end(): void
}

export function fleetPage(options: FleetPageOptions): FleetPage {
  const { database, origin, onTrouble } = options
  const streams = new ChangeStreams()
  const visitors = new Visitors(database, origin)
  const challenges = new Challenges(database)
  const answers: FleetAnswers = {
    ...signInAnswers({ ...options, visitors, challenges }),
    ...questionAnswers(database, challenges, origin),
    ...machineAnswers(database, challenges, origin),
    ...recordAnswers(database),
    ...policyAnswers(database),
  }
  const route = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const path = url.pathname.slice(1)
    const asset = request.method === 'GET' ? options.assets.get(path) : undefined
    if (asset && PUBLIC_FILES.includes(path)) return send(response, 200, asset.type, asset.body)
    const key = `${request.method} ${path}`
    const row = Object.hasOwn(answers, key) ? answers[key] : undefined
    const body = request.method === 'POST' ? await bodyOf(request) : undefined
    const asked: Omit<Asked, 'signal'> = { query: url.searchParams, body, origin }
    if (row && row.role === undefined) {
      const setCookie = (header: string) => void response.setHeader('set-cookie', header)
      const answer = (one: Asked) => row.answer({ ...one, setCookie })
      return answerWith({ [key]: answer }, key, response, asked)
    }
    const visitor = await known(visitors, request)
    if (asset) return send(response, 200, asset.type, asset.body)
    if (key === 'GET api/stream') {
      const isWelcome = async () => (await visitors.of(request.headers.cookie)) !== undefined
      return streams.serve(response, visitor.session.toString('hex'), isWelcome)
    }
    if (row && !mayAct(visitor.role, row.role))
      throw new NotAnswered(403, `This needs the role ${row.role}, and you are ${visitor.role}`)
    const answer = row && ((one: Asked) => row.answer({ ...one, visitor }))
    return answerWith(answer ? { [key]: answer } : {}, key, response, asked)
  }
  const listener: RequestListener = (request, response) => {
    const passed = addressedTo(request, origin)
    const refused =
      'refused' in passed ? passed.refused : arrivalOf(request) ? undefined : foreignTo(request, origin)
    if ('refused' in passed || refused) {
      // The rest of a body that nobody reads would keep the connection busy.
      response.setHeader('connection', 'close')
      if (refused) sendText(response, refused.status, refused.text)
      return
    }
    route(request, response, passed.url).catch((error: unknown) =>
      sendProblem(response, hidden(error, onTrouble), onTrouble),
    )
  }
  return { listener, changed: () => streams.changed(), end: () => streams.end() }
}

/** A link from elsewhere, such as a chat, leads to the page. A browser sends no cookie then, and the page asks again. */
function arrivalOf({ method, url, headers }: IncomingMessage): boolean {
  const isShown = headers['sec-fetch-dest'] === 'document' && headers['sec-fetch-mode'] === 'navigate'
  return method === 'GET' && url === '/' && headers.origin === undefined && isShown
}

async function known(visitors: Visitors, { headers }: IncomingMessage): Promise<Visitor> {
  const visitor = await visitors.of(headers.cookie)
  if (visitor) return visitor
  throw new NotAnswered(401, 'You are not signed in')
}

/** What nobody expected is not told to the browser: it may name things of the database. */
function hidden(error: unknown, onTrouble: (text: string) => void): unknown {
  if (error instanceof NotAnswered) return error
  if (isDataException(error)) return new NotAnswered(400, 'This request is not valid.')
  onTrouble(error instanceof Error ? error.message : String(error))
  return new NotAnswered(503, 'The gateway cannot do this now. Try again in a moment.')
}
