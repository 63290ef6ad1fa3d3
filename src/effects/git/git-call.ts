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
  return { verb: words[at], args: words.slice(at + 1), folders, gitDir, settings }
}
