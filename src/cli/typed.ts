// Command lines to type next: they carry over what the user gave, and can be pasted into a shell as they are.

import type { Sources } from './sources.js'

/** The same places to look in, with other words before them. */
export function typed(words: readonly string[], sources: Sources, trustAll = sources['trust-all']): string {
  return [
    'carabiner',
    ...words,
    ...(sources.project === undefined ? [] : ['--project', sources.project]),
    ...sources.plugin.flatMap((plugin) => ['--plugin', plugin]),
    ...sources.config.flatMap((config) => ['--config', config]),
    ...(trustAll ? ['--trust-all'] : []),
  ]
    .map(quoted)
    .join(' ')
}

export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
