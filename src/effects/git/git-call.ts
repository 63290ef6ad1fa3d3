// Parses a git command line: its folders, its settings, its verb and the arguments of the verb.

export interface GitCall {
  /** Such as `commit`. Undefined if there is none. */
  readonly verb: string | undefined
  /** The arguments after the verb. */
  readonly args: readonly string[]
  /** The values of `-C`, in order. */
  readonly folders: readonly string[]
  readonly gitDir: string | undefined
  /** The values of `-c` and `--config-env`, as `name=value`. */
  readonly settings: readonly string[]
}

const VALUED: ReadonlySet<string> = new Set([
  ...['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--super-prefix', '--config-env'],
  '--attr-source',
])

let last: { readonly words: readonly string[]; readonly call: GitCall } = {
  words: [],
  call: { verb: undefined, args: [], folders: [], gitDir: undefined, settings: [] },
}

/** `words` are the arguments of `git`. Several parts of a reading ask about the same ones, one after another. */
export function gitCall(words: readonly string[]): GitCall {
  if (!areSame(words, last.words)) last = { words, call: parsed(words) }
  return last.call
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false
  return true
}

function parsed(words: readonly string[]): GitCall {
  const folders: string[] = []
  const settings: string[] = []
  let gitDir: string | undefined
  let at = 0
  for (; at < words.length; at++) {
    const word = words[at] as string
    if (!word.startsWith('-')) break
    const [name = '', attached] = /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]
    if (!VALUED.has(name)) continue
    const value = attached ?? words[++at] ?? ''
    if (name === '-C') folders.push(value)
    else if (name === '--git-dir') gitDir = value
    else if (name === '-c' || name === '--config-env') settings.push(value)
    else if (name === '--exec-path' && attached) settings.push(`exec-path=${value}`)
  }
  const verb = words[at]
  return { verb, args: withFullOptions(verb ?? '', words.slice(at + 1)), folders, gitDir, settings }
}

/** Long options that decide what is lost or skipped, the worst first. git accepts each shortened, as long as it is clear. */
const OPTIONS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    reset: 'hard merge keep soft mixed',
    clean: 'force dry-run exclude interactive quiet',
    push: 'force force-with-lease force-if-includes mirror prune delete no-verify dry-run all tags follow-tags repo',
    branch: 'delete force move copy',
    checkout: 'force orphan patch ours theirs',
    'checkout-index': 'force all prefix',
    switch: 'force-create force discard-changes orphan create',
    restore: 'staged worktree patch source',
    rm: 'force cached dry-run',
    rebase: 'abort onto interactive root exec force-rebase no-ff autosquash continue skip quit no-verify',
    merge: 'abort no-verify',
    am: 'abort no-verify',
    commit: 'amend no-verify',
    'cherry-pick': 'abort',
    tag: 'delete force',
    worktree: 'force',
    submodule: 'force',
    gc: 'prune',
    prune: 'dry-run',
    pull: 'force no-verify',
    'symbolic-ref': 'delete',
    'read-tree': 'reset',
    config: 'unset unset-all remove-section rename-section edit global file',
    diff: 'no-index output',
    apply: 'check stat',
    archive: 'output add-file remote exec',
  }).map(([verb, names]) => [verb, names.split(' ').map((name) => `--${name}`)]),
)

function withFullOptions(verb: string, args: readonly string[]): readonly string[] {
  const options = OPTIONS.get(verb)
  if (!options || !args.some((word) => word.startsWith('--') && word.length > 2)) return args
  const end = args.indexOf('--')
  return args.map((word, i) => {
    const [, name = '', value = ''] = /^(--[a-z][a-z-]*)(=.*)?$/s.exec(word) ?? []
    if (name === '' || (end >= 0 && i > end) || options.includes(name)) return word
    const full = options.find((option) => option.startsWith(name))
    return full === undefined ? word : full + value
  })
}
