// With no fleet configured nothing of it is loaded: what each program loads at its start, import by import.

import { build, type Metafile } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'

const PROGRAMS = {
  fire: 'src/cli/start/fire-program.ts',
  hook: 'src/cli/start/hook-program.ts',
  list: 'src/cli/start/list-program.ts',
  open: 'src/cli/commands/open.ts',
  service: 'src/cli/start/service-program.ts',
  'every other command': 'src/cli/start/full-program.ts',
  engine: 'src/index.ts',
  core: 'src/core/index.ts',
} as const

/** Only a command of the fleet, and a machine that is in one, needs these. */
const FLEET = /^src\/(?:fleet|cli\/fleet|page\/fleet)\/|^pg$/

/** A door: it loads the rest when something is counted. */
const DOOR = 'src/fleet/machine/counters.ts'

describe('without a fleet', () => {
  let inputs: Metafile['inputs']

  beforeAll(async () => {
    const { metafile } = await build({
      entryPoints: Object.values(PROGRAMS),
      ...{ bundle: true, splitting: true, write: false, metafile: true, outdir: 'dist' },
      ...{ platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' },
    })
    inputs = metafile.inputs
  })

  /** Everything that is loaded before the first line of the program runs. */
  function loaded(entry: string): readonly string[] {
    const found = new Set([entry])
    for (const file of found)
      for (const { path, kind } of inputs[file]?.imports ?? []) if (kind !== 'dynamic-import') found.add(path)
    return [...found]
  }

  it.for(Object.entries(PROGRAMS))('%s loads nothing of it', ([, entry]) => {
    const files = loaded(entry)
    expect(files.length).toBeGreaterThan(10)
    expect(files.filter((file) => FLEET.test(file) && file !== DOOR)).toEqual([])
  })

  it('the command that needs it loads it late', () => {
    const late = Object.keys(inputs).filter((file) => FLEET.test(file))
    expect(late).toContain('src/fleet/machine/shipper.ts')
  })
})
