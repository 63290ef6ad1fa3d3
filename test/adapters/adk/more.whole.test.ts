import { expect, it } from 'vitest'
import { type Case, moreCases } from '../more-cases.js'

interface AdkCase extends Case {
  /** The texts that came last in each request. */
  readonly read: readonly string[]
}

moreCases<AdkCase>({ name: 'adk', version: '2' }, (played) => {
  it('judges the calls of a sub-agent as its own', () => {
    const { seen, ran } = played('handoff')
    expect(seen).toEqual(['transfer_to_agent', 'look helper'])
    expect(ran).toEqual(['c1 river'])
  })

  it('refuses an agent as a tool, because its calls would not be seen', () => {
    const { ran, answers } = played('an agent as a tool')
    expect(ran).toEqual([])
    expect(answers[0]).toContain('make it a sub-agent')
  })

  it('lets an agent as a tool run while there are no hooks', () => {
    const { ran, answers } = played('an agent as a tool, without hooks')
    expect(ran).toEqual(['c1 a'])
    expect(answers).toEqual(['{"result":"Done."}'])
  })

  it('judges each call of a response by itself', () => {
    const { ran, answers } = played('calls of one response')
    expect(ran).toEqual(['a a', 'c C'])
    expect(answers).toEqual(['{"saw":"a"}', '{"error":"not to b"}', '{"saw":"C"}', '{"result":"d is known"}'])
  })

  it('judges the calls that a stream has after its text', () => {
    const { ran, read } = played('context from the second response of a stream')
    expect(ran).toEqual(['c1 a'])
    expect(read.at(-1)).toContain('it rains')
    expect(played('a second response that a hook refuses')).toMatchObject({ ran: [], answers: ['no calls'] })
    expect(played('a second response that a hook asks about')).toMatchObject({
      ran: [],
      answers: ['such calls?'],
    })
    expect(played('a second response that ends the turn')).toMatchObject({ ran: [], answers: ['enough'] })
    expect(played('an abort while a hook judges the second response')).toMatchObject({ ran: [], answers: [] })
  })

  it('judges a call once whose tool wants a confirmation, and keeps what hooks changed', () => {
    expect(played('a confirmation of the tool')).toMatchObject({ seen: ['look'], ran: ['c1 b'] })
  })

  it('asks once if a hook and the tool want to know', () => {
    expect(played('a question of both')).toMatchObject({ seen: ['look'], ran: ['c1 a'] })
  })

  it('tells two questions about equal calls apart', () => {
    expect(played('two questions')).toMatchObject({ seen: ['look', 'look'], ran: ['c2 a'] })
  })

  it('judges a call anew that has the id of one that nobody answered', () => {
    expect(played('an id that comes again')).toMatchObject({ seen: ['look', 'look'], ran: [] })
  })

  it('keeps 64 equal calls apart', () => {
    const ids = Array.from({ length: 64 }, (_, at) => `c${at}`)
    expect(played('many calls').ran).toEqual(ids.map((id) => `${id} ${id}`))
  })

  it('runs no tool after a failure', () => {
    expect(played('a closed session').ran).toEqual([])
    expect(played('a closed session').answers[0]).toContain('is closed')
    expect(played('a hook that fails').ran).toEqual([])
    expect(played('a hook that fails').answers[0]).toContain('broken')
  })
})
