import { expect, it } from 'vitest'
import { moreCases } from '../more-cases.js'

for (const version of ['1.60', '1.71'])
  moreCases({ name: 'mastra', version, node: 'node@22' }, (played) => {
    it('tells two questions about equal calls apart', () => {
      const { seen, ran, answers } = played('two questions')
      expect(seen).toEqual(['look', 'look'])
      expect(ran).toEqual(['c2 a'])
      expect(answers.slice(0, 2)).toEqual(['really?', 'really?'])
    })

    it('takes no answer from the model', () => {
      expect(played('an answer in the call')).toMatchObject({ seen: ['look'], ran: [] })
    })

    it('judges a call anew that has the id of one that was declined', () => {
      expect(played('an id that comes again')).toMatchObject({ seen: ['look', 'look'], ran: [] })
    })

    it('judges a call once whose tool suspends itself', () => {
      const { seen, ran } = played('a tool that suspends itself')
      expect(seen).toEqual(['pause'])
      expect(ran).toEqual(['starts a', 'goes on a'])
    })

    it('keeps 64 equal calls apart', () => {
      const ids = Array.from({ length: 64 }, (_, at) => `c${at}`)
      expect([...played('many calls').ran].sort()).toEqual(ids.map((id) => `${id} ${id}`).sort())
    })

    it('judges the calls of a subagent as its own', () => {
      const seen = ['agent-helper', 'look helper-1']
      expect(played('an agent as a tool')).toMatchObject({ seen, ran: ['c2 river'] })
      expect(played('a denied agent')).toMatchObject({ seen: [], ran: [] })
    })

    it('asks about a subagent, and about its calls', () => {
      const seen = ['agent-helper', 'look helper-1']
      expect(played('an agent that is asked about')).toMatchObject({ seen, ran: ['c2 a'] })
      expect(played('an agent that a person refuses')).toMatchObject({ seen: ['agent-helper'], ran: [] })
      expect(played('a question in an agent')).toMatchObject({ seen, ran: ['c2 a'] })
      expect(played('a no in an agent')).toMatchObject({ seen, ran: [] })
    })

    it('calls no subagent whose calls hooks would not see', () => {
      const { ran, answers } = played('an agent that nobody judges')
      expect(ran).toEqual([])
      expect(answers[0]).toContain('hooks would not see the tool calls of this agent')
    })

    it('judges the tools that Mastra makes of workflows and workspaces', () => {
      expect(played('a workflow')).toMatchObject({ seen: ['workflow-walk'], ran: ['walks a'] })
      expect(played('a denied workflow').ran).toEqual([])
      expect(played('a denied tool of a workspace').ran).toEqual([])
      expect(played('a denied tool of a workspace').answers[0]).toContain('really?')
    })

    it('judges single tools that are wrapped', () => {
      expect(played('an agent with wrapped tools')).toMatchObject({ ran: [] })
    })

    it('runs no tool after a failure', () => {
      expect(played('a closed session').ran).toEqual([])
      expect(played('a closed session').answers[0]).toContain('is closed')
      expect(played('a hook that fails').ran).toEqual([])
      expect(played('a hook that fails').answers[0]).toContain('broken')
    })
  })
