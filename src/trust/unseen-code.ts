// The sentence about code that a review cannot show: what programs load while they run.

import { shebangName } from './program-search.js'
import { inReadingOrder, type Review, type ReviewedFile } from './review.js'
import { LANGUAGES } from './script-loads.js'

/** Shells load only what they source. */
const SOURCES = /(?:^|[\s;&|({])(?:\.|source)[ \t]+\S/m

/** Programs that follow instructions in a project's files. */
const RUNNERS =
  'make gmake just rake task npm npx pnpm pnpx yarn bunx cargo go mvn gradle docker poetry tox nox pytest pre-commit'.split(
    ' ',
  )
const RUNNER = new RegExp(`(?:^|[\\s;&|({"'\`])(${RUNNERS.join('|')})(?=\\s|$)`, 'gm')

/** Git commands that run no hooks and no alias. */
const GIT =
  /(?:^|[\s;&|({"'`])git[ \t]+(?!(?:-C[ \t]+\S+[ \t]+)?(?:blame|branch|cat-file|check-ignore|config|describe|diff|for-each-ref|grep|help|log|ls-files|ls-tree|merge-base|rev-list|rev-parse|show|shortlog|status|symbolic-ref|tag|version|--version)\b)[\w-]/m

const READS_DATA =
  /\bopen\(|\breadFile|\bload\(|\bcat\s|\bjq\s|<\s?["'\w./$~-]|\.(?:json|ya?ml|toml|txt|csv)\b/

/** Characters per file. */
const MOST_SEARCHED = 256 * 1024

/** One or two sentences. Undefined if nothing in the unit seems to load more code. */
export function unseenCode(review: Review): string | undefined {
  // Rules name programs, and run none.
  const hooks = review.unit.hooks.filter(({ type }) => type !== 'rules')
  const commands = hooks.map(({ command, args = [] }) => [command, ...args].join(' '))
  const files = inReadingOrder(review).flatMap(({ file, part }) => (part === 'named' ? [file] : []))
  const texts = [...commands, ...files.map(textOf)]
  const started = [...Object.keys(review.programs), ...review.missing]
  const onlyModules = hooks.every(({ type }) => type === 'module')
  const found = LANGUAGES.filter((language) =>
    // What a module imports by a relative path is part of the review.
    onlyModules
      ? language.name === 'node' && importsPackages(files)
      : isUsed(language, started, files, commands),
  ).map(({ loads }) => loads)
  const runners = [
    ...new Set(texts.flatMap((text) => [...text.matchAll(RUNNER)].map(([, name = '']) => name))),
  ]
  if (runners.length > 0)
    found.push(`everything that ${listed(runners, 'and')} ${runners.length === 1 ? 'runs' : 'run'}`)
  if (texts.some((text) => GIT.test(text))) found.push('git hooks and aliases')
  if (texts.some((text) => READS_DATA.test(text))) found.push('data files')
  if (found.length === 0) return undefined
  const where =
    review.unit.kind === 'folder'
      ? 'Changes to those outside this folder go unnoticed.'
      : 'Changes to them go unnoticed.'
  return `This review does not cover what these hooks load while they run: ${listed(found, 'and')}. ${where}`
}

function isUsed(
  { name: language, program, extension }: (typeof LANGUAGES)[number],
  started: readonly string[],
  files: readonly ReviewedFile[],
  commands: readonly string[],
): boolean {
  const own = files.filter((file) => extension.test(file.path) || program.test(interpreterOf(file)))
  if (language === 'shell') return [...commands, ...own.map(textOf)].some((text) => SOURCES.test(text))
  return own.length > 0 || started.some((name) => program.test(name))
}

const PACKAGE = /\b(?:import|from|require)\s*\(?\s*["'](?![./]|node:|carabiner(?:\/|["']))/

function importsPackages(files: readonly ReviewedFile[]): boolean {
  return files.some((file) => PACKAGE.test(textOf(file)))
}

function textOf({ text = '' }: ReviewedFile): string {
  return text.slice(0, MOST_SEARCHED)
}

function interpreterOf({ text = '' }: ReviewedFile): string {
  return shebangName(Buffer.from(text.slice(0, 256))) ?? ''
}

function listed(words: readonly string[], last: string): string {
  const [end = '', ...others] = [...words].reverse()
  return others.length === 0 ? end : `${others.reverse().join(', ')} ${last} ${end}`
}
