// Facts about programs: files they find on their own, and which of them only read data.

import { isBuiltin } from 'node:module'
import { basename, dirname, posix } from 'node:path'
import type { SimpleCommand } from '../effects/shell/simple-command.js'
import { wrapperOf } from '../effects/shell/wrappers.js'
import { completionsOf, LOADED } from '../files/relative-imports.js'

interface Sought {
  /** Paths that it looks for in every folder it may run in. Each counts, whether it exists or not. */
  readonly paths: readonly string[]
  /** Other things it may run, each as the end of a sentence. */
  readonly unseen: readonly string[]
  /** The modules it names. Present if it loads Python modules from the folder it runs in. */
  readonly modules?: readonly string[]
}

const NOTHING: Sought = { paths: [], unseen: [] }

/** Files beyond those named in the command. */
export function soughtBy(command: SimpleCommand): Sought {
  const { name } = command
  if (/^python[\d.]*$/.test(name)) return byPython(command)
  if (name === 'node' || name === 'nodejs') return byNode(command)
  if (name === 'git') return byGit(command)
  if (name === 'find' && command.words.some((word) => /^-(?:exec|ok)dir$/.test(word))) {
    return { paths: [], unseen: ['find starts commands in the folders it finds'] }
  }
  const files = Object.hasOwn(LOOKED_FOR, name) ? LOOKED_FOR[name] : undefined
  if (!files) return INTERPRETERS.test(name) ? byInterpreter(command) : NOTHING
  const unseen = [`${name} and files of the project decide what it runs`]
  if (!/^(?:npx|bunx|pnpx)$/.test(name)) return { paths: files, unseen }
  const program = command.words.slice(1).find((word) => /^[\w.-]+$/.test(word) && !word.startsWith('-'))
  return { paths: program ? [...files, `node_modules/.bin/${program}`] : files, unseen }
}

const PACKAGE = ['package.json']
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile']

/** Programs that follow instructions in a project's files, and those files. */
const LOOKED_FOR: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'bunx'].map((name) => [name, PACKAGE])),
  ...Object.fromEntries(['make', 'gmake'].map((name) => [name, MAKEFILES])),
  ...Object.fromEntries(['eslint', 'prettier', 'jest', 'vitest', 'mocha', 'tsc'].map((name) => [name, []])),
  ...Object.fromEntries(['go', 'mvn', 'gradle', 'docker', 'docker-compose'].map((name) => [name, []])),
  ...Object.fromEntries(['uv', 'uvx', 'pipx', 'poetry', 'hatch', 'nox'].map((name) => [name, []])),
  bun: ['package.json', 'bunfig.toml'],
  bundle: ['Gemfile'],
  cargo: ['Cargo.toml', 'build.rs'],
  composer: ['composer.json'],
  deno: ['deno.json', 'deno.jsonc', 'package.json'],
  just: ['justfile', 'Justfile', '.justfile'],
  'pre-commit': ['.pre-commit-config.yaml'],
  pytest: ['conftest.py', 'pytest.ini', 'pyproject.toml'],
  rake: ['Rakefile', 'rakefile'],
  task: ['Taskfile.yml', 'Taskfile.yaml'],
  tox: ['tox.ini'],
}

// ---- code on the command line -----------------------------------------------------------------------------------

/** Options that are followed by code or a module's name. */
const CODE_OPTIONS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^python[\d.]*$/, /^-[a-zA-Z]*[cm]$/],
  [/^(?:ba|da|z|k|a)?sh$/, /^-[a-zA-Z]*c$/],
  [/^(?:node|nodejs|bun|deno)$/, /^-[a-z]*[ep]$|^--(?:eval|print)$/],
  [/^(?:perl|ruby|lua[\d.]*)$/, /^-[a-zA-Z]*e$/],
  [/^php$/, /^-r$/],
]

/** The words that may be the program to run. After an option, a word may also be the option's value. */
export function operandsOf([program = '', ...words]: readonly string[]): readonly string[] {
  const name = basename(program)
  const code = CODE_OPTIONS.find(([programs]) => programs.test(name))?.[1]
  const found: string[] = []
  for (const [i, word] of words.entries()) {
    if (code?.test(words[i - 1] ?? '')) continue
    if (word.startsWith('-')) continue
    found.push(word)
    if (!/^-[^=]*$/.test(words[i - 1] ?? '')) break
  }
  return found
}

// ---- interpreters -----------------------------------------------------------------------------------------------

/** With `-c`, `-m` or a program on standard input, Python looks for modules in the current folder. */
function byPython({ words }: SimpleCommand): Sought {
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as string
    const [, flags = '', what, attached] = /^-([A-Za-z]*?)([cmWX])(.*)$/s.exec(word) ?? []
    const isIsolated = words.slice(1, i).some((one) => /^-[a-zA-Z]*[IP]/.test(one)) || /[IP]/.test(flags)
    const value = attached || (words[i + 1] ?? '')
    if (what === 'W' || what === 'X') i += attached ? 0 : 1
    else if (what !== undefined)
      return isIsolated ? NOTHING : fromModules(what === 'm' ? [value] : importsIn(value))
    else if (word === '-') break
    else if (!word.startsWith('-')) return NOTHING
  }
  return words.some((word) => /^-[a-zA-Z]*[IP]/.test(word)) ? NOTHING : fromModules([])
}

function fromModules(modules: readonly string[]): Sought {
  const paths = modules
    .filter((name) => /^[\w.]+$/.test(name) && !name.startsWith('.'))
    .flatMap((name) => {
      const names = name.split('.')
      const folders = names.map((_, i) => names.slice(0, i + 1).join('/'))
      return [
        ...folders.flatMap((folder) => [`${folder}.py`, `${folder}/__init__.py`]),
        `${folders.at(-1)}/__main__.py`,
      ]
    })
  return {
    paths,
    modules,
    unseen: ['python looks for modules in the folder where it starts (python3 -I does not)'],
  }
}

/** Names of modules that Python code imports. */
export function importsIn(code: string): readonly string[] {
  const lines = code.matchAll(/\b(?:from\s+([\w.]+)\s+import\b|import\s+([\w., \t]+))/g)
  return [...lines].flatMap(
    ([, from, list = '']) => from ?? list.split(',').map((one) => one.trim().split(/\s/)[0] ?? ''),
  )
}

function byNode(command: SimpleCommand): Sought {
  const paths: string[] = []
  const unseen = new Set<string>()
  const { words } = command
  for (const [i, word] of words.entries()) {
    const isCode =
      /^(?:-[a-z]*[ep]|--eval|--print)$/.test(words[i - 1] ?? '') || /^--(?:eval|print)=/.test(word)
    const isLoaded = /^(?:-r|--require|--import|--loader|--experimental-loader)$/.test(words[i - 1] ?? '')
    const names = isCode ? [...word.matchAll(LOADED)].map(([, , name = '']) => name) : isLoaded ? [word] : []
    for (const name of names) {
      if (/^(?:\.{0,2}\/)/.test(name)) paths.push(name, ...completionsOf('node', name, ''))
      else if (!isBuiltin(name)) unseen.add('node looks for packages in the folders above where it starts')
    }
  }
  return { paths, unseen: [...unseen] }
}

/** For interpreters with modules, if code in the command loads any. */
function byInterpreter({ name, words }: SimpleCommand): Sought {
  if (SHELLS.test(name)) return NOTHING
  const isLoading = (word: string) =>
    /\b(?:require|load|do|use|include|import)\b/.test(word) && /[\s"'(]/.test(word)
  if (!words.some(isLoading)) return NOTHING
  return { paths: [], unseen: [`${name} decides which other files it loads`] }
}

// ---- git --------------------------------------------------------------------------------------------------------

/** These run neither hooks nor commands from `.git/config`, unless the settings say so. */
const PLAIN_GIT = new Set(
  `blame branch cat-file check-ignore describe diff diff-index diff-tree for-each-ref grep help log ls-files ls-tree
  merge-base name-rev rev-list rev-parse show show-ref shortlog status symbolic-ref tag version`.split(/\s+/),
)

function byGit({ words }: SimpleCommand): Sought {
  let at = 1
  for (; words[at]?.startsWith('-'); at++) {
    if (/^-c/.test(words[at] as string)) return { paths: [], unseen: ['git runs what its settings say'] }
    if (/^(?:-C|--git-dir|--work-tree|--namespace)$/.test(words[at] as string)) at++
  }
  const name = words[at]
  if (name === undefined || PLAIN_GIT.has(name)) return NOTHING
  return { paths: [], unseen: ['git runs hooks and aliases from the repository'] }
}

// ---- programs that only read data: a file named only by them is not a script ----------------------------------

/** Folders of system programs. */
export const SYSTEM = ['/bin', '/sbin', '/usr/bin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']

/** Any other program may run its files. awk and sed are not listed, because their programs can start others. */
const READERS = new Set(
  `[ base64 basename cat cksum cmp column comm cut diff dirname du echo egrep expand fgrep file fmt fold grep head
  hexdump jq join ls md5 md5sum nl od paste printf readlink realpath rev sha1sum sha256sum shasum sort stat strings tac
  tail test tr uniq wc`.split(/\s+/),
)

/** Words that make a reader run something, write a file or set a variable. */
const EXCEPTIONS: Readonly<Record<string, RegExp>> = {
  jq: /^-\w*[fL]|^--(?:from-file|library-path)/,
  printf: /^-v/,
  sort: /^--[co]|^-\w*o/,
  uniq: /^[^-]/,
}

/** These write to the files they name, and run none of them. */
const WRITERS = new Set(['tee', 'touch', 'mkdir', 'rm', 'rmdir', 'truncate'])

/** Builtins that run no text. */
const SILENT = new Set(
  ': break cd continue exit export false local popd pushd pwd read return set shift true wait'.split(' '),
)

/** Builtins that change the meaning of names, or run text from elsewhere. */
const REDEFINING = new Set(['alias', 'hash', 'eval', 'trap', 'complete', 'compgen', 'mapfile', 'readarray'])

const SHELL_NAMES = String.raw`(?:ba|da|z|k|a|mk|ya|rba|c|tc)?sh|fish|\.|source`

export const SHELLS = new RegExp(`^(?:${SHELL_NAMES})$`)

/** Their first operand is a program, whatever its name. */
export const INTERPRETERS = new RegExp(
  String.raw`^(?:${SHELL_NAMES}|node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|perl|ruby|php|pwsh|lua[\d.]*|tclsh|Rscript)$`,
)

type Call = Pick<SimpleCommand, 'program' | 'name' | 'words'>

/** Whether the files in its words are data. */
export function isReader({ program, name, words }: Call): boolean {
  if (!isOfSystem(program) || !READERS.has(name)) return false
  const exception = EXCEPTIONS[name]
  return !exception || !words.slice(1).some((word) => exception.test(word))
}

/** Whether it writes or removes the files in its words. */
export function isWriter({ program, name }: Call): boolean {
  return isOfSystem(program) && WRITERS.has(name)
}

/** These can hold another command's output: `cat x | python3 /dev/stdin`. Files in /dev/shm are ordinary ones. */
const STREAMS = /^\/(?:dev(?!\/shm\/)|proc|sys)(?:\/|$)/

export function isStream(path: string): boolean {
  return STREAMS.test(posix.normalize(path))
}

/** Whether it runs one file, and nothing that another command writes for it. */
export function isRunner({ program, name, words }: Call): boolean {
  if (!isOfSystem(program)) return program.includes('/')
  const [, first = '-'] = words
  return INTERPRETERS.test(name) && !first.startsWith('-') && !isStream(first)
}

/** Whether it cannot turn data that other commands read into a program. Commands inside it are judged separately. */
export function isHarmless(command: Call): boolean {
  const { name, words } = command
  if (isReader(command) || isWriter(command) || isRunner(command)) return true
  // `read PATH` changes the meaning of every name.
  if (SILENT.has(name)) return !words.includes('PATH')
  return isOfSystem(command.program) && wrapperOf(name) !== undefined && !REDEFINING.has(name)
}

/** A bare name or a path in a system folder, but not `./cat`. */
function isOfSystem(program: string): boolean {
  return !program.includes('/') || SYSTEM.includes(dirname(program))
}
