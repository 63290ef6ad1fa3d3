// Secrets that go through a real session by every way there is never reach the files of the log.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { askUser, createHooks, deny, HookRegistry, inject, proceed } from '../../../src/index.js'
import { fileAudit } from '../../../src/store/audit/file-audit.js'
import { verify } from '../../../src/store/audit/verify.js'
import { FORMS, planted } from '../../conformance/planted-secrets.js'
import { entriesOf, type Workplace, workplace } from './workplace.js'

/** What only the words around it show to be a secret; the part that must not be seen. */
const LABELLED: Readonly<Record<string, string>> = {
  'Authorization: Bearer abc0def1ghi2jkl3mno4': 'abc0def1ghi2jkl3mno4',
  'https://me:hunter2hunter2@example.org/x': 'hunter2hunter2',
  'https://9123456789abcdef9123456789abcdef@example.org': '9123456789abcdef9123456789abcdef',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEowPlanted1\nMIIEowPlanted2\n-----END RSA PRIVATE KEY-----':
    'MIIEowPlanted',
  'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG': 'wJalrXUtnFEMI',
}

const SECRETS = [...Object.values(planted()), ...FORMS, ...Object.values(LABELLED)]
const TEXT = [...Object.values(planted()), ...FORMS, ...Object.keys(LABELLED)]
  .map((one) => `have ${one} here`)
  .join('\n')

/** All bytes that were written. */
function bytesIn(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
}

function expectNone(folder: string): void {
  const written = bytesIn(folder)
  // Also as JSON writes them.
  const found = SECRETS.filter((one) =>
    [one, JSON.stringify(one).slice(1, -1)].some((form) => written.includes(form)),
  )
  expect(found).toEqual([])
  expect(verify(folder).ok).toBe(true)
}

type Way = (hooks: Awaited<ReturnType<typeof createHooks>>, place: Workplace) => void

/** A command hook of the user's that does this with a file that holds them all. */
function command(line: (file: string) => string): Way {
  return (_, { root }) => {
    const file = join(root, 'secrets')
    writeFileSync(file, TEXT)
    const folder = join(root, 'home', '.carabiner')
    mkdirSync(folder, { recursive: true })
    const hook = { type: 'command', command: line(file) }
    const hooks = { PreToolUse: [{ matcher: '*', hooks: [hook] }], PostToolUse: [{ hooks: [hook] }] }
    writeFileSync(join(root, 'hooks.json'), JSON.stringify({ hooks }))
  }
}

const WAYS: Readonly<Record<string, Way>> = {
  'a call, with nobody to listen': () => undefined,
  'a reason': (hooks) => void hooks.register('PreToolUse', () => deny(TEXT)),
  'a message': (hooks) =>
    void hooks.register('PreToolUse', () => proceed({ userMessage: TEXT, reason: TEXT })),
  'an injection': (hooks) => void hooks.register('PreToolUse', () => inject(TEXT)),
  'the text of an error': (hooks) =>
    void hooks.register('PreToolUse', () => {
      throw new Error(TEXT, { cause: new Error(TEXT) })
    }),
  'an answer that is none': (hooks) => void hooks.register('PreToolUse', () => ({ action: TEXT }) as never),
  'a question': (hooks) => void hooks.register('PreToolUse', () => askUser(TEXT, { reason: TEXT })),
  'an observer': (hooks) =>
    void hooks.register('PreToolUse', () => Promise.reject(new Error(TEXT)), { role: 'observe' }),
  'what a program prints': command((file) => `cat '${file}'`),
  'what a program complains about': command((file) => `cat '${file}' >&2; exit 2`),
  'what a program that fails says': command((file) => `cat '${file}' >&2; cat '${file}'; exit 1`),
  'the line of a command': command(() => `cat >&2 <<'E'\n${TEXT}\nE\nexit 2`),
  'the line of a command that cannot be found': command(() => `${FORMS[0]} ${Object.keys(LABELLED)[1]}`),
  'the name of a hook': (hooks) =>
    void hooks.register('PreToolUse', () => deny('no'), { name: `hook ${FORMS.join(' ')}` }),
  'the name of an event and of a tool': (hooks) =>
    void hooks.register('*', () => proceed({ data: { tool_name: `tool ${FORMS.join(' ')}` } }), {
      name: 'renames',
    }),
  'what a program has in its environment': command(() => 'env; env >&2; exit 2'),
}

describe('none is in the log that came through', () => {
  it.for(Object.entries(WAYS))('%s', { timeout: 60_000 }, async ([, way]) => {
    for (const [name, value] of Object.entries(planted())) vi.stubEnv(name, value)
    expect(SECRETS.length).toBeGreaterThanOrEqual(30)
    const place = workplace()
    const { dataDir, projectDir, root, folder } = place
    const registry = new HookRegistry({ scope: 'global' })
    // Written before, so that it is read when the hooks are made.
    way(registry as never, place)
    await using audit = fileAudit({ dataDir, projectDir })
    const configs = readdirSync(root).includes('hooks.json') ? [join(root, 'hooks.json')] : []
    const hooks = await createHooks({
      audit,
      globals: registry,
      projectDir,
      home: join(root, 'home'),
      configs,
      trust: 'all',
      approver: () => ({ option: 'Deny', reason: TEXT, by: 'me' }),
      display: () => {
        throw new Error(TEXT)
      },
    })
    const session = hooks.session({ cwd: projectDir })
    const call = { tool_name: 'Bash', tool_input: { command: TEXT }, tool_use_id: 't' }
    await session.fire('PreToolUse', call)
    await session.fire('PostToolUse', { ...call, tool_response: TEXT })
    await session.fire('UserPromptSubmit', { prompt: TEXT })
    await session.fire('PreToolUse', { ...call, tool_name: `Tool ${FORMS[1]}` })
    await session.fire(`custom ${FORMS[2]}`, { text: TEXT }, { custom: true })
    await hooks.close()
    await audit.flush()
    expect(entriesOf(folder).filter(({ kind }) => kind === 'fire').length).toBeGreaterThanOrEqual(3)
    expectNone(folder)
  })
})

it('none is in the log that other entries brought along', () => {
  for (const [name, value] of Object.entries(planted())) vi.stubEnv(name, value)
  const { log, folder } = workplace()
  const time = '2026-01-31T12:00:00.000Z'
  log.append([
    { kind: 'approval', time, by: 'me', reason: FORMS.join(' '), prompt: Object.keys(LABELLED) } as never,
    {
      kind: 'grant',
      time,
      nested: { deep: [{ api_key: 'correct horse', text: FORMS.join('\n') }] },
    } as never,
    { kind: 'bypass', time, reason: FORMS.join(' ') } as never,
    { kind: 'something new', time, headers: { authorization: `Bearer ${FORMS[0]}` } } as never,
  ])
  expectNone(folder)
  expect(bytesIn(folder)).not.toContain('correct horse')
  expect(bytesIn(folder)).toContain('[redacted]')
})
