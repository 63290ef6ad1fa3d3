// A scene of npm start: the resident hooks of three examples, each in Python, Node and shell, through one session.

import { cp, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHooks } from 'carabiner'
import { missingPrograms } from './programs.mjs'

/** @import { Session } from 'carabiner' */
/** @import { Paint } from './print.mjs' */

const PLUGINS = ['review-gate', 'tool-provider', 'audit-observer']
/** By the beginning of their names in hooks.json; with the programs they need. */
const LANGUAGES = [
  { title: 'Python', prefix: 'py_', needs: ['python3'] },
  { title: 'Node', prefix: 'node_', needs: [] },
  { title: 'POSIX shell and jq', prefix: 'sh_', needs: ['jq'] },
]

/**
 * @param {Paint} paint
 * @param {(lines: readonly string[]) => void} print
 */
export async function playResident(paint, print) {
  print(['', paint.bold('Resident hooks: started once, asked again and again')])
  const missing = await missingPrograms(LANGUAGES.flatMap(({ needs }) => needs))
  for (const { title, prefix, needs } of LANGUAGES) {
    const lacking = needs.find((program) => missing.has(program))
    if (lacking) print([`    ${paint.yellow(`${title} is skipped: ${lacking} is not installed`)}`])
    else print([`    ${paint.cyan(title)}`, ...(await inLanguage(prefix)).map((line) => `      ${line}`)])
  }
}

/**
 * A project that has the three plugins, with the processes of one language switched on.
 *
 * @param {string} prefix
 * @returns {Promise<readonly string[]>}
 */
async function inLanguage(prefix) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'carabiner-play-')))
  const audit = join(folder, 'audit.jsonl')
  for (const name of PLUGINS) await copyPlugin(name, folder, prefix, { AUDIT_FILE: audit })
  const hooks = await createHooks({ projectDir: folder, home: folder, trust: 'all', globals: false })
  try {
    const said = await converse(hooks.session({ id: 'resident', cwd: folder }))
    await hooks.close() // what observers were told last is written by then
    const lines = (await readFile(audit, 'utf8')).trimEnd().split('\n')
    const kinds = lines.map((line) => JSON.parse(line).Kind)
    return [...said, `audit-observer: wrote ${kinds.length} events: ${kinds.join(', ')}`]
  } finally {
    await hooks.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * @param {string} name
 * @param {string} project
 * @param {string} prefix
 * @param {Record<string, string>} env
 */
async function copyPlugin(name, project, prefix, env) {
  const folder = join(project, '.amplifier', 'hooks', name)
  await cp(fileURLToPath(new URL(`../${name}`, import.meta.url)), folder, { recursive: true })
  const file = join(folder, 'hooks.json')
  const content = JSON.parse(await readFile(file, 'utf8'))
  for (const [key, entry] of Object.entries(content.processes)) {
    Object.assign(entry, { enabled: key.startsWith(prefix), env })
  }
  await writeFile(file, JSON.stringify(content))
}

/**
 * A model call in which a hook adds a tool, a call of that tool, and one that nobody should make.
 *
 * @param {Session} session
 */
async function converse(session) {
  let offered = 0
  const request = { model: 'none', messages: [{ role: 'user', content: 'How many words?' }], tools: [] }
  const { outcome } = await session.callModel(request, ({ tools }) => {
    offered = tools.length
    return { role: 'assistant', content: 'I count them.' }
  })
  const added = outcome.hooks.flatMap(({ changes = [] }) => changes.map(({ path }) => path))
  const words = { name: 'word_count', input: { text: 'never a silent allow' } }
  const counted = await session.callTool(words, () => 'no such tool')
  const removal = { name: 'Bash', input: { command: 'rm -rf /' } }
  const removed = await session.callTool(removal, () => 'ran')
  return [
    `tool-provider: changed ${added.join(', ')}; the model was offered ${offered} tool`,
    `tool-provider: ${counted.status} word_count: ${/** @type {{ for_llm?: string }} */ (counted.result)?.for_llm}`,
    `review-gate: ${removed.status}: ${removed.reason}`,
  ]
}
