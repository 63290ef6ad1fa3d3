// Waiting for what another process or a server does.

const PATIENCE_MS = 120_000

export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Looks again and again; a condition that never comes fails the test in words. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
