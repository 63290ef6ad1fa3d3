import { expect, it } from 'vitest'
import { MockModel } from '../../../src/verify/model/mock-model.js'
import type { Turn } from '../../../src/verify/model/protocol.js'
import { moreCases } from '../more-cases.js'

const LOOK = { name: 'mcp__test__look', input: { at: 'a' } }
const AGENT = {
  name: 'Agent',
  input: { description: 'help', prompt: 'HELPER', subagent_type: 'general-purpose' },
}
const DONE: Turn = { text: 'Done.' }

/** The first request of each talk is answered with calls. */
function scripted({ path, body }: { readonly path: string; readonly body: string }): Turn {
  const name = decodeURIComponent(path.split('/')[1] ?? '')
  if (body.includes('"tool_result"')) return DONE
  if (name === 'subagent' && !body.includes('"text":"HELPER"')) return { call: AGENT }
  return { calls: Array.from({ length: name === 'many calls' ? 64 : 1 }, () => LOOK) }
}

moreCases(
  { name: 'claude-agent-sdk', version: '0.3.325' },
  (played) => {
    it('judges the calls of a subagent as its own', () => {
      const { seen, ran } = played('subagent')
      expect(seen).toEqual(['Agent', 'mcp__test__look general-purpose'])
      expect(ran).toEqual(['river'])
    })

    it('denies what a hook asks about if there is nobody to ask, also if permissions are bypassed', () => {
      for (const name of ['nobody to ask', 'a question in spite of a bypass'])
        expect(played(name)).toMatchObject({ seen: ['mcp__test__look'], ran: [] })
    })

    it('keeps 64 equal calls apart', () => {
      const { ran } = played('many calls')
      expect(new Set(ran).size).toBe(64)
      expect(ran).not.toContain('a')
    })

    it('runs no tool after a failure', () => {
      // The prompt is refused already.
      expect(played('a closed session')).toEqual({ seen: [], ran: [], answers: [] })
      expect(played('a hook that fails').ran).toEqual([])
      expect(played('a hook that fails').answers.join()).toContain('broken')
    })
  },
  async (project, program) => {
    const model = new MockModel(scripted)
    const port = await model.start()
    try {
      return await project.run(program, `http://127.0.0.1:${port}`)
    } finally {
      await model.stop()
    }
  },
)
