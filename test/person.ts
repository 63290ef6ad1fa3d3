// Tests may answer as a person wherever they run: the program under test does not look at who started the tests.

import { readFileSync } from 'node:fs'
import type { Plugin } from 'esbuild'

const FILE = /[\\/]src[\\/]files[\\/]agent-shell\.ts$/
const TOP = /^const TOP: number = 0$/m
/** Its process; for workers, which make bundles too. */
const RUNNER = 'CARABINER_TEST_RUNNER'

/** For the configuration of vitest, whose process runs the tests. */
export function testsAsPerson(agentVariables: readonly string[]) {
  for (const name of agentVariables) delete process.env[name]
  process.env[RUNNER] = String(process.pid)
  return {
    name: 'tests-as-person',
    enforce: 'pre' as const,
    transform: (code: string, id: string) => (FILE.test(id) ? belowRunner(code) : undefined),
  }
}

/** For programs that tests bundle. */
export const AS_PERSON: Plugin = {
  name: 'program-as-person',
  setup({ onLoad }) {
    onLoad({ filter: FILE }, ({ path }) => ({
      contents: belowRunner(readFileSync(path, 'utf8')),
      loader: 'ts',
    }))
  },
}

function belowRunner(code: string): string {
  if (!TOP.test(code)) throw new Error('src/files/agent-shell.ts has no TOP to replace')
  return code.replace(TOP, `const TOP: number = ${Number(process.env[RUNNER])}`)
}
