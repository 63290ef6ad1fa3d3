// A resident hook for the tests: the tool's name says how it behaves.

import { once } from 'node:events'
import { setImmediate as later } from 'node:timers/promises'
import { abortTurn, deny, hardAbort, modify, proceed, respond, serveHook } from '../../src/author/index.js'

/** Those who wait for the tool `release`. */
const waiting: (() => void)[] = []

/** Done only after the engine has said that nothing more comes. */
async function beyondTheEnd(): Promise<void> {
  underWay++
  await once(process.stdin, 'end')
  for (let i = 0; i < 10; i++) await later()
  underWay--
}
let underWay = 0

await serveHook({
  name: 'everything',
  beforeLlm: ({ model, tools }) => {
    if (model === 'stop') return hardAbort('no more of this')
    return modify({ tools: [...tools, { type: 'function', function: { name: 'mine' } }] })
  },
  afterLlm: async ({ response }) => modify({ response: { ...response, content: 'other words' } }),
  async beforeTool({ tool, arguments: args, meta }) {
    switch (tool) {
      case 'deny':
        return deny(`not in ${meta.TurnID}`)
      case 'change':
        return modify({ tool: 'changed', arguments: { ...args, more: 1 } })
      case 'respond':
        return respond({ for_llm: 'done', is_error: false })
      case 'abort':
        return abortTurn('enough')
      case 'go':
        return proceed()
      case 'throw':
        throw new Error('it is broken')
      case 'throw text':
        throw 'a text'
      case 'nonsense':
        return 7 as never
      case 'circle': {
        const circle: Record<string, unknown> = { action: 'continue' }
        circle.circle = circle
        return circle as never
      }
      case 'wait':
        await new Promise<void>((resolve) => waiting.push(resolve))
        return deny('waited')
      case 'release':
        for (const resolve of waiting.splice(0)) resolve()
        return undefined
      case 'slow':
        await beyondTheEnd()
        return deny('slow')
      case 'print':
        console.log('log')
        console.info('info')
        console.debug('debug')
        console.dir({ dir: 1 })
        console.table([{ table: 1 }])
        process.stdout.write('write\n')
        return deny('printed')
      default:
        return undefined
    }
  },
  afterTool: ({ result }) => modify({ result: { for_llm: result.for_llm.toUpperCase() } }),
  approveTool({ tool }) {
    if (tool === 'nothing') return undefined as never
    return tool === 'bash' ? deny('no bash') : proceed()
  },
  async onEvent({ Kind, Payload }) {
    if (Kind === 'turn_end') await beyondTheEnd()
    if (Kind === 'bad') throw new Error('bad event')
    process.stderr.write(`observed ${Kind} ${JSON.stringify(Payload)}\n`)
  },
})
// Served to the end: stdout is everybody's again.
console.log(`served, and ${underWay} under way`)
