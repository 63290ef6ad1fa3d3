// The table of actions of `carabiner fleet`: what each takes, who may run it, and the file that is loaded then.

import { FILTERS } from '../../store/audit/filter.js'
import type { Action } from './action.js'
import type { OPTIONS } from './options.js'

type OptionName = keyof typeof OPTIONS

interface ActionRow {
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
    words: 0,
    options: [...DATABASE, 'key'],
    isPersonal: true,
    load: () => import('./init.js'),
  },
  serve: {
    words: 0,
    options: [...DATABASE, 'host', 'port', 'cert', 'cert-key', 'webhook', 'page'],
    isPersonal: true,
    load: () => import('./serve.js'),
  },
  token: {
    words: 2,
    options: [...DATABASE, 'expires', 'key', 'root-key'],
    isPersonal: true,
    load: () => import('./token.js'),
  },
  machines: {
    words: 2,
    options: DATABASE,
    isPersonal: true,
    load: () => import('./machines.js'),
  },
  people: {
    words: 3,
    options: [...DATABASE, 'key', 'role', 'to'],
    isPersonal: true,
    load: () => import('./people.js'),
  },
  policy: {
    words: 4,
    options: [...DATABASE, 'key', 'root-key', 'out', 'ring', 'group', 'shadow', 'to', 'role'],
    isPersonal: true,
    load: () => import('./policy.js'),
  },
  trust: {
    words: 2,
    options: [...DATABASE, 'key', 'root-key', 'reason'],
    isPersonal: true,
    load: () => import('./trust.js'),
  },
  key: { words: 0, options: ['out'], isPersonal: true, load: () => import('./key.js') },
  audit: {
    words: 2,
    options: [...DATABASE, 'lines', 'machine', ...FILTERS, 'checkpoint', 'root-key', 'out', 'to', 'follow'],
    isPersonal: false,
    load: () => import('./audit.js'),
  },
  checkpoint: {
    words: 0,
    options: [...DATABASE, 'key', 'out'],
    isPersonal: true,
    load: () => import('./checkpoint.js'),
  },
  join: {
    words: 1,
    options: ['token', 'name', 'ca', 'user', 'group'],
    isPersonal: true,
    load: () => import('./join.js'),
  },
  leave: { words: 0, options: ['anyway'], isPersonal: true, load: () => import('./leave.js') },
  approvals: { words: 0, options: [...PERSON], isPersonal: true, load: () => import('./approvals.js') },
  answer: {
    words: 2,
    options: [...PERSON, 'reason', 'yes'],
    isPersonal: true,
    load: () => import('./answer.js'),
  },
  ship: { words: 0, options: ['follow', 'questions'], isPersonal: false, load: () => import('./ship.js') },
  shadow: {
    words: 1,
    options: [...DATABASE, 'since'],
    isPersonal: false,
    load: () => import('./shadow.js'),
  },
  status: { words: 0, options: DATABASE, isPersonal: false, load: () => import('./status.js') },
} as const satisfies Readonly<Record<string, ActionRow>>

export type ActionName = keyof typeof ACTIONS
export const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[]

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
