// A process of its own that uses the store: `worker TASK ROOT`. It begins when its standard input ends.

import { readSync, writeSync } from 'node:fs'
import { textOf } from '../../../src/core/base/errors.js'
import { FRESH_STATE, type SessionState } from '../../../src/core/session/session-store.js'
import { FileStore } from '../../../src/store/sessions/file-store.js'

const [task = '', root = ''] = process.argv.slice(2)
const store = new FileStore({
  stateDir: `${root}/state`,
  dataDir: `${root}/data`,
  projectDir: `${root}/project`,
})

const print = (text: string) => writeSync(1, text)
const nextTurn = (state: SessionState) => ({ ...state, turn: state.turn + 1 })

const TASKS: Readonly<Record<string, () => void>> = {
  /** A dot for each update that returned. */
  count: () => {
    for (let i = 0; i < 200; i++) {
      store.update('one', nextTurn)
      print('.')
    }
  },
  countForever: () => {
    for (;;) {
      store.update('one', nextTurn)
      print('.')
    }
  },
  /** Messages with names of their own. */
  say: () => {
    for (let i = 0; i < 100; i++) {
      const text = `${process.pid}-${i}`
      store.update('one', (now) => ({
        ...now,
        pending: {
          ...now.pending,
          messages: [...now.pending.messages, { text, level: 'info', source: 'worker' }],
        },
      }))
      print(`${text}\n`)
    }
  },
  /** Takes what waits, again and again, and prints it. */
  take: () => {
    for (let i = 0; i < 200; i++) {
      let taken: readonly { readonly text: string }[] = []
      store.update('one', (now) => {
        taken = now.pending.messages
        return taken.length > 0 ? { ...now, pending: FRESH_STATE.pending } : now
      })
      print(taken.map(({ text }) => `${text}\n`).join(''))
    }
  },
  grant: () => {
    for (let i = 0; i < 20; i++) {
      const id = `${process.pid}-${i}`
      store.addGrant({ id, hook: 'h', event: 'e', tool: 't', cwd: '/', digest: 'd', created: 'now' })
      if (i % 2 === 1 && !store.revokeGrant(id)) print(`${id} was gone`)
    }
  },
  /** Some update, while others forget the session. */
  releaseAndCount: () => {
    for (let i = 0; i < 100; i++) {
      store.update('one', nextTurn)
      store.update('one\u0000agent', nextTurn)
      if (i % 10 === 9) store.release('one')
    }
  },
  /** What each method says when it fails. */
  tryAll: () => {
    const methods = {
      load: () => store.load('one'),
      update: () => store.update('one', nextTurn),
      release: () => store.release('one'),
      keep: () => store.keep('one', 'x'.repeat(3000)),
      grants: () => store.grants(),
      addGrant: () =>
        store.addGrant({ id: 'i', hook: 'h', event: 'e', tool: 't', cwd: '/', digest: 'd', created: 'now' }),
    }
    for (const [name, call] of Object.entries(methods)) {
      try {
        print(`${name}: ok ${JSON.stringify(call()) ?? ''}\n`)
      } catch (error) {
        print(`${name}: ${textOf(error)}\n`)
      }
    }
  },
}

print('ready\n')
while (readSync(0, Buffer.alloc(1)) > 0);
TASKS[task]?.()
