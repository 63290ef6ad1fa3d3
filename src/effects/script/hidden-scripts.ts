// Command lines inside a word that a program will run: in git's settings, in variables, in aliases.

import { runByTar } from '../files/archive-effects.js'
import { isEditor, runByEditor } from '../files/editor-effects.js'
import { fileEffectsOf, isReader } from '../files/file-effects.js'
import { aliasedLine } from '../git/aliases.js'
import { gitCall } from '../git/git-call.js'
import { SOMEWHERE } from '../paths/absolute-path.js'
import { linesInSql } from '../programs/sql.js'
import { remembered } from '../remembered.js'
import { shellQuoted } from '../shell/shell-quoted.js'
import { wrapperOf } from '../shell/wrappers.js'
import { scriptsInCode } from './code-scripts.js'
import { linesIn, runsElsewhere } from './inner-calls.js'
import { codeOf, isInterpreter } from './program-code.js'
import type { Call, Script } from './shell-script.js'

/** Variables whose value programs run. */
const RUN =
  /^(?:\w*EDIT(?:OR)?|VISUAL|\w*PAGER|GIT_SSH_COMMAND|GIT_SSH|GIT_PROXY_COMMAND|GIT_EXTERNAL_DIFF|\w*ASKPASS|LESSOPEN|LESSCLOSE|BROWSER|RSYNC_RSH|GIT_CONFIG_VALUE_\d+)=(.+)$/s

/** Settings whose value git runs. */
const RUN_BY_GIT =
  /^(?:core\.(?:editor|pager|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor|pager\..*|diff\..*|difftool\..*|merge\..*|mergetool\..*|filter\..*|credential\..*helper|gpg\..*program|gpg\.program|uploadpack\..*|alias\..*)=(.+)$/is

/** Programs that pass a word with spaces to a shell. */
const STRING_RUNNERS =
  /^(?:npm|npx|pnpm|pnpx|yarn|bunx|nix-shell|tmux|screen|concurrently|nodemon|entr|hyperfine|watchexec|make|gmake|just)$/

export interface HiddenScript {
  readonly line: string
  /** Where it may run. None: where the script starts. */
  readonly folders: readonly string[]
}

/** `home`: whose aliases of git count. */
export function hiddenScripts(script: Script, home?: string): readonly HiddenScript[] {
  const { calls, assignments } = script
  const found = new Map<string, readonly string[]>()
  const add = (lines: readonly string[], folders: readonly string[]) => {
    for (const line of lines) found.set(line, inFew([...(found.get(line) ?? []), ...folders]))
  }
  for (const one of assignments) {
    const line = RUN.exec(one)?.[1]
    if (line !== undefined) add([line.replace(/^!/, '')], [])
  }
  if (calls.some(({ name }) => name === 'alias' || name === 'hash')) add(byOtherNames(calls), [])
  for (const call of calls) {
    if (!canHide(call.name)) continue
    add([...scriptsInCode(call, script), ...runByEditor(call)], call.folders)
    if (call.name === 'git') add(runByGit(call, home), call.folders)
    else if (SQL_CLIENTS.test(call.name))
      add([...texts(call), ...call.input].flatMap(linesInSql), call.folders)
    else if (SSH.test(call.name)) add(runBySsh(texts(call)), call.folders)
    else if (SED.test(call.name)) add(texts(call).flatMap(runBySed), call.folders)
    else if (/^(?:bsd|g)?tar$/.test(call.name)) add(runByTar(texts(call)), call.folders)
    else if (STRING_RUNNERS.test(call.name)) {
      if (MAKE.test(call.name)) add(texts(call).flatMap(shellOfMake), call.folders)
      add(
        texts(call).filter((text) => /\s/.test(text)),
        call.folders,
      )
    }
  }
  return [...found].map(([line, folders]) => ({ line, folders }))
}

const SQL_CLIENTS = /^(?:psql|pgcli|ysqlsh|mysql|mariadb|mycli|sqlite3?|duckdb|sqlcmd|cockroach|isql)$/
const SSH = /^(?:ssh|scp|sftp|rsync|sshfs|autossh)$/
const SED = /^g?sed$/

/** `-o ProxyCommand=…`, and what rsync and scp run in place of ssh. */
function runBySsh(words: readonly string[]): readonly string[] {
  return words.flatMap((word, i) => {
    const option = /^-o./.test(word) ? word.slice(2) : words[i - 1] === '-o' ? word : ''
    const [, line] = /^\s*(?:Proxy|Local|KnownHosts)Command\s*[= ]\s*(.+)$/is.exec(option) ?? []
    const [, shell] = /^(?:--rsh=|--rsync-path=|-\w*e(?=.))(.+)$/s.exec(word) ?? []
    const isShell = /^(?:-\w*e|--rsh|-S|--rsync-path)$/.test(words[i - 1] ?? '') && /\s/.test(word)
    const found = line ?? (shell !== undefined && /\s/.test(shell) ? shell : isShell ? word : undefined)
    return found === undefined || /^(?:ssh|none)\b/.test(found)
      ? []
      : [found.replace(/^["'](.*)["']$/s, '$1')]
  })
}

const MAKE = /^g?make$/
const SHELL = /^(?:\/(?:usr\/)?(?:local\/)?bin\/)?(?:env\s+)?(?:ba|da|z|k)?sh(?:\s+-[a-z]+)*$/

/** `make SHELL='rm -r x'`: make starts this with every line. */
function shellOfMake(word: string): readonly string[] {
  const [, line = ''] = /^SHELL\s*:{0,3}=\s*(.*)$/s.exec(word) ?? []
  return line === '' || SHELL.test(line) ? [] : [line]
}

const RUN_BY_SED = /(?:^|[;{}\n\d$/])\s*e\s+([^\n]+)/
const MADE_BY_SED =
  /(?:^|[;{}\n\d$/])\s*s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1[gpimIM\d]*e/s

/** `1e rm x`, `s/a/rm x/e` */
function runBySed(word: string): readonly string[] {
  if (word.length > LONGEST_SED) return []
  const lines = [RUN_BY_SED.exec(word)?.[1], MADE_BY_SED.exec(word)?.[2]]
  return lines.filter((line): line is string => line !== undefined && line.trim() !== '')
}

const LONGEST_SED = 5000

const MOST_FOLDERS = 3

/** Each is read in every folder. Of many, none is known. */
function inFew(folders: readonly string[]): readonly string[] {
  const all = [...new Set(folders)]
  return all.length > MOST_FOLDERS ? [SOMEWHERE] : all
}

/** Whether words of the program can be command lines. Most programs have none. */
const canHide = remembered(
  (name) =>
    isInterpreter(name) ||
    isEditor(name) ||
    /^(?:(?:bsd|g)?tar|git)$/.test(name) ||
    SQL_CLIENTS.test(name) ||
    SSH.test(name) ||
    SED.test(name) ||
    STRING_RUNNERS.test(name),
)

/** Words of package runners that may be a command line, or only a text such as the name of a test. */
export function doubtfulLines({ calls }: Script): ReadonlySet<string> {
  const runners = calls.filter(({ name }) => isPackageRunner(name))
  const sure = new Set(
    calls.flatMap((call) =>
      STRING_RUNNERS.test(call.name) && !isPackageRunner(call.name) ? texts(call) : [],
    ),
  )
  return new Set(
    runners.flatMap((call) =>
      texts(call).filter((text, i, words) => !/^(?:-c|--call)$/.test(words[i - 1] ?? '') && !sure.has(text)),
    ),
  )
}

const isPackageRunner = remembered((name) => /^(?:npm|npx|pnpm|pnpx|yarn|bunx)$/.test(name))

/** A single word is a command line. Several are the words of one. */
function lineOf(words: readonly string[]): string {
  return words.length === 1 ? (words[0] ?? '') : words.map(shellQuoted).join(' ')
}

const MOST_NAMES = 8

/** After `alias x='rm -rf'` or `hash -p /bin/rm x`, `x` means that command. */
function byOtherNames(calls: readonly Call[]): readonly string[] {
  const meant = new Map<string, string>()
  for (const call of calls) {
    if (call.name !== 'alias' && call.name !== 'hash') continue
    const words = texts(call)
    const at = call.name === 'hash' ? words.indexOf('-p') : -1
    if (at >= 0) meant.set(words[at + 2] ?? '', words[at + 1] ?? '')
    if (call.name !== 'alias') continue
    for (const word of words) {
      const [, name, line] = /^([^=]+)=(.+)$/s.exec(word) ?? []
      if (name !== undefined && line !== undefined) meant.set(name, line)
    }
  }
  if (meant.size === 0) return []
  return calls.flatMap((call) => {
    let line = meant.get(call.name)
    if (line === undefined) return []
    // One alias may refer to another.
    for (let round = 0; round < MOST_NAMES; round++) {
      const first: string = line.split(/\s/, 1)[0] ?? ''
      const next: string | undefined = meant.get(first)
      if (next === undefined || first === call.name) break
      line = next + line.slice(first.length)
    }
    return [[line, ...texts(call).map(shellQuoted)].join(' ')]
  })
}

// ---- lines that may be run ------------------------------------------------------------------------------------------

/** Programs that only print or send their arguments. */
const TEXT_ONLY = /^(?:sed|gsed|curl|wget|tee|touch|mkdir)$/
const RUNS_WORDS = /^(?:less|man|more)$/

/** Command lines in the arguments and the input of programs that may run them. This is a guess. */
export function guessedLines(script: Script): readonly string[] {
  const lines: string[] = []
  for (const call of script.calls)
    for (const text of textsFor(call, script)) lines.push(...linesIn(text, isInterpreter(call.name)))
  return lines.length > 1 ? [...new Set(lines)] : lines
}

/** Whether nothing that the program is given can be a command line. */
const onlyReads = remembered(
  (name) =>
    TEXT_ONLY.test(name) || wrapperOf(name) !== undefined || (isReader(name) && !RUNS_WORDS.test(name)),
)

function textsFor(call: Call, script: Script): readonly string[] {
  const { name, input } = call
  if (runsElsewhere(call)) return []
  if (name === 'git') return wordsForGit(call)
  if (isInterpreter(name) && !TEXT_ONLY.test(name) && wrapperOf(name) === undefined) {
    const code = codeOf(call, script)
    return code === undefined || code.length > LONGEST ? [] : [code]
  }
  if (onlyReads(name)) return []
  const words = texts(call).filter((text) => /\s/.test(text))
  return fileEffectsOf(name) === undefined ? [...words, ...input] : words
}

const LONGEST = 200_000

/** The words that git may run, to reach a remote or to show output. Messages and patterns are only text. */
function wordsForGit(call: Call): readonly string[] {
  const { verb = '', args } = gitCall(texts(call))
  if (
    !/^(?:archive|clone|fetch|grep|ls-remote|pull|push|send-email|send-pack|fetch-pack|instaweb)$/.test(verb)
  )
    return []
  const runs = verb === 'grep' ? /^-O|^--open/ : /\s/
  return args.filter((word) => runs.test(word)).map((word) => word.replace(/^-O/, ''))
}

function texts({ args }: Call): readonly string[] {
  return args.map(({ text }) => text)
}

function runByGit(call: Call, home: string | undefined): readonly string[] {
  const { verb = '', args, settings } = gitCall(texts(call))
  const aliased = aliasedLine(texts(call), call.folders, home)
  const own = aliased === undefined ? runByVerb(verb, args) : [aliased]
  if (settings.length === 0) return own
  const others = aliased === undefined ? settings : settings.filter((one) => !/^alias\./i.test(one))
  const set = others.flatMap((setting) => RUN_BY_GIT.exec(setting)?.[1]?.replace(/^!/, '') ?? [])
  return [...set, ...own]
}

function runByVerb(verb: string, args: readonly string[]): readonly string[] {
  if (verb === 'bisect' && args[0] === 'run') return [lineOf(args.slice(1))]
  if (verb === 'submodule' && args.includes('foreach')) {
    return [lineOf(args.slice(args.indexOf('foreach') + 1).filter((word) => word !== '--recursive'))]
  }
  if (verb === 'config')
    return args.flatMap(
      (name, i) => RUN_BY_GIT.exec(`${name}=${args[i + 1] ?? ''}`)?.[1]?.replace(/^!/, '') ?? [],
    )
  if (verb !== 'rebase' && verb !== 'filter-branch' && verb !== 'difftool' && verb !== 'mergetool') return []
  return args.flatMap((word, i) => {
    const [, attached] = /^(?:-x|--exec|--extcmd|--[\w-]+-filter)(?:=(.*))?$/s.exec(word) ?? []
    if (attached !== undefined) return [attached]
    return /^(?:-x|--exec|--extcmd|--[\w-]+-filter)$/.test(word) && args[i + 1] !== undefined
      ? [args[i + 1] as string]
      : []
  })
}
