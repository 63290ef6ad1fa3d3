#!/usr/bin/env node
// The entry of the program. It loads one file, which is compiled already, and without await at the top, because the loader
// of modules takes as long to start as a hook takes to answer.

import { join } from 'node:path'
import { type PackName, packName } from '../hosts/pack-names.js'
import { compiled } from './start/compiled.js'
import { type CommandProgram, commandProgram, type HookProgram, hookProgram } from './start/programs.js'
import { version } from './version.js'

const [, script = '', command, word = '', ...more] = process.argv
const memory = more[0] === '--memory'
const isAlone = more.length === (memory ? 1 : 0)
const hook = command === 'hook' && isAlone ? packName(word) : undefined

if (hook) void startHook(hook).catch((error: unknown) => hookIsBroken(hook, error))
else void startCommand().catch(isBroken)

async function startHook(name: PackName): Promise<void> {
  const program = compiled<HookProgram>(join(__dirname, hookProgram(name)))
  await program.runPackHook(name, { script, version }, { memory })
}

async function startCommand(): Promise<void> {
  await compiled<CommandProgram>(join(__dirname, commandProgram(command, word))).start()
}

// ---- a broken installation ------------------------------------------------------------------------------------

const REFUSED = 2
const FAILED = 1

/** A guard that cannot start is closed. The other hooks fail open. */
function hookIsBroken(name: PackName, error: unknown): void {
  const isGuard = name === 'pre-tool-use'
  if (!isGuard) process.stdout.write(`${JSON.stringify({ systemMessage: problemOf(error) })}\n`)
  complain(error, isGuard ? REFUSED : 0)
}

/** For an agent any code but 2 is leave to go on. */
function isBroken(error: unknown): void {
  const isForAgent = process.argv.some((arg) => arg === '--as' || arg.startsWith('--as='))
  complain(error, isForAgent ? REFUSED : FAILED)
}

function complain(error: unknown, exit: number): void {
  process.stderr.write(`${problemOf(error)}\n`)
  process.exitCode = exit
}

function problemOf(error: unknown): string {
  const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return `carabiner cannot start: ${why}. Install it again.`
}
