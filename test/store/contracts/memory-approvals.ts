// Approvals in memory that answer later, as a store on another machine would: proof that every caller awaits.

import { setImmediate as laterTurn } from 'node:timers/promises'
import { nearest } from '../../../src/core/base/text.js'
import type { Question } from '../../../src/core/hooks/outcome.js'
import { effectOf } from '../../../src/core/verdict/approval.js'
import { newId, readId } from '../../../src/store/approvals/question-index.js'
import {
  type AnswerGiven,
  type AnswerResult,
  type Approvals,
  answerTo,
  type Found,
  type GivenAnswer,
  isSameQuestion,
  type OpenOf,
  type Pending,
  type Raised,
  type Taken,
  type WaitOptions,
  type Watching,
} from '../../../src/store/approvals.js'

interface Row {
  readonly pending: Pending
  answer?: GivenAnswer
  used?: boolean
}

const OPEN_MS = 3_600_000

export class MemoryApprovals implements Approvals {
  readonly #rows: Row[] = []
  readonly #now: () => number
  #watchers = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  async checkOutside(): Promise<void> {
    await laterTurn()
  }

  async raise(question: Question, { project }: { readonly project: string }): Promise<Raised> {
    await laterTurn()
    const same = this.#like(question).find((row) => !row.answer)
    if (same) return { ...same.pending, isNew: false }
    const now = this.#now()
    const pending: Pending = {
      id: newId(),
      question,
      project,
      raisedBy: { pid: process.pid, host: 'memory' },
      asked: new Date(now).toISOString(),
      expires: new Date(now + OPEN_MS).toISOString(),
    }
    this.#rows.push({ pending })
    return { ...pending, isNew: true }
  }

  async answer(id: string, given: AnswerGiven): Promise<AnswerResult> {
    await laterTurn()
    const row = this.#rows.find(({ pending }) => pending.id === readId(id))
    if (!row) return this.#unknown(id)
    const { pending } = row
    const answer = answerTo(pending, given, this.#now())
    if (!answer) return { status: 'not-offered', options: pending.question.options }
    if (row.answer) return { status: 'too-late', pending, answer: row.answer, used: row.used === true }
    if (this.#isOver(row)) return { status: 'expired', pending }
    row.answer = answer
    return { status: 'answered', pending, answer }
  }

  async take(question: Question): Promise<Taken | undefined> {
    await laterTurn()
    for (const row of this.#like(question)) {
      if (!row.answer || row.used) continue
      const decision = effectOf(question, row.answer.option) === 'deny' ? 'deny' : 'allow'
      if (decision === 'allow') row.used = true
      return { ...row.answer, decision }
    }
    return undefined
  }

  async wait(question: Question, options: WaitOptions): Promise<Taken | undefined> {
    const { signal, until, isWorthwhile = () => true } = options
    while (!signal?.aborted) {
      const taken = await this.take(question)
      if (taken) return taken
      if (performance.now() >= until || !(await isWorthwhile())) return undefined
    }
    return undefined
  }

  async open({ project, most = Infinity }: Partial<OpenOf> = {}): Promise<readonly Pending[]> {
    await laterTurn()
    return this.#rows
      .filter((row) => !row.answer && !this.#isOver(row))
      .map(({ pending }) => pending)
      .filter((pending) => project === undefined || pending.project === project)
      .slice(0, most)
  }

  async waiting(project: string): Promise<{ readonly here: number; readonly elsewhere: number }> {
    const here = (await this.open({ project })).length
    return { here, elsewhere: (await this.open()).length - here }
  }

  async get(typed: string): Promise<Found> {
    await laterTurn()
    const wanted = readId(typed)
    const rows = this.#rows.filter(({ pending }) => wanted !== '' && pending.id.startsWith(wanted))
    const [row] = rows
    if (rows.length > 1) return { status: 'ambiguous', ids: rows.map(({ pending }) => pending.id) }
    if (!row) return this.#unknown(typed)
    const { pending, answer, used } = row
    const status = used ? 'used' : this.#isOver(row) ? 'expired' : answer ? 'answered' : 'open'
    return { status, pending, ...(answer && { answer }) }
  }

  async watching(): Promise<Watching> {
    await laterTurn()
    this.#watchers++
    let isOver = false
    return {
      end: async () => {
        if (!isOver) this.#watchers--
        isOver = true
      },
    }
  }

  async isWatched(): Promise<boolean> {
    await laterTurn()
    return this.#watchers > 0
  }

  #like(question: Question): readonly Row[] {
    return this.#rows.filter((row) => isSameQuestion(row.pending.question, question) && !this.#isOver(row))
  }

  #isOver({ pending }: Row): boolean {
    return Date.parse(pending.expires) <= this.#now()
  }

  #unknown(typed: string): Extract<Found, { readonly status: 'unknown' }> {
    const ids = this.#rows.filter((row) => !this.#isOver(row)).map(({ pending }) => pending.id)
    const meant = nearest(readId(typed), ids)
    return { status: 'unknown', ...(meant !== undefined && { nearest: meant }) }
  }
}
