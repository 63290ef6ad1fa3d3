// Programs that run a script: shells, and programs that pass a line to one.

import { before, commandsBehind, type Inner, type Options, UNSEEN, type Wrapper } from './inner-command.js'
import { cutFront, isDescriptor, isOpen, joined, type ShellWord } from './simple-command.js'

/** The script follows `-c`, is in a file, or comes from standard input. */
const shell: Wrapper = (args) => {
  const { at, given, comesIn, unseen } = shellOptions(args)
  const operand = args[at]
  if (unseen) return UNSEEN
  if (given) return operand ? { scripts: [operand] } : UNSEEN
  if (!operand || comesIn) return { readsInput: true }
  return fileOf(args.slice(at))
}

/** A file is named like any program, but not read. */
function fileOf(words: readonly ShellWord[]): Inner {
  const [file] = words
  if (!file) return {}
  return isOpen(file) || isDescriptor(file.text) ? UNSEEN : { commands: [words] }
}

function shellOptions(args: readonly ShellWord[]) {
  const found = { at: 0, given: false, comesIn: false, unseen: false }
  for (; found.at < args.length; found.at++) {
    const word = args[found.at] as ShellWord
    const { text } = word
    if (isOpen(word) || !/^[-+]/.test(text)) break
    if (text === '--' || text === '-') {
      found.at++
      break
    }
    let values = 0
    if (text.startsWith('--')) values = /^--(?:rcfile|init-file)$/.test(text) ? 1 : 0
    else {
      found.given ||= /^-.*c/.test(text)
      found.comesIn ||= /^-.*s/.test(text)
      values = text.match(/[oO]/g)?.length ?? 0
    }
    for (const value of args.slice(found.at + 1, found.at + 1 + values)) found.unseen ||= isOpen(value)
    found.at += values
  }
  return found
}

/** Their language is similar, but not the same. */
const otherShell: Wrapper = (args) => {
  const inner = shell(args)
  return { ...inner, unseen: inner.unseen || inner.scripts !== undefined }
}

// ---- after an option --------------------------------------------------------------------------------------------

/** `su -c`, `script -c`. */
function behindC(args: readonly ShellWord[]): Inner {
  if (args.some(({ splits }) => splits)) return UNSEEN
  const scripts: ShellWord[] = []
  for (const [i, word] of args.entries()) {
    const option = /^(?:-[a-zA-Z]*?c|--c\w*(=|$))/.exec(word.text)
    if (!option) continue
    const attached = word.text.length > option[0].length || option[1] === '='
    const script = attached ? cutFront(word, option[0].length) : args[i + 1]
    if (!script) return UNSEEN
    scripts.push(script)
  }
  return scripts.length > 0 ? { scripts } : {}
}

/** Without a script it starts a shell. */
const su: Wrapper = (args) => ({ readsInput: true, ...behindC(args) })

const RUNUSER: Options = {
  flags: 'flmpP',
  valued: 'ugGsw',
  long: ['--user', '--group', '--supp-group', '--shell', '--whitelist-environment'],
  longFlags: ['--fast', '--login', '--preserve-environment', '--pty'],
}

/** With `-u` it runs a command as it is. Otherwise it works like su. */
const runuser: Wrapper = (args) => {
  if (!args.some(({ text }) => /^-\w*u|^--u/.test(text))) return su(args)
  return before(RUNUSER)(args)
}

const FLOCK: Options = { flags: 'enosuxFv', valued: 'wE', operands: 1 }

/** `flock FILE -c SCRIPT`, or a command as it is. */
const flock: Wrapper = (args) => {
  const commands = commandsBehind(args, FLOCK)
  if (!commands) return UNSEEN
  const isScript = ([first]: readonly ShellWord[]) => /^-c|^--c/.test(first?.text ?? '')
  const lines = commands.filter(isScript).map(behindC)
  return {
    commands: commands.filter((words) => !isScript(words)),
    scripts: lines.flatMap(({ scripts = [] }) => scripts),
    unseen: lines.some(({ unseen }) => unseen),
  }
}

// ---- all remaining words ----------------------------------------------------------------------------------------

const evaluate: Wrapper = (args) => {
  const words = args[0]?.text === '--' ? args.slice(1) : args
  return words.length > 0 ? { scripts: [joined(words)] } : {}
}

const trap: Wrapper = (args) => {
  const [script] = args[0]?.text === '--' ? args.slice(1) : args
  if (!script || (args.length < 2 && !script.splits) || /^-[lpP]?$/.test(script.text)) return {}
  return { scripts: [script] }
}

/** The words after its options are a line for a shell. */
function lineBehind(options: Options): Wrapper {
  return (args) => {
    const commands = commandsBehind(args, options)
    if (!commands) return UNSEEN
    return commands.length > 0 ? { scripts: commands.map(joined) } : { readsInput: true }
  }
}

const WATCH: Options = { flags: 'bcCdegprtwx', valued: 'nqs', long: ['--interval', '--equexit'] }
const SSH: Options = { flags: '46AaCfGgKkMNnqsTtVvXxYy', valued: 'BbcDEeFIiJLlmOoPpQRSWw' }

/** Options may come before and after the host. Some of them are commands that run locally. */
const ssh: Wrapper = (args) => {
  if (args.some(({ text }) => /command[= ]/i.test(text))) return UNSEEN
  const behindHost = lineBehind(SSH)
  const lines = commandsBehind(args, SSH)?.map(([, ...words]) => behindHost(words))
  if (!lines || lines.some(({ unseen }) => unseen)) return UNSEEN
  const scripts = lines.flatMap((line) => line.scripts ?? [])
  return { scripts, readsInput: scripts.length === 0 }
}

const source: Wrapper = (args) => fileOf(args[0]?.text === '--' ? args.slice(1) : args)

// ---- callbacks of bash ------------------------------------------------------------------------------------------

const CALLBACK = /^-\w*C/

const mapfile: Wrapper = (args) => {
  const at = args.findIndex(({ text }) => CALLBACK.test(text))
  const script = args[at + 1]
  if (at < 0) return {}
  return args[at]?.text.endsWith('C') && script ? { scripts: [script] } : UNSEEN
}

/** Completions run a command (-C) and expand a list (-W). */
const complete: Wrapper = (args) => ({
  unseen: args.some(({ text }) => CALLBACK.test(text) || /[$`]/.test(text)),
})

const readsInput: Wrapper = () => ({ readsInput: true })

/** `sh` may be bash or dash. To dash, the dollar sign of `$'…'` and `$"…"` is only a letter. */
export function asDash(shell: string, text: string): string | undefined {
  return /^(?:sh|dash|ash)$/.test(shell) && /\$['"]/.test(text)
    ? text.replace(/\$(?=['"])/g, '\\$')
    : undefined
}

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'rbash', 'yash']

export const SCRIPT_RUNNERS: readonly (readonly [string, Wrapper])[] = [
  ...SHELLS.map((name) => [name, shell] as const),
  ...['fish', 'csh', 'tcsh'].map((name) => [name, otherShell] as const),
  ['su', su],
  ['runuser', runuser],
  ['flock', flock],
  ['script', su],
  ['eval', evaluate],
  ['trap', trap],
  ['watch', lineBehind(WATCH)],
  ['ssh', ssh],
  ['source', source],
  ['.', source],
  ['mapfile', mapfile],
  ['readarray', mapfile],
  ['compgen', complete],
  ['complete', complete],
  ['at', readsInput],
  ['batch', readsInput],
]
