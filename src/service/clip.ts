// How setup makes clip, the small program that agents start.

import { type ExecFileOptions, execFile } from 'node:child_process'
import { chmodSync, copyFileSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { programEnvironment } from '../effects/shell/own-environment.js'
import { makePrivate, syncFolder } from '../files/folder.js'
import { nonce } from '../files/nonce.js'
import { checkOwnFolder } from '../files/plain-file.js'
import { isProgram } from '../files/search-path.js'
import { realOf } from '../files/within.js'
import { clipFile, clipState, digestIn, writeRecord } from '../hosts/clip-file.js'
import type { Program } from '../hosts/entries.js'
import { CLIP } from '../hosts/own-command.js'

/** Whether the caller's environment turns the service off. */
export function isServiceOff(env: NodeJS.ProcessEnv): boolean {
  return env.CARABINER_SERVICE === 'off'
}

// ---- what it is made of ---------------------------------------------------------------------------------------

/** A way to make clip on this machine. */
export interface Recipe {
  /** The C file, or the program that came with the release. */
  readonly file: string
  readonly digest: string
  /** Undefined for a program that is compiled already. */
  readonly compiler?: string
}

/** Why clip cannot be made here, and what would help. Whole sentences. */
export interface NoRecipe {
  readonly why: string
  readonly fix?: string
}

/** `script`: the program of Carabiner, or a link to it. */
export async function recipeFor(script: string): Promise<Recipe | NoRecipe> {
  if (process.platform === 'win32') return { why: 'Windows has no service yet.' }
  const folder = dirname(realOf(script))
  const prebuilt = join(folder, 'prebuilt', `${process.platform}-${process.arch}`, CLIP)
  const ready = digestIn(prebuilt)
  if (ready !== undefined) return { file: prebuilt, digest: ready }
  const file = join(folder, `${CLIP}.c`)
  const digest = digestIn(file)
  if (digest === undefined) return { why: `${file} is missing.`, fix: 'Install Carabiner again.' }
  const compiler = await findCompiler()
  if (compiler === undefined) return { why: 'There is no C compiler.', fix: `${installLine()}.` }
  return { file, digest, compiler }
}

const COMPILERS = ['cc', 'gcc', 'clang']
const ASK_MS = 5000

async function findCompiler(): Promise<string | undefined> {
  const env = programEnvironment()
  // Without the developer tools, Apple's /usr/bin/cc opens a window that offers to install them.
  const isStub = process.platform === 'darwin' && !(await hasDeveloperTools(env))
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => !isStub || folder !== '/usr/bin')
  return COMPILERS.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
}

async function hasDeveloperTools(env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await run('/usr/bin/xcode-select', ['-p'], { env, timeout: ASK_MS })
    return true
  } catch {
    return false
  }
}

/** How each package manager installs a compiler. */
const INSTALLERS: readonly (readonly [manager: string, line: string])[] = [
  ['apt-get', 'apt-get install gcc libc6-dev'],
  ['dnf', 'dnf install gcc'],
  ['yum', 'yum install gcc'],
  ['apk', 'apk add gcc musl-dev'],
  ['pacman', 'pacman -S gcc'],
  ['zypper', 'zypper install gcc'],
]

function installLine(): string {
  if (process.platform === 'darwin') return 'Install one: xcode-select --install'
  const folders = (programEnvironment().PATH ?? '').split(delimiter)
  const known = INSTALLERS.find(([manager]) => folders.some((folder) => isProgram(join(folder, manager))))
  return known ? `Install one: ${known[1]}` : 'Install gcc or clang'
}

// ---- making it ------------------------------------------------------------------------------------------------

const COMPILE_MS = 60_000
const TRY_MS = 10_000

/**
 * Puts clip in its place, unless it is there already. It replaces an older one only after it has started this program
 * once. Throws an Error that says why it could not.
 */
export async function makeClip(program: Program, recipe: Recipe): Promise<void> {
  if (clipState(recipe.digest) === 'good') return
  const file = clipFile()
  const folder = dirname(file)
  makePrivate(folder)
  checkOwnFolder(folder)
  const draft = join(folder, `.${CLIP}.${nonce()}.tmp`)
  try {
    if (recipe.compiler === undefined) copyFileSync(recipe.file, draft)
    else await compile(recipe.compiler, recipe.file, draft)
    chmodSync(draft, 0o755)
    await tryOut(draft, program)
    const digest = digestIn(draft)
    if (digest === undefined) throw new Error(`${draft} is gone`)
    writeRecord({ digest, source: recipe.digest })
    renameSync(draft, file)
    syncFolder(folder)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** A static program starts faster, and nothing can be loaded into it. Not every system has the libraries for one. */
async function compile(compiler: string, source: string, target: string): Promise<void> {
  const options = { env: programEnvironment(), cwd: dirname(target), timeout: COMPILE_MS }
  const args = ['-std=c11', '-O2', '-o', target, source]
  if (process.platform === 'linux') {
    try {
      await run(compiler, ['-static', ...args], options)
      return
    } catch {
      // The second try says what is wrong.
    }
  }
  try {
    await run(compiler, args, options)
  } catch (error) {
    const { stderr, killed } = error as { readonly stderr?: string; readonly killed?: boolean }
    const said = stderr?.split('\n').find((line) => /\berror\b/i.test(line)) ?? textOf(error).split('\n')[0]
    throw new Error(`${compiler} ${killed ? 'took too long' : `failed: ${said}`}`)
  }
}

/** clip starts every command that is not a hook as it is. */
async function tryOut(clip: string, { node, script }: Program): Promise<void> {
  const env = { ...programEnvironment(), CARABINER_SERVICE: 'off' }
  try {
    const printed = await run(clip, [node, script, '--version'], { env, timeout: TRY_MS })
    if (/^\d+\.\d+\.\d+/.test(printed)) return
  } catch (error) {
    throw new Error(`the new program does not start: ${textOf(error).split('\n')[0]}`)
  }
  throw new Error('the new program does not start Carabiner')
}

// ---- running programs -----------------------------------------------------------------------------------------

/** Returns what it printed. Rejects with the error of execFile, which has its standard error. */
function run(file: string, args: readonly string[], options: ExecFileOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { ...options, encoding: 'utf8' }, (error, stdout, stderr) =>
      error ? reject(Object.assign(error, { stderr })) : resolve(stdout),
    )
  })
}
