// Programs that run a command for each thing of a list: xargs, parallel, find. What they put in is not known.

import { commandsBehind, type Options } from './command-options.js'
import { type Inner, UNSEEN, type Wrapper } from './inner.js'
import { joined, literal, MORE, OPEN, type ShellWord } from './shell-word.js'

const XARGS: Options = {
  flags: '0oprtxielX',
  valued: 'adEIJLnPRSs',
  long: [...['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-procs', '--process-slot-var']],
  longFlags: [
    ...['--null', '--no-run-if-empty', '--interactive', '--verbose', '--exit', '--open-tty'],
    // Their value is behind a `=` or there is none.
    ...['--replace', '--max-lines', '--eof'],
  ],
}

/** The command gets its arguments at its end or in the place of a marker. */
const xargs: Wrapper = (args) => {
  const commands = commandsBehind(args, XARGS)
  if (!commands) return UNSEEN
  if (commands.length === 0) return { commands: [[literal('echo'), MORE]] }
  const markers = markersOf(args)
  return { commands: commands.map((words) => [...filled(words, markers), MORE]) }
}

/** `-I %`, `-I%`, `-i`, `--replace=%` */
function markersOf(args: readonly ShellWord[]): string[] {
  const markers: string[] = []
  for (const [i, { text }] of args.entries()) {
    const [, letter, attached] = /^(?:-[^-IiJ]*([IiJ])|--r[a-z]*=?)(.*)$/s.exec(text) ?? []
    const apart = letter === 'I' || letter === 'J' ? args[i + 1]?.text : '{}'
    if (attached !== undefined) markers.push(attached || apart || '{}')
  }
  return markers
}

function filled(words: readonly ShellWord[], markers: readonly string[]): ShellWord[] {
  return words.map((word) => {
    const shape = markers.reduce((text, marker) => text.replaceAll(marker, OPEN), word.shape)
    return { ...word, shape }
  })
}

const PARALLEL: Options = {
  flags: '0kqtuvXm',
  valued: 'adEIjJLlnNPsSWC',
  long: ['--jobs', '--max-args', '--max-procs', '--delay', '--joblog', '--colsep', '--sshlogin', '--timeout'],
  longFlags: ['--bar', '--dry-run', '--eta', '--keep-order', '--null', '--pipe', '--progress', '--will-cite'],
}

/** Its words are a script, for each line that comes in or each word behind `:::`; without words those are scripts. */
const parallel: Wrapper = (args) => {
  const lists = args.findIndex(({ text }) => /^:::/.test(text))
  const words = lists < 0 ? args : args.slice(0, lists)
  const commands = commandsBehind(words, PARALLEL)
  if (!commands?.length) return UNSEEN
  return { scripts: commands.map((command) => joined([...filledIn(command), MORE])), unseen: lists < 0 }
}

/** `{}`, `{.}`, `{1}`, `{= perl =}` */
function filledIn(words: readonly ShellWord[]): ShellWord[] {
  return words.map((word) => ({ ...word, shape: word.shape.replace(/\{[^{}]*\}/g, OPEN) }))
}

/** Of find, and of fd. */
const EXEC = /^(?:-exec|-execdir|-ok|-okdir|-\w*[xX]|--exec(?:-batch)?(?:=.*)?)$/s

const find: Wrapper = (args) => {
  const commands: ShellWord[][] = []
  let current: ShellWord[] | undefined
  for (const word of args) {
    const { text } = word
    if (current && (text === ';' || (text === '+' && current.at(-1)?.text === '{}'))) current = undefined
    else if (current) current.push(word)
    else if (EXEC.test(text)) {
      const at = text.indexOf('=')
      current = at < 0 ? [] : [{ ...word, text: text.slice(at + 1), shape: word.shape.slice(at + 1) }]
      commands.push(current)
    }
  }
  return found(commands, args)
}

function found(commands: readonly ShellWord[][], args: readonly ShellWord[]): Inner {
  const named = commands.filter(({ length }) => length > 0)
  // A glob brings files; a variable may bring an -exec.
  const unseen = args.some(({ splits, text }) => splits && /[$`{]/.test(text))
  return { commands: named.map((words) => filledIn(words)), unseen }
}

export const LIST_RUNNERS: readonly (readonly [string, Wrapper])[] = [
  ['xargs', xargs],
  ['parallel', parallel],
  ['find', find],
  ['fd', find],
  ['fdfind', find],
]
