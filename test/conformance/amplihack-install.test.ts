// The hooks that seed 003 has installed, as its installer and its tests have them: table, shape, merge, drift.

import { describe, expect, it } from 'vitest'
import { isOurs, PACK_TABLE } from '../../src/hosts/entries.js'

import { ifGone } from '../../src/hosts/own-command.js'
import { type GroupedEntry, packEntries } from '../hosts/grouped.js'
import { workplace } from '../hosts/workplace.js'

const NODE = '/usr/local/bin/node'
const SCRIPT = '/home/alice/my tools/carabiner/dist/bin/carabiner.js'
const ENTRIES = packEntries({ node: NODE, script: SCRIPT })

/** Number, event, command and time-out, as the page lists them; the eighth came later. */
const TABLE = `
1 SessionStart session-start 10 s
2 Stop stop 120 s
3 PreToolUse pre-tool-use (none)
4 PostToolUse post-tool-use (none)
5 UserPromptSubmit workflow-classification-reminder 5 s
6 UserPromptSubmit user-prompt-submit 10 s
7 PreCompact pre-compact 30 s
8 SessionEnd session-end 30 s`

interface Settings {
  readonly hooks: Readonly<Record<string, readonly GroupedEntry['group'][]>>
}

async function installed(before?: object): Promise<Settings> {
  const { write, text, install } = workplace()
  if (before) write(JSON.stringify(before, null, 2))
  await install(ENTRIES)
  return JSON.parse(text() ?? '')
}

describe('the hook table', () => {
  it('has each event, command and time-out in the order of the page', () => {
    const rows = PACK_TABLE.map(
      ({ event, hook, timeout }, i) => `\n${i + 1} ${event} ${hook} ${timeout ? `${timeout} s` : '(none)'}`,
    )
    expect(rows.join('')).toBe(TABLE)
  })

  it('takes every tool, before and after', () => {
    const matched = PACK_TABLE.filter(({ matcher }) => matcher !== undefined)
    expect(matched.map(({ event, matcher }) => `${event} ${matcher}`)).toEqual([
      'PreToolUse *',
      'PostToolUse *',
    ])
  })
})

describe('a wrapper', () => {
  it('has the program and its subcommand, with quoted absolute paths, and nothing that loads code', () => {
    const command = `${ifGone([`"${NODE}"`, `"${SCRIPT}"`], 1)} NODE_OPTIONS= NODE_PATH= OPENSSL_CONF= "${NODE}" "${SCRIPT}" hook session-start --memory`
    expect(ENTRIES[0]).toMatchObject({
      event: 'SessionStart',
      group: { hooks: [{ type: 'command', command, timeout: 10 }] },
    })
  })

  it('has no time-out where none is meant, not even an empty one', () => {
    const [handler] = ENTRIES[2]?.group.hooks ?? []
    expect(Object.keys(handler ?? {})).toEqual(['type', 'command', 'onFailure'])
    expect(Object.keys(ENTRIES[3]?.group.hooks[0] ?? {})).toEqual(['type', 'command'])
    expect(ENTRIES[2]?.group.matcher).toBe('*')
  })

  it('is known again by what it runs, not by what else is like it', () => {
    for (const { group } of ENTRIES) expect(isOurs(group.hooks[0])).toBe(true)
    expect(isOurs({ type: 'command', command: `"${NODE}" "${SCRIPT}" hook stop` })).toBe(true)
    expect(isOurs({ type: 'command', command: '/home/alice/.local/bin/amplihack-hooks stop' })).toBe(false)
    expect(isOurs({ type: 'command', command: `"${NODE}" "${SCRIPT}" list` })).toBe(false)
  })
})

describe('settings.json', () => {
  it('gets a wrapper for each under its event', async () => {
    const { hooks } = await installed()
    expect(Object.keys(hooks)).toEqual([...new Set(PACK_TABLE.map(({ event }) => event))])
    expect(Object.values(hooks).flat()).toEqual(
      Object.keys(hooks).flatMap((event) =>
        ENTRIES.filter((one) => one.event === event).map(({ group }) => group),
      ),
    )
  })

  it('has the reminder before the preferences: fresh, after an update, and after somebody turned them round', async () => {
    const order = ({ hooks }: Settings) =>
      hooks.UserPromptSubmit?.map(({ hooks: [one] }) => one.command.replace(/.* hook | --memory/g, ''))
    const wanted = ['workflow-classification-reminder', 'user-prompt-submit']
    const fresh = await installed()
    expect(order(fresh)).toEqual(wanted)
    expect(order(await installed(fresh))).toEqual(wanted)
    const turned = { hooks: { ...fresh.hooks, UserPromptSubmit: fresh.hooks.UserPromptSubmit?.toReversed() } }
    expect(order(turned as Settings)).toEqual(wanted.toReversed())
    expect(order(await installed(turned))).toEqual(wanted)
  })

  it('is the same after a second time', async () => {
    const first = await installed()
    expect(await installed(first)).toEqual(first)
  })

  it('keeps wrappers of others, behind ours and in their order', async () => {
    const other = (command: string, matcher?: string) => ({
      ...(matcher && { matcher }),
      hooks: [{ type: 'command', command }],
    })
    const theirs = [other('/x/amplihack-hooks pre-tool-use', '*'), other('./a.sh', 'Bash'), other('./b.sh')]
    const { hooks } = await installed({ hooks: { PreToolUse: theirs, Notification: theirs } })
    expect(hooks.PreToolUse).toEqual([ENTRIES[2]?.group, ...theirs])
    expect(hooks.Notification).toEqual(theirs)
  })

  it('has entries of an older place replaced, not doubled', async () => {
    const old = packEntries({ node: '/old/node', script: '/home/alice/.npm/carabiner.js' })
    const hooks: Record<string, object[]> = {}
    for (const { event, group } of old) hooks[event] = [...(hooks[event] ?? []), group, group]
    expect(await installed({ hooks })).toEqual(await installed())
  })
})
