// npm run proof: fetches the agents that npm has, and runs `carabiner verify` for each: a command and a file.
//   npm run proof -- --all           every fact
//   npm run proof -- codex pi        only these agents
//   npm run proof -- --all --record  also writes test/verify/proof.json, which docs/hosts.md is made of
// Fails if an agent does not obey hooks. Agents that cannot be fetched are skipped, and named.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AGENTS, agentFolder } from './agents.mjs'
import { factTable } from './proof-table.mjs'

const CARABINER = fileURLToPath(new URL('../dist/bin/carabiner.js', import.meta.url))
const RECORD = fileURLToPath(new URL('../test/verify/proof.json', import.meta.url))
const MOST_AT_ONCE = 2

const words = process.argv.slice(2)
const isAll = words.includes('--all')
const isRecorded = words.includes('--record')
const unknown = words.filter((word) => !['--all', '--record'].includes(word) && !AGENTS[word])
if (unknown.length > 0) {
  console.error(`There is no agent ${unknown.join(', ')}. Choose ${Object.keys(AGENTS).join(', ')}.`)
  process.exit(64)
}
const given = words.filter((word) => AGENTS[word])
const names = given.length > 0 ? given : Object.keys(AGENTS)

/** @type {string[]} */
const skipped = []
const fetched = names.filter(canFetch)
// The proofs that a user keeps are not touched.
const home = mkdtempSync(join(tmpdir(), 'carabiner-proofs-'))
try {
  const agents = await inTurns(fetched, prove)
  const found = agents.sort((a, b) => a.title.localeCompare(b.title, 'en'))
  if (isRecorded) writeFileSync(RECORD, `${JSON.stringify(recorded(found), null, 2)}\n`)
  console.log(factTable(found).join('\n'))
  for (const { title, facts } of found) {
    for (const { state, text } of facts) {
      if (state === 'failed' || state === 'unknown') console.log(`${title}: ${state}: ${text}`)
    }
  }
  for (const line of skipped) console.log(`SKIPPED: ${line}`)
  if (!isAll) console.log('SKIPPED: every other fact. npm run proof -- --all shows them.')
  if (found.some(({ ok }) => !ok)) process.exitCode = 1
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** @param {string} name */
function canFetch(name) {
  try {
    agentFolder(name)
    return true
  } catch (error) {
    skipped.push(`${name}: ${error instanceof Error ? error.message.replaceAll('\n', ' ') : error}`)
    return false
  }
}

/** @typedef {import('./proof-table.mjs').ProvenAgent} ProvenAgent */

/** @param {string} name @returns {Promise<ProvenAgent>} */
async function prove(name) {
  const env = {
    ...process.env,
    CARABINER_HOME: join(home, name),
    PATH: [agentFolder(name), process.env.PATH].join(delimiter),
    // A known way around hooks, which a busy machine must not run into.
    CLINE_PLUGIN_IMPORT_TIMEOUT_MS: '60000',
  }
  const args = [CARABINER, 'verify', AGENTS[name]?.host ?? name, '--json', ...(isAll ? [] : ['--quick'])]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await new Promise((done) => child.on('close', done))
  const { agents, network } = JSON.parse(text)
  const [agent] = agents
  console.error(`${agent.title} ${agent.version ?? ''}: ${agent.ok ? 'proven' : 'NOT PROVEN'} (${network})`)
  return agent
}

/** @template T, R @param {readonly T[]} items @param {(item: T) => Promise<R>} work @returns {Promise<R[]>} */
async function inTurns(items, work) {
  const left = [...items]
  /** @type {R[]} */
  const results = []
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) results.push(await work(item))
  }
  const count = Math.min(MOST_AT_ONCE, availableParallelism())
  await Promise.all(Array.from({ length: count }, worker))
  return results
}

/** Without what differs from run to run. Agents that did not run stay as they were. @param {readonly ProvenAgent[]} agents */
function recorded(agents) {
  /** @type {ProvenAgent[]} */
  const before = JSON.parse(readFileSync(RECORD, 'utf8'))
  const others = before.filter(({ title }) => !agents.some((agent) => agent.title === title))
  const all = [...others, ...agents].sort((a, b) => a.title.localeCompare(b.title, 'en'))
  return all.map(({ host, title, version, at, date, facts, bypasses, note }) => ({
    host,
    title,
    version,
    date: at === undefined ? date : new Date(at).toISOString().slice(0, 10),
    facts,
    bypasses,
    ...(note !== undefined && { note }),
  }))
}
