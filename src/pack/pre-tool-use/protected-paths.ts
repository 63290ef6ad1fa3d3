// The files that guards depend on: hooks and settings of every known agent, git's checks, and Carabiner's own files.

/** Protected below any folder. A trailing slash means everything in it, a star means part of a name. */
export const OF_AGENTS: readonly string[] = [
  ...['.amplifier/', '.claude/hooks/', '.claude/plugins/', '.claude/settings*.json', '.claude.json'],
  ...[
    '.codex/hooks/',
    '.codex/hooks.json',
    '.codex/config.toml',
    '.codex/requirements.toml',
    '.codex/plugins/',
  ],
  ...['.gemini/hooks/', '.gemini/settings.json', '.gemini/config/', '.gemini/extensions/'],
  ...['.gemini/trusted*.json', '.agents/hooks/', '.agents/hooks.json'],
  ...['.qwen/hooks/', '.qwen/settings.json', '.qwen/extensions/'],
  ...['.cursor/hooks/', '.cursor/hooks.json', '.cursor/cli*.json', '.cursor/permissions.json'],
  ...[
    '.github/hooks/',
    '.github/copilot/',
    '.copilot/hooks/',
    '.copilot/settings*.json',
    '.copilot/config.json',
  ],
  ...['.factory/hooks/', '.factory/hooks.json', '.factory/settings*.json'],
  ...['.cline/hooks/', '.clinerules/hooks/', 'Documents/Cline/Hooks/'],
  ...['.kiro/hooks/', '.kiro/agents/', '.amazonq/cli-agents/', '.aws/amazonq/cli-agents/'],
  ...['.windsurf/hooks/', '.windsurf/hooks.json', '.codeium/windsurf/hooks.json'],
  ...['.openhands/hooks/', '.openhands/hooks.json', '.grok/hooks/', '.junie/config.json'],
  ...['.devin/hooks*.json', '.augment/settings.json', '.vibe/hooks.toml', '.vibe/config.toml'],
  ...['.opencode/plugin/', '.opencode/plugins/', '.config/opencode/', 'opencode.json', 'opencode.jsonc'],
  ...[
    'crush.json',
    '.crush.json',
    '.config/crush/',
    '.kimi/config.toml',
    '.kimi-code/config.toml',
    '.pi/extensions/',
    '.pi/settings.json',
  ],
  ...['.letta/settings*.json', '.letta/hooks/', '.codebuddy/hooks/', '.codebuddy/settings*.json'],
  ...['.trae/hooks/', '.trae/hooks.json'],
]

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
