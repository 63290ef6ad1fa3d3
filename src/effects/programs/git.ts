// git: what each of its commands loses, and where it sends the repository.

import { gitEffects, gitFolders } from '../files/git-effects.js'
import { type ChangedBranch, changedBranches } from '../git/changed-branches.js'
import { topOf } from '../git/git-branch.js'
import { gitCall } from '../git/git-call.js'
import { shownFiles } from '../git/shown-files.js'
import { isSomewhere } from '../paths/absolute-path.js'
import {
  type Draft,
  hostOf,
  isAlone,
  maybeSetting,
  NOT_GIT,
  onPlaces,
  type Program,
  plainWords,
  send,
  type Use,
} from '../program.js'
import { certainStart, withText } from '../script/word.js'

type Losses = 'history' | 'work' | 'nothing'

interface Verb {
  readonly loses: Losses
  readonly force?: boolean
  readonly branch?: string | undefined
}

const NOTHING: Verb = { loses: 'nothing' }

/** Words that only show what would happen. */
const isDry = (args: readonly string[]) => args.includes('--dry-run') || args.includes('-n')

const has = (args: readonly string[], option: RegExp) => args.some((word) => option.test(word))

const FORCE = /^--force$|^-[a-zA-Z]*f[a-zA-Z]*$/

/** A rebase that changes, joins or drops commits. */
const REWRITING =
  /^-\w*[ifx]|^--(?:interactive|onto|root|exec|force-rebase|no-ff|autosquash)|^(?:HEAD|@)[~^{]/

const PUSH_VALUED = /^(?:-o|--push-option|--repo|--receive-pack)$/

const LOCK =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|poetry\.lock|uv\.lock|Cargo\.lock|Gemfile\.lock|composer\.lock|go\.sum|Pipfile\.lock|flake\.lock|mix\.lock|pubspec\.lock)$/

/** By name of the git command. Others lose nothing. */
const VERBS = new Map<string, (args: readonly string[]) => Verb>(
  Object.entries<(args: readonly string[]) => Verb>({
    reset: (args) => {
      const [commit] = plainWords(args)
      const isCommit =
        !args.includes('--') &&
        commit !== undefined &&
        /^(?:HEAD[~^@]|@[~^{]|[\w-]+\/|[0-9a-f]{7,40}$|ORIG_HEAD|v\d)/.test(commit) &&
        !/\.\w+$/.test(commit)
      if (has(args, /^--(?:hard|merge|keep)$/)) return { loses: isCommit ? 'history' : 'work', force: true }
      // The files stay as they are, and the reflog keeps the commits.
      return NOTHING
    },
    checkout: (args) => {
      if (has(args, /^-B$/)) return { loses: 'history', branch: args[args.indexOf('-B') + 1] }
      if (has(args, FORCE)) return { loses: 'work', force: true }
      if (has(args, /^(?:-b|--orphan|-p|--patch)$/)) return NOTHING
      const operands = plainWords(args)
      // Both sides of a conflict are commits. A whole folder also has other changes.
      if (has(args, /^--(?:ours|theirs)$/) && !has(operands, /^\.{1,2}$|[*/]$|^:/)) return NOTHING
      // Package managers write these files.
      if (args.includes('--') && args.slice(args.indexOf('--') + 1).every((path) => LOCK.test(path)))
        return NOTHING
      const isPath = (word: string) =>
        !/^v?\d+(?:\.\d+)+$/.test(word) && /^\.{1,2}(?:\/|$)|\/$|^:|[*]|\.\w{1,5}$/.test(word)
      return args.includes('--') || operands.some(isPath) || operands.length > 1
        ? { loses: 'work' }
        : { ...NOTHING, branch: operands[0] }
    },
    'checkout-index': (args) => (has(args, FORCE) ? { loses: 'work', force: true } : NOTHING),
    'read-tree': (args) => (has(args, /^--reset$/) ? { loses: 'work', force: true } : NOTHING),
    switch: (args) => {
      if (has(args, /^(?:-C|--force-create)$/)) return { loses: 'history', branch: plainWords(args)[0] }
      return has(args, /^(?:-f|--force|--discard-changes)$/)
        ? { loses: 'work', force: true }
        : { ...NOTHING, branch: plainWords(args)[0] }
    },
    restore: (args) => {
      const isStaged = has(args, /^(?:--staged|-S)$/) && !has(args, /^(?:--worktree|-W)$|^-\w*W/)
      return isStaged || has(args, /^(?:-p|--patch)$/) ? NOTHING : { loses: 'work' }
    },
    clean: (args) =>
      has(args, /^-\w*n|^--dry-run$/) || has(args, /^-i$/)
        ? NOTHING
        : has(args, FORCE)
          ? { loses: 'work', force: true }
          : NOTHING,
    stash: (args) => (has(args, /^(?:drop|clear)$/) ? { loses: 'work' } : NOTHING),
    push: (args) => {
      const [, ...refs] = plainWords(args, PUSH_VALUED)
      const target = refs.at(-1)?.replace(/^\+/, '')
      const branch =
        target === undefined
          ? undefined
          : (target.split(':').at(-1) ?? target).replace(/^refs\/(?:heads|tags)\//, '')
      const force =
        has(args, /^(?:--force(?:-with-lease|-if-includes)?(?:=.*)?|--mirror|--prune)$|^-\w*f\w*$/) ||
        refs.some((ref) => ref.startsWith('+'))
      const deletes = has(args, /^(?:--delete|-d)$/) || refs.some((ref) => ref.startsWith(':'))
      if (has(args, /^(?:--dry-run|-n)$/)) return { loses: 'nothing', branch }
      return { loses: force || deletes ? 'history' : 'nothing', force, branch }
    },
    branch: (args) => {
      const deletes = has(args, /^-\w*D/) || (has(args, /^(?:-d|--delete)$/) && has(args, /^(?:-f|--force)$/))
      const moves = has(args, /^-\w*[MC]$/) || has(args, /^(?:-f|--force)$/)
      return {
        loses: deletes || moves ? 'history' : 'nothing',
        force: deletes || moves,
        branch: plainWords(args)[0],
      }
    },
    notes: (args) => (/^(?:prune|remove)$/.test(args[0] ?? '') ? { loses: 'history' } : NOTHING),
    rebase: (args) =>
      has(args, /^--(?:abort)$/)
        ? { loses: 'work' }
        : has(args, /^--(?:continue|quit|edit-todo|show-current-patch)$/)
          ? NOTHING
          : // The commit that is skipped is gone.
            has(args, REWRITING) || has(args, /^--skip$/)
            ? { loses: 'history' }
            : NOTHING, // Bringing one's own commits onto another branch keeps all of them.
    merge: (args) => (has(args, /^--abort$/) ? { loses: 'work' } : NOTHING),
    am: (args) => (has(args, /^--(?:abort|skip)$/) ? { loses: 'work' } : NOTHING),
    'cherry-pick': (args) => (has(args, /^--(?:abort|skip)$/) ? { loses: 'work' } : NOTHING),
    // A rebase of commits that nobody else has is daily work.
    pull: (args) => (has(args, FORCE) ? { loses: 'history', force: true } : NOTHING),
    commit: (args) => (has(args, /^--amend$/) ? { loses: 'history' } : NOTHING),
    'filter-branch': () => ({ loses: 'history', force: true }),
    'filter-repo': () => ({ loses: 'history', force: true }),
    reflog: (args) => (has(args, /^(?:expire|delete)$/) ? { loses: 'history' } : NOTHING),
    gc: (args) => (has(args, /^--prune=(?:now|all)/) ? { loses: 'history' } : NOTHING),
    prune: (args) => (isDry(args) ? NOTHING : { loses: 'history' }),
    tag: (args) =>
      has(args, /^(?:-d|--delete)$/) || has(args, /^(?:-f|--force)$/)
        ? { loses: 'history', branch: plainWords(args)[0] }
        : NOTHING,
    worktree: (args) => (args[0] === 'remove' && has(args, FORCE) ? { loses: 'work', force: true } : NOTHING),
    submodule: (args) =>
      args[0] === 'deinit' && has(args, FORCE) ? { loses: 'work', force: true } : NOTHING,
    'update-ref': (args) => ({
      loses: 'history',
      branch: plainWords(args)[0]?.replace(/^refs\/heads\//, ''),
    }),
    'symbolic-ref': (args) => (has(args, /^(?:-d|--delete)$/) ? { loses: 'history' } : NOTHING),
    replace: (args) => (args.length > 0 && !has(args, /^-l/) ? { loses: 'history' } : NOTHING),
    remote: (args) =>
      /^(?:rm|remove)$/.test(args[0] ?? '') ? { loses: 'history', branch: args[1] } : NOTHING,
    rm: (args) => (has(args, FORCE) && !has(args, /^--cached$/) ? { loses: 'work', force: true } : NOTHING),
  }),
)

const READING =
  /^(?:status|diff|log|show|blame|ls-files|ls-tree|ls-remote|rev-parse|rev-list|describe|shortlog|grep|cat-file|merge-base|check-ignore|count-objects|help|version|var|name-rev|for-each-ref|show-ref|cherry|whatchanged|annotate|range-diff|fsck|archive|bundle)$/

const effects = (use: Use): readonly Draft[] => {
  const { verb, args, settings } = gitCall(use.texts)
  if (verb === undefined) return []
  const { loses, force = false, branch } = VERBS.get(verb)?.(args) ?? NOTHING
  const changed = changedBranches(use)
  const branches: readonly ChangedBranch[] = changed.length > 0 ? changed : [{ branch, change: 'none' }]
  const own = branches.map((one): Draft => ({ kind: 'git', operation: verb, force, loses, ...one }))
  return [
    ...(READING.test(verb) ? [] : own),
    ...unreadBranch(verb, args, own),
    ...filesOf(use, verb, args, loses),
    ...readsOf(use, verb, args),
    ...sendsOf(use, verb, args),
    ...checks(use, verb, args, settings),
    ...unreadOptions(use, verb, args, settings),
    ...configured(use, verb, args),
    ...credentialsOf(use, verb, args),
    ...undone(use, verb, args),
    ...patched(use, verb, args),
  ]
}

/** `git credential fill` prints a password. */
function credentialsOf(use: Use, verb: string, [action]: readonly string[]): readonly Draft[] {
  const isShown = /^credential(?:-\w+)?$/.test(verb) && /^(?:fill|get)$/.test(action ?? '')
  return isShown ? onPlaces('read', use.places({ text: '~/.git-credentials', known: true, glob: false })) : []
}

/** `git apply --include='.claude/*' x.patch` changes settings, whatever the patch says. */
function patched(use: Use, verb: string, args: readonly string[]): readonly Draft[] {
  if (verb !== 'apply' && verb !== 'am') return []
  const words = use.args.slice(use.args.length - args.length)
  return words.flatMap((word) => {
    const text = word.text.replace(/^--(?:include|directory)=/, '').replace(/\/\*+$/, '')
    return text.startsWith('-') ? [] : maybeSetting(use.places(withText(word, text), true), NOT_GIT)
  })
}

/** `git diff | git apply -R` takes back all changes that are not committed. */
function undone({ call }: Use, verb: string, args: readonly string[]): readonly Draft[] {
  const isReverse = verb === 'apply' && has(args, /^(?:-R|--reverse)$/)
  const [from] = call.readsFrom
  if (!isReverse || from?.name !== 'git' || !from.args.some(({ text }) => text === 'diff')) return []
  return [{ kind: 'git', operation: 'apply', branch: undefined, force: false, loses: 'work', change: 'none' }]
}

/** `git push $TO`: the remote, and perhaps branches too. */
function unreadBranch(verb: string, args: readonly string[], own: readonly Draft[]): readonly Draft[] {
  const [remote = '', ...refs] = verb === 'push' ? plainWords(args, PUSH_VALUED) : []
  if (refs.length > 0 || certainStart(remote) === undefined) return []
  return own.slice(0, 1).map((draft) => ({ ...draft, branch: remote, change: 'none' }) as Draft)
}

function filesOf(use: Use, verb: string, args: readonly string[], loses: Losses): readonly Draft[] {
  if (verb === 'stash' && !/^(?:push|save)$/.test(args[0] ?? '')) return []
  if (verb === 'checkout' && loses !== 'work') return []
  if (verb === 'worktree' && !/^(?:add|remove|move)$/.test(args[0] ?? '')) return []
  // Words before `--` name a commit.
  const end = verb === 'checkout' ? args.indexOf('--') : -1
  const commits = new Set(end < 0 ? [] : args.slice(0, end))
  const changed = gitEffects(use.call).filter(
    ({ target, isMissing }) => !commits.has(target.text) && !(isMissing && isAlone(use)),
  )
  const arrived = changed.find(({ deed }) => deed === 'write')
  const [to] = arrived ? use.places(arrived.target, arrived.deep, gitFolders(use.call)) : []
  return changed.flatMap(({ deed, target, deep, folders = gitFolders(use.call) }) =>
    use.places(target, deep, folders).map((place): Draft => {
      if (deed === 'move') return { kind: 'move', place, to: to ?? place }
      return { kind: deed === 'delete' ? 'delete' : 'write', place }
    }),
  )
}

function readsOf(use: Use, verb: string, args: readonly string[]): readonly Draft[] {
  const { files, deep, whole } = shownFiles(verb, use.args.slice(use.args.length - args.length))
  const from = files.length === 0 ? [] : gitFolders(use.call)
  const folders = whole ? from.map((folder) => (isSomewhere(folder) ? folder : topOf(folder))) : from
  return onPlaces(
    'read',
    files.flatMap((word) => use.places(word, deep, folders)),
  )
}

/** A push to an address, or to a remote that the same script adds. */
function sendsOf(use: Use, verb: string, args: readonly string[]): readonly Draft[] {
  // `hub` is read as git.
  if (verb === 'gist') {
    const files = use.args.slice(-args.length).filter(({ text }) => !/^-|^(?:create|show)$/.test(text))
    const places = files.flatMap((word) => use.places(word))
    return args[0] === 'create'
      ? [
          send(
            'gist.github.com',
            places.map((place) => ({ of: 'file', place }) as const),
          ),
          ...onPlaces('read', places),
        ]
      : []
  }
  if (verb !== 'push' && verb !== 'send-email') return fetchesOf(verb, args)
  const [remote = 'origin'] = plainWords(args, /^(?:-o|--push-option|--receive-pack)$/)
  const added = use.script.calls.flatMap((call) => {
    const words = call.args.map(({ text }) => text)
    const at = words.indexOf(remote)
    return call.name === 'git' && words.includes('remote') && /^(?:add|set-url)$/.test(words[at - 1] ?? '')
      ? [words[at + 1] ?? '']
      : []
  })
  const address = added[0] ?? (/[:/]/.test(remote) ? remote : undefined)
  if (address === undefined) return []
  const from = gitFolders(use.call).map(
    (path) => ({ of: 'file', place: { path, known: true, wild: false, deep: true } }) as const,
  )
  return [send(hostOf(address.replace(/^([\w.-]+@[\w.-]+):/, '//$1/')), from)]
}

function fetchesOf(verb: string, args: readonly string[]): readonly Draft[] {
  if (verb !== 'clone' && !(verb === 'remote' && args[0] === 'add')) return []
  const address = plainWords(args).find((word) => /:\/\/|@[\w.-]+:/.test(word))
  if (address === undefined || verb === 'remote') return []
  return [{ kind: 'fetch', host: hostOf(address.replace(/^([\w.-]+@[\w.-]+):/, '//$1/')), runs: false }]
}

const SWITCHES =
  /^(?:HUSKY=0|HUSKY_SKIP_HOOKS=.|LEFTHOOK=(?:0|false)|LEFTHOOK_EXCLUDE=.|SKIP=.|SKIP_HOOKS=.|PRE_COMMIT_ALLOW_NO_CONFIG=.|OVERCOMMIT_DISABLE=.|GIT_CONFIG_(?:KEY_\d+|PARAMETERS)=.*hookspath|GIT_CONFIG_(?:GLOBAL|SYSTEM)=|GIT_EXEC_PATH=)/i

/** The checks of the repository do not run, or others do. */
const SKIPS: Draft = { kind: 'setting', owner: 'git', place: undefined, sure: true }
/** They may be others. */
const CHANGES: Draft = { ...SKIPS, sure: false }

/** Verbs that run no checks. An unknown verb may be an alias of one that does. */
const UNCHECKED = new Set(
  `add annotate apply archive bisect blame branch bundle cat-file check-ignore checkout clean clone config count-objects
  describe diff difftool fetch fsck gc grep help init log ls-files ls-remote ls-tree maintenance mv notes prune range-diff
  reflog remote repack reset restore rev-list rev-parse rm shortlog show show-ref sparse-checkout stash status submodule
  switch symbolic-ref tag update-ref var version whatchanged worktree`.split(/\s+/),
)

function checks(
  use: Use,
  verb: string,
  args: readonly string[],
  settings: readonly string[],
): readonly Draft[] {
  if (has(settings, /^core\.hookspath(?:=|$)/i)) return [SKIPS]
  if (has(settings, /^(?:exec-path=|include(?:if)?\.)/i)) return [CHANGES]
  if (UNCHECKED.has(verb)) return []
  const words = withoutValues(args)
  const skips =
    has(words, /^--no-v(?:e(?:r(?:i(?:fy?)?)?)?)?$/) || (verb === 'commit' && has(words, /^-[^-mFcCtSu]*n/))
  return skips || use.script.assignments.some((one) => SWITCHES.test(one)) ? [SKIPS] : []
}

/** A word that may be an option, but is only known at run time. Output of git itself counts as a name. */
function unreadOptions(
  use: Use,
  verb: string,
  args: readonly string[],
  settings: readonly string[],
): readonly Draft[] {
  if (settings.some((one) => /^alias\./i.test(one)))
    return [{ kind: 'unknown', why: 'it defines a new git command' }]
  if (verb === 'update-ref' && args.includes('--stdin'))
    return [{ kind: 'unknown', why: 'it moves branches that the command does not name' }]
  if (UNCHECKED.has(verb)) return []
  const open = new Set(use.args.filter(({ known }) => !known).map(({ text }) => text))
  const isSure = verb === 'commit' ? /^$/ : /^[^$`]|^\$\w|^\$\{|^(?:\$\(|`)\s*git\s/
  const found = withoutValues(args).find(
    (word) => open.has(word) && /^[$`]|^its input$/.test(word) && !isSure.test(word),
  )
  return found === undefined
    ? []
    : [{ kind: 'unknown', why: `git ${verb} gets a word that may be an option` }]
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

function configured(use: Use, verb: string, args: readonly string[]): readonly Draft[] {
  if (verb !== 'config') return []
  const isWhole =
    has(args, /^(?:-e|--edit|edit)$/) ||
    (has(args, /^(?:--)?re(?:move|name)-section$/) && has(args, /^(?:core|alias|include.*)$/i))
  if (isWhole) return [CHANGES]
  const names = plainWords(args, /^(?:-f|--file|--type|--default)$/).filter(
    (word) => !/^(?:get|list|set|unset)$/.test(word),
  )
  const isReading =
    has(args, /^(?:--get.*|-l|--list)$/) ||
    /^(?:get|list)$/.test(args[0] ?? '') ||
    (names.length < 2 && !has(args, /^--(?:unset|remove)/) && args[0] !== 'unset')
  if (isReading) return []
  const checked = names.flatMap((name, i) => checksBy(name, has(args, UNSET) ? undefined : names[i + 1]))
  const isGlobal = has(args, /^--global$/)
  const file = use.places({ text: '~/.gitconfig', known: true, glob: false })
  return [
    ...checked,
    ...(isGlobal ? file.map((place): Draft => ({ kind: 'write', place, entry: names[0] ?? '' })) : []),
  ]
}

const UNSET = /^(?:--unset.*|unset|--remove-section|remove-section)$/

/** What a setting of git does to the checks. It has no value if it is removed. */
function checksBy(name: string, value: string | undefined): readonly Draft[] {
  if (/^core\.hookspath$/i.test(name)) return [/^(?:\/dev\/.*)?$/.test(value ?? '') ? SKIPS : CHANGES]
  if (/^include(?:if)?\./i.test(name)) return [/no-v|hookspath/i.test(value ?? '') ? SKIPS : CHANGES]
  return /^alias\./i.test(name) && isSkipping(value ?? '') ? [SKIPS] : []
}

/** Whether an alias leaves out the checks. */
function isSkipping(value: string): boolean {
  return /--no-v|hookspath|(?:^|\s)commit\s(?:.*\s)?-[^-mFcCtSu\s]*n/i.test(value)
}

const loses = (what: Losses, more = {}) => ({ kind: 'git', loses: what, ...more })

/** What another version control system loses. */
function otherLoss(operation: string, what: Losses): Draft {
  return { kind: 'git', operation, branch: undefined, force: false, loses: what, change: 'none' }
}

export const GIT_PROGRAMS: readonly Program[] = [
  {
    names: ['git'],
    effects,
    examples: [
      { command: 'git checkout --theirs yarn.lock', effects: [{ kind: 'git', loses: 'nothing' }] },
      { command: 'git checkout main -- package-lock.json', effects: [{ kind: 'git', loses: 'nothing' }] },
      { command: 'git diff | git apply -R', effects: [{ kind: 'git', loses: 'work' }] },
      { command: 'git -C ../other commit -m x', effects: [{ kind: 'git', operation: 'commit' }] },
      { command: 'git notes prune', effects: [{ kind: 'git', loses: 'history' }] },
      { command: 'git credential fill', effects: [{ kind: 'read' }] },
      { command: 'hub gist create a.txt', effects: [{ kind: 'send', host: 'gist.github.com' }] },
      { command: 'git reset --hard', effects: [loses('work', { operation: 'reset', force: true })] },
      { command: 'git reset --hard HEAD~2', effects: [loses('history')] },
      { command: 'git reset --soft HEAD~2', effects: [loses('nothing')] },
      { command: 'git remote rm origin', effects: [loses('history')] },
      {
        command: 'git push origin topic:main',
        effects: [loses('nothing', { branch: 'main', change: 'adds' })],
      },
      { command: 'git checkout .', effects: [loses('work')] },
      { command: 'git checkout -b topic', effects: [loses('nothing')] },
      { command: 'git restore --staged .', effects: [loses('nothing')] },
      {
        command: 'git clean -fdx',
        effects: [loses('work'), { kind: 'delete', place: { path: '/home/dev/app' } }],
      },
      {
        command: 'git push -f origin main',
        effects: [loses('history', { operation: 'push', branch: 'main', force: true })],
      },
      { command: 'git push origin :old', effects: [loses('history', { branch: 'old' })] },
      {
        command: 'git push https://example.org/x.git main',
        effects: [{ kind: 'send', host: 'example.org' }],
      },
      { command: 'git branch -D topic', effects: [loses('history', { branch: 'topic' })] },
      { command: 'git commit --no-verify -m x', effects: [{ kind: 'setting', owner: 'git' }] },
      { command: 'git ci --no-verify', effects: [{ kind: 'setting', owner: 'git' }] },
      { command: "git config alias.ci 'commit -n'", effects: [{ kind: 'setting', owner: 'git' }] },
      { command: "git commit -m 'git push --force'", effects: [loses('nothing')] },
      { command: 'git -C ../lib stash drop', effects: [loses('work')] },
      { command: 'git show HEAD:.env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      {
        command: 'git cat-file -p :.env',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }],
      },
      { command: 'git diff -- .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      {
        command: 'git diff --no-index /dev/null ~/.ssh/id_rsa',
        effects: [{ kind: 'read', place: { path: '/home/dev/.ssh/id_rsa' } }],
      },
      { command: 'git log -p -- .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      {
        command: 'git archive HEAD .env',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }],
      },
      { command: 'git grep KEY .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      { command: 'git log -- .env', effects: [] },
      { command: 'git log --oneline', effects: [] },
    ],
  },
  {
    names: ['bfg'],
    effects: () => [
      { kind: 'git', operation: 'bfg', branch: undefined, force: true, loses: 'history', change: 'replaces' },
    ],
    examples: [{ command: 'bfg --delete-files id_rsa', effects: [loses('history')] }],
  },
  {
    names: ['jj'],
    effects: ({ texts }) => {
      const [verb = '', noun = ''] = plainWords(texts, /^(?:-R|--repository|--at-op(?:eration)?|--config)$/)
      if (verb === 'abandon' || (verb === 'op' && noun === 'abandon')) return [otherLoss(verb, 'history')]
      return verb === 'restore' ? [otherLoss(verb, 'work')] : []
    },
    examples: [
      { command: 'jj abandon abc', effects: [loses('history')] },
      { command: 'jj log', effects: [] },
    ],
  },
  {
    names: ['hg', 'chg'],
    effects: ({ texts }) => {
      const [verb = ''] = plainWords(texts, /^(?:-R|--repository|--cwd|--config)$/)
      if (/^(?:strip|histedit|rollback|prune)$/.test(verb)) return [otherLoss(verb, 'history')]
      const isClean = /^(?:up|update|co|checkout)$/.test(verb) && has(texts, /^(?:--clean|-[a-zA-Z]*C\w*)$/)
      return isClean || /^(?:revert|purge)$/.test(verb) ? [otherLoss(verb, 'work')] : []
    },
    examples: [
      { command: 'hg strip tip', effects: [loses('history')] },
      { command: 'hg up -C', effects: [loses('work')] },
      { command: 'hg update', effects: [] },
    ],
  },
  {
    names: ['svn'],
    effects: ({ texts }) => {
      const [verb = ''] = plainWords(texts, /^(?:--username|--password|--config-dir)$/)
      return verb === 'revert' || (verb === 'cleanup' && has(texts, /^--remove-/))
        ? [otherLoss(verb, 'work')]
        : []
    },
    examples: [
      { command: 'svn revert -R .', effects: [loses('work')] },
      { command: 'svn status', effects: [] },
    ],
  },
  {
    names: ['pre-commit', 'husky', 'lefthook', 'overcommit', 'simple-git-hooks'],
    effects: ({ texts }) => (/^(?:--)?uninstall$/.test(texts[0] ?? '') ? [CHANGES] : []),
    examples: [
      { command: 'pre-commit uninstall', effects: [{ kind: 'setting', owner: 'git' }] },
      { command: 'pre-commit run', effects: [] },
    ],
  },
]
