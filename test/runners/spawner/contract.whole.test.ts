// Whoever starts a program, the rest of Carabiner must not notice: the tests of command hooks, through every helper.

import { afterAll, beforeAll, describe } from 'vitest'
import { startProgramsBy } from '../../../src/runners/command/programs.js'
import { HELPERS, type Helper, MadeHelper, startHere, startThrough } from './ways.js'

const SUITES = [
  'command/abort',
  'command/async-line',
  'command/broken-script',
  'command/command-hook',
  'command/env-file',
  'command/handed-on',
  'command/programs.whole',
  'program/start-failure',
]

describe.each(HELPERS)('through %s', (kind) => {
  let made: MadeHelper
  let helper: Helper

  beforeAll(async () => {
    made = new MadeHelper(kind)
    helper = await made.start()
    startProgramsBy(() => startThrough(helper))
  })

  afterAll(async () => {
    startProgramsBy(() => startHere)
    helper.close()
    await helper.gone
    made.remove()
  })

  // The name makes it another module, so that its tests are collected again.
  describe.each(SUITES)('%s', async (suite) => {
    await import(/* @vite-ignore */ `../${suite}.test.ts?through=${kind}`)
  })
})
