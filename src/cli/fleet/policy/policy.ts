// `fleet policy`: one signed policy for all machines: build it, sign it, roll it out in rings, take it back.

import { chosen } from '../../command.js'
import { usage } from '../../refusal.js'
import type { Action, Given } from '../action.js'
import type { OPTIONS } from '../options.js'

interface Verb {
  /** How it is typed. */
  readonly how: string
  /** The least and the most arguments. */
  readonly words: readonly [number, number]
  readonly options: readonly (keyof typeof OPTIONS)[]
  readonly load: () => Promise<Action>
}

const DATABASE = ['database', 'org'] as const
const SIGNED = [...DATABASE, 'key', 'root-key'] as const

const VERBS = {
  list: {
    how: 'list',
    words: [0, 0],
    options: [...DATABASE, 'key', 'root-key'],
    load: async () => ({ run: (await import('./list.js')).listed }),
  },
  build: {
    how: 'build FOLDER --out FILE',
    words: [1, 1],
    options: ['out'],
    load: async () => ({ run: (await import('./bundle.js')).built }),
  },
  sign: {
    how: 'sign FILE --key YOUR-KEY',
    words: [1, 1],
    options: SIGNED,
    load: async () => ({ run: (await import('./bundle.js')).signed }),
  },
  publish: {
    how: 'publish FILE --ring 1 --shadow',
    words: [1, 1],
    options: [...SIGNED, 'ring', 'group', 'shadow'],
    load: async () => ({ run: (await import('./bundle.js')).published }),
  },
  promote: {
    how: 'promote --ring 2',
    words: [0, 0],
    options: [...SIGNED, 'ring', 'group'],
    load: async () => ({ run: (await import('./rollout.js')).promoted }),
  },
  rollback: {
    how: 'rollback',
    words: [0, 0],
    options: [...SIGNED, 'ring', 'group', 'to'],
    load: async () => ({ run: (await import('./rollout.js')).rolledBack }),
  },
  renew: {
    how: 'renew',
    words: [0, 0],
    options: SIGNED,
    load: async () => ({ run: (await import('./rollout.js')).renewed }),
  },
  signers: {
    how: 'signers, signers add NAME CODE --role policy, signers remove NAME or signers threshold N',
    words: [0, 3],
    options: [...SIGNED, 'role'],
    load: async () => ({ run: (await import('./signers.js')).signers }),
  },
  rotate: {
    how: 'rotate --out NEW-KEY',
    words: [0, 0],
    options: [...SIGNED, 'out'],
    load: async () => ({ run: (await import('./rotate.js')).rotated }),
  },
  diff: {
    how: 'diff FILE (or two versions) to compare with what is published',
    words: [1, 2],
    options: SIGNED,
    load: async () => ({ run: (await import('./list.js')).compared }),
  },
  fetch: {
    how: 'fetch',
    words: [0, 0],
    options: [],
    load: async () => ({ run: (await import('./fetch.js')).fetched }),
  },
} as const satisfies Readonly<Record<string, Verb>>

type VerbName = keyof typeof VERBS
const NAMES = Object.keys(VERBS) as readonly VerbName[]

export async function run(given: Given): Promise<number> {
  const [first = 'list', ...words] = given.words
  const name = chosen(first, NAMES, 'carabiner fleet policy has no action')
  const verb: Verb = VERBS[name]
  const [least, most] = verb.words
  if (words.length < least || words.length > most) throw usage(`Type carabiner fleet policy ${verb.how}`)
  const stray = POLICY_OPTIONS.find((one) => isGiven(given.options[one]) && !verb.options.includes(one))
  if (stray !== undefined) throw usage(`carabiner fleet policy ${name} has no option --${stray}`)
  const { run } = await verb.load()
  return run({ ...given, words })
}

/** A switch that nobody gave is off. */
function isGiven(value: string | boolean | undefined): boolean {
  return value !== undefined && value !== false
}

/** All options that one of them has. */
const POLICY_OPTIONS = [
  ...new Set(NAMES.flatMap((name): readonly (keyof typeof OPTIONS)[] => VERBS[name].options)),
]
