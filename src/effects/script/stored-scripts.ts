// Scripts in files that a call would run: of shells and other languages, and those of package.json.

import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { readPlain } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import { optionValue, verbIndexes } from '../program.js'
import { remembered } from '../remembered.js'
import { asDash } from '../shell/script-runners.js'
import { isInterpreter } from './program-code.js'
import type { Call, Script } from './shell-script.js'
import type { Word } from './word.js'

export interface StoredScript {
  /** As the call names it. */
  readonly name: string
  readonly text: string
  readonly folder: string
  readonly call: Call
  readonly language: 'shell' | 'other'
}

const MAX_BYTES = 256 * 1024
const MOST = 20

const SHELL = /^(?:ba|da|z|k|mk|a)?sh$/

export function storedScripts(script: Script): readonly StoredScript[] {
  const found: StoredScript[] = []
  for (const call of script.calls) {
    if (found.length >= MOST || call.isGuess) break
    if (runsPackages(call.name)) found.push(...ofPackage(call))
    found.push(...inFile(call, script))
  }
  return found
}

// ---- files ------------------------------------------------------------------------------------------------------

function inFile(call: Call, script: Script): readonly StoredScript[] {
  const name = fileOf(call)
  if (name === undefined || /[$`*?]/.test(name)) return []
  for (const folder of call.folders) {
    const path = posix.resolve(folder, name)
    const text = writtenHere(path, script) ?? textOf(path)
    if (text === undefined || text.includes('\0')) continue
    const [first = ''] = text.split('\n', 1)
    const isShell =
      /^#!.*\b(?:ba|da|z|k)?sh\b/.test(first) ||
      (!first.startsWith('#!') &&
        (SHELL.test(call.name) || /\.(?:ba|z)?sh$/.test(name) || call.name === 'source' || call.name === '.'))
    const texts = isShell ? readings(text, call.name) : [text]
    return texts.map((one) => ({ name, text: one, folder, call, language: isShell ? 'shell' : 'other' }))
  }
  return []
}

function readings(text: string, shell: string): readonly string[] {
  const other = asDash(shell, text)
  return other === undefined ? [text] : [text, other]
}

/** `bash x.sh`, `./x.sh`, `python x.py`. */
function fileOf(call: Call): string | undefined {
  const { name, command } = call
  if (isRunner(name)) {
    const file = scriptWord(call)
    return file?.known ? file.text : undefined
  }
  return command.program.includes('/') && !/^\/(?:usr|s?bin|opt)\//.test(command.program)
    ? command.program
    : undefined
}

const isRunner = remembered(
  (name) => SHELL.test(name) || name === 'source' || name === '.' || isInterpreter(name),
)

/** The word that names the script that a shell or another interpreter runs. */
export function scriptWord({ name, args }: Call): Word | undefined {
  if (!isRunner(name)) return undefined
  const code = SHELL.test(name) ? /^-\w*[cs]/ : /^-\w*[ceEpsm]|^--(?:eval|print|check)/
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as Word
    if (!/^[-+]/.test(word.text)) return word
    if (code.test(word.text)) return undefined
    if (SHELL.test(name) && /^[-+]\w*[oO]$|^--(?:rcfile|init-file)$/.test(word.text)) i++
  }
  return undefined
}

/** The text that the same script writes there: `cat > x.sh <<EOF`, `echo … > x.sh`. */
function writtenHere(path: string, { calls, outputs }: Script): string | undefined {
  const isWritten = outputs.some(({ words, folders }) =>
    words.some(({ text }) => folders.some((folder) => posix.resolve(folder, text) === path)),
  )
  const input = isWritten
    ? calls.flatMap((call) => {
        if (call.name === 'cat' || call.name === 'tee') return call.input
        return PRINTERS.test(call.name) ? [call.args.map(({ text }) => text).join(' ')] : []
      })
    : []
  return input.length > 0 ? input.join('\n') : undefined
}

const PRINTERS = /^(?:echo|printf)$/

function textOf(path: string): string | undefined {
  // Most are missing, and an error takes longer than this look.
  if (!existsSync(path)) return undefined
  try {
    const found = readPlain(realOf(path), MAX_BYTES)
    return 'text' in found ? found.text : undefined
  } catch {
    return undefined
  }
}

// ---- package.json -----------------------------------------------------------------------------------------------

const RUNNERS = /^(?:npm|pnpm|yarn|bun)$/
const SHORT = /^(?:test|start|stop|restart|t|tst)$/

const runsPackages = remembered((name) => RUNNERS.test(name))

/** Options that name the folder of the package. */
const IN_FOLDER = /^(?:--prefix|-C|--dir|--cwd)$/

/** `npm run build`, `npm test`, `yarn build`, with the hooks around it. */
function ofPackage(call: Call): readonly StoredScript[] {
  const texts = call.args.map(({ text }) => text)
  const given = optionValue(texts, IN_FOLDER)
  const folders = call.folders.map((folder) => (given === undefined ? folder : posix.resolve(folder, given)))
  for (const at of verbIndexes(texts)) {
    const found = scriptsNamed(scriptName(call.name, texts.slice(at)), folders, call)
    if (found.length > 0) return found
  }
  return []
}

function scriptName(program: string, words: readonly string[]): string | undefined {
  const [verb = '', given] = words.filter((text) => !text.startsWith('-'))
  if (/^run(?:-script)?$/.test(verb)) return given
  if (SHORT.test(verb)) return verb.replace(/^ts?t?$/, 'test')
  return program === 'npm' ? undefined : verb
}

function scriptsNamed(
  script: string | undefined,
  folders: readonly string[],
  call: Call,
): readonly StoredScript[] {
  if (!script) return []
  for (const folder of folders) {
    const scripts = scriptsIn(posix.join(folder, 'package.json'))
    const found = [`pre${script}`, script, `post${script}`].flatMap((name) => {
      const text = Object.hasOwn(scripts, name) ? scripts[name] : undefined
      return typeof text === 'string'
        ? [{ name: `package.json ${name}`, text, folder, call, language: 'shell' } as const]
        : []
    })
    if (found.length > 0) return found
  }
  return []
}

function scriptsIn(path: string): Readonly<Record<string, unknown>> {
  const text = textOf(path)
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && isObject(value.scripts) ? value.scripts : {}
  } catch {
    // npm refuses such a file too.
    return {}
  }
}
