// Several processes at one queue: one wins, both are told; what is answered there is heard here.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import type { AnswerResult, Raised, Taken } from '../../src/store/approvals.js'
import { madeQuestion } from './made-question.js'
import { ownFolder } from './own-folder.js'
import { answerer, together, withProgram } from './programs.js'

withProgram('answerer')

const ROUNDS = 60
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

function place() {
  const root = ownFolder()
  const places = { stateDir: join(root, 'state'), dataDir: join(root, 'data') }
  return { places, queue: new FileApprovals(places), project: join(root, 'project') }
}

const questions = times(ROUNDS, (i) => madeQuestion({ session: `s${i}` }))

describe('at the same time', () => {
  it('of two answers one counts, and the other is told which', async () => {
    const { places, queue, project } = place()
    const ids = questions.map((question) => queue.raise(question, { project }).id)
    const [ann, ben] = (await together([
      answerer('answer', { ...places, ids, by: 'ann', decision: 'allow' }),
      answerer('answer', { ...places, ids, by: 'ben', decision: 'deny' }),
    ])) as [AnswerResult[], AnswerResult[]]
    for (const [i, question] of questions.entries()) {
      const results = [ann[i], ben[i]] as { status: string; answer: { by: string; option: string } }[]
      expect(results.map(({ status }) => status).sort()).toEqual(['answered', 'too-late'])
      // Both name the same: the one who answered, and what.
      expect(results[0]?.answer).toEqual(results[1]?.answer)
      const winner = results[0]?.status === 'answered' ? 'ann' : 'ben'
      expect(queue.take(question)).toMatchObject({
        by: winner,
        decision: winner === 'ann' ? 'allow' : 'deny',
      })
    }
  })

  it('an allow is taken by one alone', async () => {
    const { places, queue, project } = place()
    for (const question of questions)
      void queue.answer(queue.raise(question, { project }).id, { decision: 'allow', by: 'ann' })
    const taken = (await together(
      times(3, () => answerer('take', { ...places, questions })),
    )) as (Taken | null)[][]
    for (const i of questions.keys()) expect(taken.filter((one) => one[i] !== null)).toHaveLength(1)
  })

  it('the same question is raised once', async () => {
    const { places, queue, project } = place()
    const raised = (await together(
      times(4, () => answerer('raise', { ...places, questions: questions.slice(0, 30), project })),
    )) as Raised[][]
    for (let i = 0; i < 30; i++) {
      expect(new Set(raised.map((one) => one[i]?.id)).size).toBe(1)
      expect(raised.filter((one) => one[i]?.isNew)).toHaveLength(1)
    }
    expect(queue.open()).toHaveLength(30)
  })
})

describe('another process', () => {
  it('hears the answer that is given here', async () => {
    const { places, queue, project } = place()
    const asked = questions.slice(0, 2)
    const ids = asked.map((question) => queue.raise(question, { project }).id)
    const waiting = answerer('wait', { ...places, questions: asked })
    await waiting.next()
    waiting.go()
    void queue.answer(ids[0] ?? '', { decision: 'allow', by: 'ann' })
    void queue.answer(ids[1] ?? '', { decision: 'deny', by: 'ben', reason: 'no' })
    expect(await waiting.next()).toMatchObject([
      { id: ids[0], decision: 'allow', by: 'ann' },
      { id: ids[1], decision: 'deny', by: 'ben', reason: 'no' },
    ])
    expect(queue.take(asked[0] ?? madeQuestion())).toBeUndefined()
  })

  it('that watches counts until it ends, however it ends', async () => {
    const { places, queue } = place()
    expect(queue.isWatched()).toBe(false)
    const watchers = times(2, () => answerer('watch', places))
    expect(await together(watchers)).toEqual(['watching', 'watching'])
    for (const { child } of watchers) {
      expect(queue.isWatched()).toBe(true)
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    }
    expect(queue.isWatched()).toBe(false)
    const own = queue.watching()
    expect(queue.isWatched()).toBe(true)
    await own.end()
    await own.end()
    expect(queue.isWatched()).toBe(false)
  })
})

describe.skipIf(process.platform !== 'linux')('A1: the shell of an agent', () => {
  const env = { CLAUDECODE: '1' }
  /** An agent sets the variable for its shells and not for itself. */
  const below = (shell: string) =>
    `agent="$(mktemp -d)/claude"; printf '#!/bin/sh\\nCLAUDECODE=1 sh -c "$SHELL_OF_AGENT" sh "$@"; rm -rf "\${0%%/*}"\\n' > "$agent"; chmod +x "$agent"; SHELL_OF_AGENT='${shell}' exec env -u CLAUDECODE "$agent" "$@"`

  it.each([
    ['runs our library', {}],
    ['empties the variable first', { through: 'CLAUDECODE= "$@"; true' }],
    ['drops the variable first', { through: 'env -u CLAUDECODE "$@"; true' }],
    ['drops it in its own process, below the agent', { through: below('exec env -u CLAUDECODE "$@"') }],
    ['drops all in its own process, below the agent', { through: below('exec env -i "$@"') }],
    ['drops all variables, two shells down', { through: `env -i /bin/sh -c '"$@"; true' sh "$@"; true` }],
  ])('cannot allow when it %s, and a person still can', async (_, start) => {
    const { places, queue, project } = place()
    const [question = madeQuestion()] = questions
    const { id } = queue.raise(question, { project })
    const told = await together([answerer('slip', { ...places, ids: [id], by: 'ann' }, { env, ...start })])
    expect(told).toEqual([
      expect.stringMatching(
        /only a person may allow .*, but (?:CLAUDECODE says that an agent|process .* is the agent claude)/,
      ),
    ])
    expect(queue.take(question)).toBeUndefined()
    const [result] = (await together([answerer('answer', { ...places, ids: [id], by: 'ann' })])) as [
      AnswerResult[],
    ]
    expect(result).toMatchObject([{ status: 'answered' }])
  })
})

describe('a process that is killed', () => {
  it('while it asks or answers leaves nothing that is stuck', async () => {
    const { places, queue, project } = place()
    const raisers = times(6, () => answerer('raise', { ...places, questions, project }))
    for (const one of raisers) await one.next()
    for (const [i, { child, go }] of raisers.entries()) {
      go()
      setTimeout(() => child.kill('SIGKILL'), 5 + i * 15)
    }
    await Promise.all(raisers.map(({ child }) => new Promise((resolve) => child.once('exit', resolve))))
    const ids = questions.map((question) => queue.raise(question, { project }).id)
    expect(new Set(queue.open().map(({ id }) => id))).toEqual(new Set(ids))
    const answerers = times(4, () => answerer('answer', { ...places, ids, by: 'ann' }))
    for (const one of answerers) await one.next()
    for (const [i, { child, go }] of answerers.entries()) {
      go()
      setTimeout(() => child.kill('SIGKILL'), 5 + i * 15)
    }
    await Promise.all(answerers.map(({ child }) => new Promise((resolve) => child.once('exit', resolve))))
    for (const [i, question] of questions.entries()) {
      const id = ids[i] ?? ''
      expect(['answered', 'too-late']).toContain(
        (await queue.answer(id, { decision: 'allow', by: 'ben' })).status,
      )
      expect(queue.take(question)).toMatchObject({ id, decision: 'allow' })
    }
  })
})
