// The branches that a git command adds commits to, moves or replaces.

import type { BranchChange } from '../effect.js'
import { gitFolders } from '../files/git-effects.js'
import { SOMEWHERE } from '../paths/absolute-path.js'
import { plainWords, type Use } from '../program.js'
import { AS_IT_IS } from '../script/scene.js'
import { BEFORE } from '../script/scene-moves.js'
import { branchAt } from './git-branch.js'
import { type GitCall, gitCall } from './git-call.js'

export interface ChangedBranch {
  /** Undefined if it cannot be read. */
  readonly branch: string | undefined
  readonly change: BranchChange
}

/** None if it changes no branch, or if nothing tells which. */
export function changedBranches(use: Use): readonly ChangedBranch[] {
  const git = gitCall(use.texts)
  const named = namedBranches(git)
  const changed = named.length > 0 ? named : currentChanged(use, git)
  return changed.length < 2
    ? changed
    : [...new Map(changed.map((one) => [`${one.change} ${one.branch}`, one])).values()]
}

const bare = (ref: string) => ref.replace(/^\+?(?:refs\/(?:heads|tags)\/)?/, '')

const has = (args: readonly string[], option: RegExp) => args.some((word) => option.test(word))

const all = (change: BranchChange, names: readonly string[]): readonly ChangedBranch[] =>
  names.map((branch) => ({ branch, change }))

// ---- branches by name -------------------------------------------------------------------------------------------

/** `git fetch . topic:main`, `git branch -f main`, `git checkout -B main`. */
function namedBranches(git: GitCall): readonly ChangedBranch[] {
  const { verb, args } = git
  const words = args.filter((word) => !word.startsWith('-'))
  switch (verb) {
    case 'fetch':
    case 'pull':
      return words
        .slice(1)
        .filter((word) => word.includes(':') && !word.includes('//'))
        .map((word) => word.split(':').map(bare))
        .map(([from, to = '']) => ({ branch: to, change: from === to ? 'updates' : 'replaces' }))
    case 'branch':
      // Both the old name and the new one.
      if (has(args, /^-[^-]*[fDMdCm]|^--(?:force|delete|move)/)) return all('replaces', words.map(bare))
      return has(args, /^(?:-c|--copy)$/) ? all('none', words.map(bare)) : []
    case 'checkout':
    case 'switch': {
      const at = args.findIndex((word) => /^-[BC]$|^--force-create$/.test(word))
      const [name, start] = at < 0 ? [] : args.slice(at + 1)
      if (name === undefined || name === '') return []
      return [{ branch: name, change: start?.endsWith(`/${name}`) ? 'updates' : 'replaces' }]
    }
    case 'rebase': {
      // With a second name, git switches to that branch first.
      const [onto = '', branch = ''] = plainWords(args, /^(?:-x|--exec|--onto|-s|-X|--strategy.*)$/)
      if (!isName(branch) || /[~^\s]/.test(branch)) return []
      return [{ branch, change: onto === branch || onto.endsWith(`/${branch}`) ? 'updates' : 'adds' }]
    }
    case 'push':
      return pushed(git)
    case 'update-ref':
      return all('replaces', words.filter((word) => word.startsWith('refs/heads/')).map(bare))
    case 'symbolic-ref':
      return all('moves', words.map(bare).filter(isName))
    default:
      return []
  }
}

/** Whether a push overwrites or deletes what it names. */
function isForced(args: readonly string[]): boolean {
  return has(args, /^-[^-]*[fd]|^--force|^--mirror$|^--d(?:e|elete)/)
}

function pushed({ args }: GitCall): readonly ChangedBranch[] {
  const [remote, ...specs] = plainWords(args, /^(?:-o|--push-option|--repo|--receive-pack)$/)
  // A push to this repository itself moves a local branch.
  const isSo = isForced(args) || remote === '.'
  if (isForced(args) && has(args, /^--(?:all|mirror|branches)$/))
    return [{ branch: undefined, change: 'replaces' }]
  return specs.flatMap((spec): readonly ChangedBranch[] => {
    const branch = bare(spec.slice(spec.lastIndexOf(':') + 1))
    const change = isSo || /^[+:]/.test(spec) ? 'replaces' : pushes(args)
    if (isName(branch)) return [{ branch, change }]
    // `+refs/heads/*:refs/heads/*`
    return change === 'replaces' && /[*$`]/.test(branch) ? [{ branch: undefined, change }] : []
  })
}

/** What a push does that overwrites nothing. */
function pushes(args: readonly string[]): BranchChange {
  return has(args, /^-[^-]*n|^--(?:dry-run|tags)$/) ? 'none' : 'adds'
}

/** Not `HEAD`, and not a pattern. */
function isName(ref: string): boolean {
  return ref !== '' && !/^(?:HEAD|@)$|[*$`]/.test(ref)
}

// ---- the branch that is checked out -----------------------------------------------------------------------------

/** What the command does to the branch that is checked out. Undefined if nothing. */
function changeOfCurrent({ verb = '', args }: GitCall): BranchChange | undefined {
  const words = args.filter((word) => !word.startsWith('-'))
  switch (verb) {
    case 'pull':
      return words.length > 1 ? 'adds' : 'updates'
    case 'push': {
      if (words.length > 1 && !words.some((word) => /^(?:HEAD|@)$/.test(word))) return undefined
      return isForced(args) ? 'replaces' : pushes(args)
    }
    case 'update-ref':
      return words[0] === 'HEAD' ? 'replaces' : undefined
    case 'reset':
      return words.length > 0 && has(args, /^--(?:hard|soft|keep|merge)$/) ? 'moves' : undefined
    case 'rebase':
      return words.length === 1 || args.includes('--root') ? 'adds' : 'none'
    case 'subtree':
      return /^(?:add|merge|pull)$/.test(words[0] ?? '') ? 'adds' : undefined
    case 'commit':
      return has(args, /^--(?:dry-run|help)$|^-h$/) ? 'none' : 'adds'
    case 'merge':
    case 'cherry-pick':
    case 'revert':
    case 'am':
    case 'filter-branch':
    case 'fast-import':
    case 'citool':
      return has(args, /^--(?:abort|quit|no-commit|help)$|^-h$/) ? 'none' : 'adds'
    default:
      // `git ci -m x`: an unknown verb is an alias, and its options say that it commits.
      return !KNOWN.test(verb) && has(args, /^-[a-z]*m$|^--(?:message|amend|fixup)/) ? 'adds' : undefined
  }
}

const KNOWN =
  /^(?:tag|notes|stash|merge.*|branch|switch|checkout|log|show|diff.*|grep|fetch|clone|submodule|worktree|remote|config|commit-.*|rev-.*|ls-.*|format-patch|shortlog|blame|describe|lfs|flow|svn|p4|bisect|clean|rm|mv|add|init|status|restore|archive|bundle|apply|replace|cherry)$/

/** `git pull origin main`, `git rebase origin/main`, `git reset --hard HEAD`: only brings the branch's own commits. */
function bringsItself({ verb = '', args }: GitCall, own: string): boolean {
  const words = args.filter((word) => !word.startsWith('-'))
  if (verb === 'pull') return words.slice(1).every((word) => word === own || word === `${own}:${own}`)
  if (verb === 'rebase')
    return words.every((word) => word === own || word.endsWith(`/${own}`)) && !args.includes('--root')
  if (verb !== 'reset') return false
  return words.every(
    (word) => word.endsWith(`/${own}`) || /^(?:HEAD|@|ORIG_HEAD)(?:[~^@{].*)?$|^[0-9a-f]{7,40}$/.test(word),
  )
}

function currentChanged(use: Use, git: GitCall): readonly ChangedBranch[] {
  const change = changeOfCurrent(git)
  if (change === undefined) return []
  return currentBranches(use, git).map((branch) => {
    const isOwn = branch !== undefined && change !== 'none' && bringsItself(git, branch)
    return { branch, change: isOwn ? 'updates' : change }
  })
}

/** The branches that the script switches to, or else the one that is checked out. A repository without commits has none. */
function currentBranches({ call, script }: Use, git: GitCall): readonly (string | undefined)[] {
  const set = script.assignments.findLast((one) => one.startsWith('GIT_DIR='))?.slice('GIT_DIR='.length)
  const folders = gitFolders(call).filter((folder) => !folder.startsWith(SOMEWHERE))
  return [...call.branches].flatMap((branch): readonly (string | undefined)[] => {
    if (branch === BEFORE) return [undefined]
    if (branch !== AS_IT_IS) return [branch]
    const found = folders.flatMap((folder) => branchAt(folder, git.gitDir ?? set) ?? [])
    return found.length > 0 ? found : newWorktrees(script)
  })
}

/** `git worktree add ../fix main && cd ../fix`: the branches of working trees that the script creates. */
function newWorktrees({ calls }: Use['script']): readonly string[] {
  return calls.flatMap(({ name, args }) => {
    const { verb, args: words } = gitCall(args.map(({ text }) => text))
    if (name !== 'git' || verb !== 'worktree' || words[0] !== 'add') return []
    const at = words.findIndex((word) => /^-[bB]$/.test(word))
    return at < 0 ? plainWords(words).slice(2, 3) : words.slice(at + 1, at + 2)
  })
}
