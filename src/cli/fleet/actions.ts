// The table of actions of `carabiner fleet`: what each takes, who may run it, and the file that is loaded then.

import { FILTERS } from '../../store/audit/filter.js'
import type { ActionGroup } from '../command.js'
import type { Action } from './action.js'
import type { OPTIONS } from './options.js'

type OptionName = keyof typeof OPTIONS

/** Who types it: titles of the help. */
const AUDIENCES = {
  administrator: 'for an administrator',
  machine: 'on a machine',
  person: 'for a person who answers questions',
} as const

interface ActionRow {
  readonly audience: keyof typeof AUDIENCES
  /** The arguments after it, for the help. */
  readonly call?: string
  readonly does: string
  /** The most arguments after the action. */
  readonly words: number
  readonly options: readonly OptionName[]
  /** Whether it changes who belongs to the fleet, or what it is: that is for a person. */
  readonly isPersonal: boolean
  readonly load: () => Promise<Action>
}

const DATABASE = ['database', 'org'] as const
const PERSON = ['gateway', 'ca', 'key'] as const

export const ACTIONS = {
  init: {
    audience: 'administrator',
    does: 'prepares the database, or brings it up to date',
    words: 0,
    options: [...DATABASE, 'key'],
    isPersonal: true,
    load: () => import('./init.js'),
  },
  serve: {
    audience: 'administrator',
    does: 'runs the gateway between machines and database',
    words: 0,
    options: [...DATABASE, 'host', 'port', 'cert', 'cert-key', 'webhook', 'page'],
    isPersonal: true,
    load: () => import('./serve.js'),
  },
  token: {
    audience: 'administrator',
    does: 'makes a token for one machine (list, revoke ID)',
    words: 2,
    options: [...DATABASE, 'expires', 'key', 'root-key'],
    isPersonal: true,
    load: () => import('./token.js'),
  },
  machines: {
    audience: 'administrator',
    does: 'lists the machines (retire NAME)',
    words: 2,
    options: DATABASE,
    isPersonal: true,
    load: () => import('./machines.js'),
  },
  people: {
    audience: 'administrator',
    does: 'says who may allow calls (add, remove, renew)',
    words: 3,
    options: [...DATABASE, 'key', 'role', 'to'],
    isPersonal: true,
    load: () => import('./people.js'),
  },
  policy: {
    audience: 'administrator',
    does: 'rolls one signed policy out (carabiner docs fleet-policy)',
    words: 4,
    options: [...DATABASE, 'key', 'root-key', 'out', 'ring', 'group', 'shadow', 'to', 'role'],
    isPersonal: true,
    load: () => import('./policy/policy.js'),
  },
  trust: {
    audience: 'administrator',
    does: 'hooks that run everywhere, or never (add, revoke, forget)',
    words: 2,
    options: [...DATABASE, 'key', 'root-key', 'reason'],
    isPersonal: true,
    load: () => import('./trust.js'),
  },
  key: {
    audience: 'person',
    does: 'makes your key, or shows its code',
    words: 0,
    options: ['out'],
    isPersonal: true,
    load: () => import('./key.js'),
  },
  audit: {
    audience: 'administrator',
    does: 'searches all records (verify, evidence, export)',
    words: 2,
    options: [...DATABASE, 'lines', 'machine', ...FILTERS, 'checkpoint', 'root-key', 'out', 'to', 'follow'],
    isPersonal: false,
    load: () => import('./audit/audit.js'),
  },
  checkpoint: {
    audience: 'administrator',
    does: 'signs where the records end',
    words: 0,
    options: [...DATABASE, 'key', 'out'],
    isPersonal: true,
    load: () => import('./audit/checkpoint.js'),
  },
  join: {
    audience: 'machine',
    call: 'URL',
    does: 'joins a fleet',
    words: 1,
    options: ['token', 'name', 'ca', 'user', 'group', 'no-timer'],
    isPersonal: true,
    load: () => import('./join.js'),
  },
  leave: {
    audience: 'machine',
    does: 'leaves it',
    words: 0,
    options: ['anyway'],
    isPersonal: true,
    load: () => import('./leave.js'),
  },
  approvals: {
    audience: 'person',
    does: 'lists the open questions of all machines',
    words: 0,
    options: [...PERSON],
    isPersonal: true,
    load: () => import('./approvals.js'),
  },
  answer: {
    audience: 'person',
    call: 'ID allow',
    does: 'signs an answer: allow or deny',
    words: 2,
    options: [...PERSON, 'reason', 'yes'],
    isPersonal: true,
    load: () => import('./answer.js'),
  },
  ship: {
    audience: 'machine',
    does: 'sends records and questions, and fetches what is new',
    words: 0,
    options: ['follow', 'questions'],
    isPersonal: false,
    load: () => import('./ship.js'),
  },
  shadow: {
    audience: 'machine',
    call: '[VERSION]',
    does: 'what a policy in shadow mode would have changed',
    words: 1,
    options: [...DATABASE, 'since'],
    isPersonal: false,
    load: () => import('./shadow.js'),
  },
  status: {
    audience: 'machine',
    does: 'this machine; with --database, every machine in trouble',
    words: 0,
    options: DATABASE,
    isPersonal: false,
    load: () => import('./status.js'),
  },
} as const satisfies Readonly<Record<string, ActionRow>>

export type ActionName = keyof typeof ACTIONS
export const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[]

/** For the help. */
export const ACTION_GROUPS: readonly ActionGroup[] = Object.entries(AUDIENCES).map(([audience, title]) => ({
  title,
  rows: Object.entries<ActionRow>(ACTIONS).flatMap(([name, row]) =>
    row.audience === audience ? [[row.call === undefined ? name : `${name} ${row.call}`, row.does]] : [],
  ),
}))

/** The actions that have each option. */
export const OWNERS: Readonly<Record<string, readonly ActionName[]>> = ownersOf()

function ownersOf(): Record<string, ActionName[]> {
  const owners: Record<string, ActionName[]> = {}
  for (const name of ACTION_NAMES)
    for (const option of ACTIONS[name].options) {
      owners[option] ??= []
      owners[option].push(name)
    }
  return owners
}
