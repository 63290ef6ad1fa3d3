// What counts as a secret in a result or a prompt, and what must stay as it is.

import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/base/json.js'
import { withoutSecretsIn } from '../../src/rules/redaction.js'
import { runs, sample } from '../property/runs.js'

const clean = (value: Json) => withoutSecretsIn(value).value

/** Put together, so that no scanner takes this file for a leak. */
const of = (...parts: readonly string[]) => parts.join('')
const RANDOM = 'q7Zt1bX9kLm3Vw8Rr5Yc2Nf6Hd4Gj0Ps'

const SECRETS: readonly string[] = [
  of('gh', 'p_', RANDOM, 'abcd'),
  of('github', '_pat_', RANDOM),
  of('sk', '-ant-api03-', RANDOM),
  of('sk', '-proj-', RANDOM),
  of('glp', 'at-', RANDOM.slice(0, 20)),
  of('xox', 'b-123456789012-', RANDOM),
  of('AKI', 'A', 'IOSFODNN7ABCDEFG'),
  of('AI', 'za', RANDOM, 'abc'),
  of('sk', '_live_', RANDOM),
  of('np', 'm_', RANDOM, 'abcd'),
  of('eyJ', 'hbGciOiJIUzI1NiJ9.', 'eyJ', 'zdWIiOiIxMjM0NTY3ODkwIn0.', RANDOM),
  of('hv', 'b.', RANDOM),
  of('q7Zt1bX9kLm3Vw', '.atlas', 'v1.', RANDOM, RANDOM),
  of('-----BEGIN RSA ', 'PRIVATE KEY-----\n', RANDOM, '\n-----END RSA ', 'PRIVATE KEY-----'),
]

describe('a secret', () => {
  it.each(SECRETS)('of a well-known format is removed: %.8s…', (secret) => {
    const texts = [
      secret,
      `key ${secret}\n`,
      `KEY=${secret}`,
      `{"a":"${secret}"}`,
      `+\u001b[32m${secret}\u001b[m`,
    ]
    for (const text of texts) {
      const { value, secrets } = withoutSecretsIn(text)
      expect(value).not.toContain(secret.slice(8, -8))
      expect(value).toContain('[redacted]')
      expect(secrets).toHaveLength(1)
    }
  })

  it('is removed wherever it is', () => {
    const [token = ''] = SECRETS
    expect(
      clean({ stdout: `a ${token} b`, list: [{ text: token }], [token]: 1, n: 7, ok: true, none: null }),
    ).toEqual({
      stdout: 'a [redacted] b',
      list: [{ text: '[redacted]' }],
      '[redacted]': 1,
      n: 7,
      ok: true,
      none: null,
    })
  })

  it.each([
    [`DB_PASSWORD=${RANDOM}`, 'DB_PASSWORD=[redacted]'],
    [`password: "${RANDOM}"`, 'password: "[redacted]"'],
    [`api_key = '${RANDOM}'`, "api_key = '[redacted]'"],
    [`Authorization: Bearer ${RANDOM}`, 'Authorization: Bearer [redacted]'],
    [
      of('https://hooks.slack.', `com/services/T0AB12CD3/B0AB12CD3/${RANDOM}`),
      'https://hooks.slack.com/services/[redacted]',
    ],
    [
      of('https://discord.com/api/', `webhooks/123456789012345678/${RANDOM}`),
      'https://discord.com/api/webhooks/123456789012345678/[redacted]',
    ],
    [
      of('AccountName=a;Account', `Key=${RANDOM}${RANDOM}==;EndpointSuffix=b`),
      'AccountName=a;AccountKey=[redacted];EndpointSuffix=b',
    ],
    [`postgres://me:${RANDOM}@db/x`, 'postgres://me:[redacted]@db/x'],
  ])('that looks random after a label is removed: %.20s…', (text, wanted) => {
    expect(clean(text)).toBe(wanted)
  })

  it('is removed under a key that names it', () => {
    expect(clean({ client_secret: RANDOM, name: RANDOM })).toEqual({
      client_secret: '[redacted]',
      name: RANDOM,
    })
  })
})

/** As if they were random, but the same in each run. */
function bytesOf(seed: number): Buffer {
  return Buffer.concat(
    Array.from({ length: 94 }, (_, i) => createHash('sha256').update(`${seed} ${i}`).digest()),
  )
}

const HASH = createHash('sha1').update('a').digest('hex')
const INTEGRITY = createHash('sha512').update('a').digest('base64')

describe('ordinary text stays', () => {
  it.each([
    `commit ${HASH}\nAuthor: A <a@example.org>`,
    `${HASH.slice(0, 8)} key-rotation-2024-10-12 Rotate keys`,
    randomUUID(),
    `token_id: ${randomUUID()}`,
    `"integrity": "sha512-${INTEGRITY}"`,
    `resolved "https://registry.example.org/a/-/a-1.0.0.tgz#${HASH}"`,
    `checksum = "${createHash('sha256').update('b').digest('hex')}"`,
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'const token = await getToken(user)',
    'password: "correct-horse-battery"',
    'apiKey: "test-api-key-1234"',
    'token: ${{ secrets.GITHUB_TOKEN }}',
    'export API_KEY=$OTHER_API_KEY',
    'PASSWORD=changeme',
    `"NextToken": "${RANDOM}"`,
    'class="sk-cube-grid-item-12 sk-fading-circle-delay-10"',
    'src/secrets/secret-manager-v2.test.ts:12: secret: string',
    'postgres://postgres:postgres@localhost:5432/test',
    'max_tokens: 128000, input_tokens: 12345678901234567890',
    'https://hooks.slack.com/services/ and https://discord.com/api/webhooks/ are where webhooks begin',
    'AKIA is how ids begin, and ghp_ is how tokens begin',
  ])('%s', (text) => {
    expect(withoutSecretsIn(text)).toEqual({ value: text, secrets: [] })
  })

  it('the same object is returned', () => {
    const value = { stdout: 'hello', list: [1, 'two'] }
    expect(clean(value)).toBe(value)
  })

  it('random bytes, however they are written', () => {
    for (let i = 0; i < runs(200); i++) {
      const bytes = bytesOf(i)
      for (const form of ['base64', 'base64url', 'hex'] as const) {
        const data = bytes.toString(form)
        // Nobody breaks base64url into lines.
        const lines = form === 'base64url' ? [] : [(data.match(/.{1,76}/g) ?? []).join('\n')]
        for (const value of [data, { type: 'image', data }, ...lines])
          expect(clean(value), data).toEqual(value)
      }
    }
  })
})

describe('whatever is sent', () => {
  it.each([
    ['labels', 'password: '.repeat(100_000)],
    ['beginnings', 'eyJ'.repeat(300_000)],
    ['dashes', 'sk-'.repeat(300_000)],
    ['keys without an end', '-----BEGIN PRIVATE KEY-----'.repeat(2000)],
    ['colours', '\u001b[32m'.repeat(100_000)],
  ])('it takes a moment: %s', (_, text) => {
    const before = performance.now()
    expect(typeof clean(text)).toBe('string')
    // Linear work takes a fraction of a second; anything worse takes minutes.
    expect(performance.now() - before).toBeLessThan(20_000)
  })

  /** The least of three, without waiting for other processes. */
  const cpuFor = (text: string) =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const before = process.cpuUsage()
        clean(text)
        const { user, system } = process.cpuUsage(before)
        return (user + system) / 1000
      }),
    )

  const PARTS = [
    '-----BEGIN PRIVATE KEY-----\n',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n',
    '-----BEGIN ',
    `-----BEGIN PRIVATE KEY-----\n${'x.'.repeat(40_000)}`,
    ...SECRETS.slice(0, -1).map((secret) => secret.slice(0, 8)),
    ...SECRETS.slice(0, -1).map((secret) => `${secret.slice(0, 8)}.`),
    'eyJaaaaaaaa.eyJ',
    'password="',
    'secret=',
    'authorization: bearer ',
    '://a:',
  ]

  it.each(sample(PARTS))('four times as much takes about four times as long: %.40j', (part) => {
    const once = part.repeat(Math.ceil(50_000 / part.length))
    // Four times, and some for the collector of garbage. Reading again from each beginning takes sixteen times as long.
    expect(cpuFor(once.repeat(4))).toBeLessThan(9 * cpuFor(once) + 300)
  })

  it.each([
    ['PRIVATE KEY', 'MIIEow'],
    ['OPENSSH PRIVATE KEY', 'b3BlbnNz'],
    ['PGP PRIVATE KEY BLOCK', 'Version: 1\n\nlQOYBF'],
  ])('a key without an end goes, whatever follows: %s', (name, start) => {
    const line = of(RANDOM, RANDOM)
    const key = of('-----BEGIN ', name, `-----\n${start}${line}\n${`${line}\n`.repeat(20)}q7Zt1bX9==`)
    const rest = '\nthe build failed: see the log.\n'.repeat(4000)
    expect(clean(key + rest)).toBe(`[redacted]${rest}`)
    expect(clean(`${key.replaceAll('\n', '\r\n')}\r${rest}`)).toBe(`[redacted]${rest}`)
    const numbered = key.split('\n').map((text, i) => `${i}\t${text}`)
    expect(clean(numbered.join('\n') + rest)).not.toContain(RANDOM)
    expect(clean(JSON.stringify({ key }) + rest)).toBe(`{"key":"[redacted]${rest}`)
  })

  it('NULs, look-alikes and lone surrogates stay', () => {
    const text = 'a\0b \ud800 \u0430pi_key: x'
    expect(clean(text)).toBe(text)
  })
})
