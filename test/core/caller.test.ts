import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callerNow, forCallerOfNow, perCaller } from '../../src/core/base/caller.js'
import { hurry, unwatch, Watched, watch } from '../../src/core/base/deadlines.js'
import { keepSecret, withoutSecrets } from '../../src/core/base/secrets.js'
import { asCaller, serveCallers, serveNobody } from '../callers.js'

beforeEach(serveCallers)
afterEach(serveNobody)

const nameNow = () => callerNow()?.env.NAME

describe('something that each caller has', () => {
  it('is made once for each, and once for the process', () => {
    let made = 0
    const mine = perCaller(() => ({ number: ++made }))
    const twice = () => [mine().number, mine().number]
    expect([twice(), asCaller({}, twice), asCaller({}, twice), twice()]).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [1, 1],
    ])
  })
})

describe('work that something shared does later', () => {
  it('is done for the caller that wanted it', () => {
    const [a, b] = ['a', 'b'].map((NAME) => asCaller({ env: { NAME } }, forCallerOfNow))
    const none = forCallerOfNow()
    asCaller({ env: { NAME: 'c' } }, () => {
      expect([a?.(nameNow), b?.(nameNow), none(nameNow), nameNow()]).toEqual(['a', 'b', undefined, 'c'])
    })
  })

  it('holds for deadlines, which share one timer', async () => {
    const found: unknown[] = []
    class Late extends Watched {
      readonly done: Promise<void>
      #end = () => {}
      constructor() {
        super()
        this.done = new Promise((resolve) => {
          this.#end = resolve
        })
        this.dueAt = performance.now() + 5
        watch(this)
        hurry(this.dueAt)
      }
      overdue(): void {
        found.push(nameNow())
        unwatch(this)
        this.#end()
      }
    }
    const waiting = ['a', 'b', 'c'].map((NAME) => asCaller({ env: { NAME } }, () => new Late()))
    await Promise.all(waiting.map(({ done }) => done))
    expect(found.sort()).toEqual(['a', 'b', 'c'])
  })
})

describe('secrets', () => {
  it('of a caller are redacted for it alone, and those of the process for all', () => {
    keepSecret(['process-secret-1234'])
    const text = 'process-secret-1234 first-secret-1234 second-secret-1234'
    const shown = (secret?: string) =>
      asCaller({}, () => {
        if (secret !== undefined) keepSecret([secret])
        return withoutSecrets(text)
      })
    expect(shown('first-secret-1234')).toBe('[redacted] [redacted] second-secret-1234')
    expect(shown('second-secret-1234')).toBe('[redacted] first-secret-1234 [redacted]')
    expect(shown()).toBe('[redacted] first-secret-1234 second-secret-1234')
    expect(withoutSecrets(text)).toBe('[redacted] first-secret-1234 second-secret-1234')
  })
})
