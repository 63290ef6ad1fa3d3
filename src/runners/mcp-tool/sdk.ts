// The official library of the Model Context Protocol: optional, and loaded when the first server is asked.

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
