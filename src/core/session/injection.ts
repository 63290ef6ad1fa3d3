// Injections into the agent's context: cleaned, limited in size, charged to the turn, and marked as text from a hook.

import type { Diagnostic } from '../base/errors.js'
import { isObject } from '../base/json.js'
import { byteLength, cleanText, cutText } from '../base/text.js'
import type { Injection, Message, WantedInjection } from '../hooks/outcome.js'
import type { SessionContext } from './session-context.js'

interface InjectionLimits {
  /** Bytes of UTF-8 for one injection, marker included; null is unlimited. */
  readonly size: number | null
  /** Tokens for one turn, at four bytes a token; null is unlimited. */
  readonly budget: number | null
}

interface Admitted {
  readonly injections: readonly Injection[]
  /** Tokens to charge. */
  readonly tokens: number
  readonly messages: readonly Message[]
  readonly diagnostics: readonly Diagnostic[]
  readonly cut: readonly Cut[]
}

/** An injection with its full text, and the number of bytes that were kept. */
interface Cut {
  readonly injection: Injection
  readonly size: number
}

const MARKER = '\n[cut by Carabiner: larger than the limit]'

/** Bytes of a refusal's reason that no setting cuts. */
const REFUSAL_SIZE = 10_240

/** A refusal gets through, however tight the settings are. */
function limitsOf({ isRefusal }: WantedInjection, limits: InjectionLimits): InjectionLimits {
  if (!isRefusal) return limits
  return { size: limits.size === null ? null : Math.max(limits.size, REFUSAL_SIZE), budget: null }
}

/** Cleans each injection in hook order, cuts it to size, and leaves out those beyond the turn's budget. */
function admitInjections(
  wanted: readonly WantedInjection[],
  spent: number,
  limits: InjectionLimits,
): Admitted {
  const injections: Injection[] = []
  const messages: Message[] = []
  const diagnostics: Diagnostic[] = []
  const cut: Cut[] = []
  let tokens = 0
  for (const one of wanted) {
    const { isRefusal: _, ...injection } = one
    const { size, budget } = limitsOf(one, limits)
    let text = cleanText(one.text)
    if (text === '') continue
    let bytes = byteLength(text)
    if (size !== null && bytes > size) {
      cut.push({ injection: { ...injection, text }, size })
      text = cutText(text, size, MARKER)
      bytes = byteLength(text)
    }
    const cost = Math.ceil(bytes / 4)
    if (budget !== null && spent + tokens + cost > budget) {
      const said = `${one.source}: not injected, because the turn's budget of ${budget} tokens is used up`
      diagnostics.push({ code: 'injection-over-budget', text: said })
      messages.push({ text: said, level: 'warning', source: one.source })
      continue
    }
    tokens += cost
    injections.push({ ...injection, text })
  }
  return { injections, tokens, messages, diagnostics, cut }
}

/** An embedder that never calls a model through the session must not fill its memory. */
const MAX_EPHEMERAL = 100

/** Charges injections to the current budget, which parallel calls of one session share. `spent` is the amount used before. */
export async function charge(
  session: SessionContext,
  wanted: readonly WantedInjection[],
  spent: number,
  messages: Message[],
  diagnostics: Diagnostic[],
): Promise<readonly Injection[]> {
  const { engine, store } = session
  const { settings } = engine
  const limits = { size: settings.injection_size_limit, budget: settings.injection_budget_per_turn }
  let admitted = admitInjections(wanted, spent, limits)
  let lost = 0
  await store.update(session.key, (now) => {
    admitted = admitInjections(wanted, now.turnTokens, limits)
    const ephemeral = [...now.ephemeral, ...admitted.injections.filter((one) => one.ephemeral)]
    lost = Math.max(0, ephemeral.length - MAX_EPHEMERAL)
    return {
      ...now,
      turnTokens: now.turnTokens + admitted.tokens,
      ephemeral: ephemeral.slice(-MAX_EPHEMERAL),
    }
  })
  messages.push(...admitted.messages)
  diagnostics.push(...admitted.diagnostics)
  if (lost > 0) {
    const text = `${lost} of the oldest ephemeral injections were dropped: no model call of this session took them`
    diagnostics.push({ code: 'injection-over-budget', text })
  }
  for (const { injection, size } of admitted.cut) {
    const { source, text } = injection
    const where = await store.keep(session.key, text)
    diagnostics.push({
      code: 'injection-cut',
      text: `${source} injected ${byteLength(text)} bytes, cut to ${size}; the full text is at ${where}`,
    })
  }
  return admitted.injections
}

/** The text for the model: the hook stays visible as the source, and no text can end the wrapper early. */
export function renderInjection({ source, text }: Injection): string {
  const name = source.replace(/[^\w .:@/#-]/g, '_')
  return `<hook-context source="${name}">\n${text.replace(/<(\/?)hook-context/gi, '&lt;$1hook-context')}\n</hook-context>`
}

/** An injection for the model of an SDK. */
export interface RenderedInjection extends Injection {
  /** The text in its `<hook-context>` wrapper. Send this, not `text`. */
  readonly content: string
}

export function rendered(injections: readonly Injection[]): readonly RenderedInjection[] {
  return injections.map((injection) => ({ ...injection, content: renderInjection(injection) }))
}

/** The request with these injections in its messages. */
export function withInjections<R extends { readonly messages: readonly unknown[] }>(
  request: R,
  injections: readonly RenderedInjection[],
): R {
  let messages = [...request.messages]
  for (const injection of injections) {
    const { content } = injection
    const appended = injection.appendToLastToolResult ? appendToToolResult(messages, content) : undefined
    messages = appended ?? [...messages, { role: injection.role, content }]
  }
  return { ...request, messages }
}

/** Undefined if there is no tool result with text content to append to. */
function appendToToolResult(messages: readonly unknown[], content: string): unknown[] | undefined {
  const at = messages.findLastIndex((message) => isObject(message) && message.role === 'tool')
  const message = messages[at]
  if (!isObject(message) || typeof message.content !== 'string') return undefined
  return messages.with(at, { ...message, content: `${message.content}\n\n${content}` })
}
