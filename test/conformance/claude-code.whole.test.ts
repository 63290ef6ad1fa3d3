// What the real Claude Code did, case by case (npm run conformance writes it down), and what we make of the same hooks.
// Every difference is listed with its rule and reason, and is tested, too: we do what the list says we do instead.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sample } from '../property/runs.js'
import { type Fired, type Played, type Probe, play } from './probe.js'
import { has, NO_HANG } from './shell-project.js'

interface Recorded extends Probe {
  readonly about: string
  readonly fired: readonly Fired[]
  readonly files?: Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, object>>
  readonly host?: object
  readonly needs?: string
  readonly observed: Probe['observed'] & {
    readonly failed?: boolean
    readonly tool_ran?: boolean
    readonly wrote?: readonly string[]
    readonly later?: readonly string[]
  }
  readonly differs?: { readonly rule: string; readonly ours: Readonly<Record<string, unknown>> }
}

interface Table {
  readonly claude_code: string
  readonly differences: readonly {
    readonly rule: string
    readonly reason: string
    readonly cases: readonly string[]
    readonly unshown?: string
  }[]
  readonly events: { readonly provoked: readonly string[]; readonly not_provoked: object }
  readonly cases: readonly Recorded[]
}

const table = JSON.parse(readFileSync(new URL('claude-code.json', import.meta.url), 'utf8')) as Table

const UPDATED = new Set(['PreToolUse', 'PostToolUse', 'PermissionRequest'])
/** Of their hooks Claude Code does not say how they ended. */
const QUIET = new Set([
  'PreCompact',
  'PostCompact',
  'InstructionsLoaded',
  'SessionEnd',
  'MessageDisplay',
  'WorktreeCreate',
  'Elicitation',
  'ElicitationResult',
])
const ORDER = ['stop', 'deny', 'ask', 'modify', 'inject', 'continue']

/** What async hooks have to say goes out with the next event. */
const NEXT = { event: 'UserPromptSubmit', data: { prompt: 'go on' } }

/** Of all times that the event was fired. */
function together({ each }: Played) {
  const all = (key: 'reason' | 'context') => [...new Set(each.flatMap((seen) => seen[key] ?? []))].join('\n')
  const decision = ORDER.find((one) => each.some((seen) => seen.decision === one)) ?? 'continue'
  return { decision, reason: all('reason'), context: all('context') }
}

function isDetached({ hooks }: Recorded): boolean {
  return hooks.some(({ fields, script, stdout }) =>
    /"async(Rewake)?":true/.test(JSON.stringify(fields) + script + stdout),
  )
}

/** Our value wherever it is another one than Claude Code's. What Claude Code does not tell is not compared. */
function differences(one: Recorded, ours: Played): object {
  const { event, observed } = one
  const { decision, reason, context = '', hooks_run = [], wrote = [], later = [], permission } = observed
  const { updated_input: input, updated_output: output } = observed
  const we = together(ours)
  const pairs: Record<string, readonly [unknown, unknown]> = {
    decision: [isDetached(one) ? ours.decision : we.decision, decision],
    ...(reason && { reason: [we.reason, reason] }),
    ran: [ours.ran, hooks_run],
    wrote: [ours.wrote, wrote],
    ...(isDetached(one)
      ? { later: [[...new Set(ours.later)].sort(), later] }
      : {
          context: [we.context, context],
          ...(!QUIET.has(event ?? '') && { failed: [ours.failed, observed.failed === true] }),
        }),
    ...(event === 'PreToolUse' && { proceeds: [ours.proceeds, observed.tool_ran] }),
    ...(UPDATED.has(event ?? '') && decision !== 'deny' && { updated: [ours.updated, input ?? output] }),
    ...(permission && { permission: [ours.permission, permission === 'allow' ? 'allow' : undefined] }),
    ...(observed.system_message && { messages: [ours.messages.join('\n'), observed.system_message] }),
  }
  const differing = Object.entries(pairs).filter(([, [a, b]]) => JSON.stringify(a) !== JSON.stringify(b))
  return Object.fromEntries(differing.map(([key, [value]]) => [key, value ?? null]))
}

/** As it stands in the table; `{ matching }` is a pattern. */
function expected(value: unknown): unknown {
  const { matching } = (value ?? {}) as { readonly matching?: string }
  return matching === undefined ? value : expect.stringMatching(new RegExp(matching, 's'))
}

describe(`Claude Code ${table.claude_code}, case by case`, { concurrent: true, ...NO_HANG }, () => {
  it.for(sample(table.cases).map((one) => [one.name, one] as const))(
    '%s',
    async ([, one], { expect, skip }) => {
      skip(one.needs !== undefined && !has(one.needs), `needs ${one.needs}`)
      const { files, settings: keys, host } = one
      const events = [...one.fired, ...(isDetached(one) && one.event !== NEXT.event ? [NEXT] : [])]
      const ours = await play(one, { events, files, keys, host, settles: isDetached(one) })
      const listed = Object.entries(one.differs?.ours ?? {}).map(([key, value]) => [key, expected(value)])
      expect(differences(one, ours)).toStrictEqual(Object.fromEntries(listed))
      if (ours.failed) expect(ours.messages.join('\n')).toContain('failed; ')
    },
  )
})

describe('the list of differences', () => {
  it('has a rule and a reason for each, and shows it or says why it cannot', () => {
    const rules = new Set(table.differences.map(({ rule }) => rule))
    const unlisted = table.cases.flatMap(({ name, differs }) =>
      differs && !rules.has(differs.rule) ? [name] : [],
    )
    expect(unlisted).toEqual([])
    const names = new Set(table.cases.map(({ name }) => name))
    for (const { rule, reason, cases, unshown } of table.differences) {
      expect([rule, reason.length > 0, cases.length > 0 || unshown !== undefined]).toEqual([rule, true, true])
      expect(cases.filter((name) => !names.has(name))).toEqual([])
    }
  })

  it('has no difference that is still open', () => {
    expect(
      table.cases.filter(({ differs }) => differs?.rule.startsWith('open')).map(({ name }) => name),
    ).toEqual([])
  })
})
