// A hook for the tests, started for every event: the tool's name says how it behaves.

import { deny, inject, runHook } from '../../src/author/index.js'

const onFailure = process.argv[2] === 'closed' ? 'closed' : 'open'
// Whoever prints before has made the console's stream already.
if (process.env.EARLY) console.log('early')
const forever = () => new Promise<never>(() => undefined)

await runHook(
  {
    async PreToolUse({ toolName, toolInput }) {
      switch (toolName) {
        case 'print':
          console.log('noise')
          console.table([1])
          process.stdout.write('more noise\n')
          return deny('quietly')
        case 'throw':
          throw new Error(`it broke on ${JSON.stringify(toolInput)}`)
        case 'throw-later':
          setTimeout(() => {
            throw new Error('it broke later')
          })
          return forever()
        case 'reject':
          void Promise.reject(new Error('nobody caught it'))
          return forever()
        case 'exit':
          return process.exit(7)
        case 'never':
          return forever()
        case 'stay':
          setInterval(() => undefined, 1000)
          return deny('and stays')
        case 'nonsense':
          return { decision: 'perhaps' } as never
        case 'large':
          return deny('x'.repeat(1_000_000))
        case 'allow':
          return undefined
        default:
          return deny(`no ${toolName}`)
      }
    },
    Stop() {
      throw new Error('it broke')
    },
    UserPromptSubmit: ({ userPrompt }) => inject(`You said ${userPrompt}`),
  },
  { name: 'one-shot', onFailure, ...(process.env.TIMEOUT && { timeout: Number(process.env.TIMEOUT) }) },
)
