// A sender that never finishes: every command that reads standard input gives up in time, and a gate is closed then.

import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, Project, programFile, type Run, withProgram } from './program.js'

withProgram()

let project: Project
beforeAll(() => {
  project = new Project()
})
afterAll(() => project.remove())

const CALL = JSON.stringify({
  hook_event_name: 'PreToolUse',
  session_id: 's',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
})

const HOLD_PIPE = `
import os, subprocess, sys
r, w = os.pipe()
os.write(w, sys.argv[1].encode())
sys.exit(subprocess.Popen(sys.argv[2:], stdin=r).wait())`

/** Answers what became of it, although the sender never closes. */
const SENDERS: Readonly<Record<string, (args: readonly string[], sent: string) => Promise<Run>>> = {
  'a socket': (args, sent) => {
    const child = spawn(process.execPath, [programFile(), ...args], {
      cwd: project.folder,
      env: project.env(),
    })
    child.stdin.on('error', () => undefined).write(sent)
    return ended(child)
  },
  'a pipe': (args, sent) =>
    project.run('python3', ['-c', HOLD_PIPE, sent, process.execPath, programFile(), ...args]),
}

const READERS: readonly (readonly [command: string, args: readonly string[], code: number])[] = [
  ['fire', ['fire'], 1],
  ['fire --as', ['fire', '--as', 'claude-code'], 2],
  ['hook', ['hook', 'pre-tool-use'], 2],
  ['explain', ['explain', '--payload', '-'], 1],
]

const CASES = Object.keys(SENDERS).flatMap((by) =>
  READERS.flatMap(([command, args, code]) =>
    ['', CALL.slice(0, -1)].map((sent) => ({ by, command, args, code, sent, what: sent ? 'half' : 'none' })),
  ),
)

describe.concurrent('D9: input that is never whole', () => {
  it.each(CASES)('$command is given $what of it by $by, and answers', { timeout: 60_000 }, async (one) => {
    const { code, stdout, stderr } = await (SENDERS[one.by] as (typeof SENDERS)[string])(one.args, one.sent)
    expect([code, stdout + stderr]).toEqual([
      one.code,
      expect.stringContaining('was not complete after 10 seconds'),
    ])
  })
})
