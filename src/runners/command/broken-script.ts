// Exit code 2 that the hook did not choose: a shell exits with 2 on a syntax error, and Python if the script is missing.

import { bashOnly } from '../../effects/shell/bash-only.js'
import { readShell, type ShellReading } from '../../effects/shell/shell-reading.js'
import { OPEN } from '../../effects/shell/simple-command.js'
import type { Ending } from './execution.js'
import type { Program } from './programs.js'

/** The start of a line, up to the script that it names. A name may have any character. */
const NAMED = '(?<script>.+?)'
const SHELL = `(?:/.*/)?(?:ba|da|a|k|mk)?sh`

/** What interpreters say about a script that they cannot run. Only the named script makes such a line theirs. */
const REFUSALS: readonly RegExp[] = [
  // bash and busybox; bash repeats the line of the script after it
  String.raw`${NAMED}: line \d+: syntax error\b.*`,
  String.raw`${NAMED}: line \d+: unexpected EOF while looking for matching .*`,
  // dash
  String.raw`${NAMED}: \d+: Syntax error: .*`,
  String.raw`${NAMED}: \d+: (?:Bad substitution|arithmetic expression: .*|\w+: (?:parameter not set|is read only)|\.: (?:cannot|Can't) open .*)`,
  // the script is missing
  `${SHELL}: 0: (?:cannot open|Can't open) ${NAMED}(?:: [^:]*)?`,
  `${SHELL}: can't open '${NAMED}'(?:: [^:]*)?`,
  String.raw`${SHELL}: (?:(?:line )?\d+: )?${NAMED}: (?:No such file or directory|not found|Permission denied)`,
  String.raw`(?:/.*/)?[Pp]ython[\d.]*: can't open file '?${NAMED}'?: \[Errno \d+\] .*`,
  `Can't open perl script "${NAMED}": .*`,
].map((form) => new RegExp(`^${form}$`))

/** bash shows the line of the script under its message. */
const SHOWN_LINE = /^.+: line \d+: `.*'$/

const LONGEST = 1000

/**
 * The interpreter's message, if a hook ended with 2 only because its interpreter could not run its script. Undefined for
 * every other ending: a hook that refuses on purpose, also with such a message about somebody else's script.
 */
export function brokenScript(
  { code, stdout, stderr, cut }: Ending,
  program: Pick<Program, 'file' | 'args'>,
): string | undefined {
  if (code !== 2 || cut || stdout.trim() !== '') return undefined
  const message = lastMessage(stderr)
  if (message === undefined) return undefined
  for (const form of REFUSALS) {
    const script = form.exec(message)?.groups?.script
    if (script !== undefined && isOwn(script, program)) return message
  }
  return undefined
}

/** A shell runs a script line by line, so the script may have printed something before. */
function lastMessage(stderr: string): string | undefined {
  const lines = stderr.trimEnd().split('\n')
  const last = lines.pop()
  const message = last !== undefined && SHOWN_LINE.test(last) ? lines.pop() : last
  return message !== undefined && message.length <= LONGEST ? message : undefined
}

// ---- whether the script is the hook's own -----------------------------------------------------------------------

function isOwn(named: string, { file, args }: Pick<Program, 'file' | 'args'>): boolean {
  const [option, command = ''] = args
  if (option !== '-c' || !isShell(file)) return scriptsOf([file, ...args]).some((word) => fits(word, named))
  const reading = readShell(command)
  if (named === file || named === `${file}: -c`) return isUnreadable(reading)
  const calls = reading.commands.map(({ shapes }) => shapes)
  if (calls.some(onlyParses)) return false
  return calls.flatMap(scriptsOf).some((word) => fits(word, named))
}

/** Otherwise the message is about a text that another shell was given. */
function isUnreadable({ malformed, source }: ShellReading): boolean {
  return malformed || bashOnly(source) !== undefined
}

function isShell(program: string): boolean {
  return new RegExp(`^${SHELL}$`).test(program)
}

/** `bash -n FILE` judges a file: then the syntax error is in what was judged. */
function onlyParses([program = '', ...words]: readonly string[]): boolean {
  return isShell(program) && words.some((word) => /^-[A-Za-z]*n/.test(word))
}

const INTERPRETER = new RegExp(String.raw`^(?:${SHELL}|(?:/.*/)?(?:python[\d.]*|perl))$`)
/** Options with a value, and options after which there is no script. */
const TAKES_VALUE = /^[-+][A-Za-z]*[oOWX]$/
const NO_SCRIPT = /^-[A-Za-z]*[cmsen]$/

/** The script that a call runs: its program, or the first operand of an interpreter. */
function scriptsOf([program = '', ...words]: readonly string[]): readonly string[] {
  if (!INTERPRETER.test(program)) return program.includes('/') ? [program] : []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string
    if (TAKES_VALUE.test(word)) i++
    else if (isShell(program) ? /^-[A-Za-z]*[cn]/.test(word) : NO_SCRIPT.test(word)) return []
    else if (!/^[-+]/.test(word)) return [word]
  }
  return []
}

/** `word` has OPEN where only the shell knows the text. Python completes a relative path. */
function fits(word: string, named: string): boolean {
  const pieces = word.replace(/^\.\//, '').split(OPEN)
  if (pieces.every((piece) => /^\/?$/.test(piece))) return false
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)]
  if (named === word || named === first) return true
  // A reason may also end with the name of the script.
  if (pieces.length > 1) return /^[/.]/.test(named) && named.startsWith(first) && named.endsWith(last)
  return !first.startsWith('/') && named.startsWith('/') && named.endsWith(`/${first}`)
}
