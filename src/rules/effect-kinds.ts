// What a rule can say about each kind of effect: the subjects that its patterns mean, and the fields for `where`.

import type { Effect, EffectKind, Place } from '../effects/effect.js'
import { certainStart } from '../effects/script/word.js'
import { PROTECTED } from '../effects/setting-places.js'
import { packageSpellings, resourceSpellings, type Spellings, tableSpellings } from './spellings.js'

/** Something that patterns are compared with: a place, a text, words of a command, or nothing that can be read. */
export type Subject =
  | { readonly place: Place }
  | (OtherNames & { readonly text: string; readonly isCommand?: true })
  /** A text that begins so. The rest is only known when the call runs. */
  | (OtherNames & { readonly begins: string; readonly isCommand?: true })
  /** `any`: it may be anything that a pattern means. */
  | { readonly text?: undefined; readonly any?: true }

interface OtherNames {
  /** More names that it surely has. */
  readonly also?: readonly string[]
  /** Names that it may have too. */
  readonly maybe?: readonly string[]
}

/** Whether it is only known when the call runs. */
export function isOpen(subject: Subject): boolean {
  return 'begins' in subject || ('place' in subject && !subject.place.known)
}

/** Whether it is only known when the call runs what it does. */
export function isOpenDeed(effect: Effect): boolean {
  return 'operation' in effect && certainStart(effect.operation) !== undefined
}

/** `text`: a text or a list of them, with `*`. Otherwise the possible words. */
export type FieldType = 'flag' | 'text' | readonly string[]

type Value = boolean | string | undefined | readonly string[]

interface EffectKindRow<E extends Effect> {
  /** In a sentence after "it would". */
  readonly does: (effect: E) => string
  /** What `of` and `except` are compared with, for people. */
  readonly patterns: 'paths' | 'hosts' | 'branches' | 'programs' | 'names' | 'none'
  /** One of these, for people. */
  readonly noun: string
  readonly subjects: (effect: E) => readonly Subject[]
  /** The fields for `where`. */
  readonly fields: Readonly<Record<string, readonly [type: FieldType, read: (effect: E) => Value]>>
}

type Of<K extends EffectKind> = Extract<Effect, { readonly kind: K }>
type WithPlace = Extract<Effect, { readonly place: Place }>

const PLACE_FIELDS = {
  deep: ['flag', ({ place }: WithPlace) => place.deep],
  known: ['flag', ({ place }: WithPlace) => place.known],
  wild: ['flag', ({ place }: WithPlace) => place.wild],
  /** Everything in a folder: `build/*`. */
  all: ['flag', ({ place }: WithPlace) => place.wild && place.path.endsWith('/*')],
  /** What must not be lost, if the place is or contains it. */
  holds: [['folder', 'project', 'home', 'system', 'parent'], ({ place }: WithPlace) => place.holds],
  /** Below a folder that is only known at run time: `cd "$X" && rm -r build`. */
  below: ['flag', ({ place }: WithPlace) => isBelowUnknown(place)],
} as const satisfies EffectKindRow<WithPlace>['fields']

/** Whether nothing in it is only known when the call runs. */
const KNOWN_FIELD = {
  known: [
    'flag',
    (effect: Effect) => !isOpenDeed(effect) && !subjectsOf(effect).some((one) => isOpen(one) || 'any' in one),
  ],
} as const satisfies EffectKindRow<Effect>['fields']

function isBelowUnknown({ path, known, wild }: Place): boolean {
  return (
    !known &&
    !wild &&
    /^[\w.@%+,:-]/.test(path) &&
    !/[$`\s]/.test(path) &&
    !/(?:^|\/)\.{0,2}(?:\/|$)/.test(path)
  )
}

const placeOf = ({ place }: WithPlace): readonly Subject[] => [{ place }]

function onPlace(verb: string): EffectKindRow<WithPlace> {
  return {
    does: ({ place }) => `${verb} ${placeText(place)}`,
    patterns: 'paths',
    noun: 'path',
    subjects: placeOf,
    fields: PLACE_FIELDS,
  }
}

function placeText({ path, deep, known }: Place): string {
  return `${path}${deep ? ' and everything in it' : ''}${known ? '' : ' (wherever that is)'}`
}

function onResource(where: string): EffectKindRow<Of<'cloud' | 'database'>> {
  return {
    does: ({ operation, resource, destroys }) =>
      `${destroys ? 'destroy' : 'change'} something in ${where} (${operation}${resource === undefined ? '' : ` ${resource}`})`,
    patterns: 'names',
    noun: 'resource',
    // What is destroyed without a name may be any.
    subjects: ({ kind, resource, others, destroys }) => {
      if (resource === undefined) return [destroys ? ANY_TEXT : {}]
      return [spelled(kind === 'cloud' ? resourceSpellings(resource, others) : tableSpellings(resource))]
    },
    fields: {
      ...KNOWN_FIELD,
      operation: ['text', ({ operation }) => operation],
      destroys: ['flag', ({ destroys }) => destroys],
    },
  }
}

const ANY_TEXT: Subject = { begins: '' }

function spelled({ sure: [text, ...also], begins, maybe }: Spellings): Subject {
  const other = maybe === undefined || maybe.length === 0 ? {} : { maybe }
  if (text === undefined) return { begins: begins ?? '', ...other }
  return also.length === 0 ? { text, ...other } : { text, also, ...other }
}

/** A star stands for several names. */
function named(text: string | undefined): Subject {
  if (text === undefined) return {}
  const begins = certainStart(text) ?? /^[^*]*(?=\*)/.exec(text)?.[0]
  return begins === undefined ? { text } : { begins }
}

function ofHost(host: string | undefined): Subject {
  return host === undefined ? ANY_TEXT : named(host)
}

/** What the shell fills in may have a colon, so `topic/$X` may be `topic/a:main`. */
function ofBranch(branch: string): Subject {
  return 'begins' in named(branch) ? ANY_TEXT : { text: branch }
}

/** Operations that change a branch. If they name none, they may change any. */
const CHANGES_BRANCH = /^(?:push|commit|merge|rebase|reset|pull|cherry-pick|revert|am|branch|update-ref)\b/

const ROWS: { readonly [K in EffectKind]: EffectKindRow<Of<K>> } = {
  read: {
    ...(onPlace('read') as EffectKindRow<Of<'read'>>),
    does: ({ place, links }) => `${links ? 'give a second name to' : 'read'} ${placeText(place)}`,
    fields: { ...PLACE_FIELDS, links: ['flag', ({ links }) => links === true] },
  },
  write: {
    ...(onPlace('write') as EffectKindRow<Of<'write'>>),
    does: ({ place, rights }) => `${rights ? 'change the rights of' : 'write'} ${placeText(place)}`,
    fields: {
      ...PLACE_FIELDS,
      rights: ['flag', ({ rights }) => rights === true],
      layout: ['flag', ({ layout }) => layout === true],
      into: [['known', 'unknown'], ({ into }) => into],
    },
  },
  delete: onPlace('delete') as EffectKindRow<Of<'delete'>>,
  move: {
    does: ({ place, to }) => `move ${placeText(place)} to ${to.path}`,
    patterns: 'paths',
    noun: 'path',
    subjects: ({ place, to }) => [{ place }, { place: to }],
    fields: PLACE_FIELDS as EffectKindRow<Of<'move'>>['fields'],
  },
  run: {
    does: ({ program }) => `run ${program}`,
    patterns: 'programs',
    noun: 'command',
    subjects: ({ program, args, begins }) => [
      begins === undefined
        ? { text: [program, ...args].join(' '), isCommand: true }
        : { begins, isCommand: true },
    ],
    fields: KNOWN_FIELD,
  },
  send: {
    does: ({ host, from }) => `send ${sourcesText(from)} to ${host ?? 'a host that cannot be read'}`,
    patterns: 'hosts',
    noun: 'host',
    subjects: ({ host }) => [ofHost(host)],
    fields: {
      ...KNOWN_FIELD,
      from: [['file', 'pipe', 'variable', 'text'], ({ from }) => from.map((one) => one.of)],
    },
  },
  fetch: {
    does: ({ host, runs }) =>
      `fetch${runs ? ' and run' : ''} something from ${host ?? 'a host that cannot be read'}`,
    patterns: 'hosts',
    noun: 'host',
    subjects: ({ host }) => [ofHost(host)],
    fields: { ...KNOWN_FIELD, runs: ['flag', ({ runs }) => runs] },
  },
  git: {
    does: ({ operation, branch, loses }) =>
      `run git ${operation}${branch === undefined ? '' : ` on ${branch}`}${loses === 'nothing' ? '' : `, which loses ${loses}`}`,
    patterns: 'branches',
    noun: 'branch',
    subjects: ({ branch, operation }) => {
      if (branch !== undefined) return [ofBranch(branch)]
      return [CHANGES_BRANCH.test(operation) ? { any: true } : {}]
    },
    fields: {
      ...KNOWN_FIELD,
      operation: ['text', ({ operation }) => operation],
      force: ['flag', ({ force }) => force],
      loses: [['history', 'work', 'nothing'], ({ loses }) => loses],
      change: [['adds', 'moves', 'replaces', 'updates', 'none'], ({ change }) => change],
      /** Whether it is known which branch it is. */
      named: ['flag', ({ branch }) => branch !== undefined],
      /** Whether it changes this clone, not a remote. */
      local: ['flag', ({ operation }) => operation !== 'push'],
    },
  },
  cloud: onResource('the cloud') as EffectKindRow<Of<'cloud'>>,
  database: onResource('a database') as EffectKindRow<Of<'database'>>,
  install: {
    does: ({ manager, packages }) => `install ${packages.join(', ') || 'packages'} with ${manager}`,
    patterns: 'names',
    noun: 'package',
    subjects: ({ packages }) => packages.map((one) => spelled(packageSpellings(one))),
    // `pip3.12` is `pip`.
    fields: { ...KNOWN_FIELD, manager: ['text', ({ manager }) => manager.replace(/[\d.]+$/, '')] },
  },
  privilege: {
    does: ({ operation }) => `change rights (${operation})`,
    patterns: 'names',
    noun: 'operation',
    subjects: ({ operation }) => [named(operation)],
    fields: { ...KNOWN_FIELD, operation: ['text', ({ operation }) => operation] },
  },
  process: {
    does: ({ operation, target }) =>
      `affect other processes or the machine (${operation}${target === undefined ? '' : ` ${target}`})`,
    patterns: 'names',
    noun: 'target',
    subjects: ({ target }) => [named(target)],
    fields: { ...KNOWN_FIELD, operation: ['text', ({ operation }) => operation] },
  },
  setting: {
    does: ({ owner, place }) =>
      owner === PROTECTED
        ? `change ${place?.path ?? 'a path'}, which your settings protect`
        : `change the settings of ${owner}${place ? ` (${place.path})` : ''}`,
    patterns: 'paths',
    noun: 'path',
    subjects: ({ place }) => (place ? [{ place }] : [{}]),
    fields: {
      owner: ['text', ({ owner }) => owner],
      sure: ['flag', ({ sure }) => sure],
      /** Whether it is a file or folder, and not an option, a variable or a command. */
      file: ['flag', ({ place }) => place !== undefined],
    },
  },
  unknown: {
    does: ({ why }) => `do something that cannot be read: ${why}`,
    patterns: 'none',
    noun: 'call',
    subjects: () => [],
    fields: { unparsed: ['flag', ({ unparsed }) => unparsed === true] },
  },
}

function sourcesText(from: Of<'send'>['from']): string {
  const files = from.flatMap((one) => (one.of === 'file' ? [one.place.path] : []))
  if (files.length > 0) return files.join(', ')
  const variable = from.find((one) => one.of === 'variable')
  if (variable) return `$${variable.name}`
  return from.some((one) => one.of === 'pipe') ? 'the output of a command' : 'data'
}

/** Every kind may only look like a command in a text. */
const COMMON_FIELDS = {
  guess: ['flag', ({ guess }: Effect) => guess === true],
  launched: ['flag', ({ launched }: Effect) => launched === true],
  code: ['flag', ({ code }: Effect) => code === true],
  stored: ['flag', ({ stored }: Effect) => stored === true],
} as const satisfies EffectKindRow<Effect>['fields']

export const EFFECT_KINDS = Object.keys(ROWS) as readonly EffectKind[]

function rowOf(kind: EffectKind): EffectKindRow<Effect> {
  return ROWS[kind] as unknown as EffectKindRow<Effect>
}

/** `delete /srv/data and everything in it`. */
export function effectText(effect: Effect): string {
  return rowOf(effect.kind).does(effect)
}

export function subjectsOf(effect: Effect): readonly Subject[] {
  return rowOf(effect.kind).subjects(effect)
}

export function patternsOf(kind: EffectKind): EffectKindRow<Effect>['patterns'] {
  return rowOf(kind).patterns
}

/** `path`, `host`, `branch`. */
export function nounOf(kind: EffectKind): string {
  return rowOf(kind).noun
}

export function fieldsOf(kind: EffectKind): EffectKindRow<Effect>['fields'] {
  return { ...rowOf(kind).fields, ...COMMON_FIELDS }
}
