// npm run conformance: puts every case to the real Claude Code, writes down what it did, and holds Carabiner against it.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { cases } from './cases/all.mjs'
import { runCase } from './claude-code.mjs'
import { DIFFERENT, RULES } from './differences.mjs'
import { NOT_PROVOKED } from './events.mjs'
import { claudeCode, RecordingError } from './install.mjs'

/** @typedef {import('./case.mjs').Case} Case */
/** @typedef {Case & { fired: readonly import('./case.mjs').Fired[], observed: import('./case.mjs').Observed, differs?: object }} Recorded */

const HELP = `npm run conformance [-- [options] NAME…]

Runs the cases in test/conformance/claude-code/cases in the real Claude Code, offline, and writes what it
did to test/conformance/claude-code.json; then runs them through Carabiner. Fails where the two disagree
and test/conformance/claude-code/differences.mjs has no reason for it.

NAME        only the cases whose name contains this
--show      print what the model and the user were shown
--dry       write nothing
--help      this text

Claude Code is installed with npm, once, into $XDG_CACHE_HOME/carabiner or ~/.cache/carabiner (root: /var/cache/carabiner).`

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const TABLE = fileURLToPath(new URL('../claude-code.json', import.meta.url))
const REPLAY = relative(ROOT, join(dirname(TABLE), 'claude-code.whole.test.ts'))
const AT_ONCE = 2

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof RecordingError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

async function main() {
  const { values, positionals } = options()
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const wanted = cases.filter(
    ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
  )
  if (wanted.length === 0)
    throw new RecordingError(`No case has a name with ${positionals.join(' or ')} in it.`)
  const { binary, version } = claudeCode()
  const before = readTable()
  const started = Date.now()
  const recorded = await recordAll(wanted, binary, values.show === true)
  for (const one of recorded) compare(one, before.get(one.name))
  console.log(
    `${recorded.length} cases in Claude Code ${version}, ${((Date.now() - started) / 1000).toFixed(0)} s`,
  )
  if (values.dry) return 0
  writeTable(version, new Map([...before, ...recorded.map((one) => /** @type {const} */ ([one.name, one]))]))
  return replay(positionals)
}

function options() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean' }, show: { type: 'boolean' }, dry: { type: 'boolean' } },
    })
  } catch (error) {
    throw new RecordingError(`${/** @type {Error} */ (error).message}\n\n${HELP}`)
  }
}

/** @param {readonly Case[]} wanted @param {string} binary @param {boolean} show @returns {Promise<Recorded[]>} */
async function recordAll(wanted, binary, show) {
  /** @type {Recorded[]} */
  const recorded = []
  const waiting = wanted.map((one, at) => ({ one, at }))
  await Promise.all(
    Array.from({ length: show ? 1 : AT_ONCE }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { one, at } = next
        if (show) console.log(`\n# ${one.name}: ${one.about}`)
        const { observed, fired } = await runCase(one, binary, show ? console.log : undefined)
        if (show) console.log(observed)
        recorded[at] = { ...one, fired, observed }
      }
    }),
  )
  return recorded
}

// ---- the table --------------------------------------------------------------------------------------------------

/** @returns {Map<string, Recorded>} */
function readTable() {
  if (!existsSync(TABLE)) return new Map()
  /** @type {{ cases: Recorded[] }} */
  const { cases: all } = JSON.parse(readFileSync(TABLE, 'utf8'))
  return new Map(all.map((one) => [one.name, one]))
}

/** @param {Recorded} now @param {Recorded | undefined} before */
function compare({ name, observed }, before) {
  if (before === undefined) console.log(`new      ${name}: ${JSON.stringify(observed)}`)
  else if (!isDeepStrictEqual(before.observed, observed)) {
    console.log(`changed  ${name}: ${JSON.stringify(before.observed)}\n      to ${JSON.stringify(observed)}`)
  }
}

/** @param {string} version @param {Map<string, Recorded>} recorded */
function writeTable(version, recorded) {
  const rows = cases.flatMap(({ name }) => {
    const one = recorded.get(name)
    const differs = DIFFERENT[name]
    if (one === undefined) return []
    const { differs: _, ...row } = one
    return [{ ...row, ...(differs && { differs }) }]
  })
  const seen = new Set(rows.flatMap(({ fired }) => fired.map(({ event }) => event)))
  const table = {
    about: 'What Claude Code really does, case by case. Written by npm run conformance; do not edit.',
    claude_code: version,
    differences: RULES.map((rule) => ({
      ...rule,
      cases: Object.keys(DIFFERENT).filter((name) => DIFFERENT[name]?.rule === rule.rule),
    })),
    events: { provoked: [...seen].sort(), not_provoked: NOT_PROVOKED },
    cases: rows,
  }
  writeFileSync(TABLE, `${JSON.stringify(table, undefined, 2)}\n`)
  run('biome', ['format', '--write', '--files-max-size=4194304', TABLE])
}

/** @param {readonly string[]} names */
function replay(names) {
  const filter =
    names.length > 0 ? ['-t', names.map((name) => name.replace(/[^\w\s,-]/g, '.')).join('|')] : []
  return run('vitest', ['run', REPLAY, ...filter])
}

/** @param {string} program @param {readonly string[]} args */
function run(program, args) {
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin', program), args, {
    cwd: ROOT,
    stdio: 'inherit',
    timeout: 600_000,
  })
  return status ?? 1
}
