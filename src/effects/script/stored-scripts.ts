// Scripts in files that a call would run: of shells and other languages, and those of package.json.

import { closeSync, openSync, readSync } from 'node:fs'
import { posix } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { realOf } from '../../files/within.js'
import { optionValue, verbIndexes } from '../program.js'
import { remembered } from '../remembered.js'
import { asDash } from '../shell/script-runners.js'
import { isMake, makeScripts } from './make-scripts.js'
import { isInterpreter } from './program-code.js'
import type { Call, Script } from './shell-script.js'
import { knownText, storedText } from './stored-text.js'
import type { Word } from './word.js'
import { writtenText } from './written-file.js'

export interface StoredScript {
  /** As the call names it. */
  readonly name: string
  readonly text: string
  readonly folder: string
  readonly call: Call
  /** Of an unread script, `text` says why. */
  readonly language: 'shell' | 'other' | 'unread'
  /** Whether the command itself says the whole text. */
  readonly isGiven?: boolean
}

const MOST = 20

const SHELL = /^(?:ba|da|z|k|mk|a)?sh$/

export const UNREAD_FILE = 'a script that it runs cannot be read: it is too big, or not a text'
export const UNREAD_WRITTEN = 'it writes a script that is only known when it runs'

export type WritesFile = (call: Call, path: string) => boolean

/** `writes`: whether a call changes a file. */
export function storedScripts(script: Script, writes: WritesFile): readonly StoredScript[] {
  const found: StoredScript[] = []
  for (const call of script.calls) {
    if (found.length >= MOST || call.isGuess) break
    if (runsPackages(call.name)) found.push(...ofPackage(call))
    if (isMake(call.name)) found.push(...ofMake(call, script, writes))
    for (const name of filesOf(call, script)) found.push(...inFile(name, call, script, writes))
  }
  return found
}

/** Recipes are scripts, with the name of their makefile. */
function ofMake(call: Call, script: Script, writes: WritesFile): readonly StoredScript[] {
  let isUnread = false
  const textOf = (path: string) => {
    const written = writtenText(path, script, knownText, writes)
    isUnread ||= written !== undefined && written.texts === undefined
    const stored = written && !written.isAppended ? undefined : knownText(path)
    const texts = [stored, written?.texts?.[0]].filter((text) => text !== undefined)
    return texts.length > 0 ? texts.join('\n') : undefined
  }
  const found = makeScripts(call, textOf).map((one) => ({ ...one, call, language: 'shell' }) as const)
  if (!isUnread) return found
  const [folder = ''] = call.folders
  return [...found, { name: call.name, text: UNREAD_WRITTEN, folder, call, language: 'unread' }]
}

// ---- files ------------------------------------------------------------------------------------------------------

function inFile(name: string, call: Call, script: Script, writes: WritesFile): readonly StoredScript[] {
  if (/[$`*?]/.test(name)) return []
  for (const folder of call.folders) {
    const path = posix.resolve(folder, name)
    const written = writtenText(path, script, knownText, writes)
    const stored = written && !written.isAppended ? undefined : storedText(path)
    if (!written && stored === undefined) continue
    const made = (text: string, language: StoredScript['language']) => ({
      name,
      text,
      folder,
      call,
      language,
      isGiven: stored === undefined,
    })
    const found: StoredScript[] = []
    if (written && written.texts === undefined) found.push(made(UNREAD_WRITTEN, 'unread'))
    if (stored && typeof stored !== 'string' && !isBinary(path, call)) found.push(made(UNREAD_FILE, 'unread'))
    for (const added of written?.texts ?? [undefined]) {
      const texts = [stored, added].filter((text) => typeof text === 'string')
      if (texts.length === 0) continue
      const text = texts.join('\n')
      for (const language of languagesOf(text, call))
        for (const one of language === 'shell' ? readings(text, call.name) : [text])
          found.push(made(one, language))
    }
    return found
  }
  return []
}

/** Only programs that are started by their name look at the first line. */
function languagesOf(text: string, { name }: Call): readonly ('shell' | 'other')[] {
  const [first = ''] = text.split('\n', 1)
  const isForShell = /^#!.*\b(?:ba|da|z|k)?sh\b/.test(first)
  if (SHELL.test(name) || isSource(name)) return ['shell']
  if (isInterpreter(name)) return isForShell ? ['shell', 'other'] : ['other']
  return isForShell || !first.startsWith('#!') ? ['shell'] : ['other']
}

function isSource(name: string): boolean {
  return name === 'source' || name === '.'
}

function readings(text: string, shell: string): readonly string[] {
  const other = asDash(shell, text)
  return other === undefined ? [text] : [text, other]
}

/** Interpreters whose input is a program, and no data. */
const READS_PROGRAM =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|tclsh)$/

/** `bash x.sh`, `./x.sh`, `python x.py`, `sh < x.sh`, `cat x.py | python`, `BASH_ENV=x.sh bash`. */
function filesOf(call: Call, { assignments }: Script): readonly string[] {
  const { name, command, args, inputFiles, readsFrom } = call
  if (!isRunner(name))
    return command.program.includes('/') && !/^\/(?:usr|s?bin|opt)\//.test(command.program)
      ? [command.program]
      : []
  const isShell = SHELL.test(name)
  const file = scriptWord(call)
  const words = file === undefined ? [] : [file]
  const takesCode = args.some(({ text }) =>
    (isShell ? /^-\w*c/ : /^-\w*[ceEpm]|^--(?:eval|print)/).test(text),
  )
  if (file === undefined && !takesCode && (isShell || READS_PROGRAM.test(name))) {
    const [source] = readsFrom
    words.push(...inputFiles)
    if (source?.name === 'cat') words.push(...source.args.filter(({ text }) => !text.startsWith('-')))
  }
  if (isShell) words.push(...args.filter((_, i) => /^--(?:rcfile|init-file)$/.test(args[i - 1]?.text ?? '')))
  const loaded = isShell ? assignments.flatMap((one) => /^(?:BASH_ENV|ENV)=(.+)$/s.exec(one)?.[1] ?? []) : []
  return [...new Set([...words.filter(({ known }) => known).map(({ text }) => text), ...loaded])]
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

const MAGIC = ['7f454c46', 'feedface', 'feedfacf', 'cefaedfe', 'cffaedfe', 'cafebabe', '4d5a']

/** A compiled program that is started by its name. Shells and other interpreters would read it as a script. */
function isBinary(path: string, { name }: Call): boolean {
  if (isRunner(name)) return false
  const start = Buffer.alloc(4)
  try {
    const file = openSync(realOf(path), 'r')
    try {
      readSync(file, start)
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
  const hex = start.toString('hex')
  return MAGIC.some((magic) => hex.startsWith(magic))
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
  const text = knownText(path)
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && isObject(value.scripts) ? value.scripts : {}
  } catch {
    // npm refuses such a file too.
    return {}
  }
}
