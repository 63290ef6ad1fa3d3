// Messages of LangChain as hooks see them, `{ role, content, tool_calls? }`, and messages that hooks gave or changed.

import { randomUUID } from 'node:crypto'
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from 'langchain'
import type { Data, Json } from '../../core/index.js'
import { inputOf, type PartForm, partsOf } from '../response.js'

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }

export function shownMessage(message: BaseMessage): Data {
  const { content, type } = message
  const { tool_calls = [], tool_call_id } = message as {
    tool_calls?: AIMessage['tool_calls']
    tool_call_id?: string
  }
  return {
    role: ROLES[type] ?? type,
    content: type === 'ai' ? message.text : (content as Json),
    ...(tool_calls.length > 0 && {
      tool_calls: tool_calls.map(({ id = null, name, args }) => ({ id, name, input: inputOf(args) })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  } as Data
}

/** A message that a hook added or changed. */
export function newMessage(message: Data): BaseMessage {
  const content = message.content as never
  if (message.role === 'assistant') return responseOf(message)
  if (message.role === 'system') return new SystemMessage({ content })
  if (message.role === 'tool') return new ToolMessage({ content, tool_call_id: String(message.tool_call_id) })
  return new HumanMessage({ content })
}

type Call = NonNullable<AIMessage['tool_calls']>[number]
type Block = { readonly type: string; readonly [field: string]: unknown }

/** A call is in `tool_calls`, and with some providers it is a block of the content too. */
interface Part {
  readonly block?: Block | undefined
  readonly call?: Call | undefined
}

/** A response that a hook gave or changed. */
export function responseOf(response: Json, made?: AIMessage): AIMessage {
  const { id = randomUUID(), usage_metadata, content } = made ?? {}
  const parts = partsOf(response, formOf(made), made && partsIn(made))
  const blocks = parts.flatMap(({ block }) => block ?? [])
  // These repeat what the model said, and providers' classes would send it again.
  const { tool_calls: _, function_call: __, ...additional_kwargs } = made?.additional_kwargs ?? {}
  const { output: ___, ...response_metadata } = made?.response_metadata ?? {}
  return new AIMessage({
    content: Array.isArray(content) ? (blocks as never) : blocks.map(({ text }) => text).join(''),
    tool_calls: parts.flatMap(({ call }) => call ?? []),
    ...{ id, additional_kwargs, response_metadata },
    ...(usage_metadata && { usage_metadata }),
  })
}

const isCallBlock = ({ type }: Block) => type === 'tool_call' || type === 'tool_use'

function blocksIn({ content }: AIMessage): readonly Block[] {
  return Array.isArray(content) ? content : [{ type: 'text', text: content }]
}

function partsIn(made: AIMessage): readonly Part[] {
  const calls = [...(made.tool_calls ?? [])]
  const parts = blocksIn(made).map((block): Part => {
    const at = isCallBlock(block) ? calls.findIndex(({ id }) => id === block.id) : -1
    return { block, call: at < 0 ? undefined : calls.splice(at, 1)[0] }
  })
  return [...parts, ...calls.map((call) => ({ call }))]
}

/** A call that a hook added becomes a block too if the provider has the calls there. */
function formOf(made: AIMessage | undefined): PartForm<Part> {
  const type = made && blocksIn(made).find(isCallBlock)?.type
  return {
    textOf: ({ block }) => (block?.type === 'text' ? String(block.text) : undefined),
    callOf: ({ call }) => call && { id: call.id, name: call.name, input: inputOf(call.args) },
    text: (text, was) => ({ block: { ...was?.block, type: 'text', text } }),
    call({ id, name, input }, was = type ? { block: { type } } : {}) {
      const args = was.block?.type === 'tool_use' ? { input } : { args: input }
      return {
        block: was.block && { ...was.block, id, name, ...args },
        call: { ...was.call, type: 'tool_call', id, name, args: input } as Call,
      }
    },
  }
}
