// What does it cost that a session outlives its process, over writing and renaming a file of the same size?

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { source } from '../scripts/source.mjs'
import { race } from './measure.mjs'

const { FileStore } = await source('store/sessions/file-store.ts')

export async function bench() {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const store = new FileStore({
    stateDir: join(root, 'state'),
    dataDir: join(root, 'data'),
    projectDir: join(root, 'project'),
  })
  store.update('session', (state) => ({ ...state, onceRan: ['one', 'two'] }))
  const content = JSON.stringify({ format: 1, value: store.load('session') })
  const bare = join(root, 'bare')
  mkdirSync(bare)
  const us = await race({
    bare: async () => {
      writeFileSync(join(bare, 'next.json'), content)
      renameSync(join(bare, 'next.json'), join(bare, 'state.json'))
    },
    update: async () => store.update('session', (state) => ({ ...state, turn: state.turn + 1 })),
  })
  rmSync(root, { recursive: true })
  return [{ name: 'update of a session / write and rename', unit: 'us', value: us.update, baseline: us.bare }]
}
