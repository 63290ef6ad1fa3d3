// The standard input of a hook, read whole: synchronously, because a stream takes as long to start as all the rest.

import { isUtf8 } from 'node:buffer'
import { fstatSync, readSync } from 'node:fs'
import { InvalidHookInput } from '../dialects/host-payload.js'

const STDIN = 0
const CHUNK = 64 * 1024
/** No agent sends more; a device that never ends would. */
const LARGEST = 64 * 1024 * 1024

export async function readStandardInput(): Promise<string> {
  if (isTerminal()) throw new InvalidHookInput('there is no input: a hook reads one JSON object from a pipe')
  const bytes = Buffer.concat(await readAll())
  if (!isUtf8(bytes)) throw new InvalidHookInput('the input is not UTF-8')
  return bytes.toString()
}

async function readAll(): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = []
  let size = 0
  const keep = (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size > LARGEST) throw new InvalidHookInput('the input is larger than 64 MiB')
  }
  try {
    for (let chunk = nextChunk(); chunk.length > 0; chunk = nextChunk()) keep(chunk)
  } catch (error) {
    if (error instanceof InvalidHookInput) throw error
    const { code } = error as NodeJS.ErrnoException
    // Windows ends a pipe so.
    if (code === 'EOF') return chunks
    if (code !== 'EAGAIN') throw new InvalidHookInput(`the input cannot be read: ${code ?? 'read failed'}`)
    // Somebody made it non-blocking, and only a stream can wait for it.
    for await (const chunk of process.stdin) keep(chunk as Buffer)
  }
  return chunks
}

function nextChunk(): Buffer {
  const chunk = Buffer.allocUnsafe(CHUNK)
  return chunk.subarray(0, readSync(STDIN, chunk))
}

/** To wait for somebody to type JSON would look like a hang. Looks before it loads what brings the network along. */
function isTerminal(): boolean {
  try {
    return fstatSync(STDIN).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(STDIN)
  } catch {
    return false // closed: reading it says so
  }
}
