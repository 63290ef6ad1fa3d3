// Hooks that are tools, for tests: real servers, asked as the engine would ask them.

import { fileURLToPath } from 'node:url'
import type { Data } from 'carabiner'
import type { Hook, HookEvent } from '../../../src/core/hooks/hook.js'
import { type Limits, McpServers } from '../../../src/runners/mcp-tool/mcp-servers.js'
import { type McpToolHandler, mcpToolHook } from '../../../src/runners/mcp-tool/mcp-tool-hook.js'
import type { McpServerSettings } from '../../../src/runners/mcp-tool/server-settings.js'
import { laneHook } from '../../core/made-hook.js'
import { Workshop } from '../command/workshop.js'
import { type Asked, ask } from '../process/hall.js'

const script = (name: string) => fileURLToPath(new URL(`./servers/${name}.mjs`, import.meta.url))

/** Slow machines are no failures. */
const PATIENT: Limits = { startMs: 60_000, reactMs: 20_000 }

export class Lobby {
  readonly workshop = new Workshop()
  readonly servers: McpServers
  settings: Record<string, McpServerSettings>

  constructor(limits: ConstructorParameters<typeof McpServers>[0] = {}) {
    this.settings = { tests: this.process('stdio') }
    this.servers = new McpServers({ ...PATIENT, ...limits })
  }

  /** One of the servers beside, marked so that it is found again. */
  process(name: string, ...args: string[]): McpServerSettings {
    return {
      command: process.execPath,
      args: [script(name), ...args],
      env: { CARABINER_TEST_MARK: this.workshop.mark },
      cwd: this.workshop.folder,
    }
  }

  /** The server `hostile`, with this fault. */
  hostile(fault: string): void {
    this.settings = { ...this.settings, hostile: this.process('hostile', fault) }
  }

  hook(tool: string, more: Partial<McpToolHandler> = {}): Hook {
    const { run: _, ...hook } = laneHook('project:gate', { kind: 'mcp_tool', onFailure: 'byEvent' })
    const { folder } = this.workshop
    return mcpToolHook(
      {
        hook,
        handler: { server: 'tests', tool, ...more },
        place: { projectDir: folder, hooksDir: folder },
        env: 'inherit',
        longestMs: 300_000,
      },
      { report: () => undefined },
      (call, context) => this.servers.call(this.settings, call, context),
    )
  }

  ask(tool: string, more: Partial<McpToolHandler> = {}, data: Data = {}, signal?: AbortSignal): Asked {
    return ask(this.hook(tool, more), data, signal)
  }

  /** The tool that gives back what it is told to. */
  answering(result: object): Asked {
    return this.ask('answer', { input: { result: JSON.stringify(result) } })
  }

  async reason(tool: string, more: Partial<McpToolHandler> = {}, data: Data = {}): Promise<string> {
    return (await this.ask(tool, more, data).answer)?.reason ?? ''
  }

  async close(): Promise<void> {
    await this.servers.close()
    this.workshop.close()
  }
}

export const PROMPT: HookEvent = { name: 'UserPromptSubmit', data: { prompt: 'hello' }, session: undefined }

export function texts(...all: readonly string[]): object {
  return { content: all.map((text) => ({ type: 'text', text })) }
}
