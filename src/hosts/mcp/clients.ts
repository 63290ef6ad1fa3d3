// Where agents keep their MCP servers, one row an agent, and whether their own hooks see the calls of these servers.

import { join } from 'node:path'
import { callerEnv } from '../../files/caller.js'
import { namesIn } from '../../files/folder.js'
import { userHome } from '../../files/homes.js'
import type { HostName } from '../hosts.js'
import type { McpForm } from './entry-forms.js'
import type { McpFile } from './server-file.js'

export interface McpClient {
  readonly name: string
  readonly title: string
  /** The agent whose hooks judge MCP calls already. A proxy in front of its servers would have them judged twice. */
  readonly host?: HostName
  /** The key of the object that holds the servers, by name, or of the list in which they name themselves. */
  readonly key: string
  /** Its files that may hold servers, the user's and the project's: JSON, YAML or TOML, by their ending. */
  readonly files: (place: McpPlace) => readonly string[]
  /** How it writes servers down in this file. Absent: as Claude Desktop does. */
  readonly form?: (path: string) => McpForm
  /** The key of the address of a server that speaks streamable HTTP. Absent: url. */
  readonly address?: string
  /** The types of entries, if the agent wants them. */
  readonly types?: { readonly stdio: string; readonly http: string }
}

export interface McpPlace {
  readonly home: string
  readonly project: string
  readonly env: NodeJS.ProcessEnv
  readonly platform: NodeJS.Platform
}

/** The files on this machine that may hold servers of the agent. */
export function mcpFilesOf(client: McpClient, project: string): readonly string[] {
  const place = { home: userHome(), project, env: callerEnv(), platform: process.platform }
  return [...new Set(client.files(place))]
}

/** One of those files, with everything that reading it needs. */
export function mcpFile(
  { key, form, address = 'url', types }: McpClient,
  path: string,
  text: string,
): McpFile {
  return { path, text, key, form: form?.(path) ?? 'plain', address, ...(types && { types }) }
}

/** The folder of applications' settings. */
function settingsHome({ home, env, platform }: McpPlace): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || join(home, '.config')
}

function vscodeUser(place: McpPlace): string {
  return join(settingsHome(place), 'Code', 'User')
}

function filesIn(folder: string, ending: RegExp): readonly string[] {
  return namesIn(folder)
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name))
}

/** Continue reads servers from its own file, from files of servers, and from files of agents. */
function continueFiles({ home, project, env }: McpPlace): readonly string[] {
  const own = env.CONTINUE_GLOBAL_DIR || join(home, '.continue')
  const below = [own, join(project, '.continue')].flatMap((folder) => [
    ...filesIn(join(folder, 'mcpServers'), /\.(?:json|ya?ml)$/),
    ...['agents', 'assistants'].flatMap((name) => filesIn(join(folder, name), /\.ya?ml$/)),
  ])
  return [join(own, 'config.yaml'), ...below]
}

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    key: 'mcpServers',
    files: (place) => [join(settingsHome(place), 'Claude', 'claude_desktop_config.json')],
  },
  {
    name: 'continue',
    title: 'Continue',
    key: 'mcpServers',
    form: (path) => (path.endsWith('.json') ? 'plain' : 'continue'),
    files: continueFiles,
  },
  {
    name: 'lm-studio',
    title: 'LM Studio',
    key: 'mcpServers',
    files: ({ home }) => [join(home, '.lmstudio', 'mcp.json')],
  },
  {
    name: 'roo-code',
    title: 'Roo Code',
    key: 'mcpServers',
    types: { stdio: 'stdio', http: 'streamable-http' },
    files: (place) => [
      ...['mcp_settings.json', 'cline_mcp_settings.json'].map((name) =>
        join(vscodeUser(place), 'globalStorage', 'rooveterinaryinc.roo-cline', 'settings', name),
      ),
      join(place.project, '.roo', 'mcp.json'),
    ],
  },
  {
    name: 'zed',
    title: 'Zed',
    key: 'context_servers',
    files: ({ home, project, env }) => [
      join(env.XDG_CONFIG_HOME || join(home, '.config'), 'zed', 'settings.json'),
      join(project, '.zed', 'settings.json'),
    ],
  },
  {
    name: 'claude-code',
    title: 'Claude Code',
    host: 'claude-code',
    key: 'mcpServers',
    types: { stdio: 'stdio', http: 'http' },
    // Those of `claude mcp add --scope user` are at the top of its own file; those of other scopes are not read there.
    files: ({ home, project, env }) => [
      join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
      join(project, '.mcp.json'),
    ],
  },
  {
    name: 'codex',
    title: 'Codex',
    host: 'codex',
    key: 'mcp_servers',
    form: () => 'codex',
    files: ({ home, project, env }) => [
      join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
      join(project, '.codex', 'config.toml'),
    ],
  },
  {
    name: 'cursor',
    title: 'Cursor',
    host: 'cursor',
    key: 'mcpServers',
    files: ({ home, project }) => [home, project].map((folder) => join(folder, '.cursor', 'mcp.json')),
  },
  {
    name: 'vscode',
    title: 'VS Code',
    host: 'vscode',
    key: 'servers',
    types: { stdio: 'stdio', http: 'http' },
    files: (place) => [join(vscodeUser(place), 'mcp.json'), join(place.project, '.vscode', 'mcp.json')],
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    host: 'windsurf',
    key: 'mcpServers',
    address: 'serverUrl',
    files: ({ home }) => [join(home, '.codeium', 'windsurf', 'mcp_config.json')],
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    host: 'gemini',
    key: 'mcpServers',
    // One in `url` speaks SSE.
    address: 'httpUrl',
    files: ({ home, project }) => [home, project].map((folder) => join(folder, '.gemini', 'settings.json')),
  },
]

export function mcpClientNamed(name: string): McpClient | undefined {
  return MCP_CLIENTS.find((client) => client.name === name)
}
