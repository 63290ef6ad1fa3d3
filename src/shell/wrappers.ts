// Programs that run what their arguments say: which command or script that is.

import { commandsBehind, type Options } from './command-options.js'
import { isOpen, joined, MORE, OPEN, type ShellWord } from './shell-word.js'

/** What a call runs beside itself. */
export interface Inner {
  readonly commands?: readonly (readonly ShellWord[])[]
  readonly scripts?: readonly ShellWord[]
  /** It reads a script from its standard input. */
  readonly readsInput?: boolean
  /** It runs something that cannot be named. */
  readonly unseen?: boolean
}

type Wrapper = (args: readonly ShellWord[]) => Inner

/** What the program behind `name` runs; undefined for one that runs nothing else that is known. */
export function innerOf(name: string, args: readonly ShellWord[]): Inner | undefined {
  return WRAPPERS.get(name)?.(args)
}

// ---- in front of a command ------------------------------------------------------------------------------------

const before =
  (options: Options): Wrapper =>
  (args) => {
    const commands = commandsBehind(args, options)
    return commands ? { commands } : { unseen: true }
  }

const BEFORE: Readonly<Record<string, Options>> = {
  builtin: {},
  busybox: {},
  caffeinate: { flags: 'dimsu', valued: 'tw' },
  chroot: { operands: 1, long: ['--userspec', '--groups'], longFlags: ['--skip-chdir'] },
  chrt: { flags: 'abfiormpv', valued: 'TPD', operands: 1 },
  doas: { flags: 'Lns', valued: 'uC' },
  exec: { flags: 'cl', valued: 'a' },
  ionice: { flags: 't', valued: 'cnpPu', long: ['--class', '--classdata'], longFlags: ['--ignore'] },
  nice: { valued: 'n', long: ['--adjustment'] },
  nohup: {},
  pkexec: { long: ['--user'], longFlags: ['--disable-internal-agent', '--keep-cwd'] },
  setsid: { flags: 'cfw', longFlags: ['--ctty', '--fork', '--wait'] },
  stdbuf: { valued: 'ioe', long: ['--input', '--output', '--error'] },
  strace: { flags: 'cCdDfFhikqrtTvVxyYzZ', valued: 'abeEIoOpPsSuUX' },
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

/** `command -v` only tells where a program is. */
const command: Wrapper = (args) => (/^-p?[vV]/.test(args[0]?.text ?? '') ? {} : before({ flags: 'p' })(args))

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

const sudo: Wrapper = (args) => {
  const inner = before(SUDO)(args)
  const shell = args.some(({ text }) => /^(-[A-Za-z]*[si]|--shell|--login)$/.test(text))
  return { ...inner, readsInput: shell && inner.commands?.length === 0 }
}

const ENV: Options = {
  flags: 'i0v',
  valued: 'uCPa',
  long: ['--unset', '--chdir', '--argv0'],
  longFlags: ['--ignore-environment', '--null', '--debug'],
  assignments: true,
}

/** `-S 'rm x'` is a line that env splits itself; or the option of a command behind it. */
const env: Wrapper = (args) => {
  const inner = before(ENV)(args)
  const at = args.findIndex(({ text }) => /^(-[iv0]*S|--split-string)/.test(text))
  if (at < 0) return inner
  const line = joined(args.slice(at))
  const split = (text: string) => text.replace(/^(?:-[iv0]*S|--split-string=?)\s*/, '')
  return { ...inner, scripts: [{ text: split(line.text), shape: split(line.shape) }] }
}

// ---- arguments from elsewhere ---------------------------------------------------------------------------------

const XARGS: Options = {
  flags: '0oprtxielX',
  valued: 'adEIJLnPRSsj',
  long: [
    ...['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-lines', '--max-procs', '--jobs'],
    ...['--process-slot-var', '--replace', '--colsep'],
  ],
  longFlags: ['--null', '--no-run-if-empty', '--interactive', '--verbose', '--exit', '--open-tty'],
}

/** The command gets arguments that nobody sees, at its end or in the place of a marker. */
const xargs: Wrapper = (args) => {
  const commands = commandsBehind(args, XARGS)
  if (!commands) return { unseen: true }
  const marker = markerOf(args)
  return { commands: commands.map((words) => (marker ? filled(words, marker) : [...words, MORE])) }
}

function markerOf(args: readonly ShellWord[]): string | undefined {
  const at = args.findIndex(({ text }) => /^(-[IiJ]|--replace)/.test(text))
  if (at < 0) return undefined
  const attached = /^(?:-[IiJ]|--replace=?)(.*)$/s.exec(args[at]?.text ?? '')?.[1]
  const next = args[at]?.text.startsWith('-i') ? undefined : args[at + 1]?.text
  return attached || next || '{}'
}

function filled(words: readonly ShellWord[], marker: string): ShellWord[] {
  return words.map(({ text, shape }) => ({ text, shape: shape.replaceAll(marker, OPEN) }))
}

const find: Wrapper = (args) => {
  const commands: ShellWord[][] = []
  let current: ShellWord[] | undefined
  for (const word of args) {
    const { text } = word
    if (current && (text === ';' || text === '+')) current = undefined
    else if (current) current.push(word)
    else if (FIND_EXEC.test(text)) {
      current = []
      commands.push(current)
    }
  }
  return { commands: commands.filter(({ length }) => length > 0).map((words) => filled(words, '{}')) }
}

/** Of find and of fd. */
const FIND_EXEC = /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/

// ---- scripts --------------------------------------------------------------------------------------------------

/** A shell: its script is behind `-c`, in a file, or comes in. */
const shell: Wrapper = (args) => {
  let at = 0
  let isGiven = false
  let comesIn = false
  for (; at < args.length; at++) {
    const word = args[at] as ShellWord
    const { text } = word
    if (isOpen(word) || !/^[-+]/.test(text)) break
    if (text === '--' || text === '-') {
      at++
      break
    }
    if (text.startsWith('--')) at += /^--(rcfile|init-file)$/.test(text) ? 1 : 0
    else {
      isGiven ||= /^-.*c/.test(text)
      comesIn ||= /^-.*s/.test(text)
      if (/[oO]/.test(text)) at++
    }
  }
  const operand = args[at]
  if (isGiven) return operand ? { scripts: [operand] } : { unseen: true }
  if (!operand || comesIn) return { readsInput: true }
  return { unseen: isOpen(operand) }
}

/** `su -c`, `flock FILE -c`: a script for the shell. */
function scriptBehindC(args: readonly ShellWord[]): Inner {
  const at = args.findIndex(({ text }) => /^(-[a-zA-Z]*c|--command(=.*)?)$/s.test(text))
  if (at < 0) return {}
  const attached = args[at]?.text.startsWith('--command=')
  const script = attached ? cutFront(args[at] as ShellWord, '--command='.length) : args[at + 1]
  return script ? { scripts: [script] } : { unseen: true }
}

/** Without a script it starts a shell. */
const su: Wrapper = (args) => ({ readsInput: true, ...scriptBehindC(args) })

const flock: Wrapper = (args) => ({ ...before(FLOCK)(args), ...scriptBehindC(args) })

const FLOCK: Options = { flags: 'enosuxFv', valued: 'wE', operands: 1 }

function cutFront({ text, shape }: ShellWord, length: number): ShellWord {
  return { text: text.slice(length), shape: shape.slice(length) }
}

const evaluate: Wrapper = (args) => {
  const words = args[0]?.text === '--' ? args.slice(1) : args
  return words.length > 0 ? { scripts: [joined(words)] } : {}
}

const trap: Wrapper = (args) => {
  const [script] = args[0]?.text === '--' ? args.slice(1) : args
  if (!script || args.length < 2 || /^-[lpP]?$/.test(script.text)) return {}
  return { scripts: [script] }
}

const WATCH: Options = { flags: 'bcCdegprtwx', valued: 'nqs', long: ['--interval', '--equexit'] }

const watch: Wrapper = (args) => {
  const commands = commandsBehind(args, WATCH)
  return commands ? { scripts: commands.map(joined) } : { unseen: true }
}

/** A file is not looked into; but it must be clear which one it is. */
const source: Wrapper = (args) => ({ unseen: args[0] !== undefined && isOpen(args[0]) })

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'rbash', 'fish']

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ...Object.entries(BEFORE).map(([name, options]) => [name, before(options)] as const),
  ...SHELLS.map((name) => [name, shell] as const),
  ['command', command],
  ['sudo', sudo],
  ['env', env],
  ['xargs', xargs],
  ['parallel', xargs],
  ['find', find],
  ['fd', find],
  ['fdfind', find],
  ['su', su],
  ['runuser', su],
  ['flock', flock],
  ['eval', evaluate],
  ['trap', trap],
  ['watch', watch],
  ['source', source],
  ['.', source],
])
