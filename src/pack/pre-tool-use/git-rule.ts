// What git must not be used for: to leave out the checks of a commit, and to change a protected branch without them.

import { shown } from '../../core/text.js'
import { asked, denied, type Finding } from './finding.js'
import { branchAt } from './git-branch.js'
import { type GitCall, gitCall } from './git-call.js'
import { gitFolders } from './git-effects.js'
import { SOMEWHERE } from './places.js'
import { ProtectedBranches } from './protected-branches.js'
import { AS_IT_IS } from './scene.js'
import { BEFORE } from './scene-moves.js'
import type { Call, Script } from './shell-script.js'

/** Commands that run hooks which `--no-verify` leaves out; of what is not known the alias may be one. */
const HARMLESS_VERBS = new Set(
  `add annotate apply archive bisect blame branch bundle cat-file check-ignore checkout clean clone config count-objects
  describe diff difftool fetch fsck gc grep help init log ls-files ls-remote ls-tree maintenance mv notes prune range-diff
  reflog remote repack reset restore rev-list rev-parse rm shortlog show show-ref sparse-checkout stash status submodule
  switch symbolic-ref tag update-ref var version whatchanged worktree`.split(/\s+/),
)

const INSTEAD = 'Repair what the checks complain about, or let the user run it.'

export function gitFindings(call: Call, script: Script, protectedBranches: readonly string[]): Finding[] {
  if (call.name !== 'git') return []
  const git = gitCall(call.args.map(({ text }) => text))
  const branches = new ProtectedBranches(protectedBranches)
  return [
    ...skippedChecks(git),
    ...hiddenOptions(call, git),
    ...otherHooks(git),
    ...switchedOff(git, script),
    ...commitTo(call, git, script, branches),
    ...forced(call, git, branches),
    ...movedBranch(call, git, branches),
  ]
}

// ---- checks ---------------------------------------------------------------------------------------------------------

function skippedChecks({ verb = '', args }: GitCall): Finding[] {
  if (HARMLESS_VERBS.has(verb)) return []
  const words = withoutValues(args)
  const found = words.find((word) => /^--no-v(?:e(?:r(?:i(?:f(?:y)?)?)?)?)?$/.test(word))
  const short = verb === 'commit' ? words.find(hasN) : undefined
  const word = found ?? short
  if (word === undefined) return []
  return [
    denied('skipped-checks', `\`git ${verb} ${word}\` leaves out the checks of this repository. ${INSTEAD}`),
  ]
}

/** Where an option may stand, and only the shell knows what does. What git itself prints is a name. */
function hiddenOptions({ args }: Call, { verb = '', args: behind }: GitCall): Finding[] {
  if (HARMLESS_VERBS.has(verb)) return []
  const unknown = new Set(args.filter(({ known }) => !known).map(({ text }) => text))
  const isSure = verb === 'commit' ? /^$/ : /^[^$`]|^\$\w|^\$\{|^(?:\$\(|`)\s*git\s/
  const found = withoutValues(behind).find(
    (word) => unknown.has(word) && /^[$`]|^what comes in$/.test(word) && !isSure.test(word),
  )
  if (found === undefined) return []
  return [
    asked(
      'not-understood',
      `\`git ${verb}\` is given ${shown(found)}, which may be an option. Write it out.`,
    ),
  ]
}

/** `-m --no-verify` is a message. */
function withoutValues(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).filter(
    (_, i) =>
      !/^(?:-\w*[mFtCc]|--(?:message|file|author|date|template|reuse-message|reedit-message|fixup|squash|trailer|cleanup))$/.test(
        args[i - 1] ?? '',
      ),
  )
}

/** `-n`, `-an`, `-nm`; not `-mn`, where it is a message. */
function hasN(word: string): boolean {
  return /^-[^-mFcCtSu]*n/.test(word)
}

/** Hooks of another folder are other checks, or none. */
function otherHooks({ verb = '', args, settings }: GitCall): Finding[] {
  const set = settings.find((setting) => /^core\.hookspath(?:=|$)/i.test(setting))
  if (set !== undefined) {
    return [
      denied(
        'skipped-checks',
        `\`git -c ${set}\` runs other checks than those of this repository. ${INSTEAD}`,
      ),
    ]
  }
  const included = settings.find((setting) => /^include(?:if)?\./i.test(setting))
  if (included !== undefined)
    return [asked('skipped-checks', `\`git -c ${shown(included)}\` brings settings from another file.`)]
  const alias = settings.find((setting) => /^alias\./i.test(setting))
  if (alias !== undefined) {
    return [
      asked(
        'not-understood',
        `\`git -c ${shown(alias)}\` gives git a command of its own. Write the command out.`,
      ),
    ]
  }
  return verb === 'config' ? configured(args) : []
}

function configured(args: readonly string[]): Finding[] {
  const at = args.findIndex((word) => /^(?:core\.hookspath|alias\..*|include(?:if)?\..*)$/i.test(word))
  const isReading = args.some((word) => /^(?:--get.*|get|list|-l|--list)$/.test(word))
  if (at < 0 || isReading) return []
  const [name = '', value] = args.slice(at)
  const isUnset = args.some((word) => /^(?:--unset.*|unset|--remove-section|remove-section)$/.test(word))
  if (value === undefined && !isUnset) return []
  if (/^core\.hookspath$/i.test(name)) {
    const isOff = isUnset || /^(?:\/dev\/null|\/dev\/.*|)$/.test(value ?? '')
    const sentence = `\`git config ${name}\` decides which checks run in this repository.`
    return [isOff ? denied('skipped-checks', `${sentence} ${INSTEAD}`) : asked('skipped-checks', sentence)]
  }
  if (/no-v|hookspath/i.test(value ?? '')) {
    return [
      denied(
        'skipped-checks',
        `\`git config ${name}\` would leave out the checks of this repository. ${INSTEAD}`,
      ),
    ]
  }
  return /^include/i.test(name)
    ? [asked('skipped-checks', `\`git config ${name}\` brings settings from another file.`)]
    : []
}

/** What managers of hooks and git itself take for "no checks". */
const SWITCHES =
  /^(?:HUSKY=0|HUSKY_SKIP_HOOKS=.|LEFTHOOK=(?:0|false)|LEFTHOOK_EXCLUDE=.|SKIP=.|SKIP_HOOKS=.|PRE_COMMIT_ALLOW_NO_CONFIG=.|OVERCOMMIT_DISABLE=.|GIT_CONFIG_(?:KEY_\d+|PARAMETERS)=.*hookspath|GIT_CONFIG_(?:GLOBAL|SYSTEM)=|GIT_EXEC_PATH=)/i

function switchedOff({ verb = '' }: GitCall, { assignments }: Script): Finding[] {
  if (HARMLESS_VERBS.has(verb)) return []
  const found = assignments.find((one) => SWITCHES.test(one))
  if (found === undefined) return []
  return [
    denied(
      'skipped-checks',
      `\`${found}\` leaves out the checks of this repository for \`git ${verb}\`. ${INSTEAD}`,
    ),
  ]
}

// ---- branches -------------------------------------------------------------------------------------------------------

function commitTo(call: Call, git: GitCall, script: Script, branches: ProtectedBranches): Finding[] {
  if (!commits(git) || branches.any === undefined) return []
  const found = branchesOf(call, git, script).find((branch) => branches.has(branch))
  if (found === undefined) return unsure(call, git, script, branches)
  return [
    denied(
      'protected-branch',
      `\`git ${git.verb}\` would go to the protected branch ${shown(found)}. Make a branch first: git switch -c NAME && git commit …`,
    ),
  ]
}

/** What makes commits on the branch that is there. */
function commits({ verb = '', args }: GitCall): boolean {
  if (!/^(?:commit|merge|cherry-pick|revert|am)$/.test(verb)) return false
  const isNone = verb === 'commit' ? /^--(?:dry-run|help)$|^-h$/ : /^--(?:abort|quit|no-commit|help)$|^-h$/
  return !args.some((word) => isNone.test(word))
}

/** The branch of before, and a working tree that is only made. */
function unsure(call: Call, { verb }: GitCall, { calls }: Script, branches: ProtectedBranches): Finding[] {
  const isMade = calls.some(({ name, args }) => {
    const other = gitCall(args.map(({ text }) => text))
    return name === 'git' && other.verb === 'worktree' && other.args.some((word) => branches.has(word))
  })
  if (!isMade && !call.branches.has(BEFORE)) return []
  return [
    asked(
      'protected-branch',
      `\`git ${verb}\` may go to a protected branch. Name the branch, and see which it is first.`,
    ),
  ]
}

/** Those that the command switches to, or the one that is there. */
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
  const target = specs
    .map((spec) => targetOf(spec, isForced || removes))
    .find((name) => name && branches.has(name))
  const isOpen =
    isForced &&
    (args.some((word) => /^--(?:all|mirror|branches)$/.test(word)) ||
      specs.some((spec) => /[*$`]|^HEAD$|^@$/.test(spec)))
  const own = isForced && specs.length === 0 ? ownBranch(call, git, branches) : undefined
  const name = target ?? own ?? (isOpen ? (ownBranch(call, git, branches) ?? branches.any) : undefined)
  if (name === undefined || branches.any === undefined) return []
  return [
    denied(
      'protected-branch',
      `\`git push\` would replace or remove the protected branch ${shown(name)}. Push to another branch, or let the user do it.`,
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

/** `+main`, `x:main`, `:main`; without force only what is removed. */
function targetOf(spec: string, isForced: boolean): string | undefined {
  const at = spec.lastIndexOf(':')
  const isSo = isForced || spec.startsWith('+') || at === 0
  const name = (at < 0 ? spec : spec.slice(at + 1)).replace(/^\+/, '').replace(/^refs\/heads\//, '')
  return isSo ? name : undefined
}

/** Commands that put a branch elsewhere without a commit. */
function movedBranch(call: Call, git: GitCall, branches: ProtectedBranches): Finding[] {
  const { verb, args } = git
  if (verb === 'symbolic-ref' && args.some((word) => branches.has(word.replace(/^refs\/heads\//, ''))))
    return [
      asked(
        'protected-branch',
        '`git symbolic-ref` would go to a protected branch by a side door. Use git switch.',
      ),
    ]
  if (verb === 'update-ref' && args.includes('--stdin'))
    return [
      asked(
        'not-understood',
        '`git update-ref --stdin` moves branches that are not named here. Write them out.',
      ),
    ]
  const isOwn =
    verb === 'update-ref' && args.includes('HEAD') && args.find((word) => !word.startsWith('-')) === 'HEAD'
  const own = isOwn ? ownBranch(call, git, branches) : undefined
  const named = own ?? args.find((word) => branches.has(word.replace(/^refs\/heads\//, '')))
  const isMoved =
    own !== undefined ||
    (verb === 'update-ref' && args.some((word) => /^refs\/heads\//.test(word) && word === named)) ||
    (verb === 'branch' && args.some((word) => /^-[^-]*[fDMd]|^--(?:force|delete)/.test(word)))
  if (named === undefined || !isMoved) return []
  return [
    denied(
      'protected-branch',
      `\`git ${verb}\` would move or remove the protected branch ${shown(named)}. Let the user do it.`,
    ),
  ]
}
