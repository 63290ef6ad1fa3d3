// What programs find by themselves: files whose names they complete, files they look for, and what cannot be followed.

import { readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import type { SimpleCommand } from '../shell/simple-command.js'
import { INTERPRETERS, SHELLS } from './data-readers.js'

export interface Sought {
  /** Paths that it looks at, in every folder it may be in: each counts, there or not. */
  readonly paths: readonly string[]
  /** What it may run beside them, as the end of a sentence. */
  readonly unseen: readonly string[]
}

const NOTHING: Sought = { paths: [], unseen: [] }

/** Beside the words that it names itself. */
export function soughtBy(command: SimpleCommand): Sought {
  const { name } = command
  if (/^python[\d.]*$/.test(name)) return byPython(command)
  if (name === 'node' || name === 'nodejs') return byNode(command)
  if (name === 'git') return byGit(command)
  if (name === 'find' && command.words.some((word) => /^-(?:exec|ok)dir$/.test(word))) {
    return { paths: [], unseen: ['find starts commands in the folders that it finds'] }
  }
  const files = Object.hasOwn(LOOKED_FOR, name) ? LOOKED_FOR[name] : undefined
  if (!files) return INTERPRETERS.test(name) ? byInterpreter(command) : NOTHING
  const unseen = [`${name} decides by itself, and by files of the project, what it runs`]
  if (!/^(?:npx|bunx|pnpx)$/.test(name)) return { paths: files, unseen }
  const program = command.words.slice(1).find((word) => /^[\w.-]+$/.test(word) && !word.startsWith('-'))
  return { paths: program ? [...files, `node_modules/.bin/${program}`] : files, unseen }
}

const PACKAGE = ['package.json']
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile']

/** Programs that run what a project says, and where it says so. */
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

// ---- completed names --------------------------------------------------------------------------------------------

const NODE = ['.js', '.json', '.node']
const TYPED = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json']

/** What an interpreter takes for `path` where that is no file. `at` reads what a folder says about itself. */
export function completionsOf(name: string, path: string, at: string): readonly string[] {
  if (/^python[\d.]*$/.test(name)) return [`${path}/__main__.py`]
  const endings = /^node(?:js)?$/.test(name)
    ? NODE
    : /^(?:bun|tsx|ts-node|deno)$/.test(name)
      ? TYPED
      : undefined
  if (!endings) return []
  const ofFile = (file: string) => [file, ...endings.map((ending) => file + ending)]
  const main = mainOf(`${at}/package.json`)
  return [
    ...ofFile(path).slice(1),
    `${path}/package.json`,
    ...ofFile(`${path}/index`).slice(1),
    ...(main === undefined
      ? []
      : [...ofFile(`${path}/${main}`), ...ofFile(`${path}/${main}/index`).slice(1)]),
  ]
}

const LONGEST_PACKAGE = 1024 * 1024

function mainOf(path: string): string | undefined {
  try {
    const stats = statSync(path)
    if (!stats.isFile() || stats.size > LONGEST_PACKAGE) return undefined
    const found: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const main = typeof found === 'object' && found !== null && 'main' in found ? found.main : undefined
    return typeof main === 'string' && main !== '' && !main.includes('\0') ? main : undefined
  } catch {
    // The interpreter cannot read it either; it is hashed if it is there.
    return undefined
  }
}

/** The words that may be its program: behind an option one cannot tell whether it is the value. */
export function operandsOf([, ...words]: readonly string[]): readonly string[] {
  const found: string[] = []
  for (const [i, word] of words.entries()) {
    if (word.startsWith('-')) continue
    found.push(word)
    if (!/^-[^=]*$/.test(words[i - 1] ?? '')) break
  }
  return found
}

// ---- interpreters -----------------------------------------------------------------------------------------------

/** `-c`, `-m` and a program that comes in begin to look for modules where the command is. */
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
  return { paths, unseen: ['python looks for modules in the folder where it starts (python3 -I does not)'] }
}

function importsIn(code: string): readonly string[] {
  const lines = code.matchAll(/\b(?:from\s+([\w.]+)\s+import\b|import\s+([\w., \t]+))/g)
  return [...lines].flatMap(
    ([, from, list = '']) => from ?? list.split(',').map((one) => one.trim().split(/\s/)[0] ?? ''),
  )
}

/** `require('x')`, `import('x')`, `from 'x'`; without a name where that is only made when it runs. */
const LOADED =
  /(?:\b(?:require(?:\.resolve)?|import)\s*\(\s*|\b(?:import|from)\s*(?=["']))(?:(["'`])([^"'`]*)\1)?|\b(?:require\b(?!\s*[(.])|createRequire\b)/g

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

/** Of those that have modules: by a program in their words. */
function byInterpreter({ name, words }: SimpleCommand): Sought {
  if (SHELLS.test(name)) return NOTHING
  const isLoading = (word: string) =>
    /\b(?:require|load|do|use|include|import)\b/.test(word) && /[\s"'(]/.test(word)
  if (!words.some(isLoading)) return NOTHING
  return { paths: [], unseen: [`${name} decides by itself which other files it loads`] }
}

// ---- git --------------------------------------------------------------------------------------------------------

/** They run neither hooks nor what `.git/config` says, as long as nobody says so there. */
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
  return { paths: [], unseen: ['git runs hooks and aliases that are kept in the repository'] }
}
