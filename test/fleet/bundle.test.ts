import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/base/digest.js'
import { isIntact } from '../../src/files/fleet/bundles.js'
import { bundleFolder } from '../../src/files/fleet/policy.js'
import { unpack } from '../../src/fleet/machine/policy-files.js'
import { bundleIn, bundleOf } from '../../src/fleet/policy/bundle.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bundle-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, content: string, mode = 0o644): void {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), content, { mode })
}

const fileOf = (path: string, content = 'x') => ({
  path,
  executable: false,
  sha256: sha256(content),
  content: Buffer.from(content).toString('base64'),
})
const isUnpacked = (place: string, digest: string, list: string) =>
  isIntact({ folder: place, owner: process.getuid?.() ?? 0 }, { digest, version: 1, list })
const textWith = (...files: readonly object[]) => JSON.stringify({ format: 1, files })

describe('a bundle', () => {
  it('keeps which files are programs, and is not intact if that changes', () => {
    write('policy/a.sh', 'true\n', 0o755)
    write('policy/b.txt', 'true\n')
    const bundle = bundleOf(join(folder, 'policy'))
    const list = unpack(join(folder, 'machine'), bundle)
    const now = () => isUnpacked(join(folder, 'machine'), bundle.digest, list)
    expect(now()).toBe(true)
    const change = (name: string, mode: number) =>
      chmodSync(join(bundleFolder(join(folder, 'machine'), bundle.digest), name), mode)
    for (const [name, mode, back] of [
      ['a.sh', 0o644, 0o755],
      ['b.txt', 0o755, 0o644],
    ] as const) {
      change(name, mode)
      expect(now()).toBe(false)
      change(name, back)
      expect(now()).toBe(true)
    }
    chmodSync(join(folder, 'policy/a.sh'), 0o644)
    expect(bundleOf(join(folder, 'policy')).digest).not.toBe(bundle.digest)
  })

  it('is the same for the same files, whenever they were written', () => {
    write('rules.json', '{}')
    write('hooks/a/run.sh', 'exit 0', 0o755)
    const first = bundleOf(folder)
    write('rules.json', '{}')
    write('.git/config', 'x')
    expect(bundleOf(folder)).toEqual(first)
    expect(first.files.map(({ path, executable }) => [path, executable])).toEqual([
      ['hooks/a/run.sh', true],
      ['rules.json', false],
    ])
    write('rules.json', '{ }')
    expect(bundleOf(folder).digest).not.toBe(first.digest)
  })

  it('holds no links', () => {
    symlinkSync('/etc/passwd', join(folder, 'rules.json'))
    expect(() => bundleOf(folder)).toThrow('not a plain file')
  })

  it.each([
    '../x',
    'a/../../x',
    '/etc/x',
    '',
    'a//b',
    './a',
    'a/',
    'a\\b',
    'C:x',
    'a\0b',
    `${'a'.repeat(300)}`,
  ])('refuses the path %j', (path) => {
    expect(() => bundleIn(textWith(fileOf(path)))).toThrow('is not the path of a file')
  })

  it.each([
    ['a', 'a'],
    ['A', 'a'],
    ['a', 'a/b'],
    ['\u00e9', 'e\u0301'],
  ])('refuses %j together with %j', (one, other) => {
    expect(() => bundleIn(textWith(fileOf(one), fileOf(other)))).toThrow('twice')
    expect(() => bundleIn(textWith(fileOf(other), fileOf(one)))).toThrow('twice')
  })

  it('has files: machines would take an empty one for a policy whose files are gone', () => {
    expect(() => bundleOf(folder)).toThrow('it has no files')
    expect(() => bundleIn(textWith())).toThrow('it has no files')
  })

  it('refuses a file with another digest, and a text that is too large', () => {
    expect(() => bundleIn(textWith({ ...fileOf('a'), sha256: sha256('y') }))).toThrow('another digest')
    expect(() => bundleIn('x'.repeat(8 * 1024 * 1024 + 1))).toThrow('8 MiB')
  })

  it.each([
    ['{"expires_days": 0}', 'expires_days'],
    ['{"after_expiry": "open"}', 'after_expiry'],
    ['{"rings": [{}]}', 'name'],
    ['{"groups": {"ci": "ci-*"}}', 'machines'],
    ['{"expire_days": 1}', 'not one of its keys'],
  ])('refuses policy.json with %s', (content, why) => {
    expect(() => bundleIn(textWith(fileOf('policy.json', content)))).toThrow(why)
  })

  it('is unpacked whole, and any difference is noticed', () => {
    write('rules.json', '{}')
    write('hooks/empty', '')
    const bundle = bundleOf(folder)
    const place = join(folder, 'place')
    const list = unpack(place, bundle)
    const seen = () => isUnpacked(place, bundle.digest, list)
    const root = join(place, 'bundles', bundle.digest)
    expect(seen()).toBe(true)
    writeFileSync(join(root, 'rules.json'), '{ }')
    expect(seen()).toBe(false)
    unpack(place, bundle)
    expect(seen()).toBe(true)
    writeFileSync(join(root, 'more'), '')
    expect(seen()).toBe(false)
    unpack(place, bundle)
    rmSync(join(root, 'hooks/empty'))
    expect(seen()).toBe(false)
  })
})
