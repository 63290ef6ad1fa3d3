import { describe, expect, it } from 'vitest'
import { keepSecret, redacted, withoutSecrets } from '../../src/core/secrets.js'
import { FORMS, planted } from '../conformance/planted-secrets.js'

describe('what looks like a secret', () => {
  it.each(FORMS)('%s', (secret) => {
    for (const around of ['', 'have ', '"', '=', '\n', '(', '\t', ':', '/']) {
      expect(withoutSecrets(`${around}${secret}${around === '' ? '' : ' and more'}`)).not.toContain(secret)
    }
  })

  it.each([
    ['https://me:hunter2hunter2@example.org/x', 'hunter2hunter2'],
    ['Authorization: Bearer abcdefghijklmnop', 'abcdefghijklmnop'],
    ['password=correcthorse', 'correcthorse'],
    ['{"api_key": "correcthorse"}', 'correcthorse'],
    ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG', 'wJalrXUtnFEMI'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----', 'MIIEow'],
    ['-----BEGIN PRIVATE KEY-----\nMIIEow and no end', 'MIIEow'],
  ])('%j', (text, secret) => {
    expect(withoutSecrets(text)).not.toContain(secret)
    expect(withoutSecrets(text)).toContain('[redacted]')
  })

  it.each([
    '',
    'task-manager',
    'risk-free',
    'the token was refused',
    'a key is missing',
    'https://example.org:8080/a@b',
  ])('but not %j', (text) => {
    expect(withoutSecrets(text)).toBe(text)
  })
})

describe('values that were named', () => {
  it('are never shown again, whatever is in them; the longest first', () => {
    const values = Object.values(planted())
    keepSecret([...values, `${values[0]}-and-more`, 'short'])
    for (const value of values) expect(withoutSecrets(`a ${value} b`)).toBe('a [redacted] b')
    expect(withoutSecrets(`a ${values[0]}-and-more b`)).toBe('a [redacted] b')
    expect(withoutSecrets('short')).toBe('short')
  })
})

it('an object without one is handed back as it is', () => {
  const clean = { text: 'nothing', other: 1 }
  expect(redacted(clean, ['text'])).toBe(clean)
  expect(redacted({ text: 'password=correcthorse', other: 1 }, ['text'])).toEqual({
    text: 'password=[redacted]',
    other: 1,
  })
})
