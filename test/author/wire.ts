// The engine's end of a resident hook's pipes, as bare as it can be: lines go in, replies come out.

import { type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from 'node:child_process'

export interface WireReply {
  readonly jsonrpc: unknown
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

export interface Ended {
  readonly code: number | null
  readonly stderr: string
  /** Lines on stdout that are no reply to a request: there may be none. */
  readonly noise: readonly string[]
}

interface Asked {
  readonly resolve: (reply: WireReply) => void
  readonly reject: (error: Error) => void
}

export class Wire {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #asked = new Map<unknown, Asked>()
  readonly #noise: string[] = []
  readonly #ended: Promise<Ended>
  #stderr = ''
  #rest = ''
  #lastId = 0

  constructor([program = '', ...args]: readonly string[], options: Pick<SpawnOptions, 'cwd' | 'env'>) {
    this.#child = spawn(program, args, { ...options, stdio: 'pipe' })
    this.#child.stdin.on('error', () => {}) // it may be gone already; its exit says so
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    this.#ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject).on('close', (code) => resolve(this.#end(code)))
    })
  }

  /** As it is, with a line break. */
  send(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  notify(method: string, params: unknown): void {
    this.send(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  /** Rejects if the process ends without a reply. */
  ask(method: string, params: unknown, id: unknown = ++this.#lastId): Promise<WireReply> {
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject })
      this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  }

  /** Ends its input and waits until it is gone. */
  end(): Promise<Ended> {
    this.#child.stdin.end()
    return this.#ended
  }

  /** Stops to read what it answers, as an engine that died. */
  hangUp(): Promise<Ended> {
    this.#child.stdout.destroy()
    return this.#ended
  }

  kill(): void {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL')
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#reply(line)
  }

  #reply(line: string): void {
    let reply: WireReply
    try {
      reply = JSON.parse(line)
    } catch {
      this.#noise.push(line)
      return
    }
    const asked = this.#asked.get(reply.id)
    this.#asked.delete(reply.id)
    if (asked) asked.resolve(reply)
    else this.#noise.push(line)
  }

  #end(code: number | null): Ended {
    if (this.#rest) this.#noise.push(this.#rest)
    for (const { reject } of this.#asked.values()) {
      reject(new Error(`it ended with code ${code} and did not answer: ${this.#stderr}`))
    }
    this.#asked.clear()
    return { code, stderr: this.#stderr, noise: this.#noise }
  }
}
