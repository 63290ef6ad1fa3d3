// A folder in which the real bash can run anything: it finds only stubs that report their name, and programs that start others.

import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'

/** No real program has these names, so a command that looks outside the folder finds none. */
export const STUBS = ['xa', 'xb', 'xc', 'xd', 'xe'] as const

/** Harmless by themselves. */
const REAL = ['bash', 'sh', 'env', 'nice', 'nohup', 'timeout', 'xargs', 'setsid', 'stdbuf', 'find', 'cat']

/** Takes options as the real ones do, and becomes the command. */
const behindOptions = (valued: string, operands = 0) => `
while case "\${1-}" in -|-?*) true;; *) false;; esac; do
  case "$1" in --) shift; break;; ${valued}) shift 2;; *) shift;; esac
done
n=${operands}; while [ "$n" -gt 0 ]; do shift; n=$((n - 1)); done
`
const orShell = '[ $# -gt 0 ] || exec sh\nexec "$@"'
const IMITATED: Readonly<Record<string, string>> = {
  sudo: `${behindOptions('-u|-nu|-g|-h|-p')}while case "\${1-}" in *=*) true;; *) false;; esac; do shift; done\n${orShell}`,
  doas: behindOptions('-u') + orShell,
  chroot: behindOptions('--groups', 1) + orShell,
  unshare: behindOptions('-R') + orShell,
  strace: `${behindOptions('-o|-e')}exec "$@"`,
  busybox: 'exec "$@"',
  ssh: `${behindOptions('-p|-l', 1)}[ $# -gt 0 ] || exec sh\nexec sh -c "$*"`,
  watch: `${behindOptions('-n')}exec sh -c "$*"`,
  su: 'for last; do [ "$previous" = -c ] && exec sh -c "$last"; previous=$last; done\nexec sh',
  parallel: `${behindOptions('-j')}line=
while [ $# -gt 0 ] && [ "$1" != ::: ]; do line="$line $1"; shift; done
[ $# -gt 0 ] && shift
for each; do sh -c "$line $each"; done`,
}

/** Stubs report their name on this descriptor, whatever a command does to its environment. */
const TELL = 9
const PATIENCE_MS = 2000

export class StubWorld {
  readonly #base = mkdtempSync(join(tmpdir(), 'carabiner-bash-'))
  readonly #bin = join(this.#base, 'bin')
  #runs = 0

  constructor(readonly bash: string) {
    mkdirSync(this.#bin)
    for (const name of REAL) {
      const real = programOf(name)
      if (real) symlinkSync(real, join(this.#bin, name))
    }
    for (const name of STUBS) this.#script(name, `echo ${name} >&${TELL}`)
    for (const [name, text] of Object.entries(IMITATED)) this.#script(name, text)
  }

  #script(name: string, text: string): void {
    const file = join(this.#bin, name)
    writeFileSync(file, `#!/bin/sh\n${text}\n`)
    chmodSync(file, 0o755)
  }

  /** The stubs that ran, each time in a new folder. */
  async ran(command: string): Promise<ReadonlySet<string>> {
    const cwd = join(this.#base, `run-${this.#runs++}`)
    mkdirSync(cwd)
    const stdio = Array.from({ length: TELL + 1 }, (_, fd) => (fd === TELL ? 'pipe' : 'ignore') as 'pipe')
    const env = { PATH: this.#bin, HOME: cwd, LC_ALL: 'C.UTF-8' }
    const child = spawn(this.bash, ['--norc', '--noprofile', '-c', command], {
      cwd,
      env,
      stdio,
      detached: true,
    })
    const told = (child.stdio as readonly unknown[])[TELL] as Readable
    let text = ''
    told.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    // Some commands wait or loop forever. Everything that ran until then counts.
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      told.destroy()
    }, PATIENCE_MS)
    await new Promise((resolve) => told.once('close', resolve))
    clearTimeout(timer)
    rmSync(cwd, { recursive: true, force: true })
    return new Set(text.split('\n').filter((name) => name !== ''))
  }

  remove(): void {
    rmSync(this.#base, { recursive: true, force: true })
  }
}

export function programOf(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find(existsSync)
}
