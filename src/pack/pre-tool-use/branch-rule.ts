// Protected branches: git must not commit to them, move them or delete them.

import { shown } from '../../core/base/text.js'
import { gitFolders } from '../../effects/files/git-effects.js'
import { branchAt } from '../../effects/git/git-branch.js'
import { type GitCall, gitCall } from '../../effects/git/git-call.js'
import { SOMEWHERE } from '../../effects/paths/absolute-path.js'
import { AS_IT_IS } from '../../effects/script/scene.js'
import { BEFORE } from '../../effects/script/scene-moves.js'
import type { Call, Script } from '../../effects/script/shell-script.js'
import { asked, denied, type Finding } from './finding.js'
import { ProtectedBranches } from './protected-branches.js'

export function branchFindings(
  call: Call,
  git: GitCall,
  script: Script,
  protectedBranches: readonly string[],
): Finding[] {
  const branches = new ProtectedBranches(protectedBranches)
  return [
    ...commitTo(call, git, script, branches),
    ...forced(call, git, branches),
    ...movedBranch(call, git, branches),
  ]
}

function commitTo(call: Call, git: GitCall, script: Script, branches: ProtectedBranches): Finding[] {
  if (!commits(git) || branches.any === undefined) return []
  const found = branchesOf(call, git, script).find((branch) => branches.has(branch))
  if (found === undefined) return unsure(call, git, script, branches)
  if (bringsItself(git, found)) return []
  if (git.verb === 'reset')
    return [
      asked(
        'protected-branch',
        `\`git reset\` would move the protected branch ${shown(found)} to another commit. Create a branch first.`,
      ),
    ]
  return [
    denied(
      'protected-branch',
      `\`git ${git.verb}\` would change the protected branch ${shown(found)}. Create a branch first: git switch -c NAME && git commit …`,
    ),
  ]
}

/** Whether the command adds commits to the current branch, or moves it. */
function commits({ verb = '', args }: GitCall): boolean {
  const operands = args.filter((word) => !word.startsWith('-'))
  if (verb === 'pull') return operands.length > 1
  if (verb === 'reset')
    return args.some((word) => /^--(?:hard|soft|keep|merge)$/.test(word)) && operands.length > 0
  // With a second name, git switches to that branch first.
  if (verb === 'rebase') return operands.length === 1 || args.includes('--root')
  if (verb === 'subtree') return /^(?:add|merge|pull)$/.test(operands[0] ?? '')
  // `git ci -m x`: an unknown verb is an alias, and its options say that it commits.
  const isAlias = !KNOWN.test(verb) && args.some((word) => /^-[a-z]*m$|^--(?:message|amend|fixup)/.test(word))
  if (!isAlias && !/^(?:commit|merge|cherry-pick|revert|am|filter-branch|fast-import|citool)$/.test(verb))
    return false
  const isNone = verb === 'commit' ? /^--(?:dry-run|help)$|^-h$/ : /^--(?:abort|quit|no-commit|help)$|^-h$/
  return !args.some((word) => isNone.test(word))
}

const KNOWN =
  /^(?:tag|notes|stash|merge.*|branch|switch|checkout|log|show|diff.*|grep|push|fetch|clone|submodule|worktree|remote|config|commit-.*|rev-.*|ls-.*|format-patch|shortlog|blame|describe|lfs|flow|svn|p4|bisect|clean|rm|mv|add|init|status|restore|archive|bundle|apply|replace|cherry)$/

/** `git pull origin main`, `git rebase origin/main`, `git reset --hard HEAD`: only brings the branch's own commits. */
function bringsItself({ verb = '', args }: GitCall, own: string): boolean {
  const operands = args.filter((word) => !word.startsWith('-'))
  if (verb === 'pull') return operands.slice(1).every((word) => word === own || word === `${own}:${own}`)
  if (verb === 'rebase')
    return operands.every((word) => word === own || word.endsWith(`/${own}`)) && !args.includes('--root')
  if (verb !== 'reset') return false
  return operands.every(
    (word) => word.endsWith(`/${own}`) || /^(?:HEAD|@|ORIG_HEAD)(?:[~^@{].*)?$|^[0-9a-f]{7,40}$/.test(word),
  )
}

/** Cases where the branch is not certain: the previous branch (`-`), and a working tree that is only being created. */
function unsure(call: Call, { verb }: GitCall, { calls }: Script, branches: ProtectedBranches): Finding[] {
  const isMade = calls.some(({ name, args }) => {
    const other = gitCall(args.map(({ text }) => text))
    return name === 'git' && other.verb === 'worktree' && other.args.some((word) => branches.has(word))
  })
  if (!isMade && !call.branches.has(BEFORE)) return []
  return [
    asked(
      'protected-branch',
      `\`git ${verb}\` may change a protected branch. Check which branch it is first, and name it.`,
    ),
  ]
}

/** The branches that the command switches to, or else the current one. */
function branchesOf(call: Call, git: GitCall, script: Script): readonly string[] {
  const set = script.assignments.findLast((one) => one.startsWith('GIT_DIR='))?.slice('GIT_DIR='.length)
  return [...call.branches].flatMap((branch) => {
    if (branch !== AS_IT_IS) return [branch]
    const folders = gitFolders(call).filter((folder) => !folder.startsWith(SOMEWHERE))
    return folders.flatMap((folder) => branchAt(folder, git.gitDir ?? set) ?? [])
  })
}

function forced(call: Call, git: GitCall, branches: ProtectedBranches): Finding[] {
  if (git.verb !== 'push') return []
  const { args } = git
  const words = args.filter((word) => !word.startsWith('-'))
  const isForced = args.some((word) => /^-[^-]*f|^--force|^--mirror$/.test(word))
  const removes = args.some((word) => /^-[^-]*d|^--d(?:e|elete)/.test(word))
  const specs = words.slice(1)
  // A push to this repository itself (`.`) moves a local branch.
  const isOwn = words[0] === '.'
  const target = specs
    .map((spec) => targetOf(spec, isForced || removes || isOwn))
    .find((name) => name && branches.has(name))
  const isOpen =
    (isForced &&
      (args.some((word) => /^--(?:all|mirror|branches)$/.test(word)) ||
        specs.some((spec) => /[*$`]|^HEAD$|^@$/.test(spec)))) ||
    specs.some((spec) => spec.startsWith('+') && spec.includes('*'))
  const own = isForced && specs.length === 0 ? ownBranch(call, git, branches) : undefined
  const name = target ?? own ?? (isOpen ? (ownBranch(call, git, branches) ?? branches.any) : undefined)
  if (name === undefined || branches.any === undefined) return []
  return [
    denied(
      'protected-branch',
      `\`git push\` would overwrite or delete the protected branch ${shown(name)}. Push to another branch, or let the user do it.`,
    ),
  ]
}

function ownBranch(call: Call, git: GitCall, branches: ProtectedBranches): string | undefined {
  const folders = gitFolders(call).filter((folder) => !folder.startsWith(SOMEWHERE))
  const own = [...call.branches].flatMap((branch) =>
    branch === AS_IT_IS ? folders.map((folder) => branchAt(folder, git.gitDir)) : [branch],
  )
  return own.find((branch) => branch !== undefined && branches.has(branch))
}

/** The branch that `+main`, `x:main` or `:main` overwrites. Without force, only a deleted branch counts. */
function targetOf(spec: string, isForced: boolean): string | undefined {
  const at = spec.lastIndexOf(':')
  const isSo = isForced || spec.startsWith('+') || at === 0
  const name = (at < 0 ? spec : spec.slice(at + 1)).replace(/^\+/, '').replace(/^refs\/heads\//, '')
  return isSo ? name : undefined
}

/** Commands that move a branch without a commit. */
function movedBranch(call: Call, git: GitCall, branches: ProtectedBranches): Finding[] {
  const { verb, args } = git
  if (verb === 'symbolic-ref' && args.some((word) => branches.has(word.replace(/^refs\/heads\//, ''))))
    return [
      asked(
        'protected-branch',
        '`git symbolic-ref` would switch to a protected branch without the usual checks. Use git switch.',
      ),
    ]
  if (verb === 'update-ref' && args.includes('--stdin'))
    return [
      asked(
        'not-understood',
        '`git update-ref --stdin` moves branches that this command does not name. Name them in the command.',
      ),
    ]
  const isOwn =
    verb === 'update-ref' && args.includes('HEAD') && args.find((word) => !word.startsWith('-')) === 'HEAD'
  const own = isOwn ? ownBranch(call, git, branches) : undefined
  const named =
    own ?? replacedBy(git, branches) ?? args.find((word) => branches.has(word.replace(/^refs\/heads\//, '')))
  const isMoved =
    own !== undefined ||
    replacedBy(git, branches) !== undefined ||
    (verb === 'update-ref' && args.some((word) => /^refs\/heads\//.test(word) && word === named)) ||
    (verb === 'branch' && args.some((word) => /^-[^-]*[fDMdCm]|^--(?:force|delete|move)/.test(word)))
  if (named === undefined || !isMoved) return []
  return [
    denied(
      'protected-branch',
      `\`git ${verb}\` would move or delete the protected branch ${shown(named)}. Let the user do it.`,
    ),
  ]
}

/** The branch that `git fetch . x:main` or `git checkout -B main x` moves, unless it moves to its own remote branch. */
function replacedBy({ verb, args }: GitCall, branches: ProtectedBranches): string | undefined {
  const bare = (ref: string) => ref.replace(/^\+?(?:refs\/heads\/)?/, '')
  if (verb === 'fetch' || verb === 'pull') {
    return args
      .filter((word) => word.includes(':') && !/^-|\/\//.test(word))
      .map((word) => word.split(':').map(bare))
      .find(([from, to = '']) => to !== from && branches.has(to))?.[1]
  }
  if (verb !== 'checkout' && verb !== 'switch') return undefined
  const at = args.findIndex((word) => /^-[BC]$|^--force-create$/.test(word))
  const name = at < 0 ? undefined : args[at + 1]
  const start = args[at + 2]
  return name !== undefined && branches.has(name) && !start?.endsWith(`/${name}`) ? name : undefined
}
