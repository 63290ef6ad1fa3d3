// A host that forgets to close: its resident processes keep it from nothing, and do not outlive it.

import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Workshop } from '../command/workshop.js'

let home: Workshop
let workshop: Workshop

/** Hosts are processes of their own, and run what the build would make of the sources. */
beforeAll(async () => {
  home = new Workshop()
  const entryPoints = ['src/runners/process/residents.ts']
  await build({
    entryPoints,
    outfile: home.path('residents.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  return () => home.close()
})

beforeEach(() => {
  workshop = new Workshop()
})

afterEach(() => {
  workshop.close()
})

/** Says hello, answers `late` after a while and everything else at once, and ends for no signal but KILL. */
const HOOK = `
process.on('SIGTERM', () => {})
setInterval(() => {}, 1000)
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const answer = () => process.stdout.write(JSON.stringify({ id, result: { ok: true, method } }) + '\\n')
  if (id) setTimeout(answer, method === 'late' ? 300 : 0)
})`

/** Runs a host to its end; it has `resident` and `ask(method)`. */
function host(text: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const url = pathToFileURL(home.path('residents.mjs'))
  const source = `
    import { Residents } from ${JSON.stringify(url)}
    const residents = new Residents()
    const resident = residents.of('key', '', {
      launch: () => ({ file: process.execPath, args: ['-e', ${JSON.stringify(HOOK)}], cwd: ${JSON.stringify(workshop.folder)}, env: process.env }),
      hello: {},
      helloMs: 60000,
      observeMs: 60000,
      restart: { delay: 1, maxDelay: 1, attempts: 1 },
      report: (d) => console.log(d.text),
    })
    const context = { signal: new AbortController().signal, onAbort() {}, note: console.log, printed: console.log }
    const ask = (method) => resident.ask({ method, params: {}, timeoutMs: 60000 }, context, (answer) => answer)
    ${text}`
  return new Promise((resolve) => {
    const args = ['--input-type=module', '-e', source]
    const child = execFile(process.execPath, args, { env: workshop.env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

test('ends by itself when no hook is running, together with its processes', async () => {
  const { code, stdout, stderr } = await host(`
    await ask('x')
    resident.observe({ Kind: 'x' })
    console.log('done')`)
  expect([code, stdout, stderr]).toEqual([0, 'done\n', ''])
  await workshop.noneRunning()
})

test('lives as long as an answer is awaited', async () => {
  const { code, stdout } = await host(`void ask('late').then(({ method }) => console.log(method))`)
  expect([code, stdout]).toEqual([0, 'late\n'])
  await workshop.noneRunning()
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('takes them with it when %s ends it', async (signal) => {
  const { code } = await host(`
    await ask('x')
    setInterval(() => {}, 1000)
    process.kill(process.pid, '${signal}')`)
  expect(code).toBe(null)
  await workshop.noneRunning()
})

test('that closes leaves no listener and no process behind', async () => {
  const { code, stdout } = await host(`
    const listeners = () => ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name)).join()
    const before = listeners()
    await ask('x')
    const between = listeners()
    await residents.close()
    console.log(between === before, listeners() === before)`)
  expect([code, stdout]).toEqual([0, 'false true\n'])
  expect(workshop.running()).toEqual([])
})
