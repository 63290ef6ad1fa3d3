// What does it cost that a log can be proven whole, over appending the same records as lines of JSON?

import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks } from 'carabiner'
import { source } from '../scripts/source.mjs'
import { cpuClock, race } from './measure.mjs'
import { record } from './records.mjs'

const { FileAuditLog, fileAudit } = await source('store/audit/file-audit.ts')

export async function bench() {
  const root = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const projectDir = join(root, 'project')
  mkdirSync(projectDir)
  try {
    return [...(await writing(root, projectDir)), ...(await firing(root, projectDir))]
  } finally {
    rmSync(root, { recursive: true })
  }
}

async function writing(root, projectDir) {
  const bare = join(root, 'bare.jsonl')
  const lines = (records) => records.map((one) => `${JSON.stringify(one)}\n`).join('')
  // The log has a bound, and so has the bare file: a disk that fills up would be what is measured.
  const log = new FileAuditLog({ projectDir, dataDir: join(root, 'data'), maxBytes: 64 * 1024 * 1024 })
  const batch = Array.from({ length: 100 }, (_, i) => record(i))
  const [one] = batch
  const contestants = {
    bareBatch: async () => appendFileSync(bare, lines(batch)),
    batch: async () => log.append(batch),
    bareSingle: async () => appendFileSync(bare, lines([one])),
    single: async () => log.append([one]),
  }
  const rounds = await race(contestants, { clock: cpuClock })
  return [
    rounds.row('audit, batches of 100 / bare append', 'batch', 'bareBatch', { limit: 2 }),
    rounds.row('audit, single records / bare append', 'single', 'bareSingle', { limit: 3 }),
  ]
}

/** The answer of an event, with its record written beside it. */
async function firing(root, projectDir) {
  const audit = fileAudit({ projectDir, dataDir: join(root, 'data') })
  const program = { type: 'command', command: 'true' }
  const config = join(root, 'hooks.json')
  appendFileSync(config, JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [program] }] } }))
  const files = { projectDir, home: join(root, 'home'), configs: [config], trust: 'all', globals: false }
  const [without, audited] = [await createHooks(files), await createHooks({ ...files, audit })]
  const firing = (hooks) => {
    const session = hooks.session({ cwd: projectDir })
    const call = { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 'toolu_01' }
    return () => session.fire('PreToolUse', call)
  }
  // A few percent of a program's start are less than what the machine does beside it, so they take turns for each call.
  const rounds = await race({ without: firing(without), audited: firing(audited) }, { calls: 1, most: 1000 })
  await Promise.all([without.close(), audited.close()])
  await audit.flush()
  return [
    rounds.row('session.fire, a command hook, with audit / without', 'audited', 'without', { limit: 1.05 }),
  ]
}
