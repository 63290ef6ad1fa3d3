// Node's way to the network, loaded when the first hook needs it: agents whose connections are kept, and shared by all hooks of the process.

import type { Agent, ClientRequest, RequestOptions } from 'node:http'
import type { LookupFunction, Socket } from 'node:net'
import { Addresses } from './addresses.js'
import type { Reach } from './reach.js'

export interface Network {
  readonly request: (options: RequestOptions) => ClientRequest
  readonly agent: Agent
}

/** Idle connections are closed by then; most servers wait longer. Idle ones keep no process alive: Node sees to that. */
const IDLE_MS = 30_000
const AGENT = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 16, scheduling: 'lifo' } as const

let plain: Promise<Network> | undefined
let secure: Promise<Network> | undefined

export function networkFor(protocol: string): Promise<Network> {
  if (protocol === 'https:') {
    secure ??= loadHttps()
    return secure
  }
  plain ??= loadHttp()
  return plain
}

async function loadHttp(): Promise<Network> {
  const { Agent, request } = await import('node:http')
  return { request, agent: new Agent(AGENT) }
}

async function loadHttps(): Promise<Network> {
  const { Agent, request } = await import('node:https')
  return { request, agent: new Agent(AGENT) }
}

let addresses: Promise<Addresses> | undefined

export function knownAddresses(): Promise<Addresses> {
  addresses ??= import('node:net').then(({ BlockList }) => new Addresses(() => new BlockList()))
  return addresses
}

/** Looks a name up and hands out only what may be connected to; where nothing is left, why. */
export function guardedLookup(reach: Reach): LookupFunction {
  return (hostname, options, callback) => {
    void import('node:dns').then(({ lookup }) =>
      lookup(hostname, { ...options, all: true }, (error, found) => {
        if (error) return callback(error, [])
        const allowed = found.filter(({ address }) => !reach.refusalOf(address))
        const [first] = allowed
        if (!first) return callback((found[0] && reach.refusalOf(found[0].address)) ?? unknown(hostname), [])
        if (options.all) callback(null, allowed)
        else callback(null, first.address, first.family)
      }),
    )
  }
}

function unknown(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
}

const idleSince = new WeakMap<Socket, number>()

/** A connection that is kept for the next request, from now on. */
export function restFrom(socket: Socket, now: number): void {
  idleSince.set(socket, now)
}

export function restedFor(socket: Socket, now: number): number {
  return now - (idleSince.get(socket) ?? 0)
}
