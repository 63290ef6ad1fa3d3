// Scripts that show what the program does: commands as they are typed, and under each what it prints and how it ends.
//
//   # What it shows.
//   $ carabiner list
//   …                          any lines; within a line any text
//   1 hook: 1 untrusted
//   exit 1                     where it is not 0
//
// A line that begins with `> ` goes on with the command, as in a shell. `# needs python3` at the top skips the script where
// that is missing. Standard error comes with standard output. Each command has a shell of its own, in the project.

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Project, programFile } from './program.js'

export interface Step {
  readonly command: string
  /** Of the command in the script. */
  readonly line: number
  readonly output: string
  readonly exit: number
}

export interface Script {
  /** Without folder and ending. */
  readonly name: string
  readonly file: string
  readonly needs: readonly string[]
  readonly steps: readonly Step[]
}

/** What a step should have printed, and what it printed, if that is something else. */
export interface Surprise {
  readonly place: string
  readonly command: string
  readonly expected: string
  readonly received: string
}

export function allScripts(): readonly Script[] {
  const folder = fileURLToPath(new URL('scripts', import.meta.url))
  return readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => readScript(join(folder, name)))
}

export function readScript(file: string): Script {
  return { ...parseScript(readFileSync(file, 'utf8'), file), file }
}

/** Throws for a line that belongs to no command: it would never be checked. */
export function parseScript(text: string, file: string): Omit<Script, 'file'> {
  const needs: string[] = []
  const steps: { command: string; line: number; output: string[] }[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const step = steps.at(-1)
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), line: i + 1, output: [] })
    else if (/^>(?: |$)/.test(line) && step && step.output.length === 0) step.command += `\n${line.slice(2)}`
    else if (line.startsWith('# ')) needs.push(...(/^# needs (\S+)$/.exec(line)?.slice(1) ?? []))
    else if (step) step.output.push(line)
    else if (line !== '') throw new Error(`${file}:${i + 1} is under no command: ${line}`)
  }
  if (steps.length === 0) throw new Error(`${file} has no command`)
  const name = /([^/\\]+)\.txt$/.exec(file)?.[1] ?? file
  return { name, needs, steps: steps.map(finished) }
}

function finished({ command, line, output }: { command: string; line: number; output: string[] }): Step {
  const text = output.join('\n').trim()
  const exit = /(?:^|\n)exit (\d+)$/.exec(text)
  return {
    command,
    line,
    output: exit ? text.slice(0, exit.index).trim() : text,
    exit: exit ? Number(exit[1]) : 0,
  }
}

// ---- running --------------------------------------------------------------------------------------------------

/** Undefined if all is as the script says; the first step that is not ends it. */
export async function runScript({ file, steps }: Script, project: Project): Promise<Surprise | undefined> {
  const bin = shimIn(project)
  for (const { command, line, output, exit } of steps) {
    const env = { PATH: `${bin}:${process.env.PATH ?? ''}`, NO_COLOR: '1' }
    const run = await project.run('sh', ['-c', `exec 2>&1\n${command}`], { env })
    const [expected, received] = [ended(output, exit), ended(run.stdout.trim(), run.code)]
    if (!matches(expected, received)) return { place: `${file}:${line}`, command, expected, received }
  }
  return undefined
}

function ended(output: string, exit: number): string {
  return exit === 0 ? output : `${output}\nexit ${exit}`.trim()
}

/** `carabiner`, as it is when it is installed. */
function shimIn({ base }: Project): string {
  const bin = join(base, 'bin')
  mkdirSync(bin, { recursive: true })
  const shim = join(bin, 'carabiner')
  writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${programFile()}' "$@"\n`)
  chmodSync(shim, 0o755)
  return bin
}

/** A line that is only `…` stands for any lines, also none. */
export function matches(expected: string, received: string): boolean {
  const lines = expected.split('\n').map((line) => {
    if (line.trim() === '…') return '(?:[^\n]*\n)*?'
    const pieces = line.split('…').map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    return `${pieces.join('[^\n]*')}[ \t]*\n`
  })
  return new RegExp(`^${lines.join('')}$`).test(`${received}\n`)
}

export function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0
}
