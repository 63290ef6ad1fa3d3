// What does it cost that a session outlives its process, over writing and renaming a file of the same size? And what does a new
// session pay for old ones?

import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { source } from '../scripts/source.mjs'
import { cpuClock, quick, race } from './measure.mjs'

const { FileStore, inItsTurn } = await source('store/sessions/file-store.ts')

const OTHERS = quick ? 2000 : 100_000

export async function bench() {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const bare = join(root, 'bare')
  mkdirSync(bare)
  const alone = opened(root, 'alone')
  const crowded = opened(root, 'crowded')
  addOthers(join(root, 'crowded', 'state', 'sessions'))
  const content = JSON.stringify({ format: 1, value: alone.load('session') })
  const contestants = {
    bare: async () => {
      writeFileSync(join(bare, 'next.json'), content)
      renameSync(join(bare, 'next.json'), join(bare, 'state.json'))
    },
    update: async () => alone.update('session', (state) => ({ ...state, turn: state.turn + 1 })),
    first: async () => firstEvent(alone),
    firstCrowded: async () => firstEvent(crowded),
  }
  const rounds = await race(contestants, { clock: cpuClock })
  execFileSync('rm', ['-rf', root]) // rmSync takes twice as long for so many.
  return [
    rounds.row('update of a session / write and rename', 'update', 'bare'),
    rounds.row(
      `first event of a session beside ${OTHERS.toLocaleString('en')} others / alone`,
      'firstCrowded',
      'first',
      { limit: 2 },
    ),
  ]
}

/** Old sessions are removed at once, so that this is measured too. */
function opened(root, name) {
  const folder = (kind) => join(root, name, kind)
  const options = { stateDir: folder('state'), dataDir: folder('data'), projectDir: folder('project') }
  const store = new FileStore({ ...options, later: (work) => inItsTurn(work, (now) => now()) })
  store.update('session', (state) => ({ ...state, onceRan: ['one', 'two'] }))
  return store
}

let next = 0
function firstEvent(store) {
  const session = `new-${next++}`
  store.update(session, (state) => ({ ...state, turn: 1 }))
  store.release(session)
}

/** Copies of the session that is there, as if they were of yesterday. */
function addOthers(sessions) {
  const [project] = readdirSync(sessions).map((name) => join(sessions, name))
  const [session] = readdirSync(project).map((name) => join(project, name))
  const [file] = readdirSync(session)
  const content = readFileSync(join(session, file))
  const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1000)
  for (let i = 0; i < OTHERS; i++) {
    const other = join(project, i.toString(16).padStart(32, '0'))
    mkdirSync(other)
    writeFileSync(join(other, file), content)
    utimesSync(other, yesterday, yesterday)
  }
}
