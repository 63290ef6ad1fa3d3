// The branches that a git command adds commits to, or moves.

import { gitFolders } from '../files/git-effects.js'
import { SOMEWHERE } from '../paths/absolute-path.js'
import { plainWords, type Use } from '../program.js'
import { AS_IT_IS } from '../script/scene.js'
import { BEFORE } from '../script/scene-moves.js'
import { branchAt } from './git-branch.js'
import { type GitCall, gitCall } from './git-call.js'

/** None if it changes no branch, or if nothing tells which. */
export function changedBranches(use: Use): readonly string[] {
  const git = gitCall(use.texts)
  const named = namedBranches(git)
  if (named.length > 0) return [...new Set(named)]
  return changesCurrent(git) ? [...new Set(currentBranches(use, git))] : []
}

const bare = (ref: string) => ref.replace(/^\+?(?:refs\/(?:heads|tags)\/)?/, '')

/** `git fetch . topic:main`, `git branch -f main`, `git checkout -B main`. */
function namedBranches({ verb, args }: GitCall): readonly string[] {
  const words = args.filter((word) => !word.startsWith('-'))
  switch (verb) {
    case 'fetch':
    case 'pull':
      return words
        .slice(1)
        .filter((word) => word.includes(':') && !word.includes('//'))
        .map((word) => bare(word.slice(word.indexOf(':') + 1)))
    case 'branch':
      // Both the old name and the new one.
      return args.some((word) => /^-[^-]*[fDMdCmc]|^--(?:force|delete|move|copy)/.test(word))
        ? words.map(bare)
        : []
    case 'checkout':
    case 'switch': {
      const at = args.findIndex((word) => /^-[BC]$|^--force-create$/.test(word))
      return at < 0 ? [] : [args[at + 1] ?? ''].filter((name) => name !== '')
    }
    case 'push':
      return plainWords(args, /^(?:-o|--push-option|--repo|--receive-pack)$/)
        .slice(1)
        .map((spec) => bare(spec.slice(spec.lastIndexOf(':') + 1)))
        .filter(isName)
    case 'update-ref':
    case 'symbolic-ref':
      return words.map(bare).filter(isName)
    default:
      return []
  }
}

/** Not `HEAD`, and not a pattern. */
function isName(ref: string): boolean {
  return ref !== '' && !/^(?:HEAD|@)$|[*$`]/.test(ref)
}

/** Whether the command adds commits to the current branch, or moves it. */
function changesCurrent({ verb = '', args }: GitCall): boolean {
  const words = args.filter((word) => !word.startsWith('-'))
  switch (verb) {
    case 'pull':
      return true
    case 'push':
    case 'update-ref':
      return words.length < 2 || words.some((word) => /^(?:HEAD|@)$/.test(word))
    case 'reset':
      return words.length > 0 && args.some((word) => /^--(?:hard|soft|keep|merge)$/.test(word))
    case 'rebase':
      // With a second name, git switches to that branch first.
      return words.length < 2
    case 'subtree':
      return /^(?:add|merge|pull)$/.test(words[0] ?? '')
    case 'commit':
    case 'merge':
    case 'cherry-pick':
    case 'revert':
    case 'am':
    case 'filter-branch':
    case 'fast-import':
    case 'citool':
      return true
    default:
      // `git ci -m x`: an unknown verb is an alias, and its options say that it commits.
      return !KNOWN.test(verb) && args.some((word) => /^-[a-z]*m$|^--(?:message|amend|fixup)/.test(word))
  }
}

const KNOWN =
  /^(?:tag|notes|stash|merge.*|branch|switch|checkout|log|show|diff.*|grep|fetch|clone|submodule|worktree|remote|config|commit-.*|rev-.*|ls-.*|format-patch|shortlog|blame|describe|lfs|flow|svn|p4|bisect|clean|rm|mv|add|init|status|restore|archive|bundle|apply|replace|cherry)$/

/** The branches that the script switches to, or else the one that is checked out. */
function currentBranches({ call, script }: Use, git: GitCall): readonly string[] {
  const set = script.assignments.findLast((one) => one.startsWith('GIT_DIR='))?.slice('GIT_DIR='.length)
  const folders = gitFolders(call).filter((folder) => !folder.startsWith(SOMEWHERE))
  return [...call.branches].flatMap((branch) => {
    if (branch === BEFORE) return []
    return branch === AS_IT_IS
      ? folders.flatMap((folder) => branchAt(folder, git.gitDir ?? set) ?? [])
      : [branch]
  })
}
