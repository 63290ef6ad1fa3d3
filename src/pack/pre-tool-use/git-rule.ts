// Commit checks that git is told to skip.

import { shown } from '../../core/base/text.js'
import { type GitCall, gitCall } from '../../effects/git/git-call.js'
import type { Call, Script } from '../../effects/script/shell-script.js'
import { branchFindings } from './branch-rule.js'
import { asked, denied, type Finding } from './finding.js'

/** Verbs that run none of the hooks that `--no-verify` skips. An unknown verb may be an alias of one that does. */
const HARMLESS_VERBS = new Set(
  `add annotate apply archive bisect blame branch bundle cat-file check-ignore checkout clean clone config count-objects
  describe diff difftool fetch fsck gc grep help init log ls-files ls-remote ls-tree maintenance mv notes prune range-diff
  reflog remote repack reset restore rev-list rev-parse rm shortlog show show-ref sparse-checkout stash status submodule
  switch symbolic-ref tag update-ref var version whatchanged worktree`.split(/\s+/),
)

const INSTEAD = 'Fix what the checks complain about, or let the user run it.'

export function gitFindings(call: Call, script: Script, protectedBranches: readonly string[]): Finding[] {
  if (call.name !== 'git') return uninstalled(call)
  const git = gitCall(call.args.map(({ text }) => text))
  return [
    ...skippedChecks(git),
    ...hiddenOptions(call, git),
    ...otherHooks(git),
    ...switchedOff(git, script),
    ...branchFindings(call, git, script, protectedBranches),
  ]
}

const MANAGERS = /^(?:pre-commit|husky|lefthook|overcommit|simple-git-hooks)$/

/** `husky uninstall`, `npx lefthook uninstall`. */
function uninstalled({ name, args }: Call): Finding[] {
  const texts = args.map(({ text }) => text)
  const at = MANAGERS.test(name)
    ? 0
    : /^(?:npx|bunx|pnpm|yarn|npm)$/.test(name)
      ? texts.findIndex((text) => MANAGERS.test(text)) + 1
      : -1
  if (at < 0 || !/^(?:uninstall|--uninstall)$/.test(texts[at] ?? '') || (at === 0 && !MANAGERS.test(name)))
    return []
  return [asked('skipped-checks', `\`${name}\` would remove the checks of this repository. ${INSTEAD}`)]
}

// ---- checks ---------------------------------------------------------------------------------------------------------

function skippedChecks({ verb = '', args }: GitCall): Finding[] {
  if (HARMLESS_VERBS.has(verb)) return []
  const words = withoutValues(args)
  const found = words.find((word) => /^--no-v(?:e(?:r(?:i(?:f(?:y)?)?)?)?)?$/.test(word))
  const short = verb === 'commit' ? words.find(hasN) : undefined
  const word = found ?? short
  if (word === undefined) return []
  return [denied('skipped-checks', `\`git ${verb} ${word}\` skips the checks of this repository. ${INSTEAD}`)]
}

/** A word that may be an option, but is only known at run time. Output of git itself counts as a name. */
function hiddenOptions({ args }: Call, { verb = '', args: behind }: GitCall): Finding[] {
  if (HARMLESS_VERBS.has(verb)) return []
  const unknown = new Set(args.filter(({ known }) => !known).map(({ text }) => text))
  const isSure = verb === 'commit' ? /^$/ : /^[^$`]|^\$\w|^\$\{|^(?:\$\(|`)\s*git\s/
  const found = withoutValues(behind).find(
    (word) => unknown.has(word) && /^[$`]|^its input$/.test(word) && !isSure.test(word),
  )
  if (found === undefined) return []
  return [
    asked('not-understood', `\`git ${verb}\` gets ${shown(found)}, which may be an option. Write it out.`),
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

/** Hooks from another folder are different checks, or none at all. */
function otherHooks({ verb = '', args, settings }: GitCall): Finding[] {
  const set = settings.find((setting) => /^core\.hookspath(?:=|$)/i.test(setting))
  if (set !== undefined) {
    return [denied('skipped-checks', `\`git -c ${set}\` replaces the checks of this repository. ${INSTEAD}`)]
  }
  const programs = settings.find((setting) => setting.startsWith('exec-path='))
  if (programs !== undefined)
    return [
      asked('skipped-checks', `\`git --${shown(programs)}\` loads the programs of git from another folder.`),
    ]
  const included = settings.find((setting) => /^include(?:if)?\./i.test(setting))
  if (included !== undefined)
    return [asked('skipped-checks', `\`git -c ${shown(included)}\` loads settings from another file.`)]
  const alias = settings.find((setting) => /^alias\./i.test(setting))
  if (alias !== undefined) {
    return [
      asked(
        'not-understood',
        `\`git -c ${shown(alias)}\` defines a new git command. Write out the command itself.`,
      ),
    ]
  }
  return verb === 'config' ? configured(args) : []
}

function configured(args: readonly string[]): Finding[] {
  const isWhole = args.some((word) => /^(?:-e|--edit|edit)$/.test(word))
  const isSection =
    args.some((word) => /^(?:--)?re(?:move|name)-section$/.test(word)) &&
    args.some((word) => /^(?:core|alias|include.*)$/i.test(word))
  if (isWhole || isSection)
    return [
      asked(
        'skipped-checks',
        '`git config` changes several settings at once, including which checks run in this repository.',
      ),
    ]
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
  const called = gitCall((value ?? '').split(/\s+/))
  if (/no-v|hookspath/i.test(value ?? '') || skippedChecks(called).length > 0) {
    return [
      denied('skipped-checks', `\`git config ${name}\` would skip the checks of this repository. ${INSTEAD}`),
    ]
  }
  return /^include/i.test(name)
    ? [asked('skipped-checks', `\`git config ${name}\` loads settings from another file.`)]
    : []
}

/** Variables with which git and hook managers skip checks. */
const SWITCHES =
  /^(?:HUSKY=0|HUSKY_SKIP_HOOKS=.|LEFTHOOK=(?:0|false)|LEFTHOOK_EXCLUDE=.|SKIP=.|SKIP_HOOKS=.|PRE_COMMIT_ALLOW_NO_CONFIG=.|OVERCOMMIT_DISABLE=.|GIT_CONFIG_(?:KEY_\d+|PARAMETERS)=.*hookspath|GIT_CONFIG_(?:GLOBAL|SYSTEM)=|GIT_EXEC_PATH=)/i

function switchedOff({ verb = '' }: GitCall, { assignments }: Script): Finding[] {
  if (HARMLESS_VERBS.has(verb)) return []
  const found = assignments.find((one) => SWITCHES.test(one))
  if (found === undefined) return []
  return [
    denied(
      'skipped-checks',
      `\`${found}\` skips the checks of this repository for \`git ${verb}\`. ${INSTEAD}`,
    ),
  ]
}
