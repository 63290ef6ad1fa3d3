// Many callers in one process, as a service has them: each gets the answer that a process of its own would give.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.js'
import { run } from '../../src/cli/program.js'
import { BASH, Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

describe('a signal that the caller got', () => {
  it.each([
    ['SIGINT', 'Interrupted by SIGINT; every hook process is gone', 130],
    ['SIGTERM', 'Interrupted by SIGTERM; every hook process is gone', 143],
    ['gone', 'Interrupted by SIGHUP; every hook process is gone', 129],
  ])('%s ends its hooks, and leaves the signals of the process alone', async (reason, words, exit) => {
    project.hooks({ PreToolUse: [['Bash', 'sleep 60']] })
    const before = process.listenerCount('SIGTERM')
    const controller = new AbortController()
    const printed = { 1: '', 2: '' }
    const args = ['fire', 'PreToolUse', '--trust-all', '--project', project.folder]
    const fired = run(COMMANDS, args, {
      stdin: JSON.stringify({ ...BASH, cwd: project.folder }),
      signal: controller.signal,
      write: (fd, text) => {
        printed[fd] += text
      },
    })
    expect(process.listenerCount('SIGTERM')).toBe(before)
    controller.abort(reason)
    expect(await fired).toBe(exit)
    expect(printed).toEqual({ 1: '', 2: `carabiner: ${words}\n` })
  })
})
