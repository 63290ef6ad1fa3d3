// Packages from our own registry: found by their range and downloaded, and nothing of them is run.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { resolveSource } from '../../src/plugins/catalog/resolve.js'
import { installPrepared, preparePlugin } from '../../src/plugins/install-plugin.js'
import { readLock } from '../../src/plugins/lock-file.js'
import { fetchTree } from '../../src/plugins/sources/fetch-source.js'
import { parseSource } from '../../src/plugins/sources/source.js'
import { lockPath } from '../../src/plugins/target.js'
import { prepareUpdate } from '../../src/plugins/update-plugin.js'
import { type TarEntry, tarOf } from './archives.js'
import { HOOKS, withHome } from './plugin-sources.js'

const bench = withHome()
const canary = bench.path('canary')

const packed = (version: string, more: readonly TarEntry[] = []) =>
  gzipSync(
    tarOf([
      { name: 'package/package.json', content: JSON.stringify({ name: 'guard', version, scripts: SCRIPTS }) },
      { name: 'package/hooks/hooks.json', content: HOOKS },
      { name: 'package/guard.sh', content: `#!/bin/sh\n# ${version}\n`, mode: 0o755 },
      ...more,
    ]),
  )
const SCRIPTS = Object.fromEntries(
  ['preinstall', 'install', 'postinstall', 'prepare', 'prepack', 'postpack'].map((name) => [
    name,
    `touch ${canary}`,
  ]),
)
const tarballs: Record<string, Buffer> = {
  '1.0.0': packed('1.0.0'),
  '1.1.0': packed('1.1.0'),
  '2.0.0': packed('2.0.0', [{ name: 'package/link', type: '2', link: '/etc/passwd' }]),
}

let latest = '1.1.0'

const server = createServer((request, response) => {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const version = /guard-([\d.]+)\.tgz$/.exec(request.url ?? '')?.[1]
  if (version !== undefined) return response.end(tarballs[version])
  if (request.url !== '/guard') return response.writeHead(404).end('{}')
  const versions = Object.entries(tarballs).map(([one, bytes]) => {
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    return [
      one,
      { name: 'guard', version: one, dist: { tarball: `${address}/guard/-/guard-${one}.tgz`, integrity } },
    ]
  })
  response.end(
    JSON.stringify({
      name: 'guard',
      'dist-tags': { latest },
      versions: Object.fromEntries(versions),
    }),
  )
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  vi.stubEnv('npm_config_cache', bench.path('cache'))
  vi.stubEnv('npm_config_userconfig', bench.path('npmrc'))
  vi.stubEnv('npm_config_fetch_retries', '0')
})
afterAll(() => {
  vi.unstubAllEnvs()
  server.close()
  server.closeAllConnections()
})

const npm = (range: string, name = 'guard') => fetchTree({ kind: 'npm', name, range })

describe('a package', () => {
  it('is found by version and by range, and runs no script', async () => {
    const exact = await npm('1.0.0')
    expect(exact.version).toBe('1.0.0')
    expect(exact.tree.text('guard.sh')).toContain('# 1.0.0')
    expect(exact.tree.files.get('guard.sh')?.isExecutable).toBe(true)
    expect((await npm('^1.0.0')).version).toBe('1.1.0')
    expect(existsSync(canary)).toBe(false)
  })

  it('with a link in it is refused', async () => {
    await expect(npm('2.0.0')).rejects.toMatchObject({ code: 'UNSAFE_ENTRY' })
  })

  it('is reported if it does not exist', async () => {
    await expect(npm('latest', 'nothing-here')).rejects.toMatchObject({ code: 'FETCH_FAILED' })
    await expect(npm('9.9.9')).rejects.toMatchObject({ code: 'FETCH_FAILED' })
  })
})

describe('the update of a package', () => {
  const install = async (range: string) => {
    const resolved = await resolveSource(parseSource(`npm:guard@${range}`))
    const prepared = await preparePlugin(resolved, bench.user, undefined)
    prepared.staged.remove()
    await installPrepared(prepared, bench.user)
    return prepared.entry.integrity
  }

  it('refuses other bytes under the same version, with both digests, and takes another version', async () => {
    const old = tarballs['1.1.0'] as Buffer
    const before = await install('^1.0.0')
    expect(readLock(lockPath(bench.user)).get('guard')).toMatchObject({ version: '1.1.0', integrity: before })
    tarballs['1.1.0'] = packed('1.1.0', [{ name: 'package/evil.sh', content: 'x' }])
    const { tree } = await npm('1.1.0')
    await expect(prepareUpdate('guard', bench.user)).rejects.toMatchObject({
      code: 'MISMATCH',
      message: `The registry now serves different files as version 1.1.0 of guard: they had ${before} when you installed it and have ${tree.integrity()} now`,
    })
    await expect(prepareUpdate('guard', bench.user, { acceptMoved: true })).rejects.toMatchObject({
      code: 'MISMATCH',
    })
    tarballs['1.1.0'] = old
    tarballs['1.2.0'] = packed('1.2.0')
    latest = '1.2.0'
    const { prepared, differences } = await prepareUpdate('guard', bench.user)
    prepared.staged.remove()
    expect([prepared.entry.version, differences.length]).toEqual(['1.2.0', 2])
  })
})

describe('an archive at an address', () => {
  const address = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`

  it('is downloaded and unpacked without its one folder', async () => {
    const { tree } = await fetchTree({ kind: 'archive', place: address('/guard-1.0.0.tgz') })
    expect([...tree.files.keys()].sort()).toEqual(['guard.sh', 'hooks/hooks.json', 'package.json'])
  })

  it('is reported if it does not exist', async () => {
    await expect(fetchTree({ kind: 'archive', place: address('/none.tar') })).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringContaining('404'),
    })
    await expect(fetchTree({ kind: 'archive', place: 'http://127.0.0.1:1/x.tar' })).rejects.toMatchObject({
      code: 'FETCH_FAILED',
    })
  })
})
