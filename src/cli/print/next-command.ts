// Command lines to type next, with the options that the user gave, ready to paste into a shell.

import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import type { Sources } from '../sources.js'
import { fromHere, shortPath } from './lines.js'

/** Claude Code reads its settings when it starts. */
export const RESTART = 'Restart Claude Code: /hooks lists them there'

/** A call that the guard denies, and that would do no harm. */
export const GUARDED_CALL = '{"tool_name":"Bash","tool_input":{"command":"git commit --no-verify"}}'
export const TRY_GUARD = `echo '${GUARDED_CALL}' | carabiner hook pre-tool-use`

type Given = Partial<Sources>

/** A command line with the same sources. */
export function typed(words: readonly string[], sources: Given, trustAll = sources['trust-all']): string {
  const { project, plugin = [], config = [], 'pre-trusted': preTrusted } = sources
  return [
    'carabiner',
    ...words,
    ...(project === undefined ? [] : optionOf('--project', project)),
    ...plugin.flatMap((one) => optionOf('--plugin', one)),
    ...config.flatMap((one) => optionOf('--config', one)),
    ...(preTrusted === undefined ? [] : optionOf('--pre-trusted', preTrusted)),
    ...(trustAll ? ['--trust-all'] : []),
  ]
    .map(shellQuoted)
    .join(' ')
}

/** A path for a shell: relative below the current folder, else from the home. In quotes, `~` would be a plain letter. */
export function typedPath(path: string): string {
  const short = shortPath(path)
  return short.startsWith('~/') && short !== fromHere(path)
    ? `~/${shellQuoted(short.slice(2))}`
    : shellQuoted(fromHere(path))
}

/** A value that looks like an option would be taken for one. */
export function optionOf(name: string, value: string): readonly string[] {
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value]
}

/** `carabiner trust` for these sources; without a single plain name, for everything that waits. */
export function typedTrust(names: readonly string[], sources: Given): string {
  const [name, ...others] = [...new Set(names)]
  return typed(
    ['trust', ...(name !== undefined && others.length === 0 && isWord(name) ? [name] : [])],
    sources,
    false,
  )
}

/** The command that shows what changed in what the user trusts, and asks whether to take it. */
export function typedTake(sources: Given): string {
  return typed(['trust', '--mine'], sources, false)
}

/** Not an option, and the same in every shell. */
function isWord(name: string): boolean {
  return /^[\w@][\w@.-]*$/.test(name)
}
