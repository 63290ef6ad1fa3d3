#!/usr/bin/env node
// Gives the model a tool that the agent does not have: word_count.
// A resident hook: one JSON-RPC request a line on stdin, one answer a line on stdout and nothing else there.
// It is started once, asked again and again, and ends with its stdin.

const WORD_COUNT = {
  type: 'function',
  function: {
    name: 'word_count',
    description: 'Counts the words of a text',
    parameters: {
      type: 'object',
      properties: { text: { type: 'string', description: 'The text' } },
      required: ['text'],
    },
  },
}

/**
 * The model can only call what is in `tools`.
 * @param {{ model: string, messages: object[], options?: object, tools?: { function?: { name?: string } }[] }} params
 */
function beforeLlm({ model, messages, options, tools }) {
  const own = tools ?? []
  if (own.some((tool) => tool.function?.name === 'word_count')) return { action: 'continue' }
  return { action: 'modify', request: { model, messages, options, tools: [...own, WORD_COUNT] } }
}

/** `respond` is the tool's result; no other tool runs. @param {{ tool: string, arguments: { text?: unknown } }} params */
function beforeTool({ tool, arguments: fields }) {
  if (tool !== 'word_count') return { action: 'continue' }
  if (typeof fields.text !== 'string') return respond('text must be a string', true)
  return respond(`${fields.text.match(/\S+/g)?.length ?? 0} words`)
}

/** @param {string} text */
function respond(text, is_error = false) {
  return { action: 'respond', result: { for_llm: text, for_user: '', silent: false, is_error } }
}

/** @type {Record<string, (params: never) => object>} */
const METHODS = {
  'hook.hello': () => ({ ok: true, name: 'tool-provider' }),
  'hook.before_llm': beforeLlm,
  'hook.before_tool': beforeTool,
}

/** @param {{ method?: unknown, params?: unknown }} request */
function answerTo({ method, params }) {
  const run = Object.hasOwn(METHODS, String(method)) ? METHODS[String(method)] : undefined
  if (!run) return { error: { code: -32601, message: `tool-provider does not know ${method}` } }
  try {
    return { result: run(/** @type {never} */ (params)) }
  } catch (error) {
    // Whatever it is, the engine must hear of it: it applies onFailure.
    return { error: { code: -32000, message: String(error) } }
  }
}

/** @param {string} line */
function read(line) {
  let request
  try {
    request = JSON.parse(line)
  } catch (error) {
    return console.error(`tool-provider: skipped a line that is not JSON: ${error}`)
  }
  // Without an id it is a notification.
  if (request?.id) console.log(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answerTo(request) }))
}

// Not node:readline, which also ends a line at U+2028, and JSON may hold that.
let rest = ''
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  lines.forEach(read)
}
if (rest) read(rest)
