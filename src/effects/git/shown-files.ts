// The files whose content a git command shows or packs: `git show HEAD:.env`, `git diff -- x`, `git archive`.

import { argumentsOf, type OptionShape } from '../files/file-effect.js'
import { type Word, withText } from '../script/word.js'

export interface ShownFiles {
  readonly files: readonly Word[]
  /** Whether a folder means everything below it. */
  readonly deep: boolean
  /** Whether it is everything in the repository, wherever in it the command runs. */
  readonly whole?: boolean
}

const HERE: Word = { text: '.', known: true, glob: false }
const NONE: ShownFiles = { files: [], deep: false }

/** Options with which only names, numbers or messages are shown. */
const NO_CONTENT =
  /^(?:--(?:stat|numstat|shortstat|dirstat|summary|name-only|name-status|raw|no-patch|quiet|check|compact-summary)(?:=.*)?|-s)$/
/** Options with which `log` shows changes. */
const WITH_CHANGES = /^(?:-p|-u|--patch(?:-with-.*)?|-c|--cc|-L.*|-U\d+|--unified.*|-G.*|--ext-diff|-m)$/

const SHAPES = new Map<string, OptionShape>(
  Object.entries({
    diff: { valued: 'GSOl', long: ['--output', '--diff-filter', '--word-diff-regex'] },
    show: { valued: 'GSOln', long: ['--format', '--pretty', '--diff-filter'] },
    log: { valued: 'GSOln', long: ['--format', '--pretty', '--author', '--grep', '--since', '--until'] },
    grep: { valued: 'efABCmO', long: ['--max-depth', '--threads'] },
    blame: { valued: 'LSCM', long: ['--since', '--date'] },
    archive: { valued: 'o', long: ['--format', '--output', '--prefix', '--remote', '--exec', '--add-file'] },
  }),
)

/** `args` are the words behind the verb. */
export function shownFiles(verb: string, args: readonly Word[]): ShownFiles {
  switch (verb) {
    case 'show':
      return args.some(({ text }) => NO_CONTENT.test(text)) ? named(args) : withPaths(verb, args, named(args))
    case 'cat-file':
      return args.some(({ text }) => /^-[ets]$/.test(text)) ? NONE : named(args)
    case 'diff':
      return diffed(args)
    case 'log':
    case 'whatchanged':
    case 'format-patch':
    case 'stash':
      return logged(verb, args)
    case 'grep':
      return searched(args)
    case 'blame':
    case 'annotate':
    case 'hash-object':
      return { files: argumentsOf(args, SHAPES.get('blame')).operands.slice(-1), deep: false }
    case 'archive':
      return archived(args)
    default:
      return NONE
  }
}

/** `HEAD:path`, `:path`, `:0:path`. */
function named(args: readonly Word[]): ShownFiles {
  const files = args.flatMap((word) => {
    const [, path] =
      /^[^-:\s][^:\s]*:(.*)$|^:(?:\d:)?([^(/!^].*)$/s.exec(word.text)?.filter((part) => part !== undefined) ??
      []
    return path ? [withText(word, path)] : []
  })
  return { files, deep: true }
}

/** The words behind `--`, or those that look like paths. */
function paths(words: readonly Word[], shape: OptionShape | undefined): readonly Word[] {
  const end = words.findIndex(({ text }) => text === '--')
  if (end >= 0) return words.slice(end + 1)
  return argumentsOf(words, shape).operands.filter(({ text }) => isPath(text))
}

/** `main..topic`, `HEAD~1` and `v1.2.3` are commits. */
function isPath(text: string): boolean {
  if (/\.\.|[~^@]|^v?\d+(?:\.\d+)+$/.test(text) && !/^\.{1,2}(?:\/|$)/.test(text)) return false
  return /^\.{1,2}(?:\/|$)|\.[\w-]+$|^[~/*]|\/$|[*]/.test(text) || /^\.[\w]/.test(text)
}

function withPaths(verb: string, args: readonly Word[], { files }: ShownFiles): ShownFiles {
  return {
    files: [...files, ...paths(args, SHAPES.get(verb)).filter(({ text }) => !/^[^-:]+:/.test(text))],
    deep: true,
  }
}

/** Without paths, all files that have changed. */
function diffed(args: readonly Word[]): ShownFiles {
  if (args.some(({ text }) => NO_CONTENT.test(text))) return NONE
  const { operands } = argumentsOf(args, SHAPES.get('diff'))
  if (args.some(({ text }) => /^--no-i/.test(text))) return { files: operands, deep: true }
  const shown = [...named(args).files, ...paths(args, SHAPES.get('diff'))]
  return shown.length > 0 ? { files: shown, deep: true } : { files: [HERE], deep: true, whole: true }
}

function logged(verb: string, args: readonly Word[]): ShownFiles {
  const shows =
    verb === 'stash'
      ? args[0]?.text === 'show' && args.some(({ text }) => WITH_CHANGES.test(text))
      : verb !== 'log' || args.some(({ text }) => WITH_CHANGES.test(text))
  if (!shows) return NONE
  // `-L1,5:x`
  const lines = args.flatMap((word) => {
    const [, file] = /^-L[^:]*:(?:[^:]*:)?([^:]+)$/.exec(word.text) ?? []
    return file === undefined ? [] : [withText(word, file)]
  })
  const files = [...lines, ...paths(verb === 'stash' ? args.slice(1) : args, SHAPES.get('log'))]
  return { files, deep: true }
}

/** The first word is the pattern, unless an option gives it. */
function searched(args: readonly Word[]): ShownFiles {
  const end = args.findIndex(({ text }) => text === '--')
  const before = end < 0 ? args : args.slice(0, end)
  const { operands, has } = argumentsOf(before, SHAPES.get('grep'))
  const rest = has('ef') ? operands : operands.slice(1)
  const files = end < 0 ? rest : args.slice(end + 1)
  return { files: files.length > 0 ? files : [HERE], deep: true }
}

/** The first word is a commit. */
function archived(args: readonly Word[]): ShownFiles {
  const { operands, valuesOf, has } = argumentsOf(args, SHAPES.get('archive'))
  if (has('l', '--list')) return NONE
  const [, ...files] = operands
  return { files: [...(files.length > 0 ? files : [HERE]), ...valuesOf('', '--add-file')], deep: true }
}
