import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Node 20 reads it at every start, which takes longer than most tests; those that need one set their own.
delete process.env.NODE_EXTRA_CA_CERTS

export default defineConfig({
  resolve: {
    alias: [
      { find: /^carabiner$/, replacement: here('./src/index.ts') },
      { find: /^carabiner\/author$/, replacement: here('./src/author/index.ts') },
      { find: /^carabiner\/core$/, replacement: here('./src/core/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/program-bundle.ts'],
    // Most of them wait for programs they have started.
    maxWorkers: 3,
    // None is about speed: on a busy machine five seconds are not enough for a property.
    testTimeout: 30_000,
    typecheck: { enabled: false },
  },
})
