// What is special about the AI SDK, beside the contract of adapters.

import { expect, it } from 'vitest'
import { type Case, moreCases } from '../more-cases.js'

const CHANGED_LATE = 'A hook changed the response after the changed part was shown'

type Played = (name: string) => Case

/** What holds with and without an approval flow. */
function common(played: Played, { yields }: { readonly yields: boolean }): void {
  it('judges the call of a tool without execute once, before it is handed out', () => {
    const seen = ['PreToolUse c1']
    for (const how of [', judged model', ', streamed, judged model', '']) {
      const end = (name: string) => played(`handed out, ${name}${how}`)
      expect(end('denied')).toEqual({ seen: [], ran: [], answers: ['no'] })
      expect(end('asked')).toMatchObject({ ran: [], answers: ['really?'] })
      expect(end('allowed')).toEqual({ seen, ran: ['a'], answers: [] })
      if (how) expect(end('changed')).toEqual({ seen, ran: ['b'], answers: [] })
      else
        expect(end('changed')).toMatchObject({
          ran: [],
          answers: [expect.stringContaining('hooksMiddleware')],
        })
    }
  })

  it('says in a stream of a model without hooks that they refused a call, after it was handed out', () => {
    expect(played('handed out, denied, streamed')).toMatchObject({ answers: ['no'] })
    expect(played('handed out, asked, streamed')).toMatchObject({ answers: ['really?'] })
    expect(played('handed out, allowed, streamed')).toMatchObject({ seen: ['PreToolUse c1'], ran: ['a'] })
  })

  it('judges the input of a tool without execute again if its schema has changed it since the response', () => {
    expect(played('handed out, transformed')).toMatchObject({ ran: [], answers: ['not b'] })
    expect(played('handed out, transformed, streamed')).toMatchObject({ answers: ['not b'] })
  })

  it('shows text before a call at once with hold: tool-calls, and runs only what hooks let through', () => {
    const text = ['I ', 'look.']
    const end = (name: string) => played(`hold: tool-calls, ${name}`)
    expect(end('allowed')).toEqual({ seen: [...text, ...text], ran: ['a'], answers: [] })
    expect(end('denied call')).toEqual({ seen: [...text, ...text], ran: [], answers: [] })
    expect(end('denied response')).toEqual({ seen: text, ran: [], answers: ['no'] })
    expect(end('changed call')).toEqual({ seen: [...text, ...text], ran: ['b'], answers: [] })
    expect(end('removed call')).toEqual({ seen: text, ran: [], answers: [] })
    expect(end('changed text')).toEqual({ seen: text, ran: [], answers: [CHANGED_LATE] })
  })

  it('shows everything at once with hold: none, and fails if hooks then refuse or change it', () => {
    const text = ['I ', 'look.']
    const end = (name: string) => played(`hold: none, ${name}`)
    expect(end('allowed')).toEqual({ seen: [...text, ...text], ran: ['a'], answers: [] })
    expect(end('denied call')).toEqual({ seen: [...text, ...text], ran: [], answers: [] })
    expect(end('denied response')).toMatchObject({ seen: text, answers: ['no'] })
    for (const name of ['changed call', 'removed call', 'changed text'])
      expect(end(name)).toMatchObject({ seen: text, answers: [CHANGED_LATE] })
  })

  it('shows nothing by default before hooks have judged it, and changes take effect', () => {
    const text = ['I ', 'look.']
    const end = (name: string) => played(`hold: all, ${name}`)
    expect(end('allowed')).toEqual({ seen: [...text, ...text], ran: ['a'], answers: [] })
    expect(end('denied response')).toEqual({ seen: [], ran: [], answers: ['no'] })
    expect(end('changed call')).toMatchObject({ ran: ['b'], answers: [] })
    expect(end('removed call')).toEqual({ seen: ['I look.'], ran: [], answers: [] })
    expect(end('changed text')).toEqual({ seen: ['I wait.', ...text], ran: ['a'], answers: [] })
  })

  it('keeps 64 equal calls apart', () => {
    const { seen, ran, answers } = played('64 equal calls')
    const ids = Array.from({ length: 64 }, (_, at) => `c${at}`)
    expect(seen.filter((one) => one.startsWith('PreToolUse'))).toEqual(ids.map((id) => `PreToolUse ${id}`))
    expect(ran).toHaveLength(32)
    expect(answers).toHaveLength(64)
    for (const [at, id] of ids.entries())
      expect(answers).toContainEqual(
        expect.stringMatching(at % 2 ? `^${id}: .*no to ${id}$` : `^${id}: saw a$`),
      )
  })

  it('runs no tool if hooks fail or the session is closed', () => {
    expect(played('hooks that fail')).toMatchObject({
      ran: [],
      answers: [expect.stringContaining('hook crashed')],
    })
    expect(played('a closed session')).toMatchObject({
      ran: [],
      answers: [expect.stringContaining('is closed')],
    })
  })

  it('judges an equal call with the same id anew after an abort, and the aborted one does not run', () => {
    expect(played('an equal call after an abort')).toEqual({
      seen: ['PreToolUse', 'PreToolUse'],
      ran: [],
      answers: [expect.stringContaining('frozen')],
    })
  })

  it('ends hooks when the call is aborted', () => {
    expect(played('an abort inside a hook')).toMatchObject({ seen: ['the hook has ended'], ran: [] })
  })

  it.runIf(yields)('shows all that a tool yields without hooks, and only its judged result with them', () => {
    expect(played('a tool that yields')).toEqual({
      seen: ['PreToolUse c1', 'PostToolUse c1'],
      ran: ['a', 'a'],
      answers: ['looking at a', 'saw a', 'saw a', 'saw a'],
    })
  })
}

for (const version of ['5.0', '5'])
  moreCases({ name: 'ai-sdk', version }, (played) => {
    common(played, { yields: version !== '5.0' })

    it('fails with the question, because nobody can be asked', () => {
      const { ran, answers } = played('two questions at once')
      expect({ ran, answers }).toEqual({ ran: [], answers: ['yes: really?', 'no: really?'] })
    })
  })

const asking = [
  { version: '6.0' },
  { version: '6' },
  { version: '7.0', node: 'node@22' },
  { version: '7', node: 'node@22' },
]
for (const given of asking)
  moreCases({ name: 'ai-sdk', ...given }, (played) => {
    common(played, { yields: true })

    it('takes a yes and a no, each for its call', () => {
      expect(played('two questions at once')).toEqual({
        seen: ['PreToolUse yes', 'PreToolUse no', 'PostToolUse yes'],
        ran: ['a'],
        answers: ['yes: saw a', 'no: execution-denied'],
      })
    })

    it('takes a yes only for the input that was asked about', () => {
      const refused = expect.stringContaining('asked about another input of look')
      expect(played('a yes that comes back with another input')).toEqual({
        seen: ['PreToolUse c1', 'PostToolUse c1'],
        ran: ['a'],
        answers: [refused, refused, 'c1: saw a'],
      })
    })

    it('takes an approval that another process asked for', () => {
      expect(played('another process')).toEqual({
        seen: ['PreToolUse c1', 'PostToolUse c1'],
        ran: ['a'],
        answers: ['c1: saw a'],
      })
    })

    it("takes no yes to the tool's own question from another process for one to a hook's", () => {
      expect(played("another process, the tool's own question")).toMatchObject({
        ran: [],
        answers: [expect.stringContaining('really?')],
      })
    })

    it('says why hooks refuse a call that a person has approved', () => {
      expect(played('another process, where hooks deny')).toMatchObject({
        ran: [],
        answers: [expect.stringContaining('not any more')],
      })
    })

    it('takes an approval for one call only, even if a later one has the same id', () => {
      expect(played('an id that comes again')).toEqual({
        seen: ['PreToolUse c1', 'PostToolUse c1', 'PreToolUse c1', 'PreToolUse c1'],
        ran: ['a'],
        answers: ['c1: saw a', 'c1: execution-denied', 'c1: execution-denied'],
      })
      expect(played('an approved id that comes again while hooks come')).toMatchObject({
        ran: ['a'],
        answers: ['c1: saw a', expect.stringContaining('really?')],
      })
    })

    it('judges an equal call with the same id anew, whether the first was left open or refused', () => {
      const events = ['PreToolUse c1', 'PreToolUse c1', 'PostToolUseFailure c1']
      expect(played('an equal call of the next run')).toEqual({
        seen: [...events, ...events],
        ran: [],
        answers: [expect.stringContaining('frozen'), expect.stringContaining('frozen')],
      })
    })

    it('asks once if a hook and the tool ask, and never about a call that hooks deny', () => {
      const { seen, ran, answers } = played('a hook and the tool both ask')
      expect(seen).toEqual(['PreToolUse yes', 'PreToolUse no', 'PreToolUse denied', 'PostToolUse yes'])
      expect(ran).toEqual(['a'])
      expect(answers).toEqual([
        ...['asked about yes', 'asked about no'],
        expect.stringMatching(/^denied: .*not this$/),
        ...['yes: saw a', 'no: execution-denied'],
      ])
    })

    it('asks by toolApproval too, with the reason where the SDK has one', () => {
      const reason = given.version === '7' ? 'really?' : 'undefined'
      const { ran, answers } = played('a reason for the question')
      const asked = [`hook: ${reason}`, 'tool: undefined', 'question: really?']
      expect({ ran, answers }).toEqual({ ran: ['b'], answers: asked })
    })
  })
