// clip keeps reports back for some milliseconds. They are sent even if that time ends at any moment between two of its steps.

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Helper, hasCompiler, MadeHelper } from './ways.js'

const clock = fileURLToPath(new URL('fast-clock.h', import.meta.url))

describe.runIf(hasCompiler && process.platform === 'linux')('clip on a busy machine', () => {
  let made: MadeHelper
  let helper: Helper

  beforeAll(async () => {
    made = new MadeHelper('clip', ['-include', clock])
    helper = await made.start()
  })

  afterAll(async () => {
    helper.kill()
    await helper.gone
    made.remove()
  })

  test('tells what a program says that runs on', { timeout: 30_000 }, async () => {
    const args = ['-c', 'echo one; sleep 0.02; echo two; exec sleep 1000']
    const program = { file: 'sh', args, cwd: '/', env: { PATH: process.env.PATH ?? '' }, input: '' }
    for (let i = 0; i < 40; i++) {
      const running = await helper.start(program, new AbortController().signal, () => {})
      let said = ''
      for await (const piece of running.stdout) {
        said += piece
        if (said.endsWith('two\n')) break
      }
      expect(said).toBe('one\ntwo\n')
      void running.group.end()
      await running.group.gone
      running.release()
    }
  })
})
