import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { AGENT_VARIABLES } from './src/files/agent-shell.js'
import { keepInMemory } from './test/memory-folder.js'
import { testsAsPerson } from './test/person.js'
import { LONGEST, type ProjectName, testFiles } from './test/projects.js'
import { isLarge } from './test/property/runs.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Node 20 reads it at every start, which takes longer than most tests; those that need one set their own.
delete process.env.NODE_EXTRA_CA_CERTS

// The long run of CI keeps to the disk: it has tests of other users, and of files on two devices.
if (!isLarge) keepInMemory()

const files = testFiles(here('.'))

// Vitest reads this file once for every project.
const told = globalThis as { carabinerLeftOut?: true }
if (!isLarge && !told.carabinerLeftOut) {
  told.carabinerLeftOut = true
  console.log(
    `Left out: ${files.whole.length} files that take long; with CARABINER_RUNS=large they run too, as in CI.`,
  )
}

interface Options {
  readonly isolate: boolean
  readonly maxWorkers: number
}

/** One project after another, so that a worker goes on with files of its own project. */
function project(name: ProjectName, groupOrder: number, options: Options) {
  return {
    extends: true as const,
    test: {
      name,
      include: [...files[name]],
      sequence: { groupOrder },
      globalSetup: 'test/program-bundle.ts',
      ...options,
    },
  }
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((one) => !isLong(one))]
  }
}

export default defineConfig({
  plugins: [testsAsPerson(AGENT_VARIABLES)],
  resolve: {
    alias: [
      { find: /^carabiner$/, replacement: here('./src/index.ts') },
      { find: /^carabiner\/author$/, replacement: here('./src/author/index.ts') },
      { find: /^carabiner\/core$/, replacement: here('./src/core/index.ts') },
      { find: /^carabiner\/([\w-]+)$/, replacement: here('./src/adapters/$1.ts') },
    ],
  },
  test: {
    setupFiles: ['test/leaks.ts'],
    // A helper that starts programs would run on after the test that made it start. Its own tests switch it on.
    env: { CARABINER_SPAWNER: 'off' },
    // Only what hangs takes so long: no test is about speed, and a busy machine takes its time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    typecheck: { enabled: false },
    sequence: { sequencer: LongestFirst },
    projects: [
      // Loading src/ again for every file would take longer than the tests: files share a process, and test/leaks.ts
      // checks that none leaves anything behind. Some wait for programs, so there are more workers than two processors.
      project('shared', 0, { isolate: false, maxWorkers: 3 }),
      project('isolated', 1, { isolate: true, maxWorkers: 4 }),
      ...(isLarge ? [project('whole', 2, { isolate: true, maxWorkers: 4 })] : []),
    ],
  },
})
