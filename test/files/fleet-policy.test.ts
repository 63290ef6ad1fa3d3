import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type InForce, inForceText, readInForce } from '../../src/files/fleet/policy.js'
import { inForcePath } from '../../src/files/fleet-places.js'

const owner = process.getuid?.() ?? 0
const DIGEST = 'a'.repeat(64)
const WHOLE: InForce = {
  rollout: 7,
  enforced: { digest: DIGEST, version: 3, list: 'b'.repeat(64) },
  shadow: { digest: 'c'.repeat(64), version: 4, list: 'd'.repeat(64) },
  expires: '2030-01-08T00:00:00.000Z',
  afterExpiry: 'warn',
  time: '2030-01-01T00:00:00.000Z',
  trust: {
    trusted: { [DIGEST]: { by: 'Ann', at: '2030-01-01T00:00:00.000Z' } },
    revoked: { [DIGEST]: { by: 'Bob', at: '2030-01-02T00:00:00.000Z', why: 'leaks' } },
  },
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-policy-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (text: string) => writeFileSync(inForcePath(folder), text, { mode: 0o600 })
const read = () => readInForce({ folder, owner })

describe('in-force.json', () => {
  it('reads what was written', () => {
    write(inForceText(WHOLE))
    expect(read()).toEqual(WHOLE)
  })

  it('is undefined only if there is no file', () => {
    expect(read()).toBeUndefined()
    expect(readInForce({ folder: join(folder, 'none'), owner })).toBeUndefined()
  })

  it.each(Object.keys(WHOLE).filter((key) => !['enforced', 'shadow', 'trust'].includes(key)))(
    'throws without %s, and names the file and what to do',
    (key) => {
      write(JSON.stringify({ ...WHOLE, [key]: undefined }))
      expect(read).toThrow(new RegExp(`in-force.json.*${key}.*carabiner fleet policy fetch`))
    },
  )

  it.each([
    ['', 'is empty'],
    ['{', 'JSON'],
    ['[]', 'must be an object'],
    [JSON.stringify({ ...WHOLE, format: 2 }), 'newer version'],
    [JSON.stringify({ ...WHOLE, enforced: { digest: '../x', version: 1, list: DIGEST } }), 'enforced.digest'],
    [JSON.stringify({ ...WHOLE, expires: 'never' }), 'expires'],
    [JSON.stringify({ ...WHOLE, trust: { trusted: { x: {} }, revoked: {} } }), 'trust.trusted'],
  ])('throws for %s', (content, why) => {
    write(content)
    expect(read).toThrow(why)
  })

  it('throws for a file that others can write, or that is a link', () => {
    write(inForceText(WHOLE))
    chmodSync(inForcePath(folder), 0o666)
    expect(read).toThrow('may write')
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    symlinkSync(inForcePath(folder), inForcePath(elsewhere))
    expect(() => readInForce({ folder: elsewhere, owner })).toThrow('is a link')
    expect(() => readInForce({ folder, owner: owner + 1 })).toThrow('belongs to')
  })
})
