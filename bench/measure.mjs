// Times things against each other: every round runs each of them once, in turn, and the median round counts.

const quick = process.argv.includes('--quick')
/** Enough calls that one round lasts about this long. */
const ROUND_MS = quick ? 1 : 20
const ROUNDS = quick ? 3 : 41
const WARM_UP_MS = quick ? 1 : 600

const wallClock = () => performance.now() * 1000

/** Microseconds that this process has computed, on all its threads. Other programs do not change it. */
export function cpuClock() {
  const { user, system } = process.cpuUsage()
  return user + system
}

/**
 * Microseconds per call, by name. The contestants take turns in every round, so that noise meets all of them alike.
 * `calls` per round is given where one call is long enough to be measured.
 */
export async function race(contestants, { calls: given, clock = wallClock } = {}) {
  const names = Object.keys(contestants)
  const times = Object.fromEntries(names.map((name) => [name, []]))
  const calls = {}
  for (const name of names) await contestants[name]()
  for (const name of names) await warmUp(contestants[name])
  for (const name of names) calls[name] = given ?? (await callsPerRound(contestants[name], clock))
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of shuffled(names, round))
      times[name].push(await perCall(contestants[name], calls[name], clock))
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])]))
}

/** Another order each round: what one leaves behind (garbage, heat) must not always meet the same neighbour. */
function shuffled(names, seed) {
  const key = (name) => [...`${name} ${seed}`].reduce((hash, char) => (hash * 31 + char.charCodeAt(0)) | 0, 7)
  const mixed = (name) => Math.imul(key(name) ^ (key(name) >>> 15), 0x2c1b3c6d) >>> 0
  return names.toSorted((a, b) => mixed(a) - mixed(b))
}

/** Long enough that the compiler has settled. */
async function warmUp(run) {
  const end = performance.now() + WARM_UP_MS
  while (performance.now() < end) await run()
}

async function callsPerRound(run, clock) {
  for (let calls = 64; ; calls *= 2) {
    const us = await perCall(run, calls, clock)
    if ((us * calls) / 1000 >= ROUND_MS / 2) return calls
  }
}

async function perCall(run, calls, clock) {
  const start = clock()
  for (let i = 0; i < calls; i++) await run()
  return (clock() - start) / calls
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
