// What machines and the gateway say to each other: the routes, their limits, the shapes of requests and answers.

import type { Role, SignedPeople } from '../files/fleet/people.js'
import type { Pending, Signature } from '../store/approvals.js'
import { LONGEST_LINE } from '../store/audit/chain.js'
import type { Link } from '../store/audit-log.js'
import type { PolicyRow } from './policy/metadata.js'

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Whether the request has the signature of its sender: a machine, or a person for a route of theirs. */
  readonly signed: boolean
  readonly person?: true
  /** The most bytes of a request. */
  readonly most: number
}

const KIB = 1024

/**
 * Every route may be asked again with the same effect, because an answer can get lost. So a request that somebody
 * recorded and sends again does nothing new either, and the gateway need not remember the requests that it has seen.
 */
export const ROUTES = {
  join: { method: 'POST', path: '/v1/join', signed: false, most: 16 * KIB },
  leave: { method: 'POST', path: '/v1/leave', signed: true, most: KIB },
  machine: { method: 'GET', path: '/v1/machine', signed: true, most: 0 },
  report: { method: 'POST', path: '/v1/machine/report', signed: true, most: 64 * KIB },
  people: { method: 'GET', path: '/v1/people', signed: true, most: 0 },
  policy: { method: 'POST', path: '/v1/policy', signed: true, most: KIB },
  bundle: { method: 'GET', path: '/v1/policy/bundle', signed: true, most: 0 },
  heads: { method: 'POST', path: '/v1/audit/heads', signed: true, most: KIB },
  append: { method: 'POST', path: '/v1/audit/append', signed: true, most: LONGEST_LINE + 64 * KIB },
  evidence: { method: 'POST', path: '/v1/audit/evidence', signed: true, most: 4 * KIB },
  ask: { method: 'POST', path: '/v1/approvals/ask', signed: true, most: 4 * 1024 * KIB },
  sync: { method: 'POST', path: '/v1/approvals/sync', signed: true, most: 256 * KIB },
  settle: { method: 'POST', path: '/v1/approvals/settle', signed: true, most: 256 * KIB },
  questions: { method: 'GET', path: '/v1/approvals/questions', signed: true, person: true, most: 0 },
  count: { method: 'POST', path: '/v1/count', signed: true, most: KIB },
  answer: { method: 'POST', path: '/v1/approvals/answer', signed: true, person: true, most: 64 * KIB },
} as const satisfies Record<string, Route>

export type RouteName = keyof typeof ROUTES

/** What a request that was not done is answered with. `CLOCK` comes with the time of the gateway. */
export interface Refused {
  readonly error: { readonly code: RefusedCode; readonly message: string; readonly time?: number }
}

/** The HTTP status of each refusal. */
export const REFUSED = {
  INVALID: 400,
  UNSIGNED: 401,
  CLOCK: 401,
  UNKNOWN_MACHINE: 403,
  UNKNOWN_PERSON: 403,
  TOKEN: 403,
  UNKNOWN_ROUTE: 404,
  NAME_TAKEN: 409,
  KEY_USED: 409,
  TOO_LARGE: 413,
  UNAVAILABLE: 503,
} as const

export type RefusedCode = keyof typeof REFUSED

export interface JoinRequest {
  /** The id of the token, and its secret. */
  readonly token: string
  readonly secret: string
  readonly name: string
  /** The public key of the machine, 32 bytes as base64url. */
  readonly key: string
  /** By that key, over `joinText`: nobody joins with the key of somebody else. */
  readonly signature: string
}

export interface JoinAnswer {
  readonly machine: string
}

export function joinText({ token, name, key }: Omit<JoinRequest, 'signature' | 'secret'>): string {
  return ['carabiner-fleet-join-v1', token, name, key].join('\n')
}

export interface MachineAnswer {
  readonly machine: string
  readonly name: string
  readonly joined: string
  readonly evidence: number
}

/** The newest list; none if nobody has written one. */
export interface PeopleAnswer {
  readonly people?: SignedPeople
}

/** The versions that a machine has. 0: none. */
export interface PolicyRequest {
  readonly root: number
  readonly timestamp: number
  /** Its name, by which the roll-out tells its ring. */
  readonly name?: string
  /** Digests of bundles that it need not be sent. */
  readonly has?: readonly string[]
}

/** The newest state of the policy, unless the machine has it. The machine checks every signature. */
export interface PolicyAnswer {
  /** Of the gateway, milliseconds since 1970. */
  readonly time: number
  /** The newest version of `timestamp`. 0: nobody has published a policy. */
  readonly newest: number
  readonly files: readonly PolicyRow[]
  /** Bundles that the machine probably needs, so that it need not ask for them. The gateway may leave out any of them. */
  readonly bundles?: readonly string[]
}

/** Absent if there is none with this digest. */
export interface BundleAnswer {
  readonly bundle?: string
}

/** Asks about all logs whose id begins with `home`, a page after another. */
export interface HeadsRequest {
  readonly home: string
  /** The last log of the page before. */
  readonly after?: string
}

/** The newest epoch of a log that the gateway has. */
export interface ChainHead extends Link {
  readonly epoch: number
}

/** In the order of the logs' ids. */
export interface HeadsAnswer {
  readonly heads: readonly (ChainHead & {
    readonly log: string
    /** Whether the machine has told already that it no longer has this log. */
    readonly told: boolean
  })[]
}

/** The size of a page of heads. */
export const MOST_HEADS = 1000
/** The size of a batch, unless a single line is longer. */
export const BATCH = { lines: 1000, bytes: 1024 * KIB } as const

/** The answer to lines: they are there, or they do not continue what is there. */
export interface AppendAnswer extends Link {
  readonly status: 'added' | 'known' | 'gap' | 'fork'
}

/** Why a log cannot go on where it was. The gateway itself finds `fork` and `gap`, too. */
export const BREAKS = ['fork', 'gap', 'cut', 'behind', 'damaged'] as const
export type Break = (typeof BREAKS)[number]

export interface EvidenceRequest {
  readonly log: string
  readonly epoch: number
  readonly kind: Break
  readonly seq: number
  /** The hash that the gateway has at this place, and the one that the machine has. */
  readonly held?: string
  readonly sent?: string
}

export interface EvidenceAnswer {
  /** Whether the gateway did not know it yet. */
  readonly news: boolean
}

/** What the ids of all logs of one user of a machine begin with. */
export const HOME_ID = /^[0-9a-f]{16}$/

/** How a question got to the gateway. `taken`: another machine has a question with this id. `full`: this one has too many. */
export interface AskAnswer {
  readonly status: 'asked' | 'known' | 'taken' | 'full'
}

/** The longest time that `sync` waits for news. */
export const MOST_WAIT_S = 25

export interface SyncRequest {
  /** The open questions of the machine, and how many answers it has seen of each. */
  readonly waiting: Readonly<Record<string, number>>
  /** Questions as `ask` takes them, each as JSON. Those that it would refuse are missing then. */
  readonly asks?: readonly string[]
  /** As `settle` takes them. */
  readonly settled?: SettleRequest['settled']
}

export interface SyncAnswer {
  /** Questions that the gateway has not. */
  readonly missing: readonly string[]
  /** Questions that the gateway has, that the machine does not wait for, and that are not settled. */
  readonly unsettled: readonly string[]
  readonly answers: readonly FleetAnswer[]
  /** With answers comes the newest list of people, by which they are judged. */
  readonly people?: SignedPeople
}

export interface FleetAnswer {
  readonly id: string
  readonly place: number
  readonly by: string
  readonly option: string
  readonly reason?: string
  readonly signature?: Signature
}

export const SETTLED = ['used', 'denied', 'expired'] as const

export interface SettleRequest {
  readonly settled: readonly {
    readonly id: string
    readonly how: (typeof SETTLED)[number]
    readonly by?: string
  }[]
  /** Allows that do not count on the machine: its question stays open for others. */
  readonly rejected?: readonly RejectedAnswer[]
}

export interface RejectedAnswer {
  readonly id: string
  readonly place: number
  readonly why: string
}

/** A question of a machine, for people. */
export interface FleetQuestion {
  readonly id: string
  readonly machine: string
  /** The name of the machine. */
  readonly name: string
  readonly pending: Pending
  /** How many people have to allow it, and how many have. */
  readonly people: number
  readonly allowed: number
  /** Why the machine did not accept the last allow, if it did not. */
  readonly rejected?: string
}

export interface QuestionsAnswer {
  readonly questions: readonly FleetQuestion[]
  /** How many more there are: too many, or too long for one list. Each can be asked for by its id. */
  readonly hidden: number
  /** Of whoever asks. Older gateways do not say it. */
  readonly role?: Role
}

export interface CountRequest {
  readonly key: string
  /** The same one is added once. */
  readonly id: string
  /** 0: it only looks. */
  readonly add: number
  /** Nothing is added once there is as much in the last hour. Absent: everything is added. */
  readonly most?: number
}

/** `full`: this machine has too many counters, and nothing was added. */
export interface CountAnswer {
  readonly status: 'counted' | 'reached' | 'full'
}

export const COUNTER_KEY = /^[\w-]{1,100}$/
export const QUESTION_ID = /^[0-9a-z]{4}-[0-9a-z]{4}$/
export const LOG_ID = /^[0-9a-f]{32}$/
export const MACHINE_NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,99}$/u
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** PostgreSQL has no NUL in its texts, and half a character cannot be sent. */
export function isStorable(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text)
}

/** Only there a gateway and a machine may speak without TLS. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
