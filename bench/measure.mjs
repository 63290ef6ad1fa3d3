// Times things against each other. Every round runs each of them in turn, so noise meets all of them alike. A figure is the
// median of the rounds' ratios, and its spread is the middle half of them.

import { spawnSync } from 'node:child_process'

export const quick = process.argv.includes('--quick')
/** Enough calls that one round lasts about this long. */
const ROUND_MS = quick ? 1 : 20
const [FEWEST_ROUNDS, MOST_ROUNDS] = quick ? [3, 3] : [7, 41]
/** Rounds end after this time, if there were enough of them. */
const RACE_MS = 1750
const WARM_UP_MS = quick ? 0 : 400

const wallClock = () => performance.now() * 1000

/** Microseconds that this process has computed, on all its threads. Other programs do not change it. */
export function cpuClock() {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** bash tells the processor time of a program, to the millisecond. Its own output goes to the fourth pipe. */
const TIMED = ['-c', 'TIMEFORMAT="%3U %3S"; { time "$@" 2>&9 9>&- 3>&-; } 9>&2 2>&3', 'bash']
let childUs = 0

/**
 * spawnSync, for `childClock`.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnSyncOptionsWithStringEncoding} options
 */
export function timedSpawn(program, args, options) {
  const ended = spawnSync('bash', [...TIMED, program, ...args], {
    ...options,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  // A program may end without reading its input.
  if (ended.error && /** @type {NodeJS.ErrnoException} */ (ended.error).code !== 'EPIPE') throw ended.error
  const seconds = String(ended.output[3]).trim().replaceAll(',', '.').split(' ').map(Number)
  childUs += seconds.reduce((sum, one) => sum + one, 0) * 1e6
  return ended
}

/** Microseconds that the programs of timedSpawn have computed. */
export function childClock() {
  return childUs
}

/**
 * `calls` per round is given where one call is long enough to be measured.
 * @param {Readonly<Record<string, () => unknown>>} contestants
 * @param {{ readonly calls?: number, readonly clock?: () => number, readonly most?: number }} options
 */
export async function race(contestants, { calls: given, clock = wallClock, most = MOST_ROUNDS } = {}) {
  const runners = Object.entries(contestants).map(([name, run]) => ({
    ...{ name, run, calls: given ?? 0 },
    times: /** @type {number[]} */ ([]),
  }))
  for (const { run } of runners) await run()
  // The first run has filled the caches on disk. A program that is started anew has no others.
  if (clock !== childClock) for (const { run } of runners) await warmUp(run)
  for (const one of runners) one.calls ||= await callsPerRound(one.run, clock)
  const end = performance.now() + RACE_MS
  // One long call shows that it runs.
  const rounds = quick ? (given === undefined ? FEWEST_ROUNDS : 1) : most
  for (let round = 0; round < rounds; round++) {
    if (round >= FEWEST_ROUNDS && performance.now() > end) break
    for (const { run, calls, times } of shuffled(runners, round)) times.push(await perCall(run, calls, clock))
  }
  return new Rounds(Object.fromEntries(runners.map(({ name, times }) => [name, times])))
}

/** Microseconds per call, by name and round. */
export class Rounds {
  /** @param {Readonly<Record<string, readonly number[]>>} times */
  constructor(times) {
    this.times = times
  }

  /**
   * A line of the table: how much `of` takes of `to`, which is a name or a number of microseconds.
   * `times`: for so many calls of `to`. `over`: only what both take beyond this one.
   * @param {string} name
   * @param {string} of
   * @param {string | number} to
   * @param {{ times?: number, over?: string, limit?: number, peer?: true }} options
   */
  row(name, of, to, { times = 1, over, ...more } = {}) {
    const beyond = this.#each(over ?? 0)
    const values = this.#each(of).map((us, round) => us - (beyond[round] ?? 0))
    const baselines = this.#each(to).map(
      (us, round) => (us - (typeof to === 'number' ? 0 : (beyond[round] ?? 0))) * times,
    )
    const ratios = values.map((us, round) => us / (baselines[round] ?? 0))
    const [value, baseline] = [median(values), median(baselines)]
    const [unit, size] = Math.max(value, baseline) >= 1000 ? ['ms', 1000] : ['us', 1]
    return {
      ...{ name, unit, value: value / size, baseline: baseline / size },
      ...{ ratio: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) },
      ...more,
    }
  }

  /** One for each round. @param {string | number} what */
  #each(what) {
    const [first = []] = Object.values(this.times)
    const times = typeof what === 'number' ? first.map(() => what) : this.times[what]
    if (!times) throw new Error(`${what} was not timed`)
    return times
  }
}

/**
 * A line for what is not timed, such as memory.
 * @param {string} name
 * @param {string} unit
 * @param {number} value
 * @param {number} baseline
 * @param {number} limit
 */
export function figure(name, unit, value, baseline, limit) {
  const ratio = value / baseline
  return { name, unit, value, baseline, ratio, low: ratio, high: ratio, limit }
}

/**
 * Another order each round: what one leaves behind (garbage, heat) must not always meet the same neighbour.
 * @template {{ readonly name: string }} T
 * @param {readonly T[]} all
 * @param {number} seed
 */
function shuffled(all, seed) {
  const key = (/** @type {T} */ { name }) =>
    [...`${name} ${seed}`].reduce((hash, char) => (hash * 31 + char.charCodeAt(0)) | 0, 7)
  const mixed = (/** @type {T} */ one) => Math.imul(key(one) ^ (key(one) >>> 15), 0x2c1b3c6d) >>> 0
  return [...all].sort((a, b) => mixed(a) - mixed(b))
}

/** Long enough that the compiler has settled. @param {() => unknown} run */
async function warmUp(run) {
  const end = performance.now() + WARM_UP_MS
  while (performance.now() < end) await run()
}

/** @param {() => unknown} run @param {() => number} clock */
async function callsPerRound(run, clock) {
  for (let calls = quick ? 1 : 32; ; calls *= 2) {
    const us = await perCall(run, calls, clock)
    if ((us * calls) / 1000 >= ROUND_MS / 2) return calls
  }
}

/** @param {() => unknown} run @param {number} calls @param {() => number} clock */
async function perCall(run, calls, clock) {
  const start = clock()
  for (let i = 0; i < calls; i++) await run()
  return (clock() - start) / calls
}

/** @param {readonly number[]} numbers */
export function median(numbers) {
  return quantile(numbers, 0.5)
}

/** @param {readonly number[]} numbers @param {number} part */
function quantile(numbers, part) {
  return [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) * part)] ?? Number.NaN
}
