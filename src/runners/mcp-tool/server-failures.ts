// Why a server did not answer, in words: what happened to it, and the last lines that its process wrote to standard error.

import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import { boundedText } from '../../rpc/problem.js'
import type { Link, Sdk } from './sdk.js'

const LONGEST_TEXT = 500
/** What the library gives an error that is a time-out. */
const TIMEOUT = -32001

/** The hook's time is up, or the fire was aborted: the engine knows why. */
export function givenUp(): HookError {
  return new HookError('HOOK_TIMEOUT', 'the call of the tool was given up before it was answered')
}

interface Start {
  readonly link: Link | undefined
  readonly server: string
  /** A program, and no address. */
  readonly isProgram: boolean
  readonly withinMs: number
}

/** HOOK_NOT_STARTED, for whatever went wrong before the end of the hello. */
export async function startFailure(
  error: unknown,
  { link, server, isProgram, withinMs }: Start,
): Promise<HookError> {
  const entry = `"mcp_servers.${server}" under "hooks" in ~/.amplifier/settings.json`
  const todo = isProgram
    ? `Check ${entry}; run its command by hand: it must speak MCP on its standard output.`
    : `Is the server at its "url" running? Check ${entry}.`
  const hint = isHookError(error) ? `${error.hint} See ${entry}.` : todo
  const why = await startReason(error, link, withinMs)
  return new HookError('HOOK_NOT_STARTED', `MCP server "${server}" is not there: ${why}`, {
    hint,
    cause: error,
  })
}

async function startReason(error: unknown, link: Link | undefined, withinMs: number): Promise<string> {
  if (isHookError(error)) return error.message
  if (!link) return said(error)
  // After a hello that it does not like, the client ends the link by itself: that says nothing.
  if (link.isOver && !link.isDismissed) return link.how()
  const late = isTimeout(error) && `it did not answer its hello (initialize) within ${withinMs / 1000} s`
  return link.withLastWords(late || said(error))
}

export interface CallFailure {
  readonly error: HookError
  /** Below the protocol: a server at an address is to be met anew. */
  readonly linkIsBroken: boolean
  /** It has forgotten us, and so has done nothing yet. */
  readonly isForgotten?: boolean
}

/** HOOK_FAILED or ANSWER_INVALID, for a call that was not answered. */
export async function callFailure(
  error: unknown,
  { sdk, link, server, tool }: { sdk: Sdk; link: Link; server: string; tool: string },
): Promise<CallFailure> {
  if (isHookError(error)) return { error, linkIsBroken: false }
  const about = `MCP server "${server}"`
  if (link.isOver) {
    const text = `${about} was lost while its tool ${JSON.stringify(tool)} was called: ${await link.how()}`
    return { error: new HookError('HOOK_FAILED', text, { cause: error }), linkIsBroken: true }
  }
  if (isSchemaError(error)) {
    return { error: noResult(server, tool, error), linkIsBroken: false }
  }
  const text = `${about} did not carry out its tool ${JSON.stringify(tool)}: ${said(error)}`
  const linkIsBroken = !(error instanceof sdk.McpError)
  const isForgotten = error instanceof sdk.StreamableHTTPError && error.code === 404 && hasSession(link)
  return { error: new HookError('HOOK_FAILED', text, { cause: error }), linkIsBroken, isForgotten }
}

const NO_RESULT = 'Mend the server: a result has a list "content", each item with a "type".'

/** The call was answered, and with it nothing was said. */
export function noResult(server: string, tool: string, cause?: unknown): HookError {
  const text = `MCP server "${server}" answered the call of ${JSON.stringify(tool)} with something that is no result of a tool`
  return new HookError('ANSWER_INVALID', text, { hint: NO_RESULT, cause })
}

function hasSession({ sessionId }: Link): boolean {
  return sessionId !== undefined
}

function isSchemaError(error: unknown): boolean {
  return error instanceof Error && error.name.endsWith('ZodError')
}

/** The library's own: nobody answered in time. */
export function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === TIMEOUT
}

function said(error: unknown): string {
  return boundedText(
    isSchemaError(error) ? 'its hello is not what the protocol asks for' : textOf(error),
    LONGEST_TEXT,
  )
}
