// Programs that run what their arguments say, by name.

import type { Options } from './command-options.js'
import { before, type Inner, UNSEEN, type Wrapper } from './inner.js'
import { LIST_RUNNERS } from './list-runners.js'
import { SCRIPT_RUNNERS } from './script-runners.js'
import { joined, type ShellWord } from './shell-word.js'

/** What the program behind `name` does with its arguments; undefined for one that runs nothing else that is known. */
export function wrapperOf(name: string): Wrapper | undefined {
  return WRAPPERS.get(name)
}

/** Whether a line that begins with this may run more than what it begins with. */
export function isSpecial(name: string): boolean {
  return SPECIAL.has(name)
}

/** Between a program and its command. */
const BEFORE: Readonly<Record<string, Options>> = {
  builtin: {},
  busybox: {},
  caffeinate: { flags: 'dimsu', valued: 'tw' },
  chrt: { flags: 'abfiormpv', valued: 'TPD', operands: 1 },
  exec: { flags: 'cl', valued: 'a' },
  fakeroot: { flags: 'uhv', valued: 'lsib', long: ['--lib', '--faked'] },
  ionice: { flags: 't', valued: 'cnpPu', long: ['--class', '--classdata'], longFlags: ['--ignore'] },
  ltrace: { flags: 'bcCfihLrStTV', valued: 'aADeFlnopsuwxX' },
  nice: { valued: 'n', long: ['--adjustment'] },
  nocorrect: {},
  noglob: {},
  nohup: {},
  pkexec: { long: ['--user'], longFlags: ['--disable-internal-agent', '--keep-cwd'] },
  setpriv: { longFlags: ['--clear-groups', '--keep-groups', '--no-new-privs', '--init-groups'] },
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

/** These start a shell where no command stands. */
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

/** `-S 'rm x'` is a line that env splits itself; or the option of a command behind it. */
const env: Wrapper = (args) => {
  const inner = args.some(runsLater) ? { ...behindEnv(args), unseen: true } : behindEnv(args)
  const at = args.findIndex(({ text }) => SPLIT.test(text))
  if (at < 0) return inner
  const { text, shape, splits } = joined(args.slice(at))
  const line = { text: text.replace(SPLIT, ''), shape: shape.replace(SPLIT, ''), splits }
  // Its escapes are not the shell's: `rm\_x` is two words.
  return { ...inner, scripts: [line], unseen: inner.unseen || text.includes('\\') }
}

/** GNU programs take long options that are cut short. */
const SPLIT = /^(?:-[iv0]*S|--s(?:p(?:l(?:i(?:t(?:-\w*)?)?)?)?)?(?:=|$| ))\s*/

// ---- what the shell runs later ----------------------------------------------------------------------------------

/** Text that a shell runs when it is about to do something else; functions and aliases that come from the environment. */
export function runsLater({ text }: { readonly text: string }): boolean {
  return RUN_LATER.test(text) || (EXPANDED_LATER.test(text) && /[$`]/.test(text))
}

const RUN_LATER = /^(?:PROMPT_COMMAND|BASH_ALIASES|BASH_CMDS)[+=[]|^BASH_FUNC_/
const EXPANDED_LATER = /^(?:PS[0-4]|BASH_ENV|ENV)\+?=/

const declare: Wrapper = (args) => (args.some(runsLater) ? UNSEEN : NOTHING)

const NOTHING: Inner = {}

/** What stands for a name from now on, in shells that expand aliases. */
const alias: Wrapper = (args) => {
  const scripts: ShellWord[] = []
  for (const { text, shape, splits } of args) {
    const at = text.indexOf('=')
    if (at > 0 || splits) scripts.push({ text: text.slice(at + 1), shape: shape.slice(at + 1), splits })
  }
  // A here-document in it takes its text from what follows the alias.
  return { scripts, unseen: scripts.some(({ text }) => /<<|\n/.test(text)) }
}

/** `hash -p /bin/rm git` makes `git` another program. */
const hash: Wrapper = (args) => {
  const at = args.findIndex(({ text }) => /^-\w*p/.test(text))
  if (at < 0) return NOTHING
  return args[at]?.text.endsWith('p') && args[at + 1] ? { commands: [args.slice(at + 1)] } : UNSEEN
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ...Object.entries(BEFORE).map(([name, options]) => [name, before(options)] as const),
  ...Object.entries(OR_SHELL).map(([name, options]) => [name, orShell(options)] as const),
  ...SCRIPT_RUNNERS,
  ...LIST_RUNNERS,
  ...['export', 'declare', 'typeset', 'local', 'readonly'].map((name) => [name, declare] as const),
  ['command', command],
  ['env', env],
  ['alias', alias],
  ['hash', hash],
])

/** Words of the shell's own make something of what follows, too. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...WRAPPERS.keys(),
  ...['if', 'then', 'elif', 'else', 'fi', 'case', 'in', 'esac', 'for', 'while', 'until', 'do', 'done'],
  ...['select', 'function', 'coproc', 'time'],
])
