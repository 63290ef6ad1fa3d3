// Runs `more.ts` of an adapter, whose cases print a line each: what only its SDK has.

import { afterAll, beforeAll, describe } from 'vitest'
import { type SdkProject, sdkProject } from './sdk-project.js'

/** What happened in a case, unless an adapter says otherwise. */
export interface Case {
  /** Calls that PreToolUse hooks saw, with the subagent that made them. */
  readonly seen: readonly string[]
  /** Calls that ran. */
  readonly ran: readonly string[]
  /** What the model or the program was told. */
  readonly answers: readonly string[]
}

/** `run` gives the program its input. Default: it needs none. */
export function moreCases<T = Case>(
  { name, version, node }: { readonly name: string; readonly version: string; readonly node?: string },
  tests: (played: (name: string) => T) => void,
  run = (project: SdkProject, program: string) => project.run(program),
): void {
  const project = sdkProject(`${name}/${version}`, node)
  describe.skipIf(!project)(`${name} ${version}, beside the contract`, () => {
    const cases = new Map<string, T>()
    beforeAll(async () => {
      const printed = await run(project as SdkProject, `test/adapters/${name}/more.ts`)
      for (const line of printed.trim().split('\n')) {
        const { name, ...played } = JSON.parse(line) as { readonly name: string }
        cases.set(name, played as T)
      }
    }, 600_000)
    afterAll(() => project?.[Symbol.dispose]())
    tests((name) => {
      const played = cases.get(name)
      if (!played) throw new Error(`there is no case ${name}`)
      return played
    })
  })
}
