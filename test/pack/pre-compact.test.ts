import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keepSecret, secretsIn } from '../../src/core/base/secrets.js'
import { preCompact } from '../../src/pack/pre-compact.js'
import { FORMS, planted } from '../conformance/planted-secrets.js'
import { assistant, text, user, Workplace } from './workplace.js'

const exportsOf = (place: Workplace) => {
  const folder = join(place.state().folder, 'transcripts')
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
}

describe('pre-compact', () => {
  it('exports the transcript, and says where it is', async () => {
    const place = new Workplace()
    const lines = [user('a'), assistant(text('b'))]
    const result = await place.run(preCompact, { transcriptPath: place.transcript(lines) })
    const [path = ''] = exportsOf(place)
    expect(result).toMatchObject({ action: 'continue', userMessage: expect.stringContaining(path) })
    const read = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(read.map((line) => JSON.parse(line))).toEqual(lines)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['no path', undefined, 'the host did not name a file'],
    ['a path to nothing', '/nowhere/a.jsonl', '"/nowhere/a.jsonl" is empty or missing'],
    ['a relative path', 'a.jsonl', '"a.jsonl" is empty or missing'],
  ])('tells that nothing is kept for %s', async (_, transcriptPath, why) => {
    const place = new Workplace()
    const result = await place.run(preCompact, { transcriptPath })
    expect(result).toMatchObject({
      action: 'continue',
      userMessage: expect.stringContaining(`not saved: ${why}`),
    })
  })

  it('tells what kept it from exporting, and does not keep the host from compacting', async () => {
    const place = new Workplace()
    const result = await place.run(preCompact, { transcriptPath: place.project })
    expect(result).toMatchObject({ action: 'continue' })
    expect(result?.userMessage).toMatch(/could not be exported: /)
  })

  it('exports no secrets', async () => {
    const place = new Workplace()
    keepSecret(secretsIn(planted()))
    const secrets = [...Object.values(planted()), ...FORMS]
    const lines = secrets.flatMap((secret) => [
      user(`the key is ${secret}`),
      assistant({ type: 'tool_use', input: { command: `curl -H "X: ${secret}"` } }),
    ])
    const path = place.transcript([...lines, { broken: true }])
    place.file(path, `${readFileSync(path, 'utf8')}\n{"broken": "${secrets.at(-1)}`)
    await place.run(preCompact, { transcriptPath: path })
    const written = exportsOf(place)
      .map((one) => readFileSync(one, 'utf8'))
      .join('')
    for (const secret of secrets) expect(written).not.toContain(secret.slice(0, 12))
    expect(written.match(/\[redacted\]/g)?.length).toBeGreaterThan(secrets.length)
    expect(written.trimEnd().split('\n')).toHaveLength(2 * secrets.length + 2)
  })

  it('is bounded: the end of a long one, the newest of many', async () => {
    const place = new Workplace()
    const long = Array.from({ length: 60 }, (_, i) => user(`${i} ${'word '.repeat(20_000)}`))
    const path = place.transcript(long)
    for (let i = 0; i < 3; i++) {
      place.time += 1
      await place.run(preCompact, { transcriptPath: path })
    }
    const [first = ''] = exportsOf(place)
    const [note, ...rest] = readFileSync(first, 'utf8').trimEnd().split('\n')
    expect(JSON.parse(note ?? '')).toEqual({ type: 'cut', note: 'earlier lines were left out' })
    expect(rest.length).toBeLessThan(60)
    expect(rest.at(-1)).toContain('59 word')
    const short = place.transcript([user('a')])
    for (let i = 0; i < 15; i++) {
      place.time += 1
      await place.run(preCompact, { transcriptPath: short, sessionId: `../../${i}` })
    }
    const names = exportsOf(place)
    expect(names).toHaveLength(10)
    expect(names.at(-1)).toMatch(/-______14\.jsonl$/)
  })

  it('keeps nothing where the user switched memory off', async () => {
    const place = new Workplace()
    place.userSettings({ memory: { enabled: false } })
    expect(await place.run(preCompact, { transcriptPath: place.transcript([user('a')]) })).toBeUndefined()
    expect(() => exportsOf(place)).toThrow()
  })
})
