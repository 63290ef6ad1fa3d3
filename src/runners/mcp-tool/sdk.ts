// The official SDK of the Model Context Protocol, which is optional and loaded on first use, and the links that it talks through.

import { createRequire } from 'node:module'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { HookError, isMissingPackage, textOf } from '../../core/base/errors.js'

const PACKAGE = '@modelcontextprotocol/sdk'
const INSTALL = `npm install ${PACKAGE}@1`

export type Sdk = Awaited<ReturnType<typeof load>>

let loaded: Promise<Sdk> | undefined

/** Rejects with HOOK_NOT_STARTED if it is not installed. The next call looks again. */
export function loadSdk(): Promise<Sdk> {
  loaded ??= load().catch((error: unknown) => {
    loaded = undefined
    throw notLoaded(error, 'hooks of type mcp_tool')
  })
  return loaded
}

async function load() {
  const [{ Client }, types, { getDefaultEnvironment }, http] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
    import('@modelcontextprotocol/sdk/client/stdio.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ])
  const {
    CallToolResultSchema,
    EmptyResultSchema,
    ListToolsResultSchema,
    ResultSchema,
    ToolListChangedNotificationSchema,
  } = types
  return {
    Client,
    McpError: types.McpError,
    CallToolResultSchema,
    EmptyResultSchema,
    ListToolsResultSchema,
    ResultSchema,
    ToolListChangedNotificationSchema,
    getDefaultEnvironment,
    StreamableHTTPClientTransport: http.StreamableHTTPClientTransport,
    StreamableHTTPError: http.StreamableHTTPError,
  }
}

/** The command that installs it, if it is missing. Loads nothing. */
export function missingSdk(): string | undefined {
  try {
    createRequire(import.meta.url).resolve(`${PACKAGE}/client/index.js`)
    return undefined
  } catch {
    return INSTALL
  }
}

/** `who` cannot do without it. */
export function notLoaded(error: unknown, who: string): HookError {
  const text = isMissingPackage(error) ? 'is not installed' : `cannot be loaded: ${textOf(error)}`
  return new HookError('HOOK_NOT_STARTED', `The library ${PACKAGE} ${text}; ${who} need it`, {
    hint: INSTALL,
    cause: error,
  })
}

// ---- links ----------------------------------------------------------------------------------------------------

export interface Link extends Transport {
  /** It can no longer be used. */
  readonly isOver: boolean
  /** We ended it on purpose. */
  readonly isDismissed: boolean
  /** Settles when its processes and sockets are gone. */
  readonly gone: Promise<void>
  /** Why it ended, with the last lines that a process wrote to standard error. */
  how(): Promise<string>
  /** Appends those lines to the text. */
  withLastWords(text: string): string
  /** What a process wrote to standard error since the last call. */
  newStderr(): string
  /** Before the call of another caller. */
  forgetStderr(): void
  /** Ends it as the protocol prescribes. */
  end(why: string): void
  /** Ends it at once. */
  terminate(why: string): void
}

export interface LinkEvents {
  readonly over: () => void
  /** Reports a message that is not an answer. */
  readonly noise: (text: string) => void
}

/** The most bytes of one message. Lists of tools are long. A hook's answer has a lower limit. */
export const MOST_MESSAGE_BYTES = 4 * 1024 * 1024

/** The protocol's code for an error of the transport. */
export const TRANSPORT_ERROR = -32000
