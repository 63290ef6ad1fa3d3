// git's aliases: on the command line, in the settings of the repository, and in those of the user.

import { dirname, join } from 'node:path'
import { knownText } from '../script/stored-text.js'
import { shellQuoted } from '../shell/shell-quoted.js'
import { gitCall } from './git-call.js'

const MOST_PARENTS = 40

/** What a call of git runs if its verb is an alias: a line for a shell. Undefined if it is none. */
export function aliasedLine(
  words: readonly string[],
  folders: readonly string[],
  home: string | undefined,
): string | undefined {
  const { verb, args, settings, folders: moves } = gitCall(words)
  if (verb === undefined || OWN.has(verb)) return undefined
  const value = givenAlias(verb, settings) ?? storedAlias(verb, folders, moves, home)
  if (value === undefined) return undefined
  const rest = args.map(shellQuoted).join(' ')
  const before = words.slice(0, words.length - args.length - 1).filter((word) => !/^alias\./i.test(word))
  const options = before.filter((word, i) => !(word === '-c' && !before[i + 1]?.includes('=')))
  return value.startsWith('!')
    ? `${value.slice(1)} ${rest}`
    : ['git', ...options.map(shellQuoted), value, rest].join(' ')
}

function givenAlias(verb: string, settings: readonly string[]): string | undefined {
  const start = `alias.${verb}=`.toLowerCase()
  return settings.findLast((one) => one.toLowerCase().startsWith(start))?.slice(start.length)
}

function storedAlias(
  verb: string,
  folders: readonly string[],
  moves: readonly string[],
  home: string | undefined,
): string | undefined {
  const starts = folders.map((folder) => moves.reduce((from, step) => join(from, step), folder))
  const files = [
    ...starts.flatMap(repositoryConfig),
    ...(home === undefined ? [] : [join(home, '.gitconfig'), join(home, '.config/git/config')]),
  ]
  for (const file of files) {
    const value = aliasIn(knownText(file) ?? '', verb)
    if (value !== undefined) return value
  }
  return undefined
}

/** The settings of the repository that a folder is in. */
function repositoryConfig(folder: string): readonly string[] {
  let at = folder
  for (let i = 0; i < MOST_PARENTS && at.startsWith('/'); i++) {
    const file = join(at, '.git/config')
    if (knownText(file) !== undefined) return [file]
    if (dirname(at) === at) break
    at = dirname(at)
  }
  return []
}

/** `[alias]` with a line for each. A backslash at the end joins two lines. */
function aliasIn(text: string, verb: string): string | undefined {
  if (!text.includes('alias')) return undefined
  let section = ''
  let found: string | undefined
  for (const line of text.replace(/\\\n/g, ' ').split('\n')) {
    const [, name] = /^\s*\[\s*([\w.-]+)/.exec(line) ?? []
    if (name !== undefined) section = name.toLowerCase()
    const [, key, value] = /^\s*(?:\[[^\]]*\]\s*)?([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (section === 'alias' && key?.toLowerCase() === verb.toLowerCase()) found = unquoted(value ?? '')
  }
  return found
}

function unquoted(value: string): string {
  const bare = value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
  return bare.replace(/\\(["\\])/g, '$1')
}

/** git ignores aliases with the name of a command of its own. */
const OWN: ReadonlySet<string> = new Set(
  `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-ref-format checkout
  checkout-index cherry cherry-pick clean clone commit commit-tree config count-objects credential describe diff diff-files
  diff-index diff-tree difftool fast-export fast-import fetch filter-branch for-each-ref format-patch fsck gc grep hash-object
  help init log ls-files ls-remote ls-tree maintenance merge merge-base merge-file merge-tree mergetool mv name-rev notes
  pack-objects prune pull push range-diff read-tree rebase reflog remote repack replace reset restore rev-list rev-parse
  revert rm send-email shortlog show show-branch show-ref sparse-checkout stash status submodule switch symbolic-ref tag
  update-index update-ref var verify-commit version whatchanged worktree write-tree`.split(/\s+/),
)
