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

    it('finds the agents of an agent with memory where they are named', () => {
      const seen = ['agent-helper', 'look helper-1']
      expect(played('an agent with memory')).toMatchObject({ seen, ran: ['c2 a'] })
      const { ran, answers } = played('an agent with memory that names no agents')
      expect(ran).toEqual([])
      expect(answers[0]).toContain('Call hooksProcessor(session, { agents })')
    })

    it('refuses a network, whose calls hooks would not see', () => {
      expect(played('a network')).toMatchObject({ ran: [], answers: ['failed'] })
      expect(played('a network without hooks').ran).toHaveLength(1)
    })

    it('refuses a tool of the client, whose calls hooks would not see', () => {
      expect(played('a tool of the client').answers.join()).toContain('hooks would not see calls of show')
      expect(played('a tool of the client, without hooks').answers).toEqual([])
    })

    it('refuses a step whose tools hooks would not see', () => {
      for (const name of [
        'a step with tools of its own',
        'a step with tools of its own, and no choice',
        'a step with a model of its own',
        'a step with a tool of a provider',
      ]) {
        const { ran, answers } = played(name)
        expect(ran).toEqual([])
        expect(answers.at(-1)).toContain('move prepareStep into an input processor')
      }
      expect(played('a step with tools of its own, without hooks').ran).toEqual(['c1 a'])
      expect(played('a step with a wrapped tool of a provider')).toMatchObject({
        seen: ['look'],
        ran: ['c1 a'],
      })
      expect(played('a step with wrapped tools')).toMatchObject({ seen: ['look'], ran: ['c1 a'] })
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

    it('judges a call once if both the tool and the agent are wrapped', () => {
      expect(played('an agent with both')).toMatchObject({ seen: ['look'], ran: ['c1 a'] })
    })

    it('runs no tool after a failure', () => {
      expect(played('a closed session').ran).toEqual([])
      expect(played('a closed session').answers[0]).toContain('is closed')
      expect(played('a hook that fails').ran).toEqual([])
      expect(played('a hook that fails').answers[0]).toContain('broken')
    })
  })
