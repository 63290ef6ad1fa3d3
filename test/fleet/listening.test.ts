// Listening for notifications of the database: who is told when none arrive, without a PostgreSQL.

import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Database } from '../../src/fleet/database/connection.js'
import { Bells } from '../../src/fleet/gateway/bells.js'

type State = 'away' | 'pooled' | 'there'

/** A pool of connections to a database that is away, behind a pooler that loses notifications, or there. */
class FakePool {
  state: State = 'there'
  listeners: EventEmitter[] = []
  tries = 0

  async connect(): Promise<object> {
    this.tries++
    if (this.state === 'away') throw new Error('connect ECONNREFUSED')
    const client = Object.assign(new EventEmitter(), { query: async () => ({ rows: [] }), release: () => {} })
    this.listeners.push(client)
    return client
  }

  async query(_: string, [, payload]: readonly string[]): Promise<object> {
    if (this.state === 'there') this.notify(payload ?? '')
    return { rows: [] }
  }

  notify(payload: string): void {
    for (const client of this.listeners) client.emit('notification', { payload })
  }

  lose(): void {
    for (const client of this.listeners.splice(0)) client.emit('end')
  }
}

/** Time for notifications to arrive passes as fast as possible. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(1000)
  }
}

describe('notifications of the database', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  const listening = (pool: FakePool) => {
    const over = new AbortController()
    const told: string[] = []
    const bells = new Bells()
    let looks = 0
    bells.onAsked(() => {
      looks++
    })
    const ended = bells.listen(new Database(pool as never), 1, over.signal, (text) => void told.push(text))
    const end = async () => {
      over.abort()
      await ended
    }
    return { told, looks: () => looks, end }
  }

  it('are heard without a word, and a lost connection is made again', async () => {
    const pool = new FakePool()
    const { told, looks, end } = listening(pool)
    await until(() => looks() === 1)
    pool.notify('1 asked k7f3-9qxd')
    pool.notify('2 asked k7f3-9qxd')
    expect(looks()).toBe(2)
    pool.lose()
    await until(() => looks() === 3)
    expect(told).toEqual([])
    await end()
  })

  it.each([
    ['away', 'connect ECONNREFUSED'],
    ['pooled', 'must pool sessions, not transactions'],
  ] as const)(
    'that do not arrive because the database is %s are told once, and once again',
    async (state, why) => {
      const pool = new FakePool()
      pool.state = state
      const { told, end } = listening(pool)
      await until(() => pool.tries > 3)
      expect(told).toEqual([expect.stringContaining(why)])
      expect(told[0]).toContain('answers take up to 25 s')
      pool.state = 'there'
      pool.lose()
      await until(() => told.length > 1)
      expect(told[1]).toBe('notifications of the database arrive again')
      pool.state = state
      pool.lose()
      await until(() => told.length > 2)
      await end()
    },
  )
})
