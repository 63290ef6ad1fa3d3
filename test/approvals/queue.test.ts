// The queue: what it keeps, who may answer what until when, and what an attacker cannot make of it.

import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../src/core/base/digest.js'
import type { Question } from '../../src/core/hooks/outcome.js'
import { keyPath } from '../../src/files/seal.js'
import { FileApprovals, type FileApprovalsOptions } from '../../src/store/approvals/file-approvals.js'
import { newId, projectMark, QuestionIndex, readId } from '../../src/store/approvals/question-index.js'
import { Shelf } from '../../src/store/approvals/shelf.js'
import type { AnswerGiven } from '../../src/store/approvals.js'
import { isLarge } from '../property/runs.js'
import { madeQuestion } from './made-question.js'
import { ownFolder } from './own-folder.js'

const START = Date.parse('2030-01-01T12:00:00Z')
const HOUR = 3_600_000
const ALLOW = { decision: 'allow', by: 'ann' } as const
const DENY = { decision: 'deny', by: 'ben', reason: 'not today' } as const
const project = '/somewhere/project'

function place(options: FileApprovalsOptions = {}) {
  const root = ownFolder()
  const [stateDir, dataDir] = [join(root, 'state'), join(root, 'data')]
  const clock = { now: START }
  const troubles: string[] = []
  const open = () =>
    new FileApprovals({
      stateDir,
      dataDir,
      now: () => clock.now,
      onTrouble: (text) => troubles.push(text),
      ...options,
    })
  const folder = join(stateDir, 'approvals')
  return { root, stateDir, dataDir, folder, clock, troubles, open, queue: open() }
}

/** A question that was raised and, where it says so, answered. */
function raised(question: Question, given?: AnswerGiven, at = place()) {
  const pending = at.queue.raise(question, { project })
  if (given) expect(at.queue.answer(pending.id, given)).toMatchObject({ status: 'answered' })
  return { ...at, id: pending.id, pending, own: join(at.folder, pending.id) }
}

const question = madeQuestion()

describe('a question', () => {
  it('is for this user alone, and never half there', () => {
    const { own, folder, dataDir } = raised(question)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(own).mode & 0o777).toBe(0o700)
    expect(statSync(join(own, 'question.json')).mode & 0o777).toBe(0o600)
    expect(statSync(keyPath(dataDir)).mode & 0o777).toBe(0o600)
    expect(readdirSync(own)).toEqual(['question.json'])
    expect(readdirSync(folder).sort()).toEqual([own.slice(folder.length + 1), 'asked', 'index'].sort())
  })

  it('has a name that is short, random and forgiving', () => {
    const ids = new Set(Array.from({ length: 1000 }, newId))
    expect(ids.size).toBe(1000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/)
    // Every letter in every place: nothing in it is fixed.
    for (const at of [0, 1, 2, 3, 5, 6, 7, 8]) expect(new Set([...ids].map((id) => id[at])).size).toBe(32)
    expect(readId(' K7F3 9QXD ')).toBe('k7f3-9qxd')
    expect(readId('OIL1-uvuv')).toBe('0111-vvvv')
    expect(readId('k7f')).toBe('k7f')
  })

  it('cannot be kept in the project it is about', () => {
    const { root, queue } = place()
    expect(() => queue.raise(question, { project: root })).toThrow(/could approve its own calls/)
    const { stateDir } = place()
    const split = new FileApprovals({ stateDir, dataDir: join(root, 'p', 'data') })
    expect(() => split.raise(question, { project: join(root, 'p') })).toThrow(/could approve its own calls/)
    expect(existsSync(keyPath(join(root, 'p', 'data')))).toBe(false)
  })

  it('that is too large to be read is refused', () => {
    const { queue, folder } = place()
    const large = madeQuestion({
      call: { tool_name: 'Write', tool_input: { content: 'x'.repeat(5_000_000) } },
    })
    expect(() => queue.raise(large, { project })).toThrow(/too large/)
    expect(readdirSync(folder)).toEqual([])
  })

  it.runIf(isLarge)('beyond a thousand of its project is refused until one is answered, used or over', () => {
    const next = () => madeQuestion({ session: `other ${newId()}` })
    const ends: readonly ((at: ReturnType<typeof full>) => unknown)[] = [
      ({ queue, id }) => queue.answer(id, DENY),
      ({ queue, id }) => [queue.answer(id, ALLOW), queue.take(question)],
      ({ clock }) => {
        clock.now += HOUR
      },
      ({ own }) => rmSync(own, { recursive: true }),
    ]
    for (const end of ends) {
      const at = full()
      const { queue, folder } = at
      const before = readdirSync(folder).length
      expect(() => queue.raise(next(), { project })).toThrow(
        /1000 questions of \/somewhere\/project are waiting .* carabiner approvals deny --all/,
      )
      expect(readdirSync(folder)).toHaveLength(before)
      expect(queue.raise(question, { project }).isNew).toBe(false)
      expect(queue.raise(next(), { project: '/another' }).isNew).toBe(true)
      end(at)
      expect(queue.raise(next(), { project }).isNew).toBe(true)
      vi.restoreAllMocks()
    }
  })

  /** One genuine question, and 999 that are only counted. */
  function full() {
    const at = raised(question)
    const others = Array.from({ length: 999 }, () => ({
      id: newId(),
      expires: START + HOUR,
      era: 0,
      project: projectMark(project),
    }))
    const { all } = QuestionIndex.prototype
    vi.spyOn(QuestionIndex.prototype, 'all').mockImplementation(function (this: QuestionIndex) {
      return [...all.call(this), ...others]
    })
    const { isWaiting } = Shelf.prototype
    vi.spyOn(Shelf.prototype, 'isWaiting').mockImplementation(function (this: Shelf, one) {
      return others.some(({ id }) => id === one.id) || isWaiting.call(this, one)
    })
    return at
  }

  it.each([0, -1, Number.NaN, 86_401, Infinity])('is not open for %s seconds', (openFor) => {
    expect(() => new FileApprovals({ openFor })).toThrow(
      /openFor must be a number of seconds above 0, and at most 86400/,
    )
  })
})

describe('a forger', () => {
  const parsed = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const write = (path: string, value: unknown) => writeFileSync(path, JSON.stringify(value), { mode: 0o600 })
  const FIRST = 'answer-1.json'

  /** It does not count, it is told, and a person can still answer. */
  function expectRefused({ queue, id, troubles }: ReturnType<typeof raised>, why: RegExp, counts = ALLOW.by) {
    expect(queue.take(question)).toBeUndefined()
    expect(troubles.at(-1)).toMatch(why)
    expect(queue.open()).toHaveLength(1)
    expect(queue.answer(id, ALLOW)).toMatchObject({ status: 'answered' })
    expect(queue.take(question)).toMatchObject({ by: counts })
  }

  const used = () => {
    const at = raised(question, ALLOW)
    expect(at.queue.take(question)).toMatchObject({ decision: 'allow' })
    return at
  }

  const genuine = () => {
    const at = raised(question, DENY)
    return { ...at, file: parsed(join(at.own, FIRST)) }
  }

  it.each([
    ['option', 'Allow'],
    ['reason', 'go on'],
    ['by', 'ann'],
    ['at', '2030-01-01T12:00:01.000Z'],
    ['expires', '2031-01-01T12:00:00.000Z'],
    ['id', 'aaaa-aaaa'],
    ['binding', 'b'],
  ])('who changes the %s of an answer', (key, value) => {
    const { file, ...at } = genuine()
    write(join(at.own, FIRST), { ...file, answer: { ...file.answer, [key]: value } })
    expectRefused(at, /its seal is wrong/)
  })

  it.each([
    ['no JSON', '{"answer":', /is not valid JSON/],
    ['nothing', '', /is empty/],
    ['other JSON', '[1]', /is not valid JSON/],
    ['other fields', '{"answer":{},"seal":1}', /not in a Carabiner format/],
    ['too much', `"${'x'.repeat(70_000)}"`, /larger than/],
  ])('who writes %s', (_, content, why) => {
    const at = raised(question)
    writeFileSync(join(at.own, FIRST), content)
    expectRefused(at, why)
  })

  it('who puts the answer to an older question of the same binding there', () => {
    const at = raised(question, ALLOW)
    const copy = readFileSync(join(at.own, FIRST))
    at.queue.take(question)
    const next = at.queue.raise(question, { project })
    writeFileSync(join(at.folder, next.id, FIRST), copy)
    expectRefused({ ...at, id: next.id }, /was given to another question/)
  })

  it('who puts a question there in place of an answer', () => {
    const at = raised(question)
    const { pending, seal } = parsed(join(at.own, 'question.json'))
    write(join(at.own, FIRST), { answer: pending, seal })
    expectRefused(at, /its seal is wrong/)
  })

  it('who links to an answer', () => {
    const { own, ...at } = genuine()
    renameSync(join(own, FIRST), join(at.root, 'answer'))
    symlinkSync(join(at.root, 'answer'), join(own, FIRST))
    expectRefused({ own, ...at }, /is a link/)
  })

  it('who makes a folder of it, or a file that others can write', () => {
    const folder = raised(question)
    mkdirSync(join(folder.own, FIRST))
    expectRefused(folder, /not a regular file/)
    const { file: _, ...at } = genuine()
    chmodSync(join(at.own, FIRST), 0o622)
    expectRefused(at, /is writable by others \(mode 622\)/)
  })

  it.skipIf(process.getuid?.() !== 0)('who is another user (needs root)', () => {
    const { file: _, ...at } = genuine()
    chownSync(join(at.own, FIRST), 65534, 65534)
    expectRefused(at, /belongs to another user \(65534\)/)
    const other = raised(question, ALLOW)
    chownSync(other.own, 65534, 65534)
    expect(other.queue.take(question)).toBeUndefined()
    expect(other.troubles[0]).toMatch(/belongs to another user \(65534\)/)
  })

  it.each([
    [1, 'expired'],
    [2, 'too-late'],
  ])('who slows an answerer down leaves no second answer to a used question (look %d)', (look, status) => {
    const at = raised(question)
    write(join(at.own, FIRST), {})
    const { stateDir, dataDir } = at
    const queue = (onTrouble: () => void) =>
      new FileApprovals({ stateDir, dataDir, now: () => START, onTrouble })
    const quick = queue(() => {})
    let looks = 0
    const slow = queue(() => {
      if (++looks !== look) return
      void quick.answer(at.id, ALLOW)
      void quick.take(question)
    })
    expect(slow.answer(at.id, DENY)).toMatchObject({ status })
    expect(quick.get(at.id)).toMatchObject({ status: 'used', answer: { by: ALLOW.by } })
    expect(readdirSync(at.own).sort()).toEqual([FIRST, 'question.json', 'used'])
  })

  it('who shows another call to the person', () => {
    const at = raised(question)
    const path = join(at.own, 'question.json')
    const file = parsed(path)
    file.pending.question.call.tool_input.command = 'make docs'
    write(path, file)
    expect(at.queue.open()).toEqual([])
    expect(at.queue.get(at.id)).toEqual({ status: 'unknown', nearest: at.id })
    expect(at.queue.answer(at.id, ALLOW)).toMatchObject({ status: 'unknown' })
    expect(at.troubles[0]).toMatch(/was changed since it was asked/)
  })

  it('who makes a used approval new again by moving its folder', () => {
    const at = raised(question, ALLOW)
    linkSync(join(at.own, FIRST), join(at.root, 'copy'))
    at.queue.take(question)
    const next = at.queue.raise(question, { project })
    const file = join(at.folder, next.id, 'question.json')
    rmSync(file)
    linkSync(join(at.own, 'question.json'), file)
    linkSync(join(at.root, 'copy'), join(at.folder, next.id, FIRST))
    expect(at.queue.take(question)).toBeUndefined()
    expect(at.troubles.at(-1)).toMatch(/is in the folder of another/)
  })

  it('who removes or renames any files of a used approval gets no second use', () => {
    const names = readdirSync(used().own)
    for (let chosen = 0; chosen < 2 ** names.length; chosen++) {
      const at = used()
      for (const [i, name] of names.entries()) if (chosen & (2 ** i)) rmSync(join(at.own, name))
      expect(at.queue.take(question)).toBeUndefined()
    }
    for (const from of names)
      for (const to of [FIRST, 'answer-2.json', 'used']) {
        const at = used()
        renameSync(join(at.own, from), join(at.own, to))
        expect(at.queue.take(question)).toBeUndefined()
      }
  })

  it('who puts back the folder of a used approval, or a part of it, gets no second use', () => {
    const parts = [['question.json'], [FIRST], ['question.json', FIRST]]
    for (const part of parts) {
      const at = raised(question, ALLOW)
      const copy = join(at.root, 'copy')
      cpSync(at.own, copy, { recursive: true })
      const asked = join(at.folder, 'asked')
      cpSync(asked, `${copy}-asked`, { recursive: true })
      expect(at.queue.take(question)).toMatchObject({ decision: 'allow' })
      for (const path of [at.own, asked]) rmSync(path, { recursive: true })
      mkdirSync(at.own, { mode: 0o700 })
      cpSync(`${copy}-asked`, asked, { recursive: true })
      for (const name of part) cpSync(join(copy, name), join(at.own, name))
      expect(at.open().take(question)).toBeUndefined()
      if (part.length === 2) expect(at.troubles.at(-1)).toMatch(/was used before/)
      expect(at.queue.answer(at.id, ALLOW)).not.toMatchObject({ status: 'answered' })
      expect(at.queue.raise(question, { project })).toMatchObject({ isNew: true })
      expect(at.queue.take(question)).toBeUndefined()
    }
  })

  it('removing the mark while another process takes the answer still lets only one of them have it', () => {
    const at = raised(question, ALLOW)
    const [one, other] = [at.open(), at.open()]
    const answer = vi.spyOn(Shelf.prototype, 'useUp')
    let taken: unknown
    answer.mockImplementationOnce(function (this: Shelf, pending) {
      taken = other.take(question)
      rmSync(join(at.own, 'used'))
      return this.useUp(pending)
    })
    expect([one.take(question), taken]).toEqual([undefined, expect.objectContaining({ decision: 'allow' })])
    answer.mockRestore()
  })

  it('writing the mark of use ends the question, and it is asked again', () => {
    for (const content of ['', 'x', '{"format":1,"answer":{},"seal":"x"}']) {
      const at = raised(question)
      writeFileSync(join(at.own, 'used'), content)
      expect(at.queue.answer(at.id, ALLOW)).toMatchObject({ status: 'expired' })
      expect(at.queue.raise(question, { project })).toMatchObject({ isNew: true })
    }
  })

  it('who leads the list elsewhere', () => {
    const at = raised(question)
    const other = at.queue.raise(madeQuestion({ session: 'other' }), { project })
    at.queue.answer(other.id, ALLOW)
    const asked = join(at.folder, 'asked', sha256(question.binding))
    const value = [{ id: other.id, binding: question.binding, expires: START + HOUR }]
    write(join(asked, '99.json'), { format: 1, value })
    expect(at.queue.take(question)).toBeUndefined()
    write(join(asked, '100.json'), { format: 1, value: [{ ...value[0], id: '../../x' }] })
    expect(() => at.queue.take(question)).toThrow(/is not an id/)
    writeFileSync(join(at.folder, 'index', `../../../x.${START + HOUR}.0.v1`), '')
    writeFileSync(join(at.folder, 'index', `..-..--...${START + HOUR}.0.v1`), '')
    expect(at.queue.open()).toHaveLength(1)
  })

  it('who floods a question is found out', () => {
    const at = raised(question)
    for (let i = 1; i <= 32; i++) writeFileSync(join(at.own, `answer-${i}.json`), 'x')
    expect(() => at.queue.take(question)).toThrow(/32 answers that no person gave/)
    expect(() => at.queue.answer(at.id, ALLOW)).toThrow(/that no person gave/)
  })
})

describe('the key', () => {
  it.each([0o640, 0o604, 0o660])('that others may know (mode %s) is not used', (mode) => {
    const { queue, dataDir, id } = raised(question, ALLOW)
    chmodSync(keyPath(dataDir), mode)
    const why = /is (?:readable|writable) by others .* remove it/
    expect(() => queue.take(question)).toThrow(why)
    expect(() => queue.answer(id, DENY)).toThrow(why)
    expect(() => queue.raise(madeQuestion({ session: 'x' }), { project })).toThrow(why)
  })

  it('that is a link, or no key, is not used', () => {
    const link = raised(question)
    renameSync(keyPath(link.dataDir), join(link.root, 'key'))
    symlinkSync(join(link.root, 'key'), keyPath(link.dataDir))
    expect(() => link.queue.open()).toThrow(/is a link/)
    const broken = raised(question)
    writeFileSync(keyPath(broken.dataDir), 'secret\n')
    expect(() => broken.queue.open()).toThrow(/is not a key/)
  })

  it('that is new makes what was sealed before worthless', () => {
    const { queue, dataDir, troubles } = raised(question, ALLOW)
    rmSync(keyPath(dataDir))
    expect(queue.take(question)).toBeUndefined()
    expect(troubles[0]).toMatch(/its seal is wrong/)
    expect(lstatSync(keyPath(dataDir)).size).toBe(65)
    expect(queue.raise(question, { project }).isNew).toBe(true)
  })

  it('is not made where nothing is asked', () => {
    const { queue, dataDir, stateDir } = place()
    expect([queue.open(), queue.take(question), queue.isWatched(), queue.sweep()]).toEqual([
      [],
      undefined,
      false,
      0,
    ])
    expect(queue.get('k7f3-9qxd')).toEqual({ status: 'unknown' })
    expect([existsSync(dataDir), existsSync(stateDir)]).toEqual([false, false])
  })
})

describe('a folder', () => {
  it('that others may write is not used', () => {
    const { queue, folder } = place()
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o777)
    expect(() => queue.raise(question, { project })).toThrow(/is writable by others \(mode 777\)/)
  })

  it('that cannot be made is told', () => {
    const { queue, stateDir } = place()
    writeFileSync(stateDir, '')
    expect(() => queue.raise(question, { project })).toThrow(/ENOTDIR/)
  })
})

describe('what is over', () => {
  it('is kept for a day, then goes', () => {
    const { queue, clock, own, id, folder } = raised(question, ALLOW)
    clock.now = START + 25 * HOUR - 1
    expect(queue.sweep()).toBe(0)
    expect(queue.answer(id, DENY)).toMatchObject({ status: 'too-late' })
    clock.now = START + 25 * HOUR
    utimesSync(own, 0, 0)
    expect(queue.sweep()).toBe(1)
    expect(queue.answer(id, DENY)).toEqual({ status: 'unknown' })
    expect(readdirSync(folder)).toEqual(['asked', 'index'])
    expect(readdirSync(join(folder, 'index'))).toEqual([])
  })

  it('leaves no id of a used answer behind', () => {
    const { queue, dataDir, id } = raised(question, ALLOW)
    queue.take(question)
    const used = join(dataDir, 'used-answers')
    queue.sweep()
    expect(readdirSync(used)).toEqual([id])
    utimesSync(join(used, id), 0, 0)
    queue.sweep()
    expect(readdirSync(used)).toEqual([])
  })

  it('goes when others come, with what the killed left behind', () => {
    const { queue, folder } = place()
    const left = [join(folder, '.00ff.new'), join(folder, newId()), join(folder, 'k7f3-9qxd.00ff.gone')]
    for (const path of left) mkdirSync(path, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
    for (const path of left) utimesSync(path, 0, 0)
    const fresh = join(folder, newId())
    mkdirSync(fresh)
    const { id } = queue.raise(question, { project })
    expect(readdirSync(folder).sort()).toEqual([fresh.slice(folder.length + 1), id, 'asked', 'index'].sort())
  })
})

describe('raising a question', () => {
  /** Every file below a folder, with its inode and times: what is written anew has others. */
  function filesIn(folder: string): Map<string, number> {
    const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    const paths = all.map((one) => join(one.parentPath, one.name))
    return new Map(
      paths.map((path) => [
        `${path} ${lstatSync(path).ino} ${lstatSync(path).mtimeMs}`,
        lstatSync(path).size,
      ]),
    )
  }

  /** The sizes of all files that raising one question writes. */
  function written(at: ReturnType<typeof place>, session: string): number[] {
    const before = filesIn(at.root)
    at.queue.raise(madeQuestion({ session }), { project })
    return [...filesIn(at.root)].flatMap(([file, size]) => (before.has(file) ? [] : [size])).sort()
  }

  it.runIf(isLarge)('writes the same few bytes, however many are open', () => {
    const at = place()
    at.queue.raise(madeQuestion({ session: 's000' }), { project })
    const first = written(at, 's001')
    for (let i = 2; i < 100; i++)
      at.queue.raise(madeQuestion({ session: `s${String(i).padStart(3, '0')}` }), { project })
    expect(at.queue.open()).toHaveLength(100)
    const last = written(at, 's100')
    expect(last).toEqual(first)
    expect(last).toHaveLength(3)
    expect(last.reduce((sum, size) => sum + size)).toBeLessThan(2000)
  })

  it('writes the same few bytes, however often the same call was approved before', () => {
    const at = place()
    const again = () => {
      const sizes = written(at, 's1')
      void at.queue.answer(at.queue.open()[0]?.id ?? '', ALLOW)
      expect(at.queue.take(madeQuestion({ session: 's1' }))).toMatchObject({ decision: 'allow' })
      return sizes
    }
    again()
    const first = again()
    for (let i = 0; i < 10; i++) again()
    expect(again()).toEqual(first)
  })

  it('takes over what a killed process began', () => {
    const at = raised(question)
    // Killed before it was in the index: nobody sees it.
    rmSync(join(at.folder, 'index'), { recursive: true })
    expect(at.queue.open()).toEqual([])
    expect(at.queue.get(at.id)).toMatchObject({ status: 'open' })
    expect(at.queue.raise(question, { project })).toMatchObject({ id: at.id, isNew: false })
    expect(at.queue.open()).toMatchObject([{ id: at.id }])
    // Killed before it was entered: it is asked anew, and the old one goes.
    rmSync(join(at.folder, 'asked'), { recursive: true })
    rmSync(join(at.folder, 'index'), { recursive: true })
    const { id, isNew } = at.queue.raise(question, { project })
    expect([isNew, id === at.id]).toEqual([true, false])
    utimesSync(at.own, 0, 0)
    expect(at.queue.sweep()).toBe(1)
    expect(at.queue.open()).toMatchObject([{ id }])
  })

  it('leaves alone what a newer version keeps', () => {
    const at = raised(question)
    const file = join(at.own, 'question.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"format":1', '"format":2'))
    utimesSync(at.own, 0, 0)
    at.clock.now = START + 100 * HOUR
    expect(at.queue.sweep()).toBe(0)
    expect(existsSync(file)).toBe(true)
  })
})

describe('A1: an answer from an agent', () => {
  afterEach(() => void vi.unstubAllEnvs())
  const inAgent = () => void vi.stubEnv('CLAUDECODE', '1')

  it('does not allow, whoever calls the store', () => {
    const { queue, id } = raised(question)
    inAgent()
    for (const given of [ALLOW, { option: 'Allow', by: 'ann' }])
      expect(() => queue.answer(id, given)).toThrow(
        /only a person may allow .*, but CLAUDECODE says that an agent is running this; in your own terminal, type: carabiner approvals allow/,
      )
    expect(queue.open()).toHaveLength(1)
    expect(queue.take(question)).toBeUndefined()
    vi.unstubAllEnvs()
    expect(queue.answer(id, ALLOW)).toMatchObject({ status: 'answered' })
  })

  it('may deny', () => {
    const { queue, id } = raised(question)
    inAgent()
    expect(queue.answer(id, DENY)).toMatchObject({ status: 'answered' })
  })

  it('counts for a question of its own process, if that said so when it asked', () => {
    inAgent()
    const at = place({ answersOwnQuestions: true })
    const { id } = at.queue.raise(question, { project })
    expect(at.queue.answer(id, ALLOW)).toMatchObject({ status: 'answered' })
    expect(at.queue.take(question)).toMatchObject({ decision: 'allow' })
  })

  it('to a question of its own is never taken for a person’s', () => {
    inAgent()
    const at = place({ answersOwnQuestions: true })
    const own = at.queue.raise(question, { project })
    void at.queue.answer(own.id, ALLOW)
    const { stateDir, dataDir } = at
    const persons = new FileApprovals({ stateDir, dataDir, now: () => START })
    expect(persons.take(question)).toBeUndefined()
    const raised = persons.raise(question, { project })
    expect(raised).toMatchObject({ isNew: true, id: expect.not.stringMatching(own.id) })
    // The option of the answerer changes nothing: the question says who may answer it.
    expect(() => at.queue.answer(raised.id, ALLOW)).toThrow(/only a person may allow/)
    expect(persons.take(question)).toBeUndefined()
    // Nor does moving the entry of the one to the other.
    const asked = join(at.folder, 'asked')
    const entries = JSON.parse(readFileSync(join(asked, sha256(`own ${question.binding}`), '1.json'), 'utf8'))
    writeFileSync(join(asked, sha256(question.binding), '99.json'), JSON.stringify(entries))
    expect(persons.take(question)).toBeUndefined()
  })

  it('to a question that another process asked of itself does not count', () => {
    inAgent()
    const at = place({ answersOwnQuestions: true })
    const { id } = at.queue.raise(question, { project })
    const pid = vi.spyOn(process, 'pid', 'get').mockReturnValue(1)
    expect(() => at.queue.answer(id, ALLOW)).toThrow(/only a person may allow/)
    pid.mockRestore()
  })
})

describe('A6: a clock that is set back', () => {
  it('does not bring back what has expired', () => {
    const { queue, clock, id } = raised(question, ALLOW)
    clock.now = START + HOUR
    expect(queue.take(question)).toBeUndefined()
    clock.now = START + 1
    expect(queue.take(question)).toBeUndefined()
    expect(queue.get(id)).toMatchObject({ status: 'expired' })
    expect(queue.raise(question, { project })).toMatchObject({ isNew: true })
  })

  it('ends the open question, however often it happens, and later questions work as usual', () => {
    const at = raised(question)
    const ids = new Set([at.id])
    for (const back of [HOUR, 2 * HOUR, 3 * HOUR]) {
      at.clock.now = START - back
      expect(at.queue.open()).toEqual([])
      expect(at.queue.answer(at.id, ALLOW)).toMatchObject({ status: 'expired' })
      const next = at.queue.raise(question, { project })
      ids.add(next.id)
      expect(at.queue.open()).toMatchObject([{ id: next.id }])
      at.clock.now += HOUR - 1
      expect(at.queue.answer(next.id, ALLOW)).toMatchObject({ status: 'answered' })
      expect(at.queue.take(question)).toMatchObject({ id: next.id })
      at.clock.now = START
      expect(at.queue.open()).toEqual([])
    }
    expect(ids.size).toBe(4)
  })

  it('by a little only stops for that long', () => {
    const { queue, clock } = raised(question, ALLOW)
    clock.now = START + HOUR
    expect(queue.take(question)).toBeUndefined()
    clock.now = START + HOUR - 30_000
    expect(queue.take(question)).toBeUndefined()
  })

  it('after a jump ahead does not make questions short', () => {
    const at = raised(question)
    at.clock.now = START + 1000 * 24 * HOUR
    at.queue.open()
    at.clock.now = START + 1
    const next = at.queue.raise(question, { project })
    expect(next.isNew).toBe(true)
    at.clock.now = START + HOUR
    expect(at.queue.answer(next.id, ALLOW)).toMatchObject({ status: 'answered' })
  })
})
