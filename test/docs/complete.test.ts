// The pages leave nothing out: every field, option, setting, constructor, event and code has its place.

import type { Embedder, HookResult, Outcome, RegisterOptions, Settings, Trace } from 'carabiner'
import { CATALOGUE, DIAGNOSTIC_CODES, ERROR_CODES } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { REFUSAL_CODES } from '../../src/cli/refusal-codes.js'
import { DEFAULT_MERGED } from '../../src/config/merged-settings.js'
import { allPages, readPage } from './markdown.js'

/** The compiler refuses a list that lacks a key, or has one too many. */
type Keys<T> = Readonly<Record<keyof T, true>>

const HOOK_RESULT: Keys<HookResult> = {
  action: true,
  reason: true,
  data: true,
  response: true,
  permission: true,
  contextInjection: true,
  contextInjectionRole: true,
  ephemeral: true,
  appendToLastToolResult: true,
  approvalPrompt: true,
  approvalOptions: true,
  approvalTimeout: true,
  approvalDefault: true,
  approvalPeople: true,
  userMessage: true,
  userMessageLevel: true,
  userMessageSource: true,
  suppressOutput: true,
  host: true,
}

const OUTCOME: Keys<Outcome> = {
  action: true,
  reason: true,
  permission: true,
  data: true,
  modified: true,
  injections: true,
  messages: true,
  response: true,
  host: true,
  approval: true,
  hooks: true,
  diagnostics: true,
}

const TRACE: Keys<Trace> = {
  name: true,
  kind: true,
  source: true,
  role: true,
  status: true,
  ms: true,
  why: true,
  detail: true,
  answer: true,
  mode: true,
  would: true,
  changed: true,
  changes: true,
  countsAs: true,
  finalLook: true,
  stale: true,
  stdout: true,
  stderr: true,
  event: true,
}

const EMBEDDER: Keys<Embedder> = {
  approver: true,
  display: true,
  context: true,
  wake: true,
  audit: true,
  auditCalls: true,
  auditLater: true,
  store: true,
  counters: true,
  admit: true,
  clock: true,
}

const REGISTER_OPTIONS: Keys<RegisterOptions> = {
  name: true,
  priority: true,
  matcher: true,
  timeout: true,
  onFailure: true,
  role: true,
  once: true,
  observe: true,
  mode: true,
  custom: true,
}

const SETTINGS: Keys<Settings> = {
  on_failure: true,
  injection_size_limit: true,
  injection_budget_per_turn: true,
  stop_block_cap: true,
  stop_block_total: true,
  recheck: true,
  protect_system_messages: true,
  enabled: true,
  allow_user_hooks: true,
  allow_project_hooks: true,
  default_timeout: true,
  max_timeout: true,
  env: true,
  trust_missing: true,
  bypass: true,
  audit: true,
  audit_on_failure: true,
  audit_calls: true,
  allowed_http_urls: true,
  http_allowed_env_vars: true,
  allowed_private_hosts: true,
  model: true,
  mcp_servers: true,
}

const CONSTRUCTORS = [
  'proceed',
  'deny',
  'modify',
  'inject',
  'askUser',
  'respond',
  'abortTurn',
  'hardAbort',
] as const

/** Names that have no row of their own in a table of the page. */
function withoutRow(path: string, names: readonly string[]): readonly string[] {
  const { text } = readPage(path)
  return names.filter((name) => !text.includes(`\n| \`${name}`))
}

function unmentioned(text: string, names: readonly string[]): readonly string[] {
  return names.filter((name) => !new RegExp(`\`[^\`\n]*\\b${name}\\b[^\`\n]*\``).test(text))
}

describe('docs/reference/results.md', () => {
  const { text } = readPage('docs/reference/results.md')
  const section = (heading: string) => text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''

  it('has a row for every field of a HookResult', () => {
    expect(withoutRow('docs/reference/results.md', Object.keys(HOOK_RESULT))).toEqual([])
    expect(unmentioned(section('HookResult'), Object.keys(HOOK_RESULT))).toEqual([])
  })

  it('has a row for every field of an Outcome, and names those of a trace', () => {
    for (const field of Object.keys(OUTCOME)) expect(section('Outcome')).toContain(`\n| \`${field}\` |`)
    expect(unmentioned(section('Outcome'), Object.keys(TRACE))).toEqual([])
  })

  it('has a row for every constructor', () => {
    for (const name of CONSTRUCTORS) expect(section('Constructors')).toContain(`\n| \`${name}(`)
  })
})

describe('docs/reference/lifecycle.md', () => {
  it('has a row for every setting, with its default', () => {
    const { text } = readPage('docs/reference/lifecycle.md')
    for (const name of Object.keys(SETTINGS) as (keyof Settings)[]) {
      const value = DEFAULT_MERGED[name]
      const shown =
        typeof value === 'number' ? `${value}` : `\`${JSON.stringify(value).replaceAll('"', "'")}\``
      expect(text).toContain(`\n| \`${name}\` | ${shown} |`)
    }
  })

  it('has a row for everything the host may give, and every option of register()', () => {
    expect(withoutRow('docs/reference/lifecycle.md', Object.keys(EMBEDDER))).toEqual([])
    expect(withoutRow('docs/reference/lifecycle.md', Object.keys(REGISTER_OPTIONS))).toEqual([])
  })
})

describe('docs/reference/events.md and docs/reference/errors.md', () => {
  it('have a heading for every event and every code', () => {
    const { anchors: events } = readPage('docs/reference/events.md')
    for (const name of Object.keys(CATALOGUE)) expect(events).toContain(name.toLowerCase())
    const { anchors: errors } = readPage('docs/reference/errors.md')
    for (const code of Object.keys({ ...ERROR_CODES, ...DIAGNOSTIC_CODES, ...REFUSAL_CODES })) {
      expect(errors).toContain(code.toLowerCase())
    }
  })

  it('are the only source of codes: no page names one that does not exist', () => {
    const known = Object.keys({ ...ERROR_CODES, ...REFUSAL_CODES })
    for (const { path, text } of allPages()) {
      for (const [code] of text.matchAll(/\b(?:EVENT|PAYLOAD|HOOK|ANSWER|SESSION|TURN|AGENT)_[A-Z]+\b/g)) {
        expect(known, `${path}: ${code}`).toContain(code)
      }
    }
  })
})
