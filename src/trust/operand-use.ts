// How a command uses each of its words: as a file, as code, or as text that names no file.

import { nameOf, type ShellWord } from '../effects/shell/simple-command.js'
import { wrapperOf } from '../effects/shell/wrappers.js'
import { INTERPRETERS, isReader, isWriter, operandsOf, SHELLS } from './known-programs.js'

export type Use =
  /** Names a file or a folder. */
  | 'file'
  /** May name a file: it counts if it looks like a path, or is a file. */
  | 'path'
  /** A line for another program, or a list: every path in it counts. */
  | 'code'
  /** Code in another language. */
  | 'program'
  /** A shell script, which is read on its own. */
  | 'script'
  /** A message or a pattern: nothing opens it. */
  | 'text'

/** These print or compare their words, or use them as names of something else. */
const TEXTUAL = new Set(
  `: alias break continue date exit expr false getopts jobs kill let logger notify-send osascript popd printenv pwd read
  return say seq shift sleep terminal-notifier tr trap true ulimit umask unset wait export local declare readonly typeset
  logout echo printf`.split(/\s+/),
)

/** All their operands are files, even names without an extension. */
const FILE_TAKING = new Set(
  `bat cd chdir chmod cp eslint flake8 install less ln more mv mypy prettier pushd pylint pytest rsync set shellcheck
  stylelint tar xargs xxd yq zcat`.split(/\s+/),
)

/** Their first words are commands of their own, tasks or targets: `npm test` means no folder `test`. */
const TASK_RUNNERS = new Set(
  `bun bundle bunx cargo carabiner composer deno docker docker-compose gh git gmake go gradle hatch just make mvn npm npx
  nox pipx pnpm pnpx poetry pre-commit rake task terraform tox uv uvx yarn`.split(/\s+/),
)

/** The value of such an option is a folder: `make -C x`. */
const FOLDER_OPTION = /^(?:-C|--(?:chdir|cwd|directory|prefix|project|working-directory))$/

/** A use for each word, the program included. */
export function usesOf(words: readonly ShellWord[]): readonly Use[] {
  const [program, ...args] = words
  if (!program) return []
  const texts = words.map(({ text }) => text)
  const name = nameOf(program.text)
  const uses: Use[] = ['path', ...ownUses(program.text, name, texts.slice(1))]
  const inner = wrapperOf(name)?.(args)
  for (const command of inner?.commands ?? []) {
    for (const [i, use] of usesOf(command).entries()) put(uses, words.indexOf(command[i] as ShellWord), use)
  }
  for (const script of inner?.scripts ?? []) {
    const at = words.indexOf(script)
    // `eval a b` joins its words.
    if (at < 0) uses.fill(args.length === 1 ? 'script' : 'code', 1)
    else put(uses, at, 'script')
  }
  // `bun run` may be a task.
  const isScript =
    INTERPRETERS.test(name) && !TASK_RUNNERS.has(name) && !texts.some((text) => /^-\w*[cme]$/.test(text))
  if (isScript) for (const operand of operandsOf(texts)) put(uses, texts.indexOf(operand, 1), 'file')
  return uses
}

function put(uses: Use[], at: number, use: Use): void {
  if (at >= 0) uses[at] = use
}

function ownUses(program: string, name: string, args: readonly string[]): readonly Use[] {
  const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined
  if (special) return special(args)
  const call = { program, name, words: [program, ...args] }
  if (TEXTUAL.has(name) || isWriter(call)) return args.map(() => 'text')
  if (INTERPRETERS.test(name)) return args.map((arg) => (SHELLS.test(name) ? 'path' : programOrPath(arg)))
  if (isReader(call) || FILE_TAKING.has(name)) return args.map(() => 'file')
  const isTask = program.includes('/') || TASK_RUNNERS.has(name)
  return args.map((arg, i) => {
    if (FOLDER_OPTION.test(args[i - 1] ?? '')) return 'file'
    return /\s/.test(arg) && !isTask ? 'code' : 'path'
  })
}

function programOrPath(arg: string): Use {
  return /[\s;()'"]/.test(arg) ? 'program' : 'path'
}

// ---- programs with words of several kinds -----------------------------------------------------------------------

type Special = (args: readonly string[]) => readonly Use[]

interface Grammar {
  /** Options that are followed by words of these uses. */
  readonly options: readonly (readonly [option: RegExp, ...uses: Use[]])[]
  /** With one of these options, the first operand is a file like the others. */
  readonly replacing: RegExp
  /** The use of the first operand. */
  readonly first: (arg: string) => Use
}

/** A program with a pattern or a program of its own before its files. */
function patterned({ options, replacing, first }: Grammar): Special {
  return (args) => {
    const uses: Use[] = []
    let isFirst = !args.some((arg) => replacing.test(arg))
    for (let i = 0; i < args.length; i++) {
      const arg = args[i] as string
      const [, ...values] = options.find(([option]) => option.test(arg)) ?? []
      if (arg.startsWith('-') && arg !== '-') {
        uses[i] = /^--(?:in|ex)clude|^--(?:regexp|expression|glob)=/.test(arg) ? 'text' : 'file'
        for (const use of values) uses[++i] = use
      } else {
        uses[i] = isFirst ? first(arg) : 'file'
        isFirst = false
      }
    }
    return uses.slice(0, args.length)
  }
}

const asText = (): Use => 'text'

const grep = patterned({
  options: [
    [/^-\w*[eABCmdDgtT]$|^--(?:regexp|glob|type|max-count|(?:after-|before-)?context)$/, 'text'],
    [/^-\w*f$|^--file$/, 'file'],
  ],
  replacing: /^-\w*[ef]|^--(?:regexp|file)/,
  first: asText,
})

const jq = patterned({
  options: [
    [/^--arg(?:json)?$/, 'text', 'text'],
    [/^--(?:slurpfile|rawfile|argfile)$/, 'text', 'file'],
    [/^-\w*[fL]$|^--(?:from-file|library-path)$/, 'file'],
    [/^--indent$/, 'text'],
  ],
  replacing: /^-\w*f|^--from-file/,
  first: asText,
})

/** `r FILE` and `w FILE` name files. */
const sedScript = (arg: string): Use => (/(?:^|[;}\d/$\s])[rRwW]\s+\S/.test(arg) ? 'code' : 'text')

const sed = patterned({
  options: [
    [/^-\w*e$|^--expression$/, 'code'],
    [/^-\w*f$|^--file$/, 'file'],
  ],
  replacing: /^-\w*[ef]|^--(?:expression|file)/,
  first: sedScript,
})

const awk = patterned({
  options: [
    [/^-F$/, 'text'],
    [/^-v$/, 'code'],
    [/^-f$|^--file$/, 'file'],
  ],
  replacing: /^-f|^--file/,
  first: (arg) => (/\bsystem\s*\(|\bgetline\b|"\s*\||\|\s*"/.test(arg) ? 'code' : 'text'),
})

/** Folders come first. Most of the rest are patterns. */
const find: Special = (args) => {
  const from = args.findIndex((arg) => /^(?:-[a-zA-Z]{2,}|[(!])/.test(arg))
  return args.map((_, i) => {
    if (from < 0 || i < from) return 'file'
    return /^-(?:newer\w*|[ac]newer|samefile|files0-from)$/.test(args[i - 1] ?? '') ? 'file' : 'text'
  })
}

/** Unary operators about files, and binary ones that compare files. */
export const FILE_TEST = /^-[a-hkprstuwxGLNOS]$/
export const FILE_COMPARISON = /^-(?:nt|ot|ef)$/

const test: Special = (args) =>
  args.map((_, i) => {
    const [before = '', after = ''] = [args[i - 1], args[i + 1]]
    const isFile = FILE_TEST.test(before) || FILE_COMPARISON.test(before) || FILE_COMPARISON.test(after)
    return isFile ? 'file' : 'text'
  })

/** Asks what a name means: only a path is a file. */
const lookup: Special = (args) => args.map((arg) => (arg.includes('/') ? 'file' : 'text'))

/** A command of its own comes first. */
const checker: Special = (args) => {
  const first = args.findIndex((arg) => !arg.startsWith('-'))
  return args.map((_, i) => (i <= first ? 'path' : 'file'))
}

/** After `--` come files. */
const git: Special = (args) => {
  const end = args.indexOf('--')
  return args.map((_, i) => {
    const before = args[i - 1] ?? ''
    if (/^(?:-\w*m|--message|-c|--grep|-[SG])$/.test(before)) return 'text'
    return before === '-C' || (end >= 0 && i > end) ? 'file' : 'path'
  })
}

const SPECIAL: Readonly<Record<string, Special>> = {
  '[': test,
  ag: grep,
  awk,
  biome: checker,
  command: lookup,
  cut: (args) => args.map((_, i) => (/^-[dfcb]$/.test(args[i - 1] ?? '') ? 'text' : 'file')),
  egrep: grep,
  fgrep: grep,
  find,
  gawk: awk,
  git,
  grep,
  gsed: sed,
  hash: lookup,
  jq,
  mawk: awk,
  nawk: awk,
  rg: grep,
  ruff: checker,
  sed,
  test,
  type: lookup,
  which: lookup,
}
