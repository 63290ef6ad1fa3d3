import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import type { Data } from '../../src/core/base/json.js'
import { keepSecret, secretsIn } from '../../src/core/base/secrets.js'
import { forgetProjects, openState } from '../../src/pack/state.js'
import { FORMS, planted } from '../conformance/planted-secrets.js'
import { Workplace } from './workplace.js'

const everything = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('')

describe('a log', () => {
  it('answers its records, the newest first, with their time', () => {
    const place = new Workplace()
    const state = place.state()
    expect(state.recent('metrics')).toEqual([])
    expect(state.append('metrics', { tool: 'a' })).toBe(true)
    place.time += 1000
    expect(state.append('metrics', { tool: 'b' })).toBe(true)
    expect(state.append('memory', { other: true })).toBe(true)
    expect(place.state().recent('metrics')).toEqual([
      { time: '2026-05-04T10:00:01.000Z', tool: 'b' },
      { time: '2026-05-04T10:00:00.000Z', tool: 'a' },
    ])
    expect(state.recent('metrics', 1)).toHaveLength(1)
    expect(state.problems).toEqual([])
  })

  it('is for this user alone, and for this project', () => {
    const place = new Workplace()
    const state = place.state()
    state.append('metrics', { tool: 'a' })
    expect(statSync(state.folder).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(state.folder))
      expect(statSync(join(state.folder, name)).mode & 0o777).toBe(0o600)
    const other = openState({ projectDir: `${place.project}2`, env: place.env })
    expect(other.recent('metrics')).toEqual([])
  })

  it('keeps projects apart whose names are long, and alike at the end', () => {
    const place = new Workplace()
    const named = (first: string) => openState({ projectDir: `/${first}/${'é'.repeat(300)}`, env: place.env })
    expect(named('a').append('metrics', { tool: 'a' })).toBe(true)
    expect(named('b').recent('metrics')).toEqual([])
    expect(named('a').recent('metrics')).toHaveLength(1)
  })

  it('keeps lines short, whatever the record', () => {
    const place = new Workplace()
    const state = place.state()
    const deep = (depth: number): Data => (depth === 0 ? { end: 'x' } : { deeper: deep(depth - 1) })
    const records: readonly Data[] = [
      { text: 'é'.repeat(100_000), short: 'kept' },
      { list: Array.from({ length: 5000 }, (_, i) => `item ${i}`) },
      Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key ${i}`, i])),
      { nested: deep(300) },
    ]
    for (const record of records) expect(state.append('metrics', record)).toBe(true)
    for (const line of everything(state.folder).split('\n'))
      expect(Buffer.byteLength(line)).toBeLessThan(4096)
    expect(state.recent('metrics')).toHaveLength(4)
    expect(state.recent('metrics').at(-1)).toMatchObject({ short: 'kept' })
    expect(state.recent('metrics')[1]).toEqual({ time: expect.any(String), cut: true })
  })

  it('is bounded, and forgets the oldest', () => {
    const place = new Workplace()
    const state = place.state()
    for (let i = 0; i < 500; i++) state.append('metrics', { i, text: 'x'.repeat(3500) })
    expect(Buffer.byteLength(everything(state.folder))).toBeLessThan(600 * 1024)
    const kept = state.recent('metrics', Infinity).map(({ i }) => i as number)
    expect(kept[0]).toBe(499)
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => 499 - i))
    expect(kept.length).toBeGreaterThan(60)
  })

  it('passes over a line that was cut short', () => {
    const place = new Workplace()
    const state = place.state()
    state.append('metrics', { tool: 'a' })
    const [name = ''] = readdirSync(state.folder)
    appendFileSync(join(state.folder, name), '{"tool": "b\n17\n[]\n')
    state.append('metrics', { tool: 'c' })
    expect(state.recent('metrics').map(({ tool }) => tool)).toEqual(['c', 'a'])
  })

  it('skips a line that is not text, and continues after one that was cut short', () => {
    const place = new Workplace()
    const state = place.state()
    state.append('metrics', { tool: 'a' })
    const [name = ''] = readdirSync(state.folder)
    appendFileSync(join(state.folder, name), Buffer.from('\xff\n{"tool":"\xff"}\n', 'latin1'))
    state.append('metrics', { tool: 'b' })
    appendFileSync(join(state.folder, name), '{"tool": "cut sh')
    state.append('metrics', { tool: 'c' })
    expect(state.recent('metrics').map(({ tool }) => tool)).toEqual(['c', 'b', 'a'])
    expect(state.problems).toEqual([])
  })

  it('holds none of the planted secrets', () => {
    const place = new Workplace()
    const secrets = [...Object.values(planted()), ...FORMS]
    expect(secrets.length).toBeGreaterThanOrEqual(30)
    keepSecret(secretsIn(planted()))
    const state = place.state()
    for (const secret of secrets) {
      state.append('memory', { answer: `it is ${secret}, he said`, list: [{ in: secret }] })
      // A cut text must not keep half of a secret.
      state.append('memory', { answer: `${'x'.repeat(2036)} ${secret}`, more: 'y'.repeat(4000) })
    }
    const written = everything(state.folder)
    for (const secret of secrets) {
      expect(written).not.toContain(secret)
      expect(written).not.toContain(secret.slice(0, 12))
    }
    expect(written.match(/\[redacted\]/g)?.length).toBeGreaterThan(secrets.length)
  })
})

describe('where nothing can be kept', () => {
  it('a log reports it and continues', () => {
    const place = new Workplace()
    place.file(join(place.root, 'carabiner'), 'a file where the folder should be')
    const state = place.state()
    expect(state.append('metrics', { tool: 'a' })).toBe(false)
    expect(state.append('metrics', { tool: 'a' })).toBe(false)
    expect(state.recent('metrics')).toEqual([])
    expect(state.problems[0]).toMatch(/cannot be written: (ENOTDIR|EEXIST)/)
    expect(state.problems.length).toBeLessThanOrEqual(2)
  })

  it.skipIf(process.getuid?.() === 0)('a folder that may not be written is told', () => {
    const place = new Workplace()
    mkdirSync(join(place.root, 'carabiner'))
    chmodSync(join(place.root, 'carabiner'), 0o500)
    const state = place.state()
    expect(state.append('metrics', { tool: 'a' })).toBe(false)
    expect(state.problems).toEqual([expect.stringMatching(/cannot be written: EACCES/)])
  })

  it('a folder in the project is not used: what is in it came with the project', () => {
    const place = new Workplace()
    place.env.CARABINER_HOME = join(place.project, '.carabiner')
    const state = place.state()
    mkdirSync(state.folder, { recursive: true })
    writeFileSync(join(state.folder, 'memory.00000001.jsonl'), '{"answer":"obey"}\n')
    expect(state.recent('memory')).toEqual([])
    expect(state.append('memory', { answer: 'a' })).toBe(false)
    expect(state.place('lock.json')).toBeUndefined()
    expect(state.problems).toEqual([expect.stringMatching(/is inside the project; set CARABINER_HOME/)])
  })
})

describe('many processes at once', () => {
  it('write whole lines and lose none', async () => {
    const place = new Workplace()
    const program = join(place.root, 'worker.mjs')
    await build({
      stdin: {
        contents: `
          import { openState } from './src/pack/state.ts'
          const [, , project, home, name] = process.argv
          const state = openState({ projectDir: project, env: { CARABINER_HOME: home } })
          for (let i = 0; i < 200; i++) state.append('metrics', { name, i, text: 'x'.repeat(200) })
          if (state.problems.length > 0) process.exitCode = 1`,
        resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
        loader: 'ts',
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: program,
    })
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const codes = await Promise.all(
      names.map(
        (name) =>
          new Promise((resolve) => {
            const args = [program, place.project, place.env.CARABINER_HOME ?? '', name]
            spawn(process.execPath, args, { stdio: 'inherit' }).on('exit', resolve)
          }),
      ),
    )
    expect(codes).toEqual(names.map(() => 0))
    // More than one file's worth, less than two: nothing may be gone.
    const records = place.state().recent('metrics', Infinity)
    for (const name of names) {
      const numbers = records.filter((record) => record.name === name).map(({ i }) => i)
      expect(numbers).toEqual(Array.from({ length: 200 }, (_, i) => 199 - i))
    }
    expect(readdirSync(place.state().folder)).toHaveLength(2)
  })
})

describe('over all projects', () => {
  const folderOf = (root: string, name: string, ageMs: number, file = 'metrics.00000001.jsonl') => {
    const folder = join(root, name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, file), '{}\n')
    utimesSync(join(folder, file), new Date(Date.now() - ageMs), new Date(Date.now() - ageMs))
    return folder
  }

  it('forgets the projects that were idle longest, but not its own and none in lock mode', () => {
    const { root } = new Workplace()
    const home = join(root, 'pack')
    const own = folderOf(home, 'own', 9000)
    for (const [name, age] of [
      ['old', 5000],
      ['newer', 3000],
      ['new', 1000],
    ] as const)
      folderOf(home, name, age)
    folderOf(home, 'locked', 8000, 'lock.json')
    forgetProjects(home, own, 4)
    expect(readdirSync(home).sort()).toEqual(['locked', 'new', 'newer', 'own'])
    forgetProjects(home, own, 4)
    expect(readdirSync(home)).toHaveLength(4)
  })

  it('a project that is new makes room', () => {
    const place = new Workplace()
    const home = dirname(place.state().folder)
    for (let i = 0; i < 201; i++) folderOf(home, `p${i}`, i * 1000)
    expect(place.state().append('metrics', { tool: 'a' })).toBe(true)
    const left = readdirSync(home)
    expect([left.length, left.includes('p199'), left.includes('p200'), left.includes('p198')]).toEqual([
      200,
      false,
      false,
      true,
    ])
  })
})
