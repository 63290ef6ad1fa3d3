// The files that guards depend on: hooks and settings of every known agent, git's checks, and Carabiner's own files.

import { HOSTS } from '../../hosts/hosts.js'

/** Protected below any folder. A trailing slash means everything in it, a star means part of a name. */
export const OF_AGENTS: readonly string[] = [
  '.amplifier/',
  ...new Set(HOSTS.flatMap(({ guarded }) => guarded)),
  // Agents that Carabiner does not know otherwise.
  ...['.grok/hooks/', '.junie/config.json', '.devin/hooks*.json', '.augment/settings.json'],
  ...['.vibe/hooks.toml', '.vibe/config.toml', '.codebuddy/hooks/', '.codebuddy/settings*.json'],
  ...['.trae/hooks/', '.trae/hooks.json'],
]

/** The same files of agents whose folder the user has moved. Absolute. */
export function movedByAgents(env: NodeJS.ProcessEnv): readonly string[] {
  return HOSTS.flatMap(({ guarded, moved }) => {
    const folder = moved && env[moved.variable]
    if (!moved || !folder) return []
    return guarded
      .filter((path) => path.startsWith(`${moved.folder}/`))
      .map((path) => folder + path.slice(moved.folder.length))
  })
}

/** Files that check commits. Setting them up is an ordinary task, so a person decides. */
export const OF_GIT: readonly string[] = [
  ...[
    '.git/hooks/',
    '.git/config',
    '.gitconfig',
    '.config/git/',
    '.husky/',
    '.git/HEAD',
    '.git/refs/heads/',
    '.git/packed-refs',
  ],
]

/** Managed by an administrator. */
export const OF_SYSTEM: readonly string[] = [
  ...[
    '/etc/claude-code',
    '/etc/codex',
    '/etc/cursor',
    '/etc/windsurf',
    '/etc/github-copilot',
    '/etc/gemini-cli',
  ],
  ...['/Library/Application Support/ClaudeCode', '/Library/Application Support/Cursor'],
]

/** Folders with much other content. Removing one only counts if protected files are in it. */
export const SHARED: ReadonlySet<string> = new Set([
  ...['.github', '.git', '.config', '.codeium', '.codeium/windsurf', 'documents', 'documents/cline'],
  ...['.aws', '.aws/amazonq', '.clinerules', '.agents'],
])

/** Files that shells, sessions and other programs read when they start. */
export const STARTED =
  /(?:^|\/)\.[\w.-]*(?:rc|profile|login|env|zshenv|pam_environment)$|(?:^|\/)(?:environment|profile|config\.fish)$|(?:^|\/)(?:environment|profile|conf)\.d\/[^/]+$/

/** Variables in such files that turn hooks off, move the user's trust records, or say what needs no review. */
export const UNGUARDING = /\bCARABINER_(?:OFF|HOME|PRE_TRUSTED)\b/

export const LEFT_TO_USER =
  'removes the guard, or decides what it trusts, for every program that starts next. Let the user decide that.'
