// The record of warm processes: which of them the next service ends.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endLeftovers, WarmChildren } from '../../../src/service/socket/warm-children.js'
import { isThere, until } from '../../runners/until.js'

let folder: string
let child: ChildProcess
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner children '))
  child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
})
afterEach(async () => {
  child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

const never = new Promise<void>(() => {})
const record = () => join(folder, readdirSync(folder)[0] as string)

/** Records the child, and changes what is recorded. */
function recorded(change: (text: string) => string): void {
  new WarmChildren(folder, 'build.here').add(child.pid as number, never)
  const text = readFileSync(record(), 'utf8')
  writeFileSync(record(), change(text))
}

const killed = (text: string) => text.replace(/("service":\{"pid":)\d+/, `$1${2 ** 30}`)

describe.skipIf(process.platform === 'win32')('processes of a service', () => {
  test('that was killed are ended, and forgotten', async () => {
    recorded(killed)
    endLeftovers(folder)
    await until('it has ended', () => child.signalCode !== null)
    expect(readdirSync(folder)).toEqual([])
  })

  test.each<[string, (text: string) => string]>([
    ['that still runs', (text) => text],
    [
      'of another machine, or before the last start of this one',
      (text) => killed(text).replace(/("place":")./, '$1-'),
    ],
  ])('%s stay', (_, change) => {
    recorded(change)
    endLeftovers(folder)
    expect(isThere(child.pid as number)).toBe(true)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  test('whose number means another process by now are left alone', () => {
    recorded((text) => killed(text).replace(/("children":.*"start":")/, '$1another '))
    endLeftovers(folder)
    expect(isThere(child.pid as number)).toBe(true)
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([
    '',
    '{"place":',
    '[]',
    '{"place":"x","service":{"pid":1,"start":"1"},"children":[{"pid":-1,"start":"1"}]}',
  ])('on a damaged record are left alone: %s', (text) => {
    recorded(() => text)
    endLeftovers(folder)
    expect(isThere(child.pid as number)).toBe(true)
  })

  test('are counted and on record until their groups are gone', async () => {
    const children = new WarmChildren(folder, 'build.here')
    let end = () => {}
    children.add(child.pid as number, new Promise((resolve) => (end = resolve)))
    expect([children.size, readdirSync(folder).length]).toEqual([1, 1])
    end()
    await until('it is forgotten', () => children.size === 0)
    expect(readdirSync(folder)).toEqual([])
  })

  test('run even if they cannot be recorded', () => {
    const children = new WarmChildren(join(folder, 'missing'), 'build.here')
    children.add(child.pid as number, never)
    expect(children.size).toBe(1)
  })
})
