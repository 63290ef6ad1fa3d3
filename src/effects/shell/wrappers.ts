// Programs that run what their arguments say, by name.

import { before, commandsBehind, type Inner, type Options, UNSEEN, type Wrapper } from './inner-command.js'
import { SCRIPT_RUNNERS } from './script-runners.js'
import { joined, literal, MORE, OPEN, type ShellWord } from './simple-command.js'

/** Tells what a program does with its arguments. Undefined if it is not known to run anything else. */
export function wrapperOf(name: string): Wrapper | undefined {
  return WRAPPERS.get(name)
}

/** Whether a line that starts with this name may run more than that program. */
export function isSpecial(name: string): boolean {
  return SPECIAL.has(name)
}

const ARCH: Options = { flags: 'BFILRSTXZ3v' }

/** The options between a program and its command. */
const BEFORE: Readonly<Record<string, Options>> = {
  builtin: {},
  busybox: {},
  caffeinate: { flags: 'dimsu', valued: 'tw' },
  // Carabiner's own client: it may run any program, not only Node.
  clip: {},
  chrt: { flags: 'abfiormpv', valued: 'TPD', operands: 1 },
  exec: { flags: 'cl', valued: 'a' },
  fakeroot: { flags: 'uhv', valued: 'lsib', long: ['--lib', '--faked'] },
  ...Object.fromEntries(['i386', 'linux32', 'linux64', 'x86_64', 'uname26'].map((name) => [name, ARCH])),
  ionice: { flags: 't', valued: 'cnpPu', long: ['--class', '--classdata'], longFlags: ['--ignore'] },
  ltrace: { flags: 'bcCfihLrStTV', valued: 'aADeFlnopsuwxX' },
  nice: { valued: 'n', long: ['--adjustment'] },
  nocorrect: {},
  noglob: {},
  nohup: {},
  pkexec: { long: ['--user'], longFlags: ['--disable-internal-agent', '--keep-cwd'] },
  prlimit: { flags: 'hV', valued: 'o', longFlags: ['--noheadings', '--raw', '--verbose'] },
  setpriv: { longFlags: ['--clear-groups', '--keep-groups', '--no-new-privs', '--init-groups'] },
  setsid: { flags: 'cfw', longFlags: ['--ctty', '--fork', '--wait'] },
  stdbuf: { valued: 'ioe', long: ['--input', '--output', '--error'] },
  strace: { flags: 'cCdDfFhikqrtTvVxyYzZ', valued: 'abeEIoOpPsSuUX' },
  'systemd-run': {
    flags: 'dGPqrSt',
    valued: 'EHMpuU',
    long: ['--host', '--machine', '--property', '--setenv', '--slice', '--uid', '--unit'],
    longFlags: ['--collect', '--pipe', '--pty', '--quiet', '--scope', '--shell', '--user', '--wait'],
  },
  taskset: { flags: 'ac', operands: 1, longFlags: ['--all-tasks', '--cpu-list'] },
  time: { flags: 'apqvV', valued: 'fo', long: ['--format', '--output'], longFlags: ['--portability'] },
  timeout: {
    flags: 'fpv',
    valued: 'ks',
    long: ['--kill-after', '--signal'],
    longFlags: ['--foreground', '--preserve-status', '--verbose'],
    operands: 1,
  },
  toybox: {},
  unbuffer: { flags: 'p' },
}

const ARCHITECTURE =
  /^(?:x86_64|i[3-6]86|linux(?:32|64)|aarch64|arm|ppc|s390|mips|sparc|riscv|alpha|ia64|parisc|uname26)/

/** The architecture may be missing. */
const setarch: Wrapper = (args) => before(ARCH)(ARCHITECTURE.test(args[0]?.text ?? '') ? args.slice(1) : args)

/** `command -v` only shows where a program is. */
const command: Wrapper = (args) => (/^-p?[vV]/.test(args[0]?.text ?? '') ? {} : commandItself(args))

const commandItself = before({ flags: 'p' })

// ---- as another user, in another environment ------------------------------------------------------------------------

const SUDO: Options = {
  flags: 'AbBEeHiKklNnPSsVv',
  valued: 'aCcDghpRrTtUu',
  long: [
    ...['--auth-type', '--chdir', '--chroot', '--close-from', '--command-timeout', '--group', '--host'],
    ...['--login-class', '--other-user', '--prompt', '--role', '--type', '--user'],
  ],
  longFlags: [
    ...['--askpass', '--background', '--bell', '--edit', '--list', '--login', '--no-update', '--shell'],
    ...['--non-interactive', '--preserve-env', '--preserve-groups', '--set-home', '--stdin', '--validate'],
  ],
  assignments: true,
}

/** These start a shell if there is no command. */
const OR_SHELL: Readonly<Record<string, Options>> = {
  chroot: { operands: 1, long: ['--userspec', '--groups'], longFlags: ['--skip-chdir'] },
  doas: { flags: 'Lns', valued: 'uCa' },
  nsenter: { flags: 'aeFZWmuinpCUT', valued: 'tSGwr', long: ['--target', '--setuid', '--setgid'] },
  sudo: SUDO,
  unshare: { flags: 'cfimnprTuUC', valued: 'GRSw', long: ['--root', '--wd', '--setuid', '--setgid'] },
}

const orShell = (options: Options): Wrapper => {
  const behind = before(options)
  return (args) => {
    const inner = behind(args)
    if (args.some(runsLater)) return { ...inner, unseen: true }
    return { ...inner, readsInput: inner.commands?.length === 0 }
  }
}

const ENV: Options = {
  flags: 'i0v',
  valued: 'uCPa',
  long: ['--unset', '--chdir', '--argv0'],
  longFlags: ['--ignore-environment', '--null', '--debug'],
  assignments: true,
}

const behindEnv = before(ENV)

/** `-S 'rm x'` is a line that env splits itself. It may also be an option of the command after it. */
const env: Wrapper = (args) => {
  const inner = args.some(runsLater) ? { ...behindEnv(args), unseen: true } : behindEnv(args)
  const at = args.findIndex(({ text }) => SPLIT.test(text))
  if (at < 0) return inner
  const { text, shape, splits } = joined(args.slice(at))
  const line = { text: text.replace(SPLIT, ''), shape: shape.replace(SPLIT, ''), splits }
  // Its escapes differ from the shell's: `rm\_x` is two words.
  return { ...inner, scripts: [line], unseen: inner.unseen || text.includes('\\') }
}

/** GNU programs accept shortened long options. */
const SPLIT = /^(?:-[iv0]*S|--s(?:p(?:l(?:i(?:t(?:-\w*)?)?)?)?)?(?:=|$| ))\s*/

// ---- what the shell runs later ----------------------------------------------------------------------------------

/** Variables with text that a shell runs before something else, and functions and aliases from the environment. */
export function runsLater({ text }: { readonly text: string }): boolean {
  return RUN_LATER.test(text) || (EXPANDED_LATER.test(text) && /[$`]/.test(text))
}

const RUN_LATER = /^(?:PROMPT_COMMAND|BASH_ALIASES|BASH_CMDS)[+=[]|^BASH_FUNC_/
const EXPANDED_LATER = /^(?:PS[0-4]|BASH_ENV|ENV)\+?=/

const declare: Wrapper = (args) => (args.some(runsLater) ? UNSEEN : NOTHING)

const NOTHING: Inner = {}

/** Replaces a name from now on, in shells that expand aliases. */
const alias: Wrapper = (args) => {
  const scripts: ShellWord[] = []
  for (const { text, shape, splits } of args) {
    const at = text.indexOf('=')
    if (at > 0 || splits) scripts.push({ text: text.slice(at + 1), shape: shape.slice(at + 1), splits })
  }
  // A here-document in it takes its text from what follows the alias.
  return { scripts, unseen: scripts.some(({ text }) => /<<|\n/.test(text)) }
}

/** `hash -p /bin/rm git` turns `git` into another program. */
const hash: Wrapper = (args) => {
  const at = args.findIndex(({ text }) => /^-\w*p/.test(text))
  if (at < 0) return NOTHING
  return args[at]?.text.endsWith('p') && args[at + 1] ? { commands: [args.slice(at + 1)] } : UNSEEN
}

// ---- a command for each item of a list. The items are unknown -------------------------------------------------

const XARGS: Options = {
  flags: '0oprtxielX',
  valued: 'adEIJLnPRSs',
  long: [...['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-procs', '--process-slot-var']],
  longFlags: [
    ...['--null', '--no-run-if-empty', '--interactive', '--verbose', '--exit', '--open-tty'],
    // Their value follows a `=`, or there is none.
    ...['--replace', '--max-lines', '--eof'],
  ],
}

/** The arguments go at the end of the command, or replace a marker. */
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

/** Its words are a script, run for each input line or each word after `:::`. Without words, those are the scripts. */
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

/** Options of find, where `-regex` is a test, and of fd, where `-tfx` is three options. */
const FIND_EXEC = /^-(?:exec|execdir|ok|okdir)$/
const FD_EXEC = /^(?:-\w*[xX]|--exec(?:-batch)?(?:=.*)?)$/s

const each =
  (exec: RegExp): Wrapper =>
  (args) => {
    const commands: ShellWord[][] = []
    let current: ShellWord[] | undefined
    for (const word of args) {
      const { text } = word
      if (current && (text === ';' || (text === '+' && current.at(-1)?.text === '{}'))) current = undefined
      else if (current) current.push(word)
      else if (exec.test(text)) {
        const at = text.indexOf('=')
        current = at < 0 ? [] : [{ ...word, text: text.slice(at + 1), shape: word.shape.slice(at + 1) }]
        commands.push(current)
      }
    }
    return found(commands, args)
  }

function found(commands: readonly ShellWord[][], args: readonly ShellWord[]): Inner {
  const named = commands.filter(({ length }) => length > 0)
  // A glob gives files, but a variable may contain an -exec.
  const unseen = args.some(({ splits, text }) => splits && /[$`{]/.test(text))
  return { commands: named.map((words) => filledIn(words)), unseen }
}

// ---- the table ------------------------------------------------------------------------------------------------

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ...Object.entries(BEFORE).map(([name, options]) => [name, before(options)] as const),
  ...Object.entries(OR_SHELL).map(([name, options]) => [name, orShell(options)] as const),
  ...SCRIPT_RUNNERS,
  ['xargs', xargs],
  ['parallel', parallel],
  ['find', each(FIND_EXEC)],
  ...['fd', 'fdfind'].map((name) => [name, each(FD_EXEC)] as const),
  ...['export', 'declare', 'typeset', 'local', 'readonly'].map((name) => [name, declare] as const),
  ['command', command],
  ['setarch', setarch],
  ['env', env],
  ['alias', alias],
  ['hash', hash],
])

/** Keywords also change the meaning of what follows. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...WRAPPERS.keys(),
  ...['if', 'then', 'elif', 'else', 'fi', 'case', 'in', 'esac', 'for', 'while', 'until', 'do', 'done'],
  ...['select', 'function', 'coproc', 'time'],
])
