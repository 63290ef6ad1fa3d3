// Gemini generateContent: POST …/models/MODEL:generateContent and :streamGenerateContent.

import type { Data } from '../../core/base/json.js'
import { listOf, type Protocol, textsIn } from './protocol.js'

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
    const part: Data =
      'call' in turn ? { functionCall: { name: turn.call.name, args: turn.call.input } } : { text: turn.text }
    const json = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: model,
    }
    return stream ? { events: [{ data: json }] } : { json }
  },
}
