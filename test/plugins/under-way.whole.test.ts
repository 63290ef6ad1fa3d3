// Notes of unfinished work, read while others write and clear them.

import { spawn } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { listInstalled } from '../../src/plugins/installed.js'
import { pluginsDir } from '../../src/plugins/target.js'
import { underWay } from '../../src/plugins/work-folder.js'
import { ended } from '../cli/program.js'
import { withDriver } from './driver.js'
import { withHome } from './plugin-sources.js'

const bench = withHome()
const driver = bench.path('driver.mjs')
withDriver(new URL('./busy-driver.ts', import.meta.url), driver)

it('are either there or gone, and a note that disappears while it is read does no harm', async () => {
  const folder = pluginsDir(bench.here)
  let isOver = false
  const args = [driver, folder, '5000']
  const busy = ended(spawn(process.execPath, args, { env: process.env })).finally(() => {
    isOver = true
  })
  const seen = new Set<string>()
  while (!isOver) {
    for (const { kind } of underWay(folder)) seen.add(kind)
    expect(listInstalled({ projectDir: bench.project }).problems).toEqual([])
    await setImmediate()
  }
  expect(await busy).toMatchObject({ code: 0, stderr: '' })
  expect([...seen]).toEqual(['staging'])
  expect(underWay(folder)).toEqual([])
})
