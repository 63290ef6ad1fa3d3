// Codex: hooks.json, and in config.toml a hash of each hook, without which Codex silently skips it.

import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { JsonText } from '../../files/json-text.js'
import type { FormPlace, HostSetup } from '../host-setup.js'
import { groupItem, jsonForm } from '../json-form.js'
import { ownCommand } from '../own-command.js'
import { type TomlTable, tomlForm } from '../toml-form.js'

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

/** Ours come last: the hash of a hook is filed under its position, so that others keep theirs. */
const hooks = jsonForm({ events: EVENTS, item: groupItem({ unit: 1 }), where: 'last' })

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
  const parsed = new JsonText(earlier.get(path) ?? '').parse()
  const lists = 'value' in parsed && isObject(parsed.value) ? parsed.value.hooks : undefined
  return Object.entries(isObject(lists) ? lists : {}).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((group, i) =>
      (isObject(group) && Array.isArray(group.hooks) ? group.hooks : []).flatMap((handler, j) =>
        isObject(handler) && ownCommand(handler)
          ? [
              {
                header: `${STATE}${JSON.stringify([path, snake(event), i, j].join(':'))}]`,
                values: { trusted_hash: hashOf(event, handler) },
              },
            ]
          : [],
      ),
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

export const setup: HostSetup = {
  standing: 'proven',
  programs: ['codex'],
  folder: '.codex',
  variable: 'CODEX_HOME',
  files: [
    { name: HOOKS, form: hooks },
    { name: 'config.toml', form: trust },
  ],
  events: EVENTS,
  problems: (texts) =>
    [...texts.keys()]
      .filter((file) => basename(file) === HOOKS)
      .flatMap((file) => {
        const config = join(dirname(file), 'config.toml')
        const trusted = texts.get(config) ?? ''
        const missing = trustedHashes({ file: config, earlier: texts }).filter(
          ({ header, values }) => !trusted.includes(header) || !trusted.includes(`${values.trusted_hash}`),
        )
        if (missing.length === 0) return []
        return [`Codex does not trust ${missing.length} of its hooks there, and skips them without a word`]
      }),
}
