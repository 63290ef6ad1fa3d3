// What does a command hook cost in a process of 50 MB and of 1 GB, over starting its command from there?

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Rounds } from './measure.mjs'

const HOST = fileURLToPath(new URL('./programs/hook-host.mjs', import.meta.url))
const SOURCE = fileURLToPath(new URL('../dist/bin/clip.c', import.meta.url))

export async function bench() {
  if (process.platform !== 'linux' || spawnSync('cc', ['--version']).status !== 0) {
    console.error('SKIPPED: spawner, which needs Linux and a C compiler')
    return []
  }
  const home = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  try {
    makeClip(join(home, 'bin'))
    const [small, large] = [measured(home, 50), measured(home, 1000)]
    return [
      small.times.row('one command hook / bare spawn, in 50 MB', 'hook', 'bare', { limit: 0.8 }),
      small.times.row('10 command hooks / 10 bare spawns at once, in 50 MB', 'hooks', 'bares', {
        limit: 0.4,
      }),
      large.times.row('one command hook / bare spawn, in 1 GB', 'hook', 'bare', { limit: 0.05 }),
      large.blocks.row('event loop blocked by a command hook / by a bare spawn, in 1 GB', 'hook', 'bare', {
        limit: 0.02,
      }),
    ]
  } finally {
    rmSync(home, { recursive: true })
  }
}

/** As setup does. */
function makeClip(folder) {
  mkdirSync(folder, { recursive: true })
  const clip = join(folder, 'clip')
  execFileSync('cc', ['-std=c11', '-O2', '-static', '-o', clip, SOURCE])
  const [digest, source] = [clip, SOURCE].map((file) =>
    createHash('sha256').update(readFileSync(file)).digest('hex'),
  )
  writeFileSync(`${clip}.json`, JSON.stringify({ format: 1, digest, source }))
}

/** How long calls take, and how long they keep the event loop from anything else. */
function measured(home, megabytes) {
  const flags = process.argv.filter((arg) => arg === '--quick')
  const env = { ...process.env, CARABINER_HOME: home, CARABINER_SPAWNER: '' }
  const args = ['--expose-gc', HOST, String(megabytes), ...flags]
  const printed = execFileSync(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const { times, blocks } = JSON.parse(printed)
  return { times: new Rounds(times), blocks: new Rounds(blocks) }
}
