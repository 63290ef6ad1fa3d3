// Why a resident hook could not answer, in words: what happened to its process, and the last it wrote to standard error.

import { HookError, isHookError, textOf } from '../../core/errors.js'
import { cutText } from '../../core/text.js'
import { RpcError } from '../../rpc/rpc-error.js'
import type { Life } from './life.js'

/** Of standard error, in a message. */
const MOST_LINES = 3
const MOST_BYTES = 600

/** HOOK_NOT_STARTED, for whatever went wrong with the hello. */
export async function helloFailure(error: unknown, life: Life, withinMs: number): Promise<HookError> {
  const because = await reasonOf(error, life, withinMs)
  const { hint } = isHookError(error) ? error : {}
  return new HookError('HOOK_NOT_STARTED', withLastWords(because, life), {
    hint: hint ?? 'Run its command by hand: it must answer hook.hello, in one line, on its standard output.',
    cause: error,
  })
}

async function reasonOf(error: unknown, life: Life, withinMs: number): Promise<string> {
  if (!(error instanceof RpcError)) return textOf(error)
  if (error.kind === 'timeout') return `it did not answer hook.hello within ${withinMs / 1000} s`
  if (error.kind === 'remote') return `it refused hook.hello: ${remoteText(error)}`
  if (error.kind !== 'closed') return `hook.hello failed: ${error.message}`
  await life.ended
  return `${life.how} before it answered hook.hello`
}

/** What a call that was not answered rejects with. */
export async function callFailure(
  error: unknown,
  life: Life,
  { method, timeoutMs, signal }: { method: string; timeoutMs: number; signal: AbortSignal },
): Promise<unknown> {
  if (!(error instanceof RpcError)) return error
  switch (error.kind) {
    case 'timeout':
      return new HookError('HOOK_TIMEOUT', `it did not answer within its ${timeoutMs / 1000} s`)
    case 'aborted':
      return signal.reason
    case 'remote':
      return failed(`it answered ${method} with an error: ${remoteText(error)}`, error)
    case 'closed':
      await life.ended
      return failed(withLastWords(`${life.how} while it was asked (${method})`, life), error)
    default:
      return failed(error.message, error)
  }
}

function failed(text: string, cause: RpcError): HookError {
  return new HookError('HOOK_FAILED', text, { cause })
}

function remoteText({ message, code }: RpcError): string {
  return code === undefined ? message : `${message} (code ${code})`
}

export function withLastWords(text: string, { stderr }: Life): string {
  const lines = stderr.last(MOST_LINES)
  if (lines.length === 0) return text
  const said = lines.map((line) => line.trim()).join(' | ')
  return `${text}; its last lines on stderr: ${said.length > MOST_BYTES ? cutText(said, MOST_BYTES, '…') : said}`
}
