// What `npm run bench -- --save` kept: one line of bench/history.jsonl for each run. Ratios can be compared between machines of
// one kind, so a
// question is compared with the last time it was asked on the same system and version of Node.

import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { QUESTIONS } from './questions.mjs'

const FILE = fileURLToPath(new URL('history.jsonl', import.meta.url))
const MACHINE = `${process.platform} ${process.arch}, Node ${process.versions.node.split('.')[0]}`
/** Quartiles of two runs of the same code may miss each other by so much. */
const NOISE = 1.05

/** @typedef {{ question: string, name: string, ratio: number, low: number, high: number, value?: number, unit?: string, limit: number | null, peer?: true }} Figure */
/** @typedef {{ date: string, commit: string, machine: string, benches: readonly Figure[] }} Run */

/** The newest last. @returns {readonly Run[]} */
export function runs() {
  if (!existsSync(FILE)) return []
  const lines = readFileSync(FILE, 'utf8').trimEnd().split('\n')
  return lines.map((line, i) => {
    try {
      return JSON.parse(line)
    } catch (error) {
      throw new Error(`bench/history.jsonl:${i + 1} is not JSON: ${error}`)
    }
  })
}

/** @typedef {Run & { question: string }} Asked a question, as it was asked last */

/** Sorted by question. @param {string} machine @param {readonly Run[]} all @returns {readonly Asked[]} */
export function lastAsked(machine, all = runs()) {
  const own = all.filter((run) => run.machine === machine)
  return QUESTIONS.toSorted().flatMap((question) => {
    const isOf = (/** @type {Figure} */ row) => row.question === question
    const last = own.findLast(({ benches }) => benches.some(isOf))
    return last ? [{ ...last, question, benches: last.benches.filter(isOf) }] : []
  })
}

/** Figures by name. @returns {Readonly<Record<string, Figure>>} */
export function figuresBefore() {
  const rows = lastAsked(MACHINE).flatMap(({ benches }) => benches)
  return Object.fromEntries(rows.map((row) => [row.name, row]))
}

/** @param {Figure} row @param {Figure} before */
export function isWorse(row, before) {
  return row.low > before.high * NOISE
}

/** @param {readonly Required<Figure>[]} benches */
export function addRun(benches) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const date = new Date().toISOString().slice(0, 10)
  const rounded = (/** @type {number} */ ratio) => Number(ratio.toPrecision(3))
  const kept = benches.map(({ question, name, ratio, low, high, value, unit, limit, peer }) => ({
    ...{ question, name, ratio: rounded(ratio), low: rounded(low), high: rounded(high) },
    ...{ value: rounded(value), unit, limit },
    ...(peer && { peer }),
  }))
  appendFileSync(FILE, `${JSON.stringify({ date, commit, machine: MACHINE, benches: kept })}\n`)
}
