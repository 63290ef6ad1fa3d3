// Copies of a gateway as processes of their own, and one address in front of them, for tests that kill them.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'

const here = (name: string) => new URL(name, import.meta.url).pathname

/** Makes programs of these files of this folder. */
export async function bundled(folder: string, names: readonly string[]): Promise<void> {
  await build({
    entryPoints: names.map(here),
    ...{ outdir: folder, outExtension: { '.js': '.mjs' }, bundle: true, platform: 'node', format: 'esm' },
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(${JSON.stringify(import.meta.url)})`,
    },
  })
}

/** A gateway that is started again when it was killed. */
export class GatewayCopy {
  readonly #args: readonly string[]
  url = ''
  #child: ChildProcess | undefined
  #isOver = false
  #started: Promise<void> | undefined

  /** `folder` holds the programs; `database` is the address of the database. */
  constructor(folder: string, database: string, org: string) {
    this.#args = [join(folder, 'chaos-gateway.mjs'), database, org]
  }

  start(): Promise<void> {
    this.#started = this.#start()
    return this.#started
  }

  async #start(): Promise<void> {
    const port = this.url === '' ? '0' : new URL(this.url).port
    const child = spawn(process.execPath, [...this.#args, port])
    this.#child = child
    child.on('exit', () => !this.#isOver && void this.start())
    const [said] = await once(child.stdout, 'data')
    this.url = String(said).trim()
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  /** Kills it, and waits until the next one listens. */
  async replace(): Promise<void> {
    const child = this.#child
    this.kill()
    if (child) await once(child, 'exit')
    await this.#started
  }

  async end(): Promise<void> {
    this.#isOver = true
    this.kill()
    const child = this.#child
    if (child?.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

/** One address for several gateways. A connection goes to the next one that answers, and ends with it. */
export class Balancer {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #turn = 0

  constructor(copies: readonly GatewayCopy[]) {
    this.#server = createServer((socket) => {
      this.#keep(socket)
      this.#join(socket, copies, copies.length)
    })
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(socket: Socket, copies: readonly GatewayCopy[], tries: number): void {
    const copy = copies[this.#turn++ % copies.length]
    if (tries === 0 || !copy) {
      socket.destroy()
      return
    }
    const other = dial(Number(new URL(copy.url).port), '127.0.0.1')
    this.#keep(other)
    const next = () => this.#join(socket, copies, tries - 1)
    other.once('error', next)
    other.once('connect', () => {
      other.off('error', next)
      socket.pipe(other)
      other.pipe(socket)
      other.on('close', () => socket.destroy())
      socket.on('close', () => other.destroy())
    })
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#sockets.delete(socket))
  }
}
