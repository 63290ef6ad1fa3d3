// What root runs each minute where only root may write the policy: a timer of systemd, or a line of root's crontab.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { callerEnv } from '../../files/caller.js'
import { isThere, TIMER, UNITS } from '../../files/fleet/root-fetches.js'
import { isFolder, namesIn } from '../../files/folder.js'
import { placeWhole, removeIfThere } from '../../files/plain-file.js'
import { checkRootsAlone } from '../../files/root-owned.js'
import { realOf } from '../../files/within.js'

/** Is there while systemd runs. */
const RUNNING = '/run/systemd/system'
const SERVICE = 'carabiner-fleet.service'

/** `next`: what root has to type. */
interface Undone<Status> {
  readonly status: Status
  readonly why: string
  readonly next: string
}

export type TimerState = { readonly status: 'on' } | Undone<'manual' | 'failed'>

/** Never throws: a machine without the timer is in the fleet all the same. */
export function addTimer(): TimerState {
  let command: string
  try {
    command = rootCommand()
  } catch (error) {
    return {
      status: 'failed',
      why: textOf(error),
      next: 'sudo carabiner fleet join   # after Node, Carabiner and its packages are where only root can write',
    }
  }
  const crontab = `sudo crontab -e   # add this line: * * * * * ${command} >/dev/null`
  if (!isFolder(RUNNING)) return { status: 'manual', why: 'systemd does not run here', next: crontab }
  try {
    for (const [name, text] of [
      [SERVICE, serviceText(command)],
      [TIMER, TIMER_TEXT],
    ] as const)
      placeWhole(join(UNITS, name), (draft) => writeFileSync(draft, text, { flag: 'wx', mode: 0o644 }))
  } catch (error) {
    return { status: 'failed', why: textOf(error), next: crontab }
  }
  const why = failureOf(['daemon-reload'], ['enable', '--now', TIMER])
  if (why === undefined) return { status: 'on' }
  const next = `sudo systemctl daemon-reload && sudo systemctl enable --now ${TIMER}`
  return { status: 'failed', why, next }
}

/** Also ends what runs now, which could bring back what is removed next. Undefined if there was none. Never throws. */
export function removeTimer(): { readonly status: 'removed' } | Undone<'failed'> | undefined {
  const paths = [TIMER, SERVICE].map((name) => join(UNITS, name))
  if (!paths.some(isThere)) return undefined
  const next = `sudo systemctl disable --now ${TIMER}; sudo rm -f ${paths.join(' ')}; sudo systemctl daemon-reload`
  const isRunning = isFolder(RUNNING)
  const disabling = isRunning ? failureOf(['disable', '--now', TIMER]) : undefined
  const stopping = isRunning ? failureOf(['stop', SERVICE]) : undefined
  try {
    for (const path of paths) removeIfThere(path)
  } catch (error) {
    return { status: 'failed', why: textOf(error), next }
  }
  const why = disabling ?? stopping ?? (isRunning ? failureOf(['daemon-reload']) : undefined)
  return why === undefined ? { status: 'removed' } : { status: 'failed', why, next }
}

// ---- units ----------------------------------------------------------------------------------------------------

/** What neither systemd nor cron nor a shell reads as anything but itself. */
const PLAIN = /^[\w./@+,:=-]+$/

/** Throws if somebody else could decide what root would run. */
function rootCommand(): string {
  const program = join(dirname(realOf(process.argv[1] ?? '')), 'carabiner.js')
  const parts = namesIn(dirname(program)).map((name) => join(dirname(program), name))
  for (const path of [process.execPath, program, ...parts, ...packagesOf(program)])
    checkRootsAlone(realOf(path))
  const odd = [process.execPath, program].find((path) => !PLAIN.test(path))
  if (odd !== undefined)
    throw new Error(`the path ${JSON.stringify(odd)} has characters that have to be quoted`)
  return `${process.execPath} ${program} fleet ship`
}

/** What a fetch of the policy loads beside the program. */
const LOADED = [
  '@tufjs',
  '@tufjs/models',
  '@tufjs/canonical-json',
  'minimatch',
  'brace-expansion',
  'balanced-match',
]

/** Those packages, and the folders where Node looks for them. */
function packagesOf(program: string): readonly string[] {
  const folders = (createRequire(program).resolve.paths(LOADED[0] ?? '') ?? [])
    .filter((folder) => basename(folder) === 'node_modules')
    .flatMap((folder) => [folder, join(folder, '@tufjs', 'models', 'node_modules')])
  return folders.flatMap((folder) => [folder, ...LOADED.map((name) => join(folder, name))]).filter(isThere)
}

const ORIGIN = '# Made by carabiner fleet join; carabiner fleet leave removes it.'

/** A shipping that hangs must not keep the next one from fetching the policy. */
function serviceText(command: string): string {
  return `${ORIGIN}
[Unit]
Description=Carabiner: fetch the policy of the fleet, and ship the records of root
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
ExecStart=${command}
StandardOutput=null
TimeoutStartSec=10min
`
}

const TIMER_TEXT = `${ORIGIN}
[Unit]
Description=Carabiner: fetch the policy of the fleet each minute

[Timer]
OnCalendar=minutely
RandomizedDelaySec=30
AccuracySec=5

[Install]
WantedBy=timers.target
`

const SYSTEMCTL_MS = 60_000

/** Runs one command of systemctl after another. Returns why one failed, on one line. */
function failureOf(...commands: readonly (readonly string[])[]): string | undefined {
  try {
    for (const words of commands)
      execFileSync('systemctl', words, {
        ...{ env: callerEnv(), encoding: 'utf8', timeout: SYSTEMCTL_MS },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
    return undefined
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string }
    const [line] = stderr.trim().split('\n')
    return line ? `systemctl: ${line}` : textOf(error)
  }
}
