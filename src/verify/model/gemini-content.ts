// Gemini generateContent: POST …/models/MODEL:generateContent and :streamGenerateContent.

import type { Data } from '../../core/base/json.js'
import { callsOf, deltasOf, listOf, type Protocol, textOf, textsIn } from './protocol.js'

const CALL = /\/models\/([^/:]+):(stream)?generateContent$/i

export const geminiContent: Protocol = {
  name: 'Gemini generateContent',
  answers: (path) => CALL.test(path),
  read: (body, path) => ({
    model: CALL.exec(path)?.[1] ?? '',
    stream: CALL.exec(path)?.[2] !== undefined,
    talk: listOf(body.contents).map(({ role, parts }) => ({
      by: role === 'model' ? 'model' : 'user',
      text: textsIn(parts),
    })),
    hasTools: listOf(body.tools).length > 0,
  }),
  reply(turn, { model, stream }) {
    const answer = (parts: readonly Data[], isLast: boolean) => ({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...(isLast && { finishReason: 'STOP' }) }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: model,
    })
    const calls = callsOf(turn).map(({ name, input }) => ({ functionCall: { name, args: input } }))
    if (!stream || calls.length > 0) {
      const json = answer(calls.length > 0 ? calls : [{ text: textOf(turn) }], true)
      return stream ? { events: [{ data: json }] } : { json }
    }
    const deltas = deltasOf(turn)
    return { events: deltas.map((text, at) => ({ data: answer([{ text }], at === deltas.length - 1) })) }
  },
}
