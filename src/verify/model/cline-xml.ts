// Cline's calls: tools are described in the prompt, and a call is XML in the model's text.

import type { Data } from '../../core/base/json.js'
import { callsOf, listOf, type Turn, textOf, textsIn } from './protocol.js'

/** Every agent with this form has the tool, which alone ends a task. */
const END = 'attempt_completion'

export function describesTools(body: Data): boolean {
  if (listOf(body.tools).length > 0) return false
  return listOf(body.messages).some(
    ({ role, content }) => role === 'system' && textsIn(content).includes(END),
  )
}

export function xmlOf(turn: Turn): string {
  const { name, input } = callsOf(turn)[0] ?? { name: END, input: { result: textOf(turn) } }
  const fields = typeof input === 'string' ? { input } : input
  const lines = Object.entries(fields).map(([key, value]) => `<${key}>${textsIn(value) || value}</${key}>`)
  return [`<${name}>`, ...lines, `</${name}>`].join('\n')
}
