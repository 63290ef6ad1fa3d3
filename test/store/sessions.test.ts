// Sessions in memory and in files keep the same contract; so does a store that answers later.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as laterTurn } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { MemoryStore } from '../../src/core/session/session-store.js'
import { fileStores } from '../../src/store/file-stores.js'
import type { Sessions } from '../../src/store/sessions.js'
import { contract } from './contracts/sessions.js'

contract('MemoryStore', () => same(new MemoryStore()))

contract('FileStore', () => {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-sessions-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [stateDir, dataDir] = [join(root, 'state'), join(root, 'data')]
  const open = () => fileStores({ projectDir: join(root, 'project'), stateDir, dataDir }).sessions
  return [open(), open()]
})

contract('a store that answers later', () => same(later(new MemoryStore())))

function same(store: Sessions): readonly [Sessions, Sessions] {
  return [store, store]
}

function later(store: MemoryStore): Sessions {
  const call =
    <A extends unknown[], T>(work: (...args: A) => T) =>
    async (...args: A): Promise<T> => {
      await laterTurn()
      return work(...args)
    }
  return {
    load: call((session) => store.load(session)),
    update: call((session, change) => store.update(session, change)),
    release: call((session) => store.release(session)),
    keep: call((session, text) => store.keep(session, text)),
    grants: call(() => store.grants()),
    addGrant: call((grant) => store.addGrant(grant)),
    revokeGrant: call((id) => store.revokeGrant(id)),
  }
}
