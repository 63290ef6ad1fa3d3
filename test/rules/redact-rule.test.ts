// Rules with "redact": secrets leave results and prompts in every dialect, or somebody is told. No record has them.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks, fileAudit, fileAuditCalls, type Hooks, type Outcome } from 'carabiner'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Data } from '../../src/core/base/json.js'
import { can } from '../../src/hosts/abilities.js'
import { answerFor, eventFrom } from '../../src/hosts/agent-event.js'
import { HOST_NAMES, type HostName, hostNamed, type KnownHost } from '../../src/hosts/hosts.js'
import { readRules } from '../../src/rules/rules-file.js'

/** Put together, so that no scanner takes this file for a leak. */
const SECRET = ['gh', 'p_', 'q7Zt1bX9kLm3Vw8Rr5Yc2Nf6Hd4Gj0PsAbCd'].join('')
const REDACT = { id: 'no-secrets', redact: ['results', 'prompts'] }

let folder: string
let project: string
let hooks: Hooks | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-redact-'))
  project = join(folder, 'project')
  mkdirSync(join(folder, 'home', '.amplifier'), { recursive: true })
  mkdirSync(join(project, '.amplifier'), { recursive: true })
  vi.stubEnv('CARABINER_HOME', join(folder, 'data'))
})

afterEach(async () => {
  await hooks?.close()
  hooks = undefined
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

async function opened(rules: readonly object[], at = 'home', options = {}): Promise<Hooks> {
  return openedWith({ rules }, at, options)
}

async function openedWith(file: object, at = 'home', options = {}): Promise<Hooks> {
  writeFileSync(join(folder, at, '.amplifier', 'rules.json'), JSON.stringify(file))
  hooks = await createHooks({ projectDir: project, home: join(folder, 'home'), globals: false, ...options })
  return hooks
}

const RESULT = {
  tool_name: 'Bash',
  tool_input: { command: 'env' },
  tool_response: { stdout: `T=${SECRET}\n` },
}

async function fired(
  rules: readonly object[],
  event: string,
  data: object,
  agent?: string,
): Promise<Outcome> {
  const session = (await opened(rules)).session({ cwd: project, ...(agent && { agent }) })
  return session.fire(event, data as Data)
}

/** What the model is told. */
const told = ({ injections }: Outcome) => injections.map(({ text }) => text).join('\n')

describe('a rule with "redact"', () => {
  it('removes secrets from a result, and tells the model', async () => {
    const outcome = await fired([REDACT], 'PostToolUse', RESULT)
    expect(outcome.data.tool_response).toEqual({ stdout: 'T=[redacted]\n' })
    expect(outcome.injections).toMatchObject([{ text: expect.stringContaining('removed a secret') }])
    expect(JSON.stringify(outcome), 'the trace').not.toContain(SECRET)
  })

  it('removes secrets from a prompt', async () => {
    const outcome = await fired([REDACT], 'UserPromptSubmit', { prompt: `use ${SECRET}, please` })
    expect(outcome).toMatchObject({ action: 'continue', data: { prompt: 'use [redacted], please' } })
    expect(outcome.messages).toMatchObject([
      { level: 'warning', text: expect.stringContaining('no-secrets') },
    ])
    expect(JSON.stringify(outcome)).not.toContain(SECRET)
  })

  it('warns about an error, which cannot be changed', async () => {
    const data = { tool_name: 'Bash', tool_input: {}, error: `bad ${SECRET}` }
    const outcome = await fired([REDACT], 'PostToolUseFailure', data)
    expect(told(outcome)).toContain('This error has a secret, and errors cannot be changed')
    expect(outcome.messages).toMatchObject([{ level: 'warning' }])
  })

  it.each([
    ['a clean result', [REDACT], 'PostToolUse', { ...RESULT, tool_response: 'fine' }],
    ['a result without an answer', [REDACT], 'PostToolUse', { ...RESULT, tool_response: undefined }],
    [
      'prompts, if only results are meant',
      [{ ...REDACT, redact: ['results'] }],
      'UserPromptSubmit',
      { prompt: SECRET },
    ],
    ['another agent', [{ ...REDACT, in: { agents: ['codex'] } }], 'PostToolUse', RESULT],
    ['a rule that has ended', [{ ...REDACT, until: '2020-01-01' }], 'PostToolUse', RESULT],
    [
      'a call, which has to work',
      [REDACT],
      'PreToolUse',
      { ...RESULT, tool_input: { command: `echo ${SECRET}` } },
    ],
  ])('leaves alone %s', async (_, rules, event, data) => {
    const given = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))
    const outcome = await fired(rules, event, given, 'gemini')
    expect(outcome).toMatchObject({ action: 'continue', modified: false, injections: [] })
  })

  it('in shadow mode only reports', async () => {
    const outcome = await fired([{ ...REDACT, mode: 'shadow' }], 'PostToolUse', RESULT)
    expect(outcome.modified).toBe(false)
    expect(outcome.diagnostics).toMatchObject([
      { code: 'shadow', text: expect.stringContaining('would have removed a secret from this result') },
    ])
  })

  it('of a project does not count without trust', async () => {
    const session = (await opened([REDACT], 'project')).session({ cwd: project })
    expect((await session.fire('PostToolUse', RESULT)).modified).toBe(false)
  })

  it('changes what a program gets back', async () => {
    const session = (await opened([REDACT])).session({ cwd: project })
    const done = await session.callTool(
      { name: 'Bash', input: { command: 'env' } },
      async () => `T=${SECRET}`,
    )
    expect(done).toMatchObject({ status: 'ok', result: 'T=[redacted]' })
  })

  it('is foreseen and listed', async () => {
    const all = await opened([REDACT])
    expect(await all.foresee('PostToolUse', RESULT)).toEqual(
      new Map([[expect.anything(), ['redact by no-secrets: secrets in results']]]),
    )
    expect(all.list()).toMatchObject([{ command: 'redact no-secrets: secrets in results, prompts' }])
  })
})

describe('of a preset', () => {
  const TEXTS = [
    ['results', 'PostToolUse', RESULT],
    ['prompts', 'UserPromptSubmit', { prompt: SECRET }],
  ] as const

  /** The texts that lose the secret. */
  async function redacted(file: object): Promise<readonly string[]> {
    const session = (await openedWith(file)).session({ cwd: project })
    const found: string[] = []
    for (const [texts, event, data] of TEXTS)
      if ((await session.fire(event, data as Data)).modified) found.push(texts)
    return found
  }

  it.each([
    ['careful', ['results', 'prompts']],
    ['standard', ['results', 'prompts']],
    ['relaxed', ['results']],
  ])('%s removes secrets', async (preset, texts) => {
    expect(await redacted({ preset })).toEqual(texts)
  })

  it('follows what the user changes', async () => {
    const changed = (fields: object) =>
      redacted({ preset: 'standard', rules: [{ id: 'standard/secrets-shown', ...fields }] })
    expect(await changed({ redact: ['results'] })).toEqual(['results'])
    expect(await changed({ off: true })).toEqual([])
    expect(await changed({ mode: 'shadow' })).toEqual([])
    expect(await changed({ in: { agents: ['codex'] } }), 'an unknown agent could be it').toHaveLength(2)
    expect(await changed({ off: true, until: '2020-01-01' }), 'it counts again').toHaveLength(2)
  })

  it('asks for no event that it does not need', async () => {
    const off = { id: 'standard/secrets-shown', off: true }
    const all = await openedWith({ preset: 'standard', rules: [off] })
    expect(all.list()[0]?.events).toEqual(['PreToolUse'])
  })

  it('cannot be loosened by a project, nor get what is not for texts', () => {
    const read = (rule: object, owner: 'user' | 'project') =>
      readRules({ preset: 'standard', rules: [rule] }, { owner, now: 0, agents: [] })
    const id = 'standard/secrets-shown'
    for (const loose of [{ off: true }, { redact: ['results'] }, { mode: 'shadow' }]) {
      const { rules, problems } = read({ id, ...loose }, 'project')
      expect(rules.rules).toEqual([])
      expect(problems).toMatchObject([{ text: expect.stringContaining('but not looser'), closes: false }])
    }
    expect(read({ id, then: 'allow' }, 'user').problems).toMatchObject([
      { text: expect.stringContaining('a rule with "redact" has no "then"'), closes: true },
    ])
  })
})

it('no record has the secret', async () => {
  const audit = fileAudit({ projectDir: project })
  const auditCalls = fileAuditCalls({ projectDir: project })
  const session = (await opened([REDACT], 'home', { audit, auditCalls })).session({ cwd: project })
  await session.fire('PostToolUse', RESULT)
  await session.fire('UserPromptSubmit', { prompt: SECRET })
  await session.fire('PostToolUseFailure', { tool_name: 'Bash', tool_input: {}, error: SECRET })
  await hooks?.close()
  await audit.flush()
  const files = readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'))
  expect(files.join('')).toContain('PostToolUse')
  for (const text of files) expect(text).not.toContain(SECRET)
})

describe.each(HOST_NAMES)('in the dialect of %s', (host) => {
  async function answered(name: string, data: object): Promise<readonly [Outcome, string]> {
    const event = eventFrom(
      host as HostName,
      { hook_event_name: name, session_id: 's', cwd: project, ...data },
      name,
    )
    const session = (await opened([REDACT])).session({ cwd: project, agent: host })
    const outcomes: Outcome[] = []
    for (const part of event.parts) outcomes.push(await session.fire(name, part))
    const { stdout, stderr = '' } = answerFor(host as HostName, event, outcomes)
    return [outcomes[0] as Outcome, stdout + stderr]
  }

  it('a result loses its secret, or somebody is told', async () => {
    const [outcome, said] = await answered('PostToolUse', RESULT)
    expect(said).not.toContain(SECRET)
    expect(said.trim(), 'never silent').not.toBe('')
    if (can(hostNamed(host) as KnownHost, 'PostToolUse', 'output')) expect(outcome.modified).toBe(true)
    else expect(told(outcome)).toContain('does not let hooks change results')
  })

  it('a prompt loses its secret, or is not sent', async () => {
    const [outcome, said] = await answered('UserPromptSubmit', { prompt: `use ${SECRET}` })
    expect(outcome.data.prompt).toBe('use [redacted]')
    expect(said).not.toContain(SECRET)
    expect(said.trim(), 'never silent').not.toBe('')
  })
})

describe('a file', () => {
  const problems = (rule: object) =>
    readRules({ rules: [rule] }, { owner: 'user', now: 0, agents: ['codex'] }).problems.map(
      ({ text }) => text,
    )

  it.each([
    [{ ...REDACT, redact: 'results' }, '"redact" must be a list of "results" and "prompts", got "results"'],
    [{ ...REDACT, redact: ['secrets'] }, '"redact" must be'],
    [{ ...REDACT, redact: [] }, '"redact" must be'],
    [{ ...REDACT, then: 'deny' }, 'a rule with "redact" has no "then"'],
    [{ ...REDACT, effects: ['read'] }, 'a rule with "redact" has no "effects"'],
    [{ ...REDACT, of: ['a'] }, 'a rule with "redact" has no "of"'],
    [{ ...REDACT, in: { agents: ['nobody'] } }, 'there is no agent "nobody"'],
  ])('with %j is refused', (rule, text) => {
    expect(problems(rule)).toEqual([expect.stringContaining(text)])
  })

  it('with a good rule is used', () => {
    expect(problems({ ...REDACT, say: 'Keep it.', mode: 'shadow', in: { agents: ['codex'] } })).toEqual([])
  })

  it('cannot give "redact" to a rule of the preset', () => {
    const rules = [{ id: 'standard/send', redact: ['results'] }]
    const read = readRules({ preset: 'standard', rules }, { owner: 'user', now: 0, agents: [] })
    expect(read.problems).toMatchObject([
      { text: expect.stringContaining('cannot get "redact"'), closes: true },
    ])
  })
})
