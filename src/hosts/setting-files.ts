// The files that guards depend on, with their owners: hooks and settings of every known agent, git's checks, and our own.

import type { SettingFile } from '../effects/setting-places.js'
import { backupPrefix, dataHome, stateHome } from '../files/homes.js'
import { ROOT_FOLDER } from '../files/root-owned.js'
import { HOSTS } from './hosts.js'

/** Hooks and settings below any folder. A trailing slash means everything in it, a star means part of a name. */
const OF_AGENTS: readonly SettingFile[] = [
  { owner: 'carabiner', path: '.amplifier/' },
  ...HOSTS.flatMap(({ name, guarded }) => guarded.map((path) => ({ owner: name, path }))),
  // Agents that Carabiner does not know otherwise.
  ...[
    '.grok/hooks/',
    '.junie/config.json',
    '.devin/hooks*.json',
    '.augment/settings.json',
    '.vibe/hooks.toml',
  ]
    .concat(
      '.vibe/config.toml',
      '.codebuddy/hooks/',
      '.codebuddy/settings*.json',
      '.trae/hooks/',
      '.trae/hooks.json',
    )
    .map((path) => ({ owner: path.slice(1, path.indexOf('/')), path })),
]

/** Files that check commits. */
const OF_GIT: readonly SettingFile[] = [
  ...['.git/hooks/', '.git/config', '.gitconfig', '.config/git/', '.husky/'],
  ...['.git/HEAD', '.git/refs/heads/', '.git/packed-refs'],
].map((path) => ({ owner: 'git', path, shared: /^\.(?:git|config)\//.test(path) }))

/** Managed by an administrator. */
const OF_SYSTEM: readonly SettingFile[] = [
  ROOT_FOLDER,
  ...[
    '/etc/claude-code',
    '/etc/codex',
    '/etc/cursor',
    '/etc/windsurf',
    '/etc/github-copilot',
    '/etc/gemini-cli',
  ],
  ...['/Library/Application Support/ClaudeCode', '/Library/Application Support/Cursor'],
].map((path) => ({ owner: path.slice(path.lastIndexOf('/') + 1), path: `${path}/` }))

/** Folders with much other content. Removing one only counts if a setting is in it. */
const SHARED = /^\.(?:github|git|config|codeium|aws|clinerules|agents)\/|^documents\//i

export function settingFiles(env: NodeJS.ProcessEnv): readonly SettingFile[] {
  const moved = HOSTS.flatMap(({ name, guarded, moved: to }) => {
    const folder = to && env[to.variable]
    if (!to || !folder) return []
    return guarded
      .filter((path) => path.startsWith(`${to.folder}/`))
      .map((path) => ({ owner: name, path: folder + path.slice(to.folder.length) }))
  })
  const own = [dataHome(env), stateHome(env), `${backupPrefix(env)}*`].map((path) => ({
    owner: 'carabiner',
    path: `${path}/`,
  }))
  const key = [...moved, ...own].map(({ owner, path }) => `${owner} ${path}`).join('\0')
  if (key !== last.key) last = { key, files: [...EVERYWHERE, ...moved, ...own] }
  return last.files
}

const EVERYWHERE: readonly SettingFile[] = [
  ...OF_AGENTS.map((file) => (SHARED.test(file.path) ? { ...file, shared: true } : file)),
  ...OF_GIT,
  ...OF_SYSTEM,
]

/** Those who read the list prepare it once, so it stays the same list for as long as it has the same files. */
let last: { readonly key: string | undefined; readonly files: readonly SettingFile[] } = {
  key: undefined,
  files: [],
}
