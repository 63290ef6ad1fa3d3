// What does an `if` rule cost over the bare parser on the same command, and many rules over one?

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'unbash'
import { source } from '../scripts/source.mjs'
import { cpuClock, race } from './measure.mjs'

const { loadConfig } = await source('config/load.ts')

/** What agents type. No command is that before it, so that none is remembered. */
const TYPICAL = [
  'git status',
  'npm test -- --watch',
  'git add -A && git commit -m "fix: x"',
  'cat a.txt | grep -n foo | head -5',
  'cd src && ls -la',
  'rm -rf node_modules',
  'FOO=1 make build 2>&1 | tee log',
]
const RULES = 50

export async function bench() {
  const [byName] = await conditionsOf(['Bash(git *)'])
  const [bySubcommand] = await conditionsOf(['Bash(git push *)'])
  const [byNone] = await conditionsOf(['Bash(docker *)'])
  const many = await conditionsOf(Array.from({ length: RULES }, (_, i) => `Bash(program-${i} *)`))
  const events = TYPICAL.map(eventOf)
  const contestants = {
    parse: () => {
      for (const command of TYPICAL) parse(command)
    },
    byName: () => judge(events, [byName]),
    bySubcommand: () => judge(events, [bySubcommand]),
    byNone: () => judge(events, [byNone]),
    one: () => judge(events, many.slice(0, 1)),
    many: () => judge(events, many),
  }
  const rounds = await race(contestants, { clock: cpuClock })
  return [
    rounds.row('if: Bash(git *) / bare parser', 'byName', 'parse', { limit: 1.5 }),
    rounds.row('if: Bash(git push *) / bare parser', 'bySubcommand', 'parse', { limit: 1.5 }),
    rounds.row('if that never matches / bare parser', 'byNone', 'parse', { limit: 1.5 }),
    // Each rule still looks at each command: what must not grow with them is the parsing.
    rounds.row(`${RULES} ifs / ${RULES} parses`, 'many', 'parse', { times: RULES, limit: 0.2 }),
    rounds.row(`${RULES} ifs / one`, 'many', 'one'),
  ]
}

function judge(events, conditions) {
  for (const event of events) for (const condition of conditions) condition(event)
}

function eventOf(command) {
  const data = { session_id: 's1', cwd: '/project', tool_name: 'Bash', tool_input: { command } }
  return { name: 'PreToolUse', data, session: undefined }
}

/** Of hooks as they come out of a file. */
async function conditionsOf(rules) {
  const projectDir = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const folder = join(projectDir, '.amplifier', 'hooks')
  mkdirSync(folder, { recursive: true })
  const hooks = rules.map((rule) => ({ type: 'command', command: 'true', if: rule }))
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }))
  const { specs } = await loadConfig({ projectDir })
  rmSync(projectDir, { recursive: true })
  return specs.map(({ hook }) => hook.condition)
}
