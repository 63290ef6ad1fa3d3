// The clock of the bundled program: node loads all of perf_hooks for the global `performance`, and only `now` is wanted.

export const performance = {
  now(): number {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1_000_000
  },
}
