// What does a host in another language pay for the engine, over a bare line of JSON there and back?

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { race } from './measure.mjs'

const CALL = { tool_name: 'Bash', tool_input: { command: 'npm test' } }

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const env = { PATH: process.env.PATH, HOME: folder, CARABINER_HOME: join(folder, 'carabiner') }
  const echo = lines([file('programs/answer.mjs')], { cwd: folder, env })
  const serve = lines([file('../dist/bin/carabiner.js'), 'serve', '--stdio'], { cwd: folder, env })
  await serve.call('hello', { version: 1, host: 'bench', projectDir: folder })
  const { session } = await serve.call('session.open', {})
  const fire = { session, event: 'PreToolUse', data: CALL }
  const tool = { session, name: CALL.tool_name, input: CALL.tool_input }
  const rounds = await race({
    echo: () => echo.call('session.fire', fire),
    fire: () => serve.call('session.fire', fire),
    tool: async () => {
      const { call } = await serve.call('tool.begin', tool)
      await serve.call('tool.finish', { call, result: 'ok' })
    },
  })
  await Promise.all([echo.close(), serve.close()])
  rmSync(folder, { recursive: true })
  return [
    rounds.row('serve --stdio, an event without a hook / bare line echo', 'fire', 'echo', { limit: 3 }),
    rounds.row('serve --stdio, a tool call without a hook / two bare line echoes', 'tool', 'echo', {
      times: 2,
    }),
  ]
}

function file(path) {
  return fileURLToPath(new URL(path, import.meta.url))
}

/** A program that answers a line with a line. */
function lines(args, options) {
  const child = spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const waiting = new Map()
  let id = 0
  let rest = ''
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (text) => {
    const whole = (rest + text).split('\n')
    rest = whole.pop()
    for (const line of whole) {
      const answer = JSON.parse(line)
      if (answer.error) throw new Error(answer.error.message)
      waiting.get(answer.id)(answer.result)
      waiting.delete(answer.id)
    }
  })
  return {
    call: (method, params) =>
      new Promise((resolve) => {
        waiting.set(++id, resolve)
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      }),
    close: () => {
      child.stdin.end()
      return ended
    },
  }
}
