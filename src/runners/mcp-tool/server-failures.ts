// Server failures in words: what happened, and the last lines that a process wrote to standard error.

import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import { boundedText } from '../../rpc/problem.js'
import type { Link, Sdk } from './sdk.js'

const LONGEST_TEXT = 500
/** The SDK's code for a timeout. */
const TIMEOUT = -32001

/** The hook's time is up, or the fire was aborted: the engine knows why. */
export function givenUp(): HookError {
  return new HookError('HOOK_TIMEOUT', 'the tool call was given up before it was answered')
}

interface Start {
  readonly link: Link | undefined
  readonly server: string
  /** Whether it is a program, not a URL. */
  readonly isProgram: boolean
  readonly withinMs: number
}

/** Turns any failure before the end of the handshake into HOOK_NOT_STARTED. */
export async function startFailure(
  error: unknown,
  { link, server, isProgram, withinMs }: Start,
): Promise<HookError> {
  const entry = `"mcp_servers.${server}" under "hooks" in ~/.amplifier/settings.json`
  const todo = isProgram
    ? `Check ${entry}. Run its command by hand: it must speak MCP on its standard output.`
    : `Is the server at its "url" running? Check ${entry}.`
  const hint = isHookError(error) ? `${error.hint} See ${entry}.` : todo
  const why = await startReason(error, link, withinMs)
  return new HookError('HOOK_NOT_STARTED', `MCP server "${server}" could not be reached: ${why}`, {
    hint,
    cause: error,
  })
}

async function startReason(error: unknown, link: Link | undefined, withinMs: number): Promise<string> {
  if (isHookError(error)) return error.message
  if (!link) return said(error)
  // The client itself ends the link after a handshake that it rejects, so the end of the link tells nothing.
  if (link.isOver && !link.isDismissed) return link.how()
  const late = isTimeout(error) && `it did not answer the handshake (initialize) within ${withinMs / 1000} s`
  return link.withLastWords(late || said(error))
}

export interface CallFailure {
  readonly error: HookError
  /** The failure is below the protocol, so a server at a URL must be connected again. */
  readonly linkIsBroken: boolean
  /** The server has forgotten our session, so it has done nothing yet. */
  readonly isForgotten?: boolean
}

/** Turns a call without an answer into HOOK_FAILED or ANSWER_INVALID. */
export async function callFailure(
  error: unknown,
  { sdk, link, server, tool }: { sdk: Sdk; link: Link; server: string; tool: string },
): Promise<CallFailure> {
  if (isHookError(error)) return { error, linkIsBroken: false }
  const about = `MCP server "${server}"`
  if (link.isOver) {
    const text = `${about} was lost during the call of its tool ${JSON.stringify(tool)}: ${await link.how()}`
    return { error: new HookError('HOOK_FAILED', text, { cause: error }), linkIsBroken: true }
  }
  if (isSchemaError(error)) {
    return { error: noResult(server, tool, error), linkIsBroken: false }
  }
  const text = `${about} did not run its tool ${JSON.stringify(tool)}: ${said(error)}`
  const linkIsBroken = !(error instanceof sdk.McpError)
  const isForgotten = error instanceof sdk.StreamableHTTPError && error.code === 404 && hasSession(link)
  return { error: new HookError('HOOK_FAILED', text, { cause: error }), linkIsBroken, isForgotten }
}

const NO_RESULT = 'Fix the server: a result needs a list "content", and each item needs a "type".'

/** The answer is not a tool's result. */
export function noResult(server: string, tool: string, cause?: unknown): HookError {
  const text = `MCP server "${server}" answered the call of ${JSON.stringify(tool)} with something that is not a tool result`
  return new HookError('ANSWER_INVALID', text, { hint: NO_RESULT, cause })
}

function hasSession({ sessionId }: Link): boolean {
  return sessionId !== undefined
}

function isSchemaError(error: unknown): boolean {
  return error instanceof Error && error.name.endsWith('ZodError')
}

/** True for the SDK's own timeout. */
export function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === TIMEOUT
}

function said(error: unknown): string {
  return boundedText(
    isSchemaError(error) ? 'its handshake does not follow the protocol' : textOf(error),
    LONGEST_TEXT,
  )
}
