// An MCP server that is a process. It gets our environment and folder, as if the client had started it, and ends with us.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { textOf } from '../../core/base/errors.js'
import { groupOf } from '../../runners/process/launch.js'
import { LinePeer, MAX_LINE_BYTES } from './line-peer.js'
import type { Server, StartServer } from './peer.js'

/** From the end of its input to TERM, as the protocol wants it. KILL follows. */
const FAREWELL_MS = 500
/** Between its exit and the end of its output, which may hold the last reply. */
const DRAIN_MS = 200
const LEADS_GROUP = process.platform !== 'win32'

export function serverProcess(command: readonly string[], cwd: string): StartServer {
  return async (events) => {
    const child = await started(command, cwd)
    const group = groupOf(child)
    let why: string | undefined
    const gone = (text: string) => {
      if (why !== undefined) return
      why = text
      events.gone(text)
      group.end()
    }
    const peer = new LinePeer(child.stdout as Readable, child.stdin as Writable, {
      line: events.line,
      tooLong: () => events.lost(`The server sent a message of more than ${MAX_LINE_BYTES} bytes`),
      // The exit says more, and usually follows.
      gone: () => void setTimeout(() => gone('closed its output'), DRAIN_MS),
    })
    child.once('exit', (code, signal) => {
      const how = code === null ? `was killed by ${signal}` : `exited with code ${code}`
      const timer = setTimeout(() => gone(how), DRAIN_MS)
      child.once('close', () => {
        clearTimeout(timer)
        gone(how)
      })
    })
    return endable(peer, group, () => why === undefined)
  }
}

function endable(peer: LinePeer, group: ReturnType<typeof groupOf>, isAlive: () => boolean): Server {
  return {
    send: (line) => peer.send(line),
    full: () => peer.full(),
    wait: (until) => peer.wait(until),
    initialized: () => undefined,
    async end() {
      const timer = setTimeout(() => group.end(), isAlive() ? FAREWELL_MS : 0)
      peer.end()
      await group.gone
      clearTimeout(timer)
    },
  }
}

/** Its standard error is ours, so that the client shows or keeps it as before. */
function started([program = '', ...args]: readonly string[], cwd: string): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(new Error(`${program} cannot be started: ${textOf(error)}`))
    try {
      const child = spawn(program, args, {
        cwd,
        detached: LEADS_GROUP,
        windowsHide: true,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      child.on('error', fail)
      if (child.pid !== undefined) resolve(child)
    } catch (error) {
      fail(error)
    }
  })
}
