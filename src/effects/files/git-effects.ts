// The files that a git call names and changes. Files that a checkout or a merge changes are not included.

import { gitCall } from '../git/git-call.js'
import type { Call } from '../script/shell-script.js'
import type { Word } from '../script/word.js'
import { argumentsOf, type EffectReader, type FileEffect, inFolder } from './file-effect.js'
import { patched } from './patch-paths.js'

const SHAPES = new Map(
  Object.entries({
    checkout: 'bB',
    restore: 's',
    worktree: 'b',
    clone: 'bcoj',
    clean: 'e',
  }),
)

/** Commands that are read below. Others may name a file for their output. */
const NAMING_FILES: ReadonlySet<string> = new Set([
  ...[
    'rm',
    'mv',
    'checkout',
    'restore',
    'clean',
    'worktree',
    'bundle',
    'clone',
    'submodule',
    'init',
    'stash',
  ],
  ...['apply', 'am', 'config', 'format-patch'],
])

/** Long options of `clean` that take the next word. */
const CLEAN = ['--exclude']

export const gitEffects: EffectReader = (call) => {
  const { verb, count } = verbOf(call)
  const words = call.args.slice(count)
  const {
    operands: given,
    has,
    valuesOf,
  } = argumentsOf(words, {
    valued: SHAPES.get(verb) ?? 'o',
    long: verb === 'clean' ? CLEAN : [],
  })
  const made = (targets: readonly Word[], deed: FileEffect['deed'] = 'write', deep = true): FileEffect[] =>
    targets.map((target) => ({ deed, target, deep, folders: gitFolders(call) }))
  if (!NAMING_FILES.has(verb)) return made(valuesOf('o', '--output'), 'write', false)
  const operands = given.flatMap(asPath)
  switch (verb) {
    case 'rm':
      return has('', '--cached') ? [] : made(operands, 'delete')
    case 'mv':
      return [...made(operands.slice(0, -1), 'move'), ...made(operands.slice(-1))]
    case 'checkout':
    case 'restore':
      return made(operands)
    case 'clean':
      return has('n', '--dry-run') ? [] : made(operands.length > 0 ? operands : [HERE], 'delete')
    case 'worktree':
      return treed(operands, made)
    case 'bundle':
      return operands[0]?.text === 'create' ? made(operands.slice(1, 2)) : []
    case 'clone':
    case 'submodule':
      return made(operands.slice(1))
    case 'init':
      return made(operands)
    case 'stash':
      return made(operands.slice(1))
    case 'apply':
    case 'am':
      return words.some(({ text }) => /^--(?:check|stat|numstat|summary|abort|skip|continue)$/.test(text))
        ? []
        : [
            ...patched(
              call,
              [...plain(words, '--directory'), ...call.inputFiles],
              argumentsOf(words, { long: ['--directory'] }).valuesOf('', '--directory'),
            ),
          ]
    case 'format-patch': {
      if (has('', '--stdout')) return []
      const folders = valuesOf('o', '--output-directory')
      const targets = folders.length > 0 ? folders : [HERE]
      return made(
        targets.map((folder) => ({ ...inFolder(folder, '*.patch'), glob: true })),
        'write',
        false,
      )
    }
    case 'config':
      return made(argumentsOf(words, { valued: 'f', long: ['--file'] }).valuesOf('f', '--file'))
    default:
      return []
  }
}

/** The operands, without the values of a long option. */
function plain(words: readonly Word[], long: string): readonly Word[] {
  return argumentsOf(words, { valued: 'pC', long: [long] }).operands
}

const HERE: Word = { text: '.', known: true, glob: false }

/** `:/x` starts at the top, `:(glob)x` sets the kind of pattern, and a star in git also matches folders. */
function asPath(word: Word): readonly Word[] {
  const text = word.text.replace(/^:(?:\([^)]*\)|\/)\/?/, '') || (word.text.startsWith(':') ? '.' : '')
  if (!text.includes('*')) return [{ ...word, text }]
  const name = text.split('/').at(-1) ?? text
  return [
    { ...word, text, glob: true },
    ...(/^[*]+$/.test(name) ? [] : [{ ...word, text: `./**/${name}`, glob: true }]),
  ]
}

/** A working tree that is created, moved or removed. */
function treed(
  [what, ...trees]: readonly Word[],
  made: (targets: readonly Word[], deed?: FileEffect['deed']) => FileEffect[],
): FileEffect[] {
  if (what?.text === 'remove') return made(trees, 'delete')
  return what?.text === 'move' ? [...made(trees.slice(0, 1), 'move'), ...made(trees.slice(1))] : made(trees)
}

/** The verb, and the number of words up to and including it. */
function verbOf({ args }: Call): { readonly verb: string; readonly count: number } {
  const rest = gitCall(args.map(({ text }) => text))
  return { verb: rest.verb ?? '', count: args.length - rest.args.length }
}

const WORK_TREE = '--work-tree='

/** The folders that git works in, following `-C` and `--work-tree`. */
export function gitFolders({ args, folders }: Call): readonly string[] {
  const { folders: moves } = gitCall(args.map(({ text }) => text))
  const tree = args.filter(({ text }) => text.startsWith(WORK_TREE))
  if (moves.length + tree.length === 0) return folders
  const steps = [...moves, ...tree.map(({ text }) => text.slice(WORK_TREE.length))]
  return steps.reduce<readonly string[]>(
    (from, step) => from.map((folder) => (step.startsWith('/') ? step : `${folder}/${step}`)),
    folders,
  )
}
