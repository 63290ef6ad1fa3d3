import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  FORMLESS,
  keepSecret,
  FORMS as PATTERNS_OF_FORMS,
  redacted,
  redactedData,
  SEARCHES,
  withoutSecrets,
} from '../../src/core/base/secrets.js'
import { asCaller, serveCallers, serveNobody } from '../callers.js'
import { FORMS, planted } from '../conformance/planted-secrets.js'
import { runs, sample } from '../property/runs.js'

const PATTERNS = Object.values(SEARCHES).flatMap((all) => all.map(({ pattern }) => pattern))
const noise = 'q7Xw2Lr9Zt4Bn8Vc1Mk6'

describe('what looks like a secret', () => {
  it.each(FORMS)('%s', (secret) => {
    for (const around of ['', 'have ', '"', '=', '\n', '(', '\t', ':', '/', '\\n', '%3D']) {
      expect(withoutSecrets(`${around}${secret}${around === '' ? '' : ' and more'}`)).not.toContain(secret)
    }
  })

  it.each([
    ['https://me:hunter2hunter2@example.org/x', 'hunter2hunter2'],
    ['https://0123456789abcdef0123456789abcdef@sentry.example.org/1', '0123456789abcdef'],
    ['Authorization: Bearer abcdefghijklmnop', 'abcdefghijklmnop'],
    ['authorization: basic bWU6Y29ycmVjdA==', 'bWU6Y29ycmVjdA'],
    ['{"Authorization":"Basic bWU6Y29ycmVjdA=="}', 'bWU6Y29ycmVjdA'],
    [`a bearer ${noise}`, noise],
    ['password=correcthorse', 'correcthorse'],
    ['password: "correct horse battery"', 'horse'],
    ['{"api_key": "correcthorse"}', 'correcthorse'],
    [String.raw`"{\"api_key\": \"correcthorse\"}"`, 'correcthorse'],
    ["secret = 'correcthorse'", 'correcthorse'],
    [`token: ${noise}`, noise],
    [`https://example.org/?access_token=${noise}&a=b`, noise],
    ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG', 'wJalrXUtnFEMI'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----', 'MIIEow'],
    ['-----BEGIN PGP PRIVATE KEY BLOCK-----\nMIIEow\n-----END PGP PRIVATE KEY BLOCK-----', 'MIIEow'],
    ['-----BEGIN PRIVATE KEY-----\nMIIEow and no end', 'MIIEow'],
  ])('%j', (text, secret) => {
    expect(withoutSecrets(text)).not.toContain(secret)
    expect(withoutSecrets(text)).toContain('[redacted]')
    expect(withoutSecrets(withoutSecrets(text))).toBe(withoutSecrets(text))
  })

  it.each([
    '',
    'task-manager',
    'risk-free',
    'the token was refused',
    'a key is missing',
    'https://example.org:8080/a@b',
    'token: string',
    'secret = undefined',
    'password: string',
    'password=undefined',
    'Unexpected token: punctuation',
    'basic authentication',
    'bearer authentication',
    'max_token=128000',
    'apiKey = process.env.API_KEY',
    'apiKey = process.env.API_KEY_2024',
    'apiKey: "process.env.API_KEY"',
    'token = readToken2(fromTheFile)',
    '--token=<YOUR_TOKEN>',
    '--token=<YOUR_TOKEN_NUMBER_1>',
    'TOKEN="$MY_TOKEN_2024"',
    'password=$DATABASE_PASSWORD',
    'credentials: ~/.aws/credentials',
    'credentials: /etc/app2/credentials',
    'credentials: https://example.org/docs/v2/credentials',
    'https://me:$PASSWORD@example.org',
    'sk-learn-based-classification',
    'gloss-of-very-long-identifier-name',
    'SK-LEARN-2-BASED-CLASSIFICATION',
    'Authorization: required by the server',
  ])('but not %j', (text) => {
    expect(withoutSecrets(text)).toBe(text)
  })
})

describe('a text of any length', () => {
  const starts = [
    ...FORMS.map(
      (form) => /^(?:[a-z]+_(?:[a-z0-9]+_)?|[a-z]+[-.]|[A-Z]{4}|AIza|SG\.|eyJ)/.exec(form)?.[0] ?? form,
    ),
    ...[
      'gl',
      'xapp-',
      'ya29.',
      'hvs.',
      'eyJaaaaaaaa.',
      'eyJaaaaaaaa.eyJ',
      '%3DeyJ',
      '\\neyJ',
      'sk-a_',
      'SG.aaaaaaaaaaaaaaaaaaaa.',
    ],
    ...['password', 'secret', 'token', 'api_key', 'access-key', 'privatekey', 'credentials', 'authorization'],
    ...[
      '://',
      '://a:',
      '://a1',
      'bearer ',
      'authorization: basic ',
      '-----BEGIN ',
      '-----BEGIN PRIVATE KEY-----',
      '-----END ',
    ],
  ]
  const repeats = starts.flatMap((start) =>
    ['', '-', '.', '=', ': ', '="', "='", '\\"', ' '].map((end) => start + end),
  )

  it('is read in one go: no quantifier without a bound', () => {
    for (const { source } of PATTERNS) {
      const outsideClasses = source.replace(/\\./g, '').replace(/\[\^?\]|\[[^\]]*\]/g, 'x')
      expect(outsideClasses).not.toMatch(/[*+]|\{\d+,\}/)
    }
  })

  it.each(sample(repeats))('%j again and again', (part) => {
    const text = part.repeat(Math.ceil(160_000 / part.length))
    expect(withoutSecrets(text).length).toBeLessThanOrEqual(160_000)
    expect(withoutSecrets(`${text} ${FORMS[0]}`)).not.toContain(FORMS[0])
  })

  it('what was not looked at is not shown, nor a secret that is cut in two', () => {
    const [form = ''] = FORMS
    const value = `${noise} ${noise}`
    keepSecret([value])
    for (const secret of [form, value]) {
      for (let before = 65_536 - 4200; before <= 65_536; before += 97) {
        const shown = withoutSecrets(`${' '.repeat(before)}${secret}${' '.repeat(5000)}`)
        expect(shown.trim()).toMatch(/^(?:\[redacted\]|\[r?e?d?a?c?t?e?d?)? *… \[cut\]$/)
      }
    }
    for (const text of ['', 'a']) {
      expect(withoutSecrets(text + '😀'.repeat(40_000))).not.toMatch(/\p{Surrogate}/u)
    }
  })

  it('a secret is one to its end', () => {
    expect(withoutSecrets(`sk-${noise.repeat(2000)} end`)).toBe('[redacted] end')
    expect(withoutSecrets(`token=${noise.repeat(2000)} end`)).toBe('token=[redacted] end')
  })
})

describe('values that were named', () => {
  afterEach(serveNobody)

  it('are never shown again, whatever is in them; the longest first', () => {
    const values = Object.values(planted())
    keepSecret([...values, `${values[0]}-and-more`, 'short'])
    for (const value of values) expect(withoutSecrets(`a ${value} b`)).toBe('a [redacted] b')
    expect(withoutSecrets(`a ${values[0]}-and-more b`)).toBe('a [redacted] b')
    expect(withoutSecrets('short')).toBe('short')
  })

  it('also as JSON writes them, and without what a terminal would obey', () => {
    keepSecret([`line 1 of it\r\n"line" 2 of it\n`])
    expect(withoutSecrets(JSON.stringify('line 1 of it\r\n"line" 2 of it'))).toBe('"[redacted]"')
    expect(withoutSecrets('line 1 of it\n"line" 2 of it')).toBe('[redacted]')
  })

  it.each(['production', 'PRODUCTION', 'Production', 'read-only', 'example.org', '128000000'])(
    'but %s is an ordinary word',
    (word) => {
      keepSecret([word])
      expect(withoutSecrets(`in ${word} now`)).toBe(`in ${word} now`)
    },
  )

  it('a very long one, with anything in it, is hidden to its last character', () => {
    const long = Array.from({ length: 40_000 }, (_, i) => '(a+)+$[\\^{5|'[(i * 7 + (i >> 4)) % 12]).join('')
    keepSecret([long])
    expect(withoutSecrets(`a ${long} b`)).toBe('a [redacted] b')
    const longer = Array.from({ length: 9000 }, (_, i) => `${i * 7919} `).join('')
    keepSecret([longer])
    expect(withoutSecrets(`a ${longer} b`)).not.toMatch(/\d/)
    expect(withoutSecrets(`a ${longer.slice(0, 30_720)}`)).toMatch(/^a (?:\[redacted\])+[\d ]{0,1023}$/)
  })

  // For a caller: the process would search every text of the files of tests that follow for them.
  it('so many that the oldest are forgotten', () => {
    serveCallers()
    asCaller({}, () => {
      keepSecret(Array.from({ length: 2000 }, (_, i) => `value-no-${i}-of-many`))
      expect(withoutSecrets('value-no-1999-of-many')).toBe('[redacted]')
      expect(withoutSecrets('value-no-0-of-many')).toBe('value-no-0-of-many')
    })
  })
})

it('what is no text at all is not shown, and nothing is thrown', () => {
  for (const value of [undefined, null, 7, {}]) expect(withoutSecrets(value as never)).toBe('[redacted]')
})

it('an object without one is handed back as it is', () => {
  const clean = { text: 'nothing', other: 1 }
  expect(redacted(clean, ['text'])).toBe(clean)
  expect(redacted({ text: 'password=correcthorse', other: 1 }, ['text'])).toEqual({
    text: 'password=[redacted]',
    other: 1,
  })
})

it('data may hold one at any depth, and a key may say that it does', () => {
  const data = { a: [{ b: `token=${noise}` }, 1, null, true], 'db-password': 'correcthorse', token: 'short' }
  expect(redactedData(data)).toEqual({
    a: [{ b: 'token=[redacted]' }, 1, null, true],
    'db-password': '[redacted]',
    token: 'short',
  })
})

describe('a text without a form', () => {
  it('holds what none of the patterns is looking for', () => {
    fc.assert(
      fc.property(fc.stringMatching(FORMLESS), (text) => {
        for (const pattern of PATTERNS) expect(text.replace(pattern, '')).toBe(text)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('is hidden all the same where it is the value of a secret', () => {
    keepSecret(['0123456789abcdef0123', 'qwertzuiopasdfghjkly'])
    expect(withoutSecrets('0123456789abcdef0123')).toBe('[redacted]')
    expect(withoutSecrets('qwertzuiopasdfghjkly')).toBe('[redacted]')
  })
})

describe('a short text without the words of a pattern', () => {
  const [, forms] = SEARCHES.forms

  it.each(PATTERNS_OF_FORMS)('holds no such form: %j %j', (_words, form) => {
    const alone = form.replaceAll(/\(\?<?[!=](?:[^()])*\)/g, '').replaceAll(/,65536\}/g, ',40}')
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(`^${alone}$`)), (text) => {
        expect(forms?.mayMatch(text)).toBe(true)
      }),
      { numRuns: runs(100) },
    )
  })

  it.each([
    ['SSWS 0123456789abcdef01', '0123456789abcdef01'],
    ['Passphrase="correct horse"', 'correct horse'],
    ['CREDENTIALS: "correcthorse"', 'correcthorse'],
    ['PrivateKey = "correcthorse"', 'correcthorse'],
    ['bearer 0123456789abcdef', '0123456789abcdef'],
  ])('labels nothing: %j', (text, secret) => {
    expect(withoutSecrets(text)).not.toContain(secret)
    expect(withoutSecrets(text + ' '.repeat(2000)).trimEnd()).toBe(withoutSecrets(text))
  })
})
