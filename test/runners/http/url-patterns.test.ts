// allowed_http_urls: a pattern takes what it says, and no star reaches from one part of a URL into another.

import { describe, expect, test } from 'vitest'
import { isAllowedUrl, urlPatternProblem } from '../../../src/runners/http/allow-lists.js'

const takes = (pattern: string, url: string) => isAllowedUrl(new URL(url), [pattern])

describe('a pattern', () => {
  test.for([
    ['https://hooks.example.com/*', 'https://hooks.example.com/a/b?c=d'],
    ['https://hooks.example.com/*', 'https://hooks.example.com/'],
    ['https://hooks.example.com/*', 'https://HOOKS.example.com:443/a'],
    ['https://hooks.example.com/*', 'https://user:pass@hooks.example.com/a'],
    ['https://hooks.example.com', 'https://hooks.example.com'],
    ['https://hooks.example.com/a', 'https://hooks.example.com/x/../a'],
    ['https://hooks.example.com/a/*/z', 'https://hooks.example.com/a/b/c/z'],
    ['https://hooks.example.com/a?k=*', 'https://hooks.example.com/a?k=1'],
    ['https://*.example.com/*', 'https://a.b.example.com/x'],
    ['HTTPS://Hooks.Example.com/A*', 'https://hooks.example.com/A1'],
    ['*://hooks.example.com/*', 'https://hooks.example.com/'],
    ['http://localhost:*/*', 'http://localhost:8080/x'],
    ['http://localhost:8080/*', 'http://localhost:8080/x'],
    ['http://127.0.0.1:8080/*', 'http://0x7f000001:8080/x'],
    ['http://[::1]:8080/*', 'http://[0:0:0:0:0:0:0:1]:8080/x'],
    ['https://*/hook', 'https://anything.example:8443/hook'],
    ['https://*', 'https://anything.example:8443/hook'],
    ['*', 'http://anything.example/'],
    ['https://bücher.example/*', 'https://xn--bcher-kva.example/x'],
  ] as const)('%s takes %s', ([pattern, url]) => {
    expect(urlPatternProblem(pattern)).toBeUndefined()
    expect(takes(pattern, url)).toBe(true)
  })

  test.for([
    ['https://hooks.example.com/*', 'http://hooks.example.com/a'],
    ['https://hooks.example.com/*', 'https://hooks.example.com:8443/a'],
    ['https://hooks.example.com/*', 'https://hooks.example.com.evil.example/a'],
    ['https://hooks.example.com/*', 'https://hooks.example.com@evil.example/a'],
    ['https://hooks.example.com/*', 'https://evil.example/https://hooks.example.com/a'],
    ['https://hooks.example.com/*', 'https://evil.example\\@hooks.example.com/a'],
    ['https://hooks.example.com/*', 'https://evil.example#@hooks.example.com/a'],
    ['https://hooks.example.com/*', 'https://evil.example?@hooks.example.com/a'],
    ['https://hooks.example.com', 'https://hooks.example.com/a'],
    ['https://hooks.example.com/a/*', 'https://hooks.example.com/a/../b'],
    ['https://hooks.example.com/a/*', 'https://hooks.example.com/a/%2e%2e/b'],
    ['https://hooks.example.com/a', 'https://hooks.example.com/a?b'],
    ['https://*.example.com/*', 'https://example.com/x'],
    ['https://*.example.com/*', 'https://evilexample.com/x'],
    ['https://*.example.com/*', 'https://evil.example/.example.com/x'],
    ['https://*.example.com/*', 'https://evil.example?.example.com/x'],
    ['https://*.example.com/*', 'https://a.example.com:1/x'],
    ['*://hooks.example.com/*', 'https://hooks.example.com:80/'],
    ['https://*', 'http://anything.example/'],
  ] as const)('%s does not take %s', ([pattern, url]) => {
    expect(urlPatternProblem(pattern)).toBeUndefined()
    expect(takes(pattern, url)).toBe(false)
  })

  test.for([
    '',
    'hooks.example.com',
    'https://hooks.example.com*',
    'https://hooks*.example.com/*',
    'https://*example.com/*',
    'https://*.*.com/*',
    'https://user@hooks.example.com/*',
    'https://a\\b/*',
    'ftp://hooks.example.com/*',
    'https:///x',
    'https://[::1/x',
    'https://999.999.999.999/',
    'https://hooks.example.com/#x',
  ])('%j is none, and takes nothing', (pattern) => {
    expect(urlPatternProblem(pattern)).toMatch(/^(?:it is not a URL|the host|its host)/)
    for (const url of ['https://hooks.example.com/', 'https://hooks.example.com.evil.example/']) {
      expect(takes(pattern, url)).toBe(false)
    }
  })

  test('with many stars is compared in no time', () => {
    expect(takes(`https://h.example/${'*a'.repeat(200)}b`, `https://h.example/${'a'.repeat(100_000)}`)).toBe(
      false,
    )
  })
})

test('no list takes everything, an empty one nothing', () => {
  expect(isAllowedUrl(new URL('https://a.example/'), null)).toBe(true)
  expect(isAllowedUrl(new URL('https://a.example/'), [])).toBe(false)
})
