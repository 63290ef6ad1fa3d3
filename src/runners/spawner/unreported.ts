// Programs that a killed helper had started but not reported yet. Linux only, as helpers are.

import { readdirSync, readFileSync } from 'node:fs'
import { ancestors, statOf } from '../../files/process.js'
import type { Program } from '../command/start.js'

/** A helper, as it was while it lived. */
export interface DeadHelper {
  readonly pid: number
  /** Its command line, which no other process has. */
  readonly words: readonly string[]
  /** When it was started, by the clock of this process. */
  readonly startedAt: number
  /** The same in ticks of the system. */
  readonly ticks: number
}

interface Stray {
  readonly pid: number
  /** When it was started, by the clock of this process. */
  readonly startedAt: number
  readonly env: ReadonlySet<string>
}

/** As every Linux tells them. */
const TICK_MS = 10
/** Shells set these anew for a program that they become. */
const OF_SHELLS = /^(?:PWD|OLDPWD|SHLVL|_)=/

/** Returns a function that finds the process of a program that was asked for at this time. It finds each process once. */
export function unreportedBy(helper: DeadHelper): (program: Program, askedAt: number) => number | undefined {
  const strays = straysOf(helper)
  return ({ env }, askedAt) => {
    const wanted = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const marks = wanted.filter((variable) => !OF_SHELLS.test(variable))
    if (marks.length === 0) return undefined
    const isIt = (one: Stray) =>
      one.startedAt > askedAt - 2 * TICK_MS && marks.every((variable) => one.env.has(variable))
    const at = strays.findIndex(isIt)
    return at < 0 ? undefined : strays.splice(at, 1)[0]?.pid
  }
}

/**
 * Processes that lead a group and whose parent was the helper, or is one that the system gives orphans to: an ancestor, or
 * process 1. So a program that another host runs is not among them.
 */
function straysOf({ pid: dead, words, startedAt, ticks }: DeadHelper): Stray[] {
  const parents = new Set([dead, 1, ...Array.from(ancestors(0), ({ pid }) => pid)])
  const commandLine = words.map((word) => `${word}\0`).join('')
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    const stat = pid > 0 && pid !== dead ? statOf(pid) : undefined
    if (!stat || stat.ended || !parents.has(stat.parent)) return []
    // A copy of the helper, about to become a program.
    if (textIn(pid, 'cmdline') === commandLine) killIfThere(pid)
    const env = textIn(pid, 'environ')
    if (env === undefined || statOf(pid)?.group !== pid) return []
    const since = (Number(stat.start) - ticks) * TICK_MS
    return [{ pid, startedAt: startedAt + since, env: new Set(env.split('\0')) }]
  })
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

/** Undefined for a process that is gone, or another user's. */
function textIn(pid: number, file: 'cmdline' | 'environ'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}
