// A separate program for a test file, bundled once. It can be killed, and several can run at once.

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll } from 'vitest'

/** Call it at the top of a test file. */
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
