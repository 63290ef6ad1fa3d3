// Somebody at a terminal types `carabiner setup`: one screen, one question, and a proof.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
  const bin = join(project.base, 'bin')
  mkdirSync(bin)
  // Nothing that it is asked for happens, with a hook or without.
  writeFileSync(join(bin, 'gemini'), '#!/bin/sh\nexit 0\n')
  chmodSync(join(bin, 'gemini'), 0o755)
})
afterEach(() => project.remove())

/** No preset is chosen before the answer. */
const setUp = (answer: string, preset = '\n') =>
  project.onTerminal(['setup'], {
    input: `${preset}${answer}`,
    prompt: ['q to leave: ', '[y/N] '],
    env: { NO_COLOR: '1', PATH: `${join(project.base, 'bin')}:/usr/bin:/bin` },
  })
const settings = () => join(project.home, '.gemini/settings.json')
const rules = () => join(project.home, '.amplifier/rules.json')

describe('agents that are found', { timeout: 60_000 }, () => {
  it('are shown with what they cannot do, and are left alone without a yes', async () => {
    const { code, stdout } = await setUp('n\n')
    expect(stdout).toMatch(/found 1 agent\s+Gemini CLI.*cannot.*Register hooks with all of these\? \[y\/N\]/s)
    expect(stdout).toContain('nothing was written')
    expect([code, existsSync(settings())]).toEqual([1, false])
  })

  it('are set up and then proven: one that does nothing is not', async () => {
    const { code, stdout } = await setUp('y\n')
    expect(stdout).toMatch(/registered \d+ hooks in ~\/\.gemini\/settings\.json/)
    expect(stdout).toContain('not proven: Gemini CLI')
    expect(stdout).toMatch(/next Restart the agents/)
    expect([code, existsSync(settings())]).toEqual([1, true])
  })

  it('get the preset that somebody chooses, once they agree', async () => {
    const no = await setUp('n\n', 'x\n2\n')
    expect(no.stdout).toMatch(/1 +careful .*2 +standard .*3 +relaxed .*4 +none .*"x" is not on the list/s)
    expect(no.stdout).toContain('would write ~/.amplifier/rules.json with the preset standard')
    expect(no.stdout).not.toContain('service on')
    expect(existsSync(rules())).toBe(false)
    const yes = await setUp('y\n', 'Standard\n')
    expect(yes.stdout).toContain('wrote ~/.amplifier/rules.json with the preset standard')
    expect(readFileSync(rules(), 'utf8')).toContain('"preset": "standard"')
    expect(readFileSync(settings(), 'utf8')).toMatch(/\bfire\b/)
    const again = await setUp('', '')
    expect(again.stdout).not.toContain('Type a number or a name')
  })

  it('are left alone without a terminal, which is said, with what to type', async () => {
    const env = { PATH: `${join(project.base, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin` }
    const none = await project.carabiner(['setup', '--preset', 'standard'], { env })
    expect(none.stdout).toContain('Nothing was written, because nobody could be asked here.')
    expect(none.stdout).not.toContain('service on')
    expect([existsSync(settings()), existsSync(rules())]).toEqual([false, false])
    const [, line = ''] = /next carabiner (setup --yes .*?) +#/.exec(none.stdout) ?? []
    expect(line).toBe('setup --yes --preset standard')
    await project.carabiner(line.split(' '), { env })
    expect([existsSync(settings()), existsSync(rules())]).toEqual([true, true])
  })

  it('are left alone by somebody who leaves', async () => {
    const { code, stdout } = await setUp('', 'q\n')
    expect([code, stdout]).toEqual([1, expect.stringContaining('Nothing was registered')])
    expect([existsSync(settings()), existsSync(rules())]).toEqual([false, false])
  })
})
