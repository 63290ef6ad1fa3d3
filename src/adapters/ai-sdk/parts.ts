// The parts of a response in the AI SDK: how hooks see them, whole and streamed, and how a response ends in 5, 6 and 7.

import { inputOf, messageOf, type PartForm } from '../response.js'

/** What all versions have in common, of responses, streams and messages. */
export interface Part {
  readonly type: string
  readonly id?: unknown
  readonly text?: unknown
  readonly delta?: unknown
  readonly toolCallId?: unknown
  readonly toolName?: unknown
  readonly input?: unknown
  readonly providerExecuted?: unknown
  readonly approvalId?: unknown
  readonly approved?: unknown
  readonly warnings?: unknown
}

export const PARTS: PartForm<Part> = {
  textOf: ({ type, text }) => (type === 'text' ? String(text) : undefined),
  callOf: ({ type, toolCallId, toolName, input }) =>
    type === 'tool-call'
      ? { id: String(toolCallId), name: String(toolName), input: inputOf(input) }
      : undefined,
  text: (text, was) => ({ ...was, type: 'text', text }),
  call: ({ id, name, input }, was) => ({
    ...was,
    ...{ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(input) },
  }),
}

/** A stream's parts with its texts in one piece each. The end is left out, and so are inputs that a call repeats. */
export function wholeParts(parts: readonly Part[]): readonly Part[] {
  const texts = new Map<unknown, { type: string; text: string }>()
  return parts.flatMap((part) => {
    const { type, id, delta } = part
    if (type === 'finish' || type.startsWith('tool-input-')) return []
    if (!type.startsWith('text-')) return part
    const { type: _, delta: __, ...fields } = part
    const known = texts.get(id)
    const text = Object.assign(known ?? { type: 'text', text: '' }, fields)
    if (type === 'text-delta') text.text += delta
    texts.set(id, text)
    return known ? [] : text
  })
}

export function* streamOf(parts: readonly Part[], end: (parts: readonly Part[]) => Part): Iterable<Part> {
  if (!parts.some(({ type }) => type === 'stream-start')) yield { type: 'stream-start', warnings: [] }
  for (const part of parts) {
    const { type, text, id = '0', ...fields } = part
    if (type !== 'text') yield part
    else {
      yield { ...fields, type: 'text-start', id }
      yield { type: 'text-delta', id, delta: text }
      yield { ...fields, type: 'text-end', id }
    }
  }
  yield end(parts)
}

/** What follows the parts of a stream that were shown. Undefined if these are no longer right: only calls can still change. */
export function restOf(
  parts: readonly Part[],
  shown: readonly Part[],
  end: (parts: readonly Part[]) => Part,
): readonly Part[] | undefined {
  const text = messageOf(wholeParts(shown), PARTS).content
  const hasCalls = shown.some((part) => PARTS.callOf(part))
  if (hasCalls || messageOf(parts, PARTS).content !== text) return undefined
  const idsOf = (wanted: string) => shown.flatMap(({ type, id }) => (type === wanted ? [id] : []))
  const closed = idsOf('text-end')
  const open = idsOf('text-start').filter((id) => !closed.includes(id))
  const rest = parts.filter((part) => part.type !== 'text' && !shown.includes(part))
  return [...open.map((id) => ({ type: 'text-end', id })), ...rest, end(parts)]
}

/** The end of a response that no model gave: nothing was used. 5 writes it in another form than 6 and 7. */
export function endOf(
  { specificationVersion }: { readonly specificationVersion: string },
  parts: readonly Part[],
  reason?: string,
) {
  const unified = reason ?? (parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop')
  return specificationVersion === 'v2'
    ? { finishReason: unified, usage: {} }
    : { finishReason: { unified, raw: undefined }, usage: { inputTokens: {}, outputTokens: {} } }
}
