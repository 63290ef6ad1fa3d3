// The name of an MCP server in `mcp__SERVER__TOOL`, and where it comes from if the user gives none.

import { basename } from 'node:path'
import { normalized } from '../../hosts/mcp-tool-name.js'

/** A wrong name would leave the hooks for the right one without a call, so a doubtful one is refused. */
export type FoundName = { readonly name: string } | { readonly doubt: string }

/** A program that starts the server's program. Options are short letters, or long names without their dashes. */
interface Starter {
  readonly programs: RegExp
  /** Its own words before the server's program. */
  readonly words?: readonly string[]
  readonly flags: string
  readonly longFlags: RegExp
  /** Options that are followed by a value. */
  readonly values: string
  readonly longValues: readonly string[]
  /** Options whose value is a program's text, which has no name. */
  readonly code?: string
}

const NEVER = /^$/

const STARTERS: readonly Starter[] = [
  {
    programs: /^(?:npx|npm|pnpm|pnpx|yarn)$/,
    words: ['exec', 'run', 'dlx', 'x'],
    flags: 'yqs',
    longFlags: /^(?:yes|no|quiet|silent|no-install|prefer-offline|prefer-online|offline|ignore-existing)$/,
    values: 'pwCF',
    longValues: ['package', 'workspace', 'registry', 'userconfig', 'cache', 'prefix', 'dir', 'filter', 'cwd'],
    code: 'c',
  },
  {
    programs: /^(?:node|tsx|bun|bunx|deno)$/,
    words: ['run', 'x', 'watch'],
    flags: 'Aqy',
    longFlags:
      /^(?:no-.*|experimental-(?!loader$).*|enable-.*|trace-.*|inspect.*|allow-.*|unstable.*|bun|silent|smol|yes)$/,
    values: 'rC',
    longValues: [
      ...['require', 'import', 'loader', 'experimental-loader', 'env-file', 'conditions', 'tsconfig'],
      ...['max-old-space-size', 'cwd', 'config', 'import-map', 'package'],
    ],
    code: 'ep',
  },
  {
    programs: /^(?:uvx|uv|pipx)$/,
    words: ['run', 'tool', 'x'],
    // The word after -m and -s is the server's program.
    flags: 'qvnUms',
    longFlags:
      /^(?:quiet|verbose|isolated|offline|refresh|upgrade|no-.*|native-tls|frozen|locked|module|script|active|exact|system-site-packages)$/,
    values: 'pwifP',
    longValues: [
      ...['from', 'with', 'with-editable', 'with-requirements', 'python', 'index-url', 'extra-index-url'],
      ...['index', 'default-index', 'directory', 'project', 'package', 'cache-dir', 'find-links', 'env-file'],
      ...['extra', 'group', 'config-file', 'prerelease', 'resolution', 'index-strategy', 'keyring-provider'],
      ...['link-mode', 'exclude-newer', 'python-preference', 'color', 'spec', 'pip-args'],
      ...['refresh-package', 'upgrade-package'],
    ],
  },
  {
    programs: /^python[\d.]*$/,
    flags: 'uBIsSEOqvxbidm',
    longFlags: NEVER,
    values: 'WX',
    longValues: ['check-hash-based-pycs'],
    code: 'c',
  },
  {
    programs: /^(?:docker|podman|nerdctl)$/,
    words: ['run', 'exec', 'container', 'compose'],
    flags: 'itdPTq',
    longFlags:
      /^(?:rm|init|interactive|tty|privileged|read-only|detach|publish-all|quiet|no-.*|quiet-pull|service-ports|build)$/,
    values: 'evpwulmhacfHn',
    longValues: [
      ...['env', 'env-file', 'volume', 'mount', 'network', 'net', 'name', 'publish', 'workdir', 'user'],
      ...['entrypoint', 'platform', 'pull', 'add-host', 'cpus', 'memory', 'label', 'restart', 'security-opt'],
      ...['cap-add', 'cap-drop', 'device', 'dns', 'gpus', 'hostname', 'ip', 'ipc', 'pid', 'tmpfs', 'ulimit'],
      ...['shm-size', 'runtime', 'label-file', 'log-driver', 'log-opt', 'log-level', 'memory-swap', 'expose'],
      ...['link', 'group-add', 'userns', 'volumes-from', 'cidfile', 'stop-signal', 'stop-timeout', 'attach'],
      ...['cpu-shares', 'cpuset-cpus', 'pids-limit', 'sysctl', 'network-alias', 'mac-address', 'context'],
      ...['host', 'config', 'file', 'project-name', 'project-directory', 'profile', 'secret'],
    ],
  },
  {
    programs: /^env$/,
    flags: 'i0v',
    longFlags: /^(?:ignore-environment|null|debug)$/,
    values: 'uC',
    longValues: ['unset', 'chdir'],
    code: 'S',
  },
  {
    programs: /^(?:sh|bash|zsh|dash)$/,
    flags: 'lexu',
    longFlags: /^(?:login|norc|noprofile|posix)$/,
    values: 'oO',
    longValues: ['rcfile', 'init-file'],
    code: 'c',
  },
  // Its options are /c, /d and /s.
  { programs: /^cmd$/, words: ['/c', '/d', '/s'], flags: '', longFlags: NEVER, values: '', longValues: [] },
]

/** `npx -y @scope/server-files@1.2 /tmp` is `files`. In doubt if an option is not known: its value may look like a name. */
export function nameFromCommand([program = '', ...args]: readonly string[]): FoundName {
  const words = [program, ...args]
  let starter: Starter | undefined
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    const next = starterNamed(word)
    if (next) starter = next
    else if (!starter)
      return mayStartOthers(word, words.length) ? { doubt: `${word} may start another program` } : found(word)
    else if (word === '--' || starter.words?.includes(word.toLowerCase()) || isSetting(starter, word))
      continue
    else if (!word.startsWith('-')) return found(word)
    else {
      const read = optionOf(starter, word)
      if (read === 'code') return { doubt: `the program after ${word} has no name` }
      if (read === 'unknown') return { doubt: `the word after ${word} may be its value` }
      if (read === 'value') at++
    }
  }
  return { doubt: 'no word of the command is a name' }
}

function starterNamed(word: string): Starter | undefined {
  const name = programName(word)
  return STARTERS.find(({ programs }) => programs.test(name))
}

/** Programs that start others, with arguments that are not read here. */
const OTHERS =
  /^(?:java|go|dotnet|cargo|ruby|perl|php|pwsh|powershell|sudo|doas|su|nice|nohup|timeout|time|xargs|ssh|wsl|op|doppler|dotenv|direnv|mise|asdf|nix|nix-shell|poetry|pdm|hatch|rye|pipenv|conda|mamba|micromamba|pixi|volta|fnm|make|just|flatpak|snap|systemd-run|bwrap|firejail|kubectl|ts-node)$/i

/** A bare word with others behind it is rarely a server, unless it says so. */
function mayStartOthers(word: string, count: number): boolean {
  const name = programName(word)
  if (OTHERS.test(name)) return true
  return count > 1 && !/[\\/]/.test(word) && !/mcp|server/i.test(name)
}

function programName(word: string): string {
  return basename(word.replaceAll('\\', '/')).replace(/\.(?:exe|cmd)$/i, '')
}

/** `env NAME=VALUE program`. */
function isSetting({ programs }: Starter, word: string): boolean {
  return programs.test('env') && /^\w+=/.test(word)
}

/** `value`: the next word belongs to it. */
function optionOf(starter: Starter, word: string): 'alone' | 'value' | 'code' | 'unknown' {
  if (word.startsWith('--')) {
    if (/^--(?:eval|print|call|split-string)\b/.test(word)) return 'code'
    if (word.includes('=')) return 'alone'
    const name = word.slice(2)
    if (starter.longValues.includes(name)) return 'value'
    return starter.longFlags.test(name) ? 'alone' : 'unknown'
  }
  for (const [i, letter] of [...word.slice(1)].entries()) {
    if (starter.code?.includes(letter)) return 'code'
    if (starter.values.includes(letter)) return i === word.length - 2 ? 'value' : 'alone'
    if (!starter.flags.includes(letter)) return 'unknown'
  }
  return 'alone'
}

/** `https://mcp.example.com/github/mcp` is `github`, `https://mcp.linear.app/sse` is `linear`. */
export function nameFromUrl({ pathname, hostname }: URL): FoundName {
  const isTelling = (part: string) => part !== '' && !/^(?:mcp|sse|api|v\d+|server|www)$/i.test(part)
  const inPath = pathname.split('/').filter(isTelling)
  const isNumber = /^[\d.]+$|^\[/.test(hostname)
  const inHost = isNumber ? [] : hostname.split('.').slice(0, -1).filter(isTelling)
  return found(inPath[0] ?? inHost[0] ?? '')
}

/** Scripts, and programs in front of other servers. */
const ANY_SERVER =
  /^(?:index|main|start|serve|server|run|dev|exec|cli|app|task|test|mcp|stdio|remote|proxy|gateway|supergateway|bridge)$/i

function found(word: string): FoundName {
  const name = shortened(word)
  if (name === '') return { doubt: 'nothing in its address is a name' }
  return ANY_SERVER.test(name) ? { doubt: `${name} could be the name of any server` } : { name }
}

/** Without scope, version, file ending, and the words that all of them have. */
function shortened(word: string): string {
  const parts = word.replaceAll('\\', '/').replace(/\/+$/, '').split('/')
  const isIndex = (part: string) => /^(?:index|main|server|dist|build|src|bin)(?:\.\w+)?$/.test(part)
  const told = parts.findLast((part) => part !== '' && !isIndex(part)) ?? parts.at(-1) ?? ''
  const plain = told.replace(/(?<=.)[@:=].*$/, '').replace(/\.(?:[cm]?[jt]s|py|exe|cmd|sh)$/, '')
  const short = plain.replace(/^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_](?:mcp[-_])?server$|[-_]mcp$/g, '')
  return normalized(short || plain)
}
