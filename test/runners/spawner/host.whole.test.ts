// A process whose programs a helper starts: what it changes in itself reaches them, and nothing outlives it.

import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Workshop } from '../command/workshop.js'
import { isThere, until } from '../until.js'
import { HELPERS, MadeHelper } from './ways.js'

const onLinux = test.runIf(process.platform === 'linux')

describe.each(HELPERS)('a host with a helper: %s', (kind) => {
  let home: Workshop
  let workshop: Workshop

  /** A host as others have it: with the helper in its package. */
  beforeAll(async () => {
    home = new Workshop()
    const made = new MadeHelper(kind)
    await build({
      entryPoints: ['src/runners/command/programs.ts'],
      outfile: home.path('host.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
    })
    const prebuilt = home.path(`prebuilt/${process.platform}-${process.arch}`)
    mkdirSync(prebuilt, { recursive: true })
    if (kind === 'clip') copyFileSync(made.command.file, join(prebuilt, 'clip'))
    else copyFileSync(made.command.args[0] ?? '', home.path('spawner.mjs'))
    made.remove()
    return () => home.close()
  })

  beforeEach(() => {
    workshop = new Workshop()
    return () => workshop.close()
  })

  /** Runs a host to its end. It has `start(script)`, `made(file)` and `helped()`, which waits for the helper. */
  function host(text: string) {
    const source = `
      import { existsSync, writeFileSync } from 'node:fs'
      import { execFileSync, spawn } from 'node:child_process'
      import { Programs } from ${JSON.stringify(pathToFileURL(home.path('host.mjs')))}
      const ballast = Buffer.alloc(200_000_000, 1) // A helper in Node is for large processes.
      const programs = new Programs()
      const folder = ${JSON.stringify(workshop.folder)}
      const start = async (script, cwd = folder) => {
        const program = { file: '/bin/sh', args: ['-c', script], cwd, env: process.env, input: '' }
        return (await programs.run(program, new AbortController().signal)).stdout
      }
      const made = async (file) => {
        while (!existsSync(folder + '/' + file)) await new Promise((resolve) => setTimeout(resolve, 5))
      }
      const helped = async () => {
        let parent
        while ((parent = Number(await start('echo $PPID', '/'))) === process.pid)
          await new Promise((resolve) => setTimeout(resolve, 5))
        return parent
      }
      writeFileSync(folder + '/helper', String(await helped()))
      ${text}`
    const args = ['--input-type=module', '-e', source]
    const env = { ...workshop.env, CARABINER_SPAWNER: '', CARABINER_HOME: home.folder }
    return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
      const child = execFile(process.execPath, args, { env }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      )
    })
  }

  const STUBBORN = JSON.stringify("trap '' TERM; echo x >started; while :; do sleep 1; done")

  const helperGone = () => {
    const pid = Number(readFileSync(workshop.path('helper'), 'utf8'))
    return until('the helper is gone', () => !isThere(pid))
  }

  onLinux.each([
    ['exits', 'process.exit(7)'],
    ['crashes', "throw new Error('crashed')"],
    ['is killed', "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})"],
    ['is ended by a signal', "process.kill(process.pid, 'SIGTERM'); await new Promise(() => {})"],
  ])('that %s: the helper and its programs end', async (_, how) => {
    await host(`start(${STUBBORN}).catch(() => {}); await made('started'); ${how}`)
    await helperGone()
    await workshop.noneRunning()
  })

  onLinux('that has nothing more to do: it ends by itself', async () => {
    const { code, stdout } = await host(`console.log(await start('echo out; exit 2'))`)
    expect([code, stdout]).toEqual([0, 'out\n\n'])
    await helperGone()
  })

  onLinux('that changes its folder, environment and umask: programs get them', async () => {
    const { stdout, stderr } = await host(`
      const tell = async () => console.log(await start('pwd; echo $LATER; umask', process.cwd()))
      process.chdir('/usr')
      process.env.LATER = 'later'
      process.umask(0o027)
      await tell()`)
    expect([stderr, stdout]).toEqual(['', '/usr\nlater\n0027\n\n'])
  })

  onLinux('that changes its umask between two starts: each gets its own', async () => {
    const { stdout, stderr } = await host(`
      const first = start('umask', '/')
      process.umask(0o027)
      const second = start('umask', '/')
      console.log(await first, await second)`)
    expect([stderr, stdout]).toEqual(['', '0022\n 0027\n\n'])
  })

  onLinux('that changes its file limit: programs get it', async () => {
    const { stdout, stderr } = await host(`
      execFileSync('prlimit', ['--nofile=321:4000', '--pid', String(process.pid)])
      console.log(await start('ulimit -Sn; ulimit -Hn'))`)
    expect([stderr, stdout]).toEqual(['', '321\n4000\n\n'])
  })

  test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'that gives up its rights: programs have them no longer',
    async () => {
      const { stdout, stderr } = await host(`
      process.setgroups([])
      process.setgid(65534)
      process.setuid(65534)
      console.log(await start('id -u; id -g; id -G', '/'))`)
      expect([stderr, stdout]).toEqual(['', '65534\n65534\n65534\n\n'])
    },
  )

  onLinux('that forks: the other process neither uses the helper nor keeps it', async () => {
    await host(`
      const other = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })
      writeFileSync(folder + '/other', String(other.pid))
      process.kill(process.pid, 'SIGKILL')
      await new Promise(() => {})`)
    await helperGone()
    const other = Number(readFileSync(workshop.path('other'), 'utf8'))
    expect(isThere(other)).toBe(true)
    process.kill(other, 'SIGKILL')
  })
})
