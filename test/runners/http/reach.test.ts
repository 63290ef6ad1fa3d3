// Where a hook may be sent: every spelling of every address that is not of the public internet is refused, unless it was allowed.

import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { privateHostProblem } from '../../../src/runners/http/allow-lists.js'
import { guardedLookup, Reach } from '../../../src/runners/http/reach.js'
import { DENY, portOf, Station } from './station.js'

const reach = (url: string, allowed: readonly string[] = [], own = false) =>
  new Reach(new URL(url), own, allowed)

/** Of the project's hook: what is said of the host in its URL, then of the address it leads to. */
const refused = (url: string, allowed: readonly string[] = [], address?: string) => {
  const one = reach(url, allowed)
  return (one.refusalOfHost() ?? (address === undefined ? undefined : one.refusalOf(address)))?.message
}

let station: Station

beforeEach(() => {
  station = new Station()
})

afterEach(async () => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  await station.close()
})

describe('an address', () => {
  test.for([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private network'],
    ['172.16.0.1', 'private network'],
    ['172.31.255.255', 'private network'],
    ['192.168.1.1', 'private network'],
    ['100.64.0.1', 'private network'],
    ['100.127.255.255', 'private network'],
    ['169.254.1.1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['240.0.0.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['203.0.113.9', 'reserved'],
    // spellings that the parser of URLs reads
    ['2130706433', 'loopback'],
    ['0x7f000001', 'loopback'],
    ['0177.0.0.1', 'loopback'],
    ['127.1', 'loopback'],
    ['0xa9.0xfe.0xa9.0xfe', 'metadata'],
    ['2852039166', 'metadata'],
    ['0', 'unspecified'],
    ['１２７.0.0.1', 'loopback'],
    ['127。0。0。1', 'loopback'],
    // IPv6
    ['[::1]', 'loopback'],
    ['[0:0:0:0:0:0:0:1]', 'loopback'],
    ['[::]', 'unspecified'],
    ['[fe80::1]', 'link-local'],
    ['[febf::1]', 'link-local'],
    ['[fc00::1]', 'private network'],
    ['[fdff::1]', 'private network'],
    ['[fec0::1]', 'private network'],
    ['[fd00:ec2::254]', 'metadata'],
    ['[ff02::1]', 'multicast'],
    ['[2001:db8::1]', 'reserved'],
    ['[2001::1]', 'reserved'],
    ['[100::1]', 'reserved'],
    ['[4000::1]', 'reserved'],
    // IPv4 within IPv6
    ['[::ffff:127.0.0.1]', 'loopback'],
    ['[::ffff:7f00:1]', 'loopback'],
    ['[::ffff:169.254.169.254]', 'metadata'],
    ['[::ffff:10.1.2.3]', 'private network'],
    ['[::ffff:0.0.0.0]', 'unspecified'],
    ['[::127.0.0.1]', 'reserved'],
    ['[::ffff:0:127.0.0.1]', 'reserved'],
    ['[64:ff9b::127.0.0.1]', 'loopback'],
    ['[64:ff9b::a9fe:a9fe]', 'metadata'],
    ['[64:ff9b:1::a00:1]', 'reserved'],
    ['[2002:7f00:1::]', 'loopback'],
    ['[2002:a9fe:a9fe::1]', 'metadata'],
    ['[2002:c0a8:101::1]', 'private network'],
  ] as const)('%s is refused', ([host, kind]) => {
    expect(refused(`http://${host}/`)).toContain(kind)
  })

  test.for([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '169.253.1.1',
    '192.167.1.1',
    '11.0.0.1',
    '[2606:4700:4700::1111]',
    '[2a00:1450:4001:81b::200e]',
    '[::ffff:8.8.8.8]',
    '[64:ff9b::8.8.8.8]',
    '[2002:808:808::1]',
  ])('%s is public', (host) => {
    expect(refused(`http://${host}/`)).toBeUndefined()
  })

  test('with a zone is read without it', () => {
    expect(refused('http://a.example/', [], 'fe80::1%eth0')).toContain('link-local')
  })
})

describe('a name', () => {
  test.for(['metadata.google.internal', 'metadata.google.internal.', 'METADATA.GOOG', 'instance-data'])(
    '%s of a metadata service is refused before it is looked up',
    (host) => {
      expect(refused(`http://${host}/`)).toContain('name of a metadata service')
    },
  )

  test('that leads to a private address is refused, and says where it leads', () => {
    expect(refused('http://a.example/', [], '10.0.0.7')).toBe(
      'nothing was sent to a.example:80: it resolves to 10.0.0.7, an address in a private network',
    )
    expect(refused('https://localhost/', [], '127.0.0.1')).toContain('loopback')
    expect(refused('http://a.example/', [], '93.184.216.34')).toBeUndefined()
  })
})

describe('allowed_private_hosts', () => {
  test.for([
    ['10.0.0.7', 'http://10.0.0.7/'],
    ['10.0.0.7', 'http://10.0.0.7:8080/'],
    ['10.0.0.7:8080', 'http://10.0.0.7:8080/'],
    ['10.0.0.7:443', 'https://10.0.0.7/'],
    ['10.0.0.0/8', 'http://10.200.0.7:99/'],
    ['10.0.0.7', 'http://a.example/', '10.0.0.7'],
    ['10.0.0.0/24', 'http://a.example/', '10.0.0.7'],
    ['169.254.169.254', 'http://169.254.169.254/'],
    ['[::1]', 'http://[::1]/'],
    ['::1', 'http://[::1]:7/'],
    ['[::1]:7', 'http://[::1]:7/'],
    ['fd00::/8', 'http://[fd12::1]/'],
    ['fd00::/8', 'http://a.example/', 'fd12::1'],
    ['policy.corp', 'http://policy.corp/', '10.0.0.7'],
    ['POLICY.corp:80', 'http://policy.corp/', '10.0.0.7'],
    ['localhost:8787', 'http://localhost:8787/', '127.0.0.1'],
    ['localhost', 'http://localhost:8787/', '::1'],
    ['metadata.google.internal', 'http://metadata.google.internal/', '169.254.169.254'],
  ] as const)('%s allows %s %s', ([entry, url, address]) => {
    expect(privateHostProblem(entry)).toBeUndefined()
    expect(refused(url, [entry], address)).toBeUndefined()
  })

  test.for([
    ['10.0.0.7:8080', 'http://10.0.0.7/'],
    ['10.0.0.7', 'http://10.0.0.8/'],
    ['10.0.0.0/24', 'http://10.0.1.7/'],
    ['10.0.0.7:8080', 'http://a.example/', '10.0.0.7'],
    ['[::1]:7', 'http://[::1]:8/'],
    ['policy.corp', 'http://sub.policy.corp/', '10.0.0.7'],
    ['policy.corp', 'http://policy.corp.evil.example/', '10.0.0.7'],
    ['policy.corp:8080', 'http://policy.corp/', '10.0.0.7'],
    // A name that was allowed may be made to lead anywhere by whoever answers for it.
    ['policy.corp', 'http://policy.corp/', '169.254.169.254'],
    ['policy.corp', 'http://policy.corp/', '169.254.1.1'],
    ['policy.corp', 'http://policy.corp/', '0.0.0.0'],
    ['localhost', 'http://127.0.0.1/'],
    ['0.0.0.0', 'http://127.0.0.1/'],
  ] as const)('%s does not allow %s %s', ([entry, url, address]) => {
    expect(privateHostProblem(entry)).toBeUndefined()
    expect(refused(url, [entry], address)).toMatch(/^nothing was sent/)
  })

  test.for([
    '',
    '*',
    '*.corp',
    'http://a',
    'a/b',
    'a:b',
    '10.0.0.0/33',
    '10/8',
    '10.0/8',
    '010.0.0.0/8',
    '::/129',
    'a@b',
    '10.0.0/8x',
    '[::1',
  ])('%j is no entry, and allows nothing', (entry) => {
    expect(privateHostProblem(entry)).toMatch(/^it must be a host/)
    expect(refused('http://10.0.0.7/', [entry])).toMatch(/^nothing was sent/)
  })
})

describe('a hook of the user', () => {
  const own = (url: string, address?: string) => {
    const one = reach(url, [], true)
    return (one.refusalOfHost() ?? (address === undefined ? undefined : one.refusalOf(address)))?.message
  }

  test('may name an address, or localhost', () => {
    expect(own('http://127.0.0.1:8080/')).toBeUndefined()
    expect(own('http://[::1]:8080/')).toBeUndefined()
    expect(own('http://192.168.1.5/')).toBeUndefined()
    expect(own('http://localhost:8080/', '127.0.0.1')).toBeUndefined()
    expect(own('http://localhost:8080/', '::1')).toBeUndefined()
  })

  test('is not led to one by a name', () => {
    expect(own('http://a.example/', '127.0.0.1')).toContain('loopback')
    expect(own('http://localhost/', '10.0.0.1')).toContain('private network')
    expect(own('http://metadata.google.internal/')).toContain('metadata')
  })

  test.for([
    ['http://169.254.169.254/', 'metadata'],
    ['http://[::ffff:169.254.169.254]/', 'metadata'],
    ['http://[fd00:ec2::254]/', 'metadata'],
    ['http://100.100.100.200/', 'metadata'],
    ['http://169.254.7.7/', 'link-local'],
    ['http://[fe80::1]/', 'link-local'],
  ] as const)('may not name %s without being allowed to', ([url, kind]) => {
    expect(own(url)).toContain(kind)
    expect(reach(url, [new URL(url).hostname], true).refusalOfHost()).toBeUndefined()
  })
})

describe('a look-up', () => {
  type Found = readonly { readonly address: string; readonly family: number }[]

  /** As if the name server had said so. */
  function nameServerSays(...found: readonly string[]): void {
    const answer = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    vi.spyOn(dns, 'lookup').mockImplementation(((
      _: string,
      __: object,
      callback: (error: null, found: Found) => void,
    ) => process.nextTick(callback, null, answer)) as never)
    syncBuiltinESMExports()
  }

  const looked = (url: string, options: { all?: boolean }, allowed: readonly string[] = []) =>
    new Promise<unknown>((resolve) => {
      guardedLookup(reach(url, allowed))('a.example', options, (error, found) => resolve(error ?? found))
    })

  test('hands out only addresses that may be connected to', async () => {
    nameServerSays('10.0.0.1', '93.184.216.34', '::1', '2606:4700::1')
    expect(await looked('http://a.example/', { all: true })).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ])
    expect(await looked('http://a.example/', {})).toBe('93.184.216.34')
    expect(await looked('http://a.example/', { all: true }, ['10.0.0.0/8'])).toHaveLength(3)
  })

  test('without any allowed address says why', async () => {
    nameServerSays('169.254.169.254', '::1')
    expect(await looked('http://a.example/', { all: true })).toMatchObject({
      code: 'HOOK_REFUSED',
      message: expect.stringContaining('metadata'),
    })
  })

  test('without an address says so', async () => {
    nameServerSays()
    expect(await looked('http://a.example/', { all: true })).toMatchObject({ code: 'ENOTFOUND' })
  })

  test('keeps a hook of the project away from this machine, whatever its name', async () => {
    const url = await station.says(DENY)
    nameServerSays('127.0.0.1')
    const failure = await station.failure(`http://rebound.example:${portOf(url)}/`, { scope: 'project' })
    expect(failure).toMatch(/^HOOK_REFUSED: .* resolves to 127.0.0.1, a loopback address/)
    expect(station.connections).toBe(0)
  })

  test('leads past the addresses that are refused', async () => {
    const url = await station.says(DENY)
    nameServerSays('10.255.255.1', '127.0.0.1')
    const terms = { allowed_private_hosts: [`127.0.0.1:${portOf(url)}`] }
    const setup = { scope: 'project', terms } as const
    expect(await station.ask(`http://both.example:${portOf(url)}/`, setup)).toMatchObject({ action: 'deny' })
    expect(station.seen[0]?.headers.host).toBe(`both.example:${portOf(url)}`)
  })
})

describe('through a hook', () => {
  test('one of the project is refused this machine, unless the user allowed it', async () => {
    const url = await station.says(DENY)
    for (const scope of ['project', 'named'] as const) {
      expect(await station.failure(url, { scope })).toMatch(/^HOOK_REFUSED: .* a loopback address/)
      await expect(station.ask(url, { scope })).rejects.toMatchObject({
        hint: expect.stringContaining('"allowed_private_hosts" under "hooks" in ~/.amplifier/settings.json'),
      })
    }
    expect(station.connections).toBe(0)
    const terms = { allowed_private_hosts: [`127.0.0.1:${portOf(url)}`] }
    expect(await station.ask(url, { scope: 'project', terms })).toMatchObject({ action: 'deny' })
  })

  test.for([
    ['plugin', { plugin: { name: 'p', root: '/nowhere/p', dataDir: '/nowhere/d' } }],
    ['skill', { skillDir: '/nowhere/s' }],
  ] as const)('one of a %s in the folder of the user is not his own', async ([, place]) => {
    const url = await station.says(DENY)
    expect(await station.failure(url, { scope: 'user', place })).toMatch(
      /^HOOK_REFUSED: .* a loopback address/,
    )
    expect(station.connections).toBe(0)
    const terms = { allowed_private_hosts: [`127.0.0.1:${portOf(url)}`] }
    expect(await station.ask(url, { scope: 'user', place, terms })).toMatchObject({ action: 'deny' })
  })

  test('a connection that another hook may use, and that is kept, is looked at again', async () => {
    const url = `http://localhost:${portOf(await station.says(DENY))}/`
    expect(await station.ask(url, { scope: 'user' })).toMatchObject({ action: 'deny' })
    const failure = await station.failure(url, { scope: 'project' })
    expect(failure).toMatch(/^HOOK_REFUSED: .* resolves to 127.0.0.1, a loopback address/)
    expect(station.seen).toHaveLength(1)
  })

  test('what is really connected to counts, not what was looked up', async () => {
    const url = await station.says(DENY)
    // The first look sees another address than the system connects to.
    const refusalOf = vi.spyOn(Reach.prototype, 'refusalOf').mockReturnValueOnce(undefined)
    const failure = await station.failure(url, { scope: 'project' })
    expect(failure).toMatch(/^HOOK_REFUSED/)
    expect(refusalOf).toHaveBeenCalledTimes(2)
    expect(station.seen).toEqual([])
  })

  test('over https it applies before the handshake', async () => {
    const sent: Buffer[] = []
    const url = await station.raw((_, bytes) => sent.push(bytes)) // never answers
    vi.spyOn(Reach.prototype, 'refusalOf').mockReturnValueOnce(undefined)
    const failure = await station.failure(url.replace('http:', 'https:'), { scope: 'project' })
    expect(failure).toMatch(/^HOOK_REFUSED/)
    await station.noneOpen()
    expect(Buffer.concat(sent).toString('latin1')).not.toContain('PreToolUse')
  })
})
