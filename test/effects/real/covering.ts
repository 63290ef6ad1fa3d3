// What an effect covers besides the places that it names, and why. Nothing else may be covered: a file that a person would
// want to hear about has to be among the places of the effects.
//
// - git: An effect of git stands for changes of the repository's own books: objects, references, index, logs, states of
//   a merge. It never covers `config` and `hooks`, which decide what runs later, unless the operation is about them.
// - git, files of the work tree: A checkout, a merge or a reset brings them to another state and cannot name them. Only
//   operations that do so cover them, only inside the work tree, and never inside `.git`.
// - Books of other programs: npm, go and gpg keep logs, caches and key rings in the home folder whatever they do.
// - install: The folder of packages and the lists of them belong to the package manager.

import { join } from 'node:path'
import type { Effect } from '../../../src/effects/effect.js'

export interface World {
  readonly home: string
  /** The project, which is the work tree if git is about it. */
  readonly app: string
}

/** Operations that bring the files of a work tree to another state. */
const UPDATES = new Set(
  `bisect checkout checkout-index cherry-pick filter-branch merge read-tree rebase reset restore revert sparse-checkout
  stash switch`.split(/\s+/),
)

/** Operations that are about the settings of a repository, and those that make one from a template with hooks. */
const SETS = new Set('branch clone config init remote sparse-checkout submodule'.split(' '))
const MAKES = new Set(['clone', 'init'])

/** Whether the effect covers a change of the path. */
export function coversChange(effect: Effect, path: string, world: World): boolean {
  if (effect.kind === 'git') return coveredByGit(effect.operation, path, world)
  if (effect.kind === 'install') return isOfPackages(path, world)
  return effect.kind === 'run' && (isBook(effect.program, path, world) || isRefreshed(effect.program, path))
}

/** Whether the effect covers that the path is read. git takes files of the work tree into its own folder. */
export function coversRead(effect: Effect, path: string, world: World): boolean {
  if (effect.kind === 'git') return isBelow(path, world.app) || inRepository(path) !== undefined
  if (effect.kind !== 'run') return false
  // It looks there for the names of files that it should not show.
  if (baseOf(effect.program) === 'gio' && path.endsWith('/.hidden')) return true
  return (
    (baseOf(effect.program) === 'git' && inRepository(path) !== undefined) ||
    isBook(effect.program, path, world)
  )
}

function coveredByGit(operation: string, path: string, { app }: World): boolean {
  const inside = inRepository(path)
  if (inside === undefined) return UPDATES.has(operation) && isBelow(path, app)
  if (/^config(?:\.|$)/.test(inside)) return SETS.has(operation)
  if (/^hooks(?:\/|$)/.test(inside)) return MAKES.has(operation)
  return true
}

/** Whatever git does, it may note the times of files in its index. */
function isRefreshed(program: string, path: string): boolean {
  return baseOf(program) === 'git' && inRepository(path) === 'index'
}

/** The path inside a `.git` folder. */
function inRepository(path: string): string | undefined {
  return /\/\.git(?:\/(.*))?$/s
    .exec(path)
    ?.slice(1)
    .map((rest) => rest ?? '')[0]
}

/** Relative to the home folder. */
const BOOKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['npm', ['.npm']],
  ['npx', ['.npm']],
  ['go', ['.cache/go-build', 'go/pkg']],
  ['gpg', ['.gnupg']],
  ['pip', ['.cache/pip']],
])

function isBook(program: string, path: string, { home }: World): boolean {
  return (BOOKS.get(baseOf(program)) ?? []).some(
    (book) => isBelow(path, join(home, book)) || join(home, book).startsWith(`${path}/`),
  )
}

function isOfPackages(path: string, { app }: World): boolean {
  return /^\/(?:node_modules|package(?:-lock)?\.json)(?:\/|$)/.test(
    isBelow(path, app) ? path.slice(app.length) : '',
  )
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function baseOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
