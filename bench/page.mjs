// How soon is an event on the page of `carabiner open`, does the page stay usable under load, and what does it cost the agent?

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { source } from '../scripts/source.mjs'
import { childClock, figure, median, quick, race, timedSpawn } from './measure.mjs'

const SCRIPT = fileURLToPath(new URL('../dist/bin/carabiner.js', import.meta.url))
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
const HEARTBEAT_MS = 50
const EVENTS = quick ? 5 : 60
const [PER_SECOND, LOAD_MS] = [200, quick ? 500 : 10_000]
/** A page is usable if tasks of over 50 ms take at most this part of the time. */
const BUSY_PART = 0.1
const now = () => performance.timeOrigin + performance.now()

export async function bench() {
  if (CHROMIUM === undefined) {
    console.error('SKIPPED: page, which needs Chromium')
    return []
  }
  const root = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const [watched, alone] = ['watched', 'alone'].map((name) => new Shop(join(root, name)))
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  try {
    const link = await watched.open()
    const page = await (await browser.newContext()).newPage()
    await page.goto(link)
    await page.waitForSelector('main h1')
    const { fileAuditLog } = await source('store/file-stores.ts')
    const log = fileAuditLog({ projectDir: watched.folder, dataDir: watched.dataDir })
    const append = (count) => log.append(Array.from({ length: count }, record))
    append(1)
    await page.waitForSelector('.head[data-seq]')
    const rows = [...(await soon(page, append)), ...(await loaded(page, append))]
    const fires = await race(
      { watched: () => watched.fire(), alone: () => alone.fire() },
      { calls: 1, clock: childClock, most: quick ? 3 : 60 },
    )
    return [
      ...rows,
      fires.row('processor time of fire, with a page open / without', 'watched', 'alone', { limit: 1.05 }),
    ]
  } finally {
    await browser.close()
    await watched.close()
    rmSync(root, { recursive: true })
  }
}

/** From the append to the arrival of the message, and to the row in the document. */
async function soon(page, append) {
  const arrived = await listening(page)
  await page.evaluate(SEEING)
  const begun = []
  for (let i = 0; i < EVENTS; i++) {
    // Never in step with the server, which looks every 25 ms.
    await setTimeout(70 + ((i * 37) % 60))
    begun.push(now())
    append(1)
  }
  await page.waitForSelector(`.head[data-seq="${EVENTS + 1}"]`)
  const drawn = await page.evaluate('seen')
  arrived.end()
  const after = (times) => median(begun.map((time, i) => times[i + 2] - time))
  return [
    figure('from an append to the browser / 50 ms', 'ms', after(arrived.at), HEARTBEAT_MS, 1),
    figure('from an append to the row on the page / 50 ms', 'ms', after(drawn), HEARTBEAT_MS, 1),
  ]
}

/** Notes when each row came into the document. */
const SEEING = `globalThis.seen = {}; new MutationObserver(() => {
  const now = performance.timeOrigin + performance.now()
  for (const { dataset } of document.querySelectorAll('.head[data-seq]')) seen[dataset.seq] ??= now
}).observe(document.body, { childList: true, subtree: true })`

/** The stream of the page, read by this process. `at`: when each number came. */
async function listening(page) {
  const [cookie] = await page.context().cookies(page.url())
  const { port, host, pathname } = new URL(page.url())
  const headers = { host, cookie: `${cookie.name}=${cookie.value}` }
  const at = {}
  const request = get({ host: '127.0.0.1', port, path: `${pathname}api/stream`, headers })
  await new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      resolve(undefined)
      response.on('error', () => undefined)
      response.on('data', (part) => {
        for (const [, seq] of String(part).matchAll(/"seq":(\d+)/g)) at[seq] ??= now()
      })
    })
  })
  return { at, end: () => request.destroy() }
}

async function loaded(page, append) {
  await page.evaluate(`globalThis.long = []; globalThis.frames = 0;
    new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ entryTypes: ['longtask'] });
    const frame = () => { frames++; requestAnimationFrame(frame) }; requestAnimationFrame(frame)`)
  const begun = now()
  for (let sent = 0; now() - begun < LOAD_MS; ) {
    const due = Math.floor(((now() - begun) / 1000) * PER_SECOND) - sent
    if (due > 0) append(due)
    sent += due
    await setTimeout(5)
  }
  const ms = now() - begun
  const [long, frames] = await page.evaluate('[long, frames]')
  const busy = long.reduce((sum, one) => sum + one, 0)
  const perFrame = ms / Math.max(1, frames)
  return [
    figure('time in long tasks at 200 events a second / a tenth', 'ms', busy, ms * BUSY_PART, 1),
    figure('a frame at 200 events a second / 50 ms', 'ms', perFrame, HEARTBEAT_MS, 1),
  ]
}

function record() {
  const hook = {
    name: 'guard',
    kind: 'command',
    source: '/home/somebody/.amplifier',
    status: 'ran',
    ms: 12,
    at: 0,
  }
  return {
    kind: 'fire',
    time: new Date().toISOString(),
    session: 'bench',
    event: 'PreToolUse',
    tool: 'Bash',
    digest: 'd'.repeat(64),
    action: 'continue',
    hooks: [{ ...hook, action: 'continue' }],
    injections: [],
    diagnostics: [],
    ms: 14,
  }
}

/** A project with a hook, and its page if it is open. */
class Shop {
  #env
  #server

  constructor(folder) {
    this.folder = folder
    const home = `${folder}-home`
    const plugin = join(home, '.amplifier', 'hooks', 'guard')
    for (const path of [folder, plugin]) mkdirSync(path, { recursive: true })
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }] }
    writeFileSync(join(plugin, 'hooks.json'), JSON.stringify({ hooks }))
    this.dataDir = join(home, 'carabiner')
    this.#env = { PATH: process.env.PATH, HOME: home, CARABINER_HOME: this.dataDir }
  }

  fire() {
    const call = { session_id: 'bench', tool_name: 'Bash', tool_input: { command: 'ls' } }
    const options = { cwd: this.folder, env: this.#env, encoding: 'utf8', input: JSON.stringify(call) }
    timedSpawn(process.execPath, [SCRIPT, 'fire', 'PreToolUse'], options)
  }

  /** The link. */
  async open() {
    const options = { cwd: this.folder, env: this.#env, stdio: ['ignore', 'pipe', 'inherit'] }
    this.#server = spawn(process.execPath, [SCRIPT, 'open', '--no-browser', '--json'], options)
    for await (const line of createInterface(this.#server.stdout)) return JSON.parse(line).link
    throw new Error('the page did not open')
  }

  async close() {
    if (this.#server?.exitCode !== null) return
    const ended = new Promise((resolve) => this.#server.once('exit', resolve))
    this.#server.kill()
    await ended
  }
}
