// Why a resident hook could not answer, in words: what happened to its process, and the last it wrote to standard error.

import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import { cutText } from '../../core/base/text.js'
import { RpcError } from '../../rpc/rpc-error.js'
import type { Life } from './life.js'

/** Of standard error, in a message. */
const MOST_LINES = 3
const MOST_SEEN = 40
const MOST_BYTES = 600

/** HOOK_NOT_STARTED, for whatever went wrong with the hello. */
export async function helloFailure(error: unknown, life: Life, withinMs: number): Promise<HookError> {
  const because = await reasonOf(error, life, withinMs)
  const { hint } = isHookError(error) ? error : {}
  return new HookError('HOOK_NOT_STARTED', withLastWords(because, life), {
    hint:
      hint ??
      'Run its command by hand: it must answer hook.hello in one line on its standard output, and flush it.',
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
  { method, timeoutMs }: { readonly method: string; readonly timeoutMs: number },
): Promise<unknown> {
  if (!(error instanceof RpcError)) return error
  switch (error.kind) {
    case 'timeout':
      return new HookError('HOOK_TIMEOUT', `it did not answer within its ${timeoutMs / 1000} s`, {
        hint: 'Make it faster, flush what it prints, or raise its "timeouts" (seconds).',
      })
    case 'remote':
      return failed(`it answered ${method} with an error: ${remoteText(error)}`, error)
    case 'closed':
      await life.ended
      if (life.isDismissed) return failed(`${life.how} while it was asked (${method})`, error, NOT_ITS_FAULT)
      return failed(withLastWords(`${life.how} while it was asked (${method})`, life), error)
    default:
      return failed(error.message, error)
  }
}

const NOT_ITS_FAULT = 'Wait for calls before you close the hooks; or fire it again.'

function failed(text: string, cause: RpcError, hint?: string): HookError {
  return new HookError('HOOK_FAILED', text, { cause, ...(hint !== undefined && { hint }) })
}

function remoteText({ message, code }: RpcError): string {
  return code === undefined ? message : `${message} (code ${code})`
}

export function withLastWords(text: string, { stderr }: Life): string {
  const all = stderr.last(MOST_SEEN)
  if (all.length === 0) return text
  // What went wrong is often told before where: in Node the stack, a brace and its version follow.
  const told = all.findLast((line) => /\b\w*(?:Error|Exception)\b.*:/.test(line))
  const last = all.slice(-MOST_LINES)
  const lines = told === undefined || last.includes(told) ? last : [told, ...last.slice(1)]
  const said = lines.map((line) => line.trim()).join(' | ')
  return `${text}; its last lines on stderr: ${said.length > MOST_BYTES ? cutText(said, MOST_BYTES, '…') : said}`
}
