// What the page of a fleet keeps of an answer while something shows it, and that nothing of it stays afterwards.

import { setTimeout } from 'node:timers/promises'
import { beforeEach, expect, it, vi } from 'vitest'

interface Kept {
  readonly value: unknown
  readonly problem: string
  subscribe(listener: () => void): () => void
}

/** It is compiled for browsers alone, so that TypeScript may not follow it. */
const LIVE = '../../src/page/browser/fleet/live.js'
const PATH = 'api/questions?id=one'

let keptAt: (path: string) => Kept
/** Requests that are not answered yet. */
let asked: ((answer: Response | Error) => void)[]

beforeEach(async () => {
  asked = []
  vi.stubGlobal('document', { addEventListener: () => {}, visibilityState: 'visible' })
  vi.stubGlobal('window', { setInterval: () => 0, clearInterval: () => {} })
  vi.stubGlobal(
    'EventSource',
    class extends EventTarget {
      close() {}
    },
  )
  vi.stubGlobal(
    'fetch',
    () =>
      new Promise((resolve, reject) => {
        asked.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)))
      }),
  )
  vi.resetModules()
  keptAt = ((await import(LIVE)) as { keptAt: typeof keptAt }).keptAt
  return () => void vi.unstubAllGlobals()
})

async function answer(given: object | Error): Promise<void> {
  asked.shift()?.(given instanceof Error ? given : Response.json(given))
  await setTimeout(10)
}

it('shows no old problem when it is shown again', async () => {
  const kept = keptAt(PATH)
  const end = kept.subscribe(() => {})
  await answer(new Error('away'))
  expect(kept.problem).not.toBe('')
  end()
  expect(kept.problem).toBe('')
  const again = keptAt(PATH)
  again.subscribe(() => {})
  expect(again).toMatchObject({ value: undefined, problem: '' })
})

it('keeps no problem that nobody sees', async () => {
  const kept = keptAt(PATH)
  kept.subscribe(() => {})()
  await answer(new Error('away'))
  expect(kept.problem).toBe('')
})

it('is forgotten when nothing shows it', async () => {
  const kept = keptAt(PATH)
  const ends = [kept.subscribe(() => {}), keptAt(PATH).subscribe(() => {})]
  await answer({ questions: [] })
  expect(kept.value).toEqual({ questions: [] })
  ends[0]?.()
  expect(keptAt(PATH)).toBe(kept)
  ends[1]?.()
  expect(keptAt(PATH)).not.toBe(kept)
})

it('is asked for once, also if it is shown again before the answer', async () => {
  const kept = keptAt(PATH)
  kept.subscribe(() => {})()
  expect(keptAt(PATH)).toBe(kept)
  const end = keptAt(PATH).subscribe(() => {})
  expect(asked).toHaveLength(1)
  await answer({ n: 1 })
  await answer({ n: 2 })
  expect(kept.value).toEqual({ n: 2 })
  end()
  expect(keptAt(PATH)).not.toBe(kept)
})
