// Which files a call of git changes that it names itself. What a branch or a merge brings is not among them.

import { argumentsOf, type Effect, type EffectReader } from './effect.js'
import { gitCall } from './git-call.js'
import { patched } from './patch-paths.js'
import type { Call } from './shell-script.js'
import type { Word } from './word.js'

const SHAPES: Readonly<Record<string, string>> = {
  checkout: 'bB',
  restore: 's',
  worktree: 'b',
  clone: 'bcoj',
  clean: 'e',
}

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
    valued: SHAPES[verb] ?? 'o',
    long: verb === 'clean' ? CLEAN : [],
  })
  const operands = given.flatMap(asPath)
  const made = (targets: readonly Word[], deed: Effect['deed'] = 'write', deep = true): Effect[] =>
    targets.map((target) => ({ deed, target, deep, folders: gitFolders(call) }))
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
    case 'config':
      return made(argumentsOf(words, { valued: 'f', long: ['--file'] }).valuesOf('f', '--file'))
    default:
      return made(valuesOf('o', '--output'), 'write', false)
  }
}

/** What is left without the values of a long option. */
function plain(words: readonly Word[], long: string): readonly Word[] {
  return argumentsOf(words, { valued: 'pC', long: [long] }).operands
}

const HERE: Word = { text: '.', known: true, glob: false }

/** `:/x` is from the top, `:(glob)x` says how it is meant, and a star of git stands for folders, too. */
function asPath(word: Word): readonly Word[] {
  const text = word.text.replace(/^:(?:\([^)]*\)|\/)\/?/, '') || (word.text.startsWith(':') ? '.' : '')
  if (!text.includes('*')) return [{ ...word, text }]
  const name = text.split('/').at(-1) ?? text
  return [
    { ...word, text, glob: true },
    ...(/^[*]+$/.test(name) ? [] : [{ ...word, text: `./**/${name}`, glob: true }]),
  ]
}

/** A working tree that is made, moved or removed. */
function treed(
  [what, ...trees]: readonly Word[],
  made: (targets: readonly Word[], deed?: Effect['deed']) => Effect[],
): Effect[] {
  if (what?.text === 'remove') return made(trees, 'delete')
  return what?.text === 'move' ? [...made(trees.slice(0, 1), 'move'), ...made(trees.slice(1))] : made(trees)
}

/** The command of git, and how many words there are up to it. */
export function verbOf({ args }: Call): { readonly verb: string; readonly count: number } {
  const rest = gitCall(args.map(({ text }) => text))
  return { verb: rest.verb ?? '', count: args.length - rest.args.length }
}

/** With `-C`, and with another working tree. */
export function gitFolders({ args, folders }: Call): readonly string[] {
  const { folders: moves } = gitCall(args.map(({ text }) => text))
  const tree = args
    .map(({ text }) => /^--work-tree=(.*)$/s.exec(text)?.[1])
    .filter((path) => path !== undefined)
  const steps = [...moves, ...tree]
  return steps.reduce<readonly string[]>(
    (from, step) => from.map((folder) => (step.startsWith('/') ? step : `${folder}/${step}`)),
    folders,
  )
}
