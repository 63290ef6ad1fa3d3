// The official library of the Model Context Protocol: optional, and loaded when the first server is asked.

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { HookError, textOf } from '../../core/base/errors.js'
import { isMissingPackage } from '../missing-package.js'

const PACKAGE = '@modelcontextprotocol/sdk'

export type Sdk = Awaited<ReturnType<typeof load>>

let loaded: Promise<Sdk> | undefined

/** Rejects with HOOK_NOT_STARTED where it is not installed; then the next call looks again. */
export function loadSdk(): Promise<Sdk> {
  loaded ??= load().catch((error: unknown) => {
    loaded = undefined
    throw notLoaded(error)
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

function notLoaded(error: unknown): HookError {
  const text = isMissingPackage(error) ? 'is not installed' : `cannot be loaded: ${textOf(error)}`
  return new HookError('HOOK_NOT_STARTED', `The library ${PACKAGE} ${text}; hooks of type mcp_tool need it`, {
    hint: `npm install ${PACKAGE}@1`,
    cause: error,
  })
}

// ---- links ----------------------------------------------------------------------------------------------------
export interface Link extends Transport {
  /** It can be asked no more. */
  readonly isOver: boolean
  /** We ended it, in order. */
  readonly isDismissed: boolean
  /** Settles when nothing of it is left: no process, no socket. */
  readonly gone: Promise<void>
  /** Why it is over, with the last lines that a process wrote to standard error. */
  how(): Promise<string>
  /** The text, with those lines. */
  withLastWords(text: string): string
  /** What a process wrote to standard error since this was asked last. */
  newStderr(): string
  /** In order, as the protocol has it. */
  end(why: string): void
  /** At once. */
  terminate(why: string): void
}

export interface LinkEvents {
  readonly over: () => void
  /** Something that is no answer. */
  readonly noise: (text: string) => void
}

/** Bytes of one message. Lists of tools are long; what a hook may answer is bounded further. */
export const MOST_MESSAGE_BYTES = 4 * 1024 * 1024

/** What the protocol gives an error that is the transport's own. */
export const TRANSPORT_ERROR = -32000
