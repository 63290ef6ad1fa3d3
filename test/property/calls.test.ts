// Calls in one piece and in two halves: the same for any hooks, and hooks always see how a call ended.

import {
  type Answer,
  abortTurn,
  askUser,
  createHooks,
  type Data,
  deny,
  HookError,
  inject,
  modify,
  type Reply,
  respond,
  type Session,
  type Unanswered,
} from 'carabiner'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from './runs.js'

// ---- random hooks and tools -----------------------------------------------------------------------------------

type Handles = (field: string) => Answer

const ANSWERS: Readonly<Record<string, Handles>> = {
  continues: () => undefined,
  denies: () => deny('no'),
  asks: () => askUser('sure?'),
  'asks with context': () => askUser('really?', { contextInjection: 'careful' }),
  responds: () => respond('cached'),
  'ends the turn': () => abortTurn('enough'),
  injects: () => inject('a note'),
  rewrites: (field) => modify({ [field]: field === 'tool_input' ? { command: 'ls -a' } : 'redacted' }),
  throws: () => {
    throw new Error('broken')
  },
}
const answers = fc.array(fc.constantFrom(...Object.keys(ANSWERS)), { maxLength: 3 })

interface Drawn {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly failing: readonly string[]
  readonly isBroken: boolean
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  before: answers,
  after: answers,
  failing: answers,
  isBroken: fc.boolean(),
})

const EDITED = { option: 'Allow', data: { tool_input: { command: 'pwd' } } }
const replies = fc.constantFrom<Reply | Unanswered>('Allow', 'Deny', 'Maybe', EDITED, { unanswered: 'later' })

const CALL = { name: 'Bash', input: { command: 'ls' }, id: 't1' }

/** What hooks saw, in order, and what became of the call. */
type Journal = unknown[]

async function withHooks<T>(
  { before, after, failing }: Drawn,
  work: (session: Session, journal: Journal) => Promise<T>,
): Promise<T> {
  const hooks = await createHooks({ globals: false })
  const journal: Journal = []
  const events = { PreToolUse: before, PostToolUse: after, PostToolUseFailure: failing }
  const fields = { PreToolUse: 'tool_input', PostToolUse: 'tool_response', PostToolUseFailure: 'error' }
  for (const event of ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] as const) {
    const saw = (_: string, { tool_use_id, tool_input, tool_response, error, is_interrupt }: Data) => {
      journal.push([event, { tool_use_id, tool_input, tool_response, error, is_interrupt }])
    }
    hooks.register(event, saw as never, { name: 'saw' })
    for (const [i, name] of events[event].entries())
      hooks.register(event, () => (ANSWERS[name] as Handles)(fields[event]), { name: `${name} ${i}` })
  }
  try {
    return await work(hooks.session(), journal)
  } finally {
    await hooks.close()
  }
}

const TOOL_ERROR = new Error('of the tool')

function tool({ isBroken }: Drawn, journal: Journal): (input: unknown) => string {
  return (input) => {
    journal.push(['the tool', input])
    if (isBroken) throw TOOL_ERROR
    return 'done'
  }
}

/** A hook ended the turn. */
function ofHooks(error: unknown): void {
  if (!(error instanceof HookError)) throw error
}

const ended = ({ code, message }: HookError) => ({ code, message })
const shown = ({ status, result, reason }: { status: string; result?: unknown; reason?: unknown }) => ({
  status,
  result,
  reason,
})

// ---- properties -----------------------------------------------------------------------------------------------

it('callTool is beginTool, the tool, and finish or fail', async () => {
  const whole = (draw: Drawn, options: object) =>
    withHooks(draw, async (session, journal) => {
      const called = session.callTool(CALL, tool(draw, journal), options)
      return [await called.then(shown, ended), journal]
    })
  const halves = (draw: Drawn, options: object) =>
    withHooks(draw, async (session, journal) => {
      const work = async () => {
        const begun = await session.beginTool(CALL, options)
        if (begun.status !== 'run') return begun
        let result: string
        try {
          result = tool(draw, journal)(begun.input)
        } catch (error) {
          await begun.fail(error)
          throw error
        }
        return begun.finish(result)
      }
      return [await work().then(shown, ended), journal]
    })
  await fc.assert(
    fc.asyncProperty(drawn, fc.option(replies, { nil: undefined }), async (draw, reply) => {
      const options = reply === undefined ? {} : { approver: () => reply }
      expect(await halves(draw, options)).toEqual(await whole(draw, options))
    }),
    { numRuns: runs(250) },
  )
})

it('an answer that comes later decides as an approver would have, and shows hooks the same', async () => {
  const decided = (draw: Drawn, reply: Reply | Unanswered, isLater: boolean) =>
    withHooks(draw, async (session, journal) => {
      const work = async () => {
        let begun = await session.beginTool(CALL, isLater ? {} : { approver: () => reply })
        for (let i = 0; isLater && i < 3 && begun.status === 'needs_approval'; i++)
          begun = await begun.answer(reply as Reply)
        const { status, outcome } = begun
        return { status, action: outcome.action, data: outcome.data.tool_input, reason: outcome.reason }
      }
      return [await work().catch(ended), journal.filter((one) => (one as [string])[0] === 'PreToolUse')]
    })
  await fc.assert(
    fc.asyncProperty(drawn, replies, async (draw, reply) => {
      expect(await decided(draw, reply, true)).toEqual(await decided(draw, reply, false))
    }),
    { numRuns: runs(250) },
  )
})

it('nothing runs unless the status says so, and hooks see exactly one end of whatever may run', async () => {
  const ways = fc.constantFrom('finish', 'fail', 'dispose', 'nothing')
  const calls = fc.array(fc.record({ ways: fc.array(ways, { maxLength: 3 }), reply: replies }), {
    minLength: 1,
    maxLength: 6,
  })
  await fc.assert(
    fc.asyncProperty(drawn, calls, fc.boolean(), async (draw, ends, isChild) => {
      const { may, journal } = await withHooks(draw, async (session, journal) => {
        const own = isChild ? session.child({ agentId: 'a' }) : session
        const may: string[] = []
        const end = async ({ ways, reply }: (typeof ends)[number], i: number) => {
          const first = await own.beginTool({ ...CALL, id: `t${i}` })
          const begun = first.status === 'needs_approval' ? await first.answer(reply as Reply) : first
          expect('input' in begun).toBe(begun.status === 'run')
          if (begun.status !== 'run') return
          expect(begun.outcome.action).toBe('continue')
          may.push(`t${i}`)
          const each = {
            finish: () => begun.finish('done'),
            fail: () => begun.fail('broken'),
            dispose: () => begun[Symbol.asyncDispose](),
            nothing: async () => undefined,
          }
          await Promise.allSettled(ways.map((way) => each[way as keyof typeof each]()))
        }
        await Promise.all(ends.map((one, i) => end(one, i).catch(ofHooks)))
        await session.close()
        return { may, journal }
      })
      const seen = journal as [string, { tool_use_id: string }][]
      const after = seen.filter(([event]) => event !== 'PreToolUse').map(([, { tool_use_id }]) => tool_use_id)
      expect(after.toSorted()).toEqual(may.toSorted())
    }),
    { numRuns: runs(250) },
  )
})
