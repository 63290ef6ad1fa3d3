// A program of its own for a file of tests, bundled once: it can be killed, and several can run at once.

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll } from 'vitest'

/** Call at the top of a file of tests. */
export function withDriver(entry: URL, outfile: string): void {
  beforeAll(async () => {
    await build({
      entryPoints: [fileURLToPath(entry)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['chokidar'],
      logLevel: 'error',
    })
  }, 60_000)
}
