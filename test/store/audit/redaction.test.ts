// One redactor for everything that the audit writes: no form of secret, by whatever way, reaches a file of the user's.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keepSecret, REDACTED } from '../../../src/core/base/secrets.js'
import { createHooks, deny, inject, proceed } from '../../../src/index.js'
import { textOfEntry } from '../../../src/store/audit/chain.js'
import { fileAudit } from '../../../src/store/audit/file-audit.js'
import { verify } from '../../../src/store/audit/verify.js'
import { FileCalls, fileAuditCalls } from '../../../src/store/audit-calls/file-calls.js'
import type { Writable } from '../../../src/store/audit-log.js'
import { writtenData, writtenText } from '../../../src/store/redaction.js'
import { reading } from '../../../src/store/secret-values.js'
import { asCaller, asSameCaller, serveCallers, serveNobody } from '../../callers.js'
import { runs, sample } from '../../property/runs.js'
import { judged } from '../audit-calls/judged.js'
import { ORDINARY, SECRET_FORMS } from './secret-forms.js'
import { workplace } from './workplace.js'

const NAMES = Object.keys(SECRET_FORMS)
const secretOf = (name: string) => `Zq9xK7vT3mWp8LrN2${String(NAMES.indexOf(name)).padStart(3, '0')}`

/** As hooks repeat a call: its text, and the whole of it as JSON, also within JSON. */
function textsOf(name: string): readonly string[] {
  const input = SECRET_FORMS[name]?.(secretOf(name)) ?? {}
  const text = input.command ?? input.content ?? input.url
  const json = JSON.stringify({ tool_input: input })
  return [...(typeof text === 'string' ? [text] : []), json, JSON.stringify(json)]
}

/** The secret, and what it can be made from. */
function leaksOf(name: string): readonly string[] {
  const secret = secretOf(name)
  const encoded = [JSON.stringify({ password: secret }), `bob:${secret}`].map((one) =>
    Buffer.from(one).toString('base64'),
  )
  return [secret, ...encoded]
}

const leaking = (written: string) =>
  NAMES.filter((name) => leaksOf(name).some((leak) => written.includes(leak)))

it('there are many forms', () => {
  expect(NAMES.length).toBeGreaterThanOrEqual(120)
  expect(ORDINARY.length).toBeGreaterThanOrEqual(40)
})

describe('a secret is hidden in data and in texts', () => {
  it.each(NAMES)('%s', (name) => {
    const input = SECRET_FORMS[name]?.(secretOf(name)) ?? {}
    const written = [writtenData(input), ...textsOf(name).map((text) => writtenText(`refused: ${text}`))]
    expect(leaking(JSON.stringify(written))).toEqual([])
    expect(JSON.stringify(written)).toContain('[redacted]')
    // What was hidden stays as it is.
    expect(writtenData(written)).toEqual(written)
  })
})

it('no form reaches a file: in a call, a reason, a detail, stderr or an injection', async () => {
  const { root, dataDir, projectDir, folder } = workplace()
  const stateDir = join(root, 'state')
  mkdirSync(stateDir, { mode: 0o700 })
  vi.stubEnv('CARABINER_HOME', join(root, 'home'))
  const said = new Map<string, string>()
  const audit = fileAudit({ dataDir, projectDir })
  const calls = fileAuditCalls({ projectDir, stateDir })
  const hooks = await createHooks({ audit, auditCalls: calls, projectDir, home: root, globals: false })
  const textOf = (data: object) => said.get((data as { tool_use_id: string }).tool_use_id) ?? ''
  hooks.register('PreToolUse', (_, data) => inject(textOf(data)), { name: 'injects' })
  hooks.register('PreToolUse', (_, data) => proceed({ userMessage: textOf(data), reason: textOf(data) }))
  hooks.register('PreToolUse', (_, data) => Promise.reject(new Error(textOf(data))), {
    name: 'fails',
    onFailure: 'continue',
  })
  hooks.register('PreToolUse', (_, data) => deny(textOf(data)), { name: 'denies' })
  const session = hooks.session({ cwd: projectDir })
  const kept = new FileCalls({ projectDir, stateDir })
  const failed = { name: 'h', kind: 'command', source: 's', ms: 1, status: 'failed' } as const
  const names = sample(NAMES)
  for (const name of names) {
    const [text = '', ...more] = textsOf(name)
    said.set(name, text)
    const input = SECRET_FORMS[name]?.(secretOf(name)) ?? {}
    await session.fire('PreToolUse', { tool_name: 'T', tool_input: input, tool_use_id: name })
    const traces = [text, ...more].map((stderr) => ({ ...failed, stderr }))
    kept.append([judged('id', { outcome: { ...judged('id').outcome, hooks: traces } })])
  }
  await hooks.close()
  await audit.flush()
  const written = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'))
    .join('\n')
  expect(written.split('\n').length).toBeGreaterThan(2 * names.length)
  expect(leaking(written)).toEqual([])
  expect(verify(folder).ok).toBe(true)
})

describe('what is ordinary stays as it is', () => {
  it.each(ORDINARY)('%s', (command) => {
    expect(writtenText(command)).toBe(command)
    expect(writtenText(`"${command}" was refused`)).toBe(`"${command}" was refused`)
    const call = { command, description: 'Run it', timeout: 1000 }
    expect(writtenData(call)).toEqual(call)
  })
})

describe('a hostile text takes time that grows with its length', () => {
  const parts = [
    ...[
      'password=',
      'token: ',
      'token=[',
      'token=[]',
      'cookie: ',
      'authorization: ',
      '<password>',
      "password='",
    ],
    ...['password="$( ', 'set token ', 'password: |\n ', '--pass ', '-----BEGIN PRIVATE KEY-----', 'bearer '],
    ...[
      '://',
      '://a:',
      '://a:@',
      'eyJabcdefgh.',
      'sk-',
      'curl -u ',
      'mysql -p',
      'echo a | chpasswd ',
      'pass.',
    ],
    ...[
      'IDENTIFIED BY ',
      'PASSWORD  ',
      'net user a ',
      "auth=('",
      'token=a',
      'token |',
      'token**',
      'Private-Lines: 1\nA',
    ],
    ...[
      '\\',
      '\\"',
      '\\\\n',
      '"a":"',
      '{',
      ' ',
      'A',
      'a\n',
      `password${' '.repeat(64)}`,
      'QUJDREVGR0hJSktMTU5P ',
    ],
  ]

  it('and of a very long one only the beginning is looked at and written', () => {
    for (const part of ['password=', 'x', '://a:', '{'])
      expect(writtenText(part.repeat(1_000_000 / part.length)).length).toBeLessThanOrEqual(60_000)
  })

  it.each(sample(parts))('%j again and again', (part) => {
    const readOf = (length: number) => {
      const before = reading.characters
      writtenText(part.repeat(length / part.length))
      return reading.characters - before
    }
    expect(readOf(20_000)).toBeLessThan(20_000 * 30)
    expect(readOf(20_000)).toBeLessThan(readOf(5000) * 5 + 1000)
  })
})

describe('a record', () => {
  beforeEach(serveCallers)
  afterEach(serveNobody)

  it('is written the same whatever was written before', () => {
    const name = fc.constantFrom(
      'name',
      'detail',
      'token',
      'api_key',
      'max_tokens',
      'pwd',
      'secretName',
      'key',
    )
    const text = fc.constantFrom('', '/home/me', 'hello', 'password=hunter2secret', 's3cr3tValue99')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.array(tie('value')),
        fc.dictionary(name, tie('value')),
      ),
    }))
    const before = { env: {}, cwd: '/', pid: 1 }
    fc.assert(
      fc.property(fc.dictionary(name, value), (fields) => {
        const entry = { ...fields, kind: 'fire', time: '2026-01-31T14:03:22.000Z' } as unknown as Writable
        const written = asCaller({}, () => textOfEntry(entry))
        expect(asSameCaller(before, () => textOfEntry(entry))).toBe(written)
      }),
      { numRuns: runs(2000) },
    )
  })
})

describe('a text that was plain before', () => {
  beforeEach(serveCallers)
  afterEach(serveNobody)

  /** As itself, and as base64 within another text. */
  const value = 'correct horse battery staple'
  it.each([value, `echo ${Buffer.from(value).toString('base64')} | base64 -d`])(
    'is hidden for the caller whose secret it is, and for no other: %s',
    (text) => {
      const asWritten = () => asCaller({}, () => writtenText(text))
      expect([asWritten(), asWritten()]).toEqual([text, text])
      const hidden = asCaller({}, () => {
        keepSecret([value])
        return writtenText(text)
      })
      expect(hidden).toContain(REDACTED)
      expect(asWritten()).toBe(text)
    },
  )
})
