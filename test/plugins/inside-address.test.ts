// Addresses of this machine and its networks, recognized by their form and by the addresses of a name.

import { lookup } from 'node:dns/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fetchTree } from '../../src/plugins/sources/fetch-source.js'
import { insideByAddress, insideByName } from '../../src/plugins/sources/foreign-source.js'

vi.mock('node:dns/promises', () => ({ lookup: vi.fn() }))
const leadTo = (places: Readonly<Record<string, readonly string[]>>) =>
  vi.mocked(lookup).mockImplementation((async (host: string) => {
    if (!places[host]) throw new Error('ENOTFOUND')
    return places[host].map((address) => ({ address, family: 4 }))
  }) as never)

afterEach(() => {
  vi.unstubAllGlobals()
  vi.clearAllMocks()
})

describe('a host', () => {
  it.each([
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'intranet',
    'printer.local',
    'metadata.google.internal.',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0177.0.0.1',
    '0x7f000001',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '①②⑦.⓪.⓪.①',
  ])('%s is inside, and nobody is asked', (host) => {
    expect(insideByName(new URL(`https://${host}/x`))).toBeDefined()
    expect(lookup).not.toHaveBeenCalled()
  })

  it.each(['example.com', '8.8.8.8', '[2606:4700::1111]', 'local.example.com', 'internal.dev'])(
    '%s is not',
    (host) => {
      expect(insideByName(new URL(`https://${host}/x`))).toBeUndefined()
    },
  )

  it('is inside where one of its addresses is', async () => {
    leadTo({ 'a.example': ['93.184.216.34', '10.0.0.1'], 'b.example': ['93.184.216.34'] })
    expect(await insideByAddress(new URL('https://a.example/'))).toBe('an address in a private network')
    expect(await insideByAddress(new URL('https://b.example/'))).toBeUndefined()
    expect(await insideByAddress(new URL('https://nowhere.example/'))).toBeUndefined()
  })
})

describe('an archive', () => {
  const fetched = (location: string) => {
    const fetch = vi.fn(async () => new Response(null, { status: 302, headers: { location } }))
    vi.stubGlobal('fetch', fetch)
    return fetch
  }
  const archive = (place: string) => fetchTree({ kind: 'archive', place })

  it.each(['https://10.0.0.1/x', 'https://inside.example/x', 'https://localhost/x'])(
    'that leads to %s is not fetched from there',
    async (location) => {
      leadTo({ 'public.example': ['93.184.216.34'], 'inside.example': ['192.168.0.1'] })
      const fetch = fetched(location)
      await expect(archive('https://public.example/x.tgz')).rejects.toMatchObject({
        code: 'FETCH_FAILED',
        message: expect.stringContaining('redirects to'),
      })
      expect(fetch).toHaveBeenCalledTimes(1)
    },
  )

  it('that is inside may lead to another place there', async () => {
    leadTo({})
    const fetch = fetched('https://10.0.0.2/x')
    await expect(archive('https://10.0.0.1/x.tgz')).rejects.toMatchObject({
      message: expect.stringContaining('redirects too many times'),
    })
    expect(fetch).toHaveBeenCalledTimes(6)
  })
})
