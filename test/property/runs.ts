// How often a property is tried: `runs(1000)` is 100 times in `npm test` and 1000 times with CARABINER_RUNS=large, as in CI.
// CARABINER_RUNS=5 means five times as often as in CI, and seeded properties then try random values.

const { CARABINER_RUNS } = process.env
const FACTOR =
  CARABINER_RUNS === undefined ? 0.1 : CARABINER_RUNS === 'large' ? 1 : checked(Number(CARABINER_RUNS))
/** Whether everything is tried, as in CI. */
export const isLarge = FACTOR >= 1
/** Whether even more is tried. */
export const isMore = FACTOR > 1
/** Fewer would hardly try anything. */
const FEWEST = 25

/** Never fewer than FEWEST, unless the full number is smaller. */
export function runs(full: number): number {
  return Math.ceil(Math.max(full * FACTOR, Math.min(full, FEWEST)))
}

/** Every fourth of a long list of cases that take long together; with CARABINER_RUNS=large, all of them. */
export function sample<T>(cases: readonly T[]): readonly T[] {
  return isLarge ? cases : cases.filter((_, index) => index % 4 === 0)
}

/** The seed of a property that is the same in every run, unless somebody asked for more. */
export function seeded(seed: number): { readonly seed?: number } {
  return isMore ? {} : { seed }
}

function checked(factor: number): number {
  if (factor > 0) return factor
  throw new Error(`CARABINER_RUNS is a number or "large", not ${JSON.stringify(CARABINER_RUNS)}`)
}
