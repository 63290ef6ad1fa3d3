// Codex: hooks.json, and in config.toml a hash of each hook, without which Codex silently skips it.

import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { JsonText } from '../../files/json-text.js'
import { realOf } from '../../files/within.js'
import { groupItem, jsonForm } from '../forms/json-form.js'
import { type TomlTable, tomlForm, tomlValues } from '../forms/toml-form.js'
import type { Form, FormPlace, HostProblem, HostScene, HostSetup } from '../host-setup.js'
import { looseCall, ownCommand } from '../own-command.js'
import { SetupProblem } from '../setup-problem.js'
import { rejection } from './hooks-file.js'

const EVENTS = Object.fromEntries(
  [
    'SessionStart',
    'SessionEnd',
    'UserPromptSubmit',
    'PreToolUse',
    'PermissionRequest',
    'PostToolUse',
    'Stop',
    'SubagentStart',
    'SubagentStop',
    'PreCompact',
    'PostCompact',
  ].map((event) => [event, event]),
)

const HOOKS = 'hooks.json'
const CONFIG = 'config.toml'

/** Ours come last: the hash of a hook is filed under its position, so that others keep theirs. */
const lists = jsonForm({ events: EVENTS, item: groupItem({ unit: 1 }), where: 'last' })

const hooks: Form = {
  ...lists,
  put: (text, entries, at) => {
    const why = text === undefined || text.trim() === '' ? undefined : rejection(text, Object.keys(EVENTS))
    if (why) throw new SetupProblem(`${at.file}:${why.line}: ${why.text}${REJECTED}`, why.fix)
    return lists.put(text, entries, at)
  },
}

const REJECTED = ', so Codex rejects the whole file'

const trust = tomlForm({
  tables: (_, at) => trustedHashes(at),
  isOut: ({ header, isMarked }, isOut) => isMarked && header.startsWith(STATE) && isOut(ANY_OF_OURS),
  commands: () => [],
})

const STATE = '[hooks.state.'
const ANY_OF_OURS = { command: 'carabiner hook pre-tool-use' }

/** For each hook of ours in hooks.json, as it will be. */
function trustedHashes({ file, earlier }: FormPlace): readonly TomlTable[] {
  const path = join(dirname(file), HOOKS)
  return hashes(path, earlier.get(path)).map(({ key, hash }) => ({
    header: `${STATE}${JSON.stringify(key)}]`,
    values: { trusted_hash: hash },
  }))
}

interface Hash {
  readonly key: string
  readonly hash: string
  /** Somebody wrote it by hand, so that the hash may cover more than ours does. */
  readonly isLoose: boolean
}

/** Of hooks that setup wrote, and with `isLoose` also of those by hand that call Carabiner. */
function hashes(path: string, text = '', isLoose = false): readonly Hash[] {
  const parsed = new JsonText(text).parse()
  const events = 'value' in parsed && isObject(parsed.value) ? parsed.value.hooks : undefined
  // Codex follows links in CODEX_HOME, but not in the folder that it has without it: a hook may go by either name.
  const paths = new Set([path, join(realOf(dirname(path)), HOOKS)])
  return Object.entries(isObject(events) ? events : {}).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((group, i) =>
      (isObject(group) && Array.isArray(group.hooks) ? group.hooks : []).flatMap((handler, j) => {
        if (!isObject(handler)) return []
        const isOwn = ownCommand(handler) !== undefined
        const isCall = typeof handler.command === 'string' && looseCall(handler.command) !== undefined
        if (!isOwn && !(isLoose && isCall)) return []
        return [...paths].map((one) => ({
          key: [one, snake(event), i, j].join(':'),
          hash: hashOf(event, handler),
          isLoose: !isOwn || Object.keys(group).length > 1 || Object.keys(handler).length !== 3,
        }))
      }),
    ),
  )
}

/** What Codex computes: the hash of the group with this one handler, with sorted keys and every default. */
function hashOf(event: string, { command, timeout }: Readonly<Record<string, unknown>>): string {
  const group = { event_name: snake(event), hooks: [{ async: false, command, timeout, type: 'command' }] }
  return `sha256:${createHash('sha256').update(JSON.stringify(group)).digest('hex')}`
}

function snake(event: string): string {
  return event.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase()
}

// ---- why Codex runs none of it ----------------------------------------------------------------------------------

function problems({ folder, project, read }: HostScene): readonly HostProblem[] {
  const [hooksFile, config] = [join(folder, HOOKS), join(folder, CONFIG)]
  const hooksText = read(hooksFile) ?? ''
  const why = rejection(hooksText, Object.keys(EVENTS))
  const values = tomlValues(read(config) ?? '')
  if (!values)
    return [
      {
        severity: 'broken',
        file: config,
        text: 'it is not valid TOML, so Codex does not start',
        fix: 'Correct it.',
      },
    ]
  const managed = '/etc/codex/requirements.toml'
  const local = join(project, '.codex', CONFIG)
  return [
    ...(why
      ? [{ ...why, severity: 'broken' as const, file: hooksFile, text: `${why.text}${REJECTED}` }]
      : untrusted(hooksFile, hashes(hooksFile, hooksText, true), values)),
    ...switchedOff(config, values, 'at all'),
    ...(isTrusted(values, project) && local !== config
      ? switchedOff(local, tomlValues(read(local) ?? ''), 'in this project')
      : []),
    ...(tomlValues(read(managed) ?? '')?.allow_managed_hooks_only === true
      ? [
          {
            severity: 'broken' as const,
            file: managed,
            text: '"allow_managed_hooks_only" is true, so Codex runs no hook of your settings',
            fix: 'Ask the administrator of this computer to register the hooks in that file.',
          },
        ]
      : []),
    ...inBoth(config, values),
  ]
}

type Values = Readonly<Record<string, unknown>>

function untrusted(file: string, wanted: readonly Hash[], { hooks: table }: Values): readonly HostProblem[] {
  const states = isObject(table) && isObject(table.state) ? table.state : {}
  const stateOf = ({ key }: Hash) => (Object.hasOwn(states, key) ? states[key] : undefined)
  const names = (some: readonly Hash[]) =>
    new Set(some.map(({ key }) => key.replace(/^.*\/hooks\.json:/, '')))
  const missing = names(
    wanted.filter((one) => {
      const state = stateOf(one)
      if (!isObject(state)) return true
      return one.isLoose ? typeof state.trusted_hash !== 'string' : state.trusted_hash !== one.hash
    }),
  ).size
  const off = names(
    wanted.filter((one) => {
      const state = stateOf(one)
      return isObject(state) && state.enabled === false
    }),
  ).size
  const broken = { severity: 'broken', file } as const
  return [
    ...(missing > 0
      ? [
          {
            ...broken,
            text: `Codex does not trust ${missing} of its hooks, and skips them without a word`,
            ...(wanted.some(({ isLoose }) => isLoose) && {
              fix: 'Type /hooks in Codex and trust them, or remove those that you wrote by hand and type carabiner setup codex.',
            }),
          },
        ]
      : []),
    ...(off > 0 ? [{ ...broken, text: `${off} of its hooks are disabled in Codex, which skips them` }] : []),
  ]
}

/** `codex_hooks` is what the feature was called before. */
function switchedOff(file: string, values: Values | undefined, where: string): readonly HostProblem[] {
  const features = isObject(values?.features) ? values.features : {}
  const key = ['hooks', 'codex_hooks'].find((one) => features[one] !== undefined)
  if (key === undefined || features[key] !== false) return []
  return [
    {
      severity: 'broken',
      file,
      text: `"${key}" is false in [features], so Codex runs no hook ${where}`,
      fix: `Remove "${key}" from [features] in that file, and restart Codex.`,
    },
  ]
}

function isTrusted({ projects }: Values, project: string): boolean {
  const one = isObject(projects) && Object.hasOwn(projects, project) ? projects[project] : undefined
  return isObject(one) && one.trust_level === 'trusted'
}

function inBoth(file: string, { hooks: table }: Values): readonly HostProblem[] {
  const has = Object.keys(EVENTS).some((event) => isObject(table) && Array.isArray(table[event]))
  if (!has) return []
  return [
    {
      severity: 'note',
      file,
      text: 'it has hooks, too: Codex runs all of them, but warns at every start that they stand in two files',
      fix: `Move them to ${HOOKS} to be rid of the warning.`,
    },
  ]
}

export const setup: HostSetup = {
  programs: ['codex'],
  folder: '.codex',
  variable: 'CODEX_HOME',
  files: [
    { name: HOOKS, form: hooks },
    { name: CONFIG, form: trust },
  ],
  events: EVENTS,
  problems,
}
