// Many callers in one process, as a service has them: each gets the answer that a process of its own would give.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
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

describe('an event that is over', () => {
  it('leaves no timer that would keep it in memory as long as its agent might have waited', async () => {
    project.hooks({ PreToolUse: [['Bash', 'true']] })
    const set = vi.spyOn(globalThis, 'setTimeout')
    const cleared = vi.spyOn(globalThis, 'clearTimeout')
    try {
      const exit = await run(COMMANDS, ['fire', '--as', 'claude-code', '--trust-all'], {
        stdin: JSON.stringify({ hook_event_name: 'PreToolUse', ...BASH, cwd: project.folder }),
        write: () => undefined,
      })
      expect(exit).toBe(0)
      const long = set.mock.results.filter((_, i) => Number(set.mock.calls[i]?.[1]) > 10_000)
      expect(long.length).toBeGreaterThan(0)
      const ended = cleared.mock.calls.map(([timer]) => timer)
      expect(long.filter(({ value }) => !ended.includes(value))).toEqual([])
    } finally {
      set.mockRestore()
      cleared.mockRestore()
    }
  })
})
