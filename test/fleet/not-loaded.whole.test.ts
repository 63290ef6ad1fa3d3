// With no fleet configured nothing of it is loaded: what each program and command loads at its start, import by import.

import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'

const COMMANDS = 'src/cli/commands'
const commands = readdirSync(fileURLToPath(new URL(`../../${COMMANDS}`, import.meta.url)))

const PROGRAMS: Readonly<Record<string, string>> = {
  fire: 'src/cli/start/fire-program.ts',
  hook: 'src/cli/start/hook-program.ts',
  list: 'src/cli/start/list-program.ts',
  service: 'src/cli/start/service-program.ts',
  'every other command': 'src/cli/start/full-program.ts',
  engine: 'src/index.ts',
  core: 'src/core/index.ts',
  ...Object.fromEntries(
    commands
      .filter((file) => file !== 'fleet.ts')
      .map((file) => [`carabiner ${file.replace('.ts', '')}`, `${COMMANDS}/${file}`]),
  ),
}

/** Only a command of the fleet, and a machine that is in one, needs these. */
const FLEET = /fleet|^pg$|^@tufjs\//

/** Each only looks whether there is a fleet, and loads the rest when there is one. */
const DOORS = ['src/files/fleet-files.ts', 'src/files/fleet-places.ts', 'src/fleet/machine/counters.ts']

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
    expect(files.length).toBeGreaterThan(5)
    expect(files.filter((file) => FLEET.test(file) && !DOORS.includes(file))).toEqual([])
  })

  it('the command that needs it loads it late', () => {
    const late = Object.keys(inputs).filter((file) => FLEET.test(file))
    expect(late).toContain('src/fleet/machine/shipper.ts')
    expect(late).toContain('src/files/fleet/reader.ts')
  })
})
