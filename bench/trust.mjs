// What does it cost to know that nothing changed since it was trusted?

import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createHooks } from 'carabiner'
import { source } from '../scripts/source.mjs'
import { cpuClock, quick, race } from './measure.mjs'

const { trustStore } = await source('trust/trust-store.ts')

const MANY = 1000
const CALL = { tool_name: 'Bash', tool_input: { command: 'npm test' }, cwd: process.cwd() }
/** Until the files are old enough for their stamps to count, as those of a project are. */
const OF_AGE_MS = quick ? 0 : 2500

export async function bench() {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const small = folder(root, 'small', 4, 2)
  const large = folder(root, 'large', MANY, 50)
  await setTimeout(OF_AGE_MS)
  const store = trustStore({ dataDir: join(root, 'data') })
  for (const unit of [small, large]) store.trust(unit, store.look(unit).digest)
  await setTimeout(OF_AGE_MS)
  // The first look finds the copies old enough, and writes that down; what follows is the look-up of every event.
  for (const unit of [small, large]) trusted(store, unit)
  await setTimeout(OF_AGE_MS)
  const hooks = await createHooks({ plugins: [small.path], trust: 'all', globals: false })
  const session = hooks.session({ id: 'trust' })
  const atFire = await race(
    { command: () => session.fire('PreToolUse', CALL), standing: () => trusted(store, small) },
    { calls: 8 },
  )
  await hooks.close()
  const files = readdirSync(large.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const contestants = {
    bare: () => {
      for (const file of files) lstatSync(file)
    },
    standing: () => trusted(store, large),
  }
  const many = await race(contestants, { clock: cpuClock })
  rmSync(root, { recursive: true })
  return [
    atFire.row('trust of a plugin of 4 files / one command hook', 'standing', 'command', { limit: 0.05 }),
    many.row(`trust of ${MANY} unchanged files / lstat of the same`, 'standing', 'bare', { limit: 2 }),
  ]
}

function trusted(store, unit) {
  const standing = store.standingOf(unit)
  if (standing.state !== 'trusted') throw new Error(`it is ${standing.state}: ${standing.why}`)
}

/** `width` files in each of its folders. */
function folder(root, name, count, width) {
  const path = join(root, name)
  mkdirSync(path)
  const command = 'true'
  const groups = [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }]
  writeFileSync(join(path, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: groups } }))
  for (let i = 1; i < count; i++) {
    const below = join(path, `lib-${Math.floor(i / width)}`)
    mkdirSync(below, { recursive: true })
    writeFileSync(join(below, `file-${i}.js`), `export const number = ${i}\n`.repeat(40))
  }
  const hook = { name: `${name}:PreToolUse#1`, event: 'PreToolUse', matcher: 'Bash', command, hash: name }
  return { kind: 'folder', path, name, projectDir: join(root, 'project'), hooks: [hook] }
}
