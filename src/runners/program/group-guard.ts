// Ends our process groups if we are killed: a shell that waits for the end of a pipe which only we hold.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'

/** A second for those that end by themselves once their input ends, and one from TERM to KILL. */
const SCRIPT = `
all=
while read -r how group; do
  case $how in
    add) all="$all $group" ;;
    drop) rest=; for one in $all; do [ "$one" = "$group" ] || rest="$rest $one"; done; all=$rest ;;
  esac
done
[ -n "$all" ] || exit 0
sleep 1
for one in $all; do kill -s TERM -- "-$one"; done
sleep 1
for one in $all; do kill -s KILL -- "-$one"; done
`

export class GroupGuard {
  #shell: ChildProcess | undefined

  /** `gone` settles when nothing of the group is left. */
  add(leader: number, gone: Promise<void>): void {
    this.#tell(`add ${leader}`)
    void gone.then(() => this.#tell(`drop ${leader}`))
  }

  #tell(line: string): void {
    this.#shell ??= started()
    this.#shell.stdin?.write(`${line}\n`)
  }
}

/** Without it, only what ignores the end of its input outlives us. That is no reason to fail. */
function started(): ChildProcess {
  // In a session of its own, so that a signal to our group does not reach it.
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.on('error', () => undefined)
  shell.stdin?.on('error', () => undefined)
  shell.unref()
  const pipe = shell.stdin as (Writable & { unref?: () => void }) | null
  pipe?.unref?.()
  return shell
}
