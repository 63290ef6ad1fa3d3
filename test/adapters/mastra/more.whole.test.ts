import { expect, it } from 'vitest'
import { moreCases } from '../more-cases.js'

moreCases({ name: 'mastra', version: '1.71', node: 'node@22' }, (played) => {
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
    expect(played('an agent as a tool')).toMatchObject({ seen: ['look helper-1'], ran: ['c2 river'] })
  })

  it('runs no tool after a failure', () => {
    expect(played('a closed session').ran).toEqual([])
    expect(played('a closed session').answers[0]).toContain('is closed')
    expect(played('a hook that fails').ran).toEqual([])
    expect(played('a hook that fails').answers[0]).toContain('broken')
  })
})
