// Going along a chain, record by record: what follows what, and the first place where it does not.

import { isIntact, type Link, type Mark, markOf, START } from './chain.js'
import type { Entry, PrunedEntry } from './entry.js'
import { HEAD_NAME, type Head } from './head.js'
import { entryOf } from './read.js'
import { segmentName } from './segments.js'
import type { Problem, Verification } from './verify.js'

export interface Place {
  readonly segment: number
  readonly file: string
  readonly line: number
  /** Where the next line begins. */
  readonly end: number
}

const MOST_PROBLEMS = 100
const MOST_NOTES = 100
/** Entries that say something about the log itself. */
const OWN_KIND = /"kind":"(?:recovered|gap|pruned)"/

/** What the next record has to follow. After a line that was none, its hash is not known. */
interface Before {
  readonly seq: number
  readonly hash: string | undefined
  /** The line before was none: it may have been put in, or have been the next record. */
  readonly unsure: boolean
}

export class Chain {
  torn: Verification['torn']
  readonly #expect: Link | undefined
  readonly #head: Head | undefined
  readonly #problems: Problem[] = []
  #problemCount = 0
  readonly #notes: string[] = []
  #records = 0
  #first: (Mark & Place) | undefined
  #last: (Mark & Place) | undefined
  #before: Before = { ...START, unsure: false }
  /** Lines before it that are no records. */
  #beforeFirst = 0
  #segment: number | undefined
  #missingSegment: number | undefined
  #pruned: PrunedEntry | undefined
  #anchored = false
  #headSeen = false

  constructor(expect: Link | undefined, head: Head | undefined) {
    this.#expect = expect
    this.#head = head
  }

  problem(problem: Problem, at: 'end' | 'start' = 'end'): void {
    this.#problemCount++
    if (at === 'start') this.#problems.unshift(problem)
    else this.#problems.push(problem)
    if (this.#problems.length > MOST_PROBLEMS) this.#problems.pop()
  }

  openSegment(number: number): void {
    const next = (this.#segment ?? number - 1) + 1
    if (number > next) this.#missingSegment = next
    this.#segment = number
  }

  add(line: Buffer, place: Place): void {
    const said = markOf(line)
    if (!said) {
      this.#addNoRecord(place)
      return
    }
    this.#records++
    const mark = isIntact(line, said) ? said : this.#changed(said, place)
    if (mark === said) this.#checkOrder(mark, place)
    if (this.#head?.seq === mark.seq) this.#checkHead(this.#head, mark, place)
    if (this.#expect?.seq === mark.seq) this.#checkAnchor(this.#expect, mark, place)
    if (OWN_KIND.test(line.toString('latin1', 0, 512))) this.#hear(line, place)
    this.#first ??= { ...mark, ...place }
    this.#last = { ...mark, ...place }
    this.#before = { seq: mark.seq, hash: mark.hash, unsure: false }
  }

  /** Of a record that was changed only its place can be believed. */
  #changed(said: Mark, place: Place): Mark {
    const seq = this.#first || said.seq === 1 ? this.#before.seq + 1 : said.seq
    this.#report(seq, place, `record ${seq} was changed`)
    return { ...said, seq }
  }

  #addNoRecord(place: Place): void {
    this.#before = { ...this.#before, unsure: true }
    if (!this.#first) this.#beforeFirst++
    if (!this.#first && place.segment > 1) {
      // Older ones were removed: what its number was, nobody knows.
      this.problem({ file: place.file, line: place.line, what: 'this line is no record' })
      return
    }
    const seq = this.#before.seq + 1
    this.#report(seq, place, `what stands where record ${seq} should be is no record`)
  }

  #checkOrder({ seq, prev }: Mark, place: Place): void {
    const { seq: before, hash, unsure } = this.#before
    // Where the log begins is known only when all of it was read.
    if (!this.#first && before === 0 && seq > 1) return
    const missing = this.#missingSegment
    this.#missingSegment = undefined
    // The line before was this one's predecessor, now unreadable.
    if (unsure && seq === before + 2) return
    if (seq !== before + 1) this.#report(...outOfOrder(seq, before, place, missing))
    else if (prev !== hash) {
      const what =
        before === 0
          ? 'record 1 does not begin a log'
          : `record ${before} was replaced, or record ${seq} was: ${seq} follows another one`
      this.#report(before || seq, place, what)
    }
  }

  #checkHead(head: Head, mark: Mark, place: Place): void {
    this.#headSeen = true
    if (head.hash !== mark.hash) {
      const what = `record ${mark.seq} has another hash than ${HEAD_NAME} says: one of them was replaced`
      this.#report(mark.seq, place, what)
    } else if (head.segment !== place.segment || head.size !== place.end) {
      const what = `record ${mark.seq} does not end where ${HEAD_NAME} says: lines were put in, moved or lengthened`
      if (this.#problemCount === 0) this.#report(mark.seq, place, what)
    }
  }

  #checkAnchor({ hash }: Link, mark: Mark, place: Place): void {
    this.#anchored = true
    if (hash !== mark.hash) this.#report(mark.seq, place, `record ${mark.seq} has another hash than expected`)
  }

  /** What the log says of itself. */
  #hear(line: Buffer, place: Place): void {
    const entry = entryOf(line)
    if (entry?.kind === 'pruned') this.#pruned = entry
    if (entry?.kind === 'recovered' && entry.what === 'head') {
      const what = `${HEAD_NAME} was lost before record ${entry.seq} (${entry.why}): records before it may be missing`
      this.#report(entry.seq, place, what)
      return
    }
    const text = entry && noteOf(entry)
    if (text) this.#notes.push(`record ${entry.seq}: ${text}`)
    if (this.#notes.length > MOST_NOTES) this.#notes.shift()
  }

  #report(seq: number, { file, line }: Place, what: string): void {
    this.problem({ seq, file, line, what })
  }

  end(): Verification {
    this.#checkStart()
    this.#checkEnd()
    this.#checkAnchorFound()
    const [first, last] = [linkOf(this.#first), linkOf(this.#last)]
    return {
      ok: this.#problemCount === 0,
      records: this.#records,
      first,
      last,
      problems: this.#problems,
      problemCount: this.#problemCount,
      ...(this.torn && { torn: this.torn }),
      head: this.#head,
      notes: this.#notes,
    }
  }

  /** A log that does not begin with record 1 has to say why. */
  #checkStart(): void {
    const first = this.#first
    if (!first || first.seq <= 1) return
    const pruned = this.#pruned
    if (pruned?.last === first.seq - 1 && pruned.lastHash === first.prev) return
    // Reported already: they are there, but are no records any more.
    const missing = first.seq - 1 - (pruned?.last ?? 0)
    if (missing > 0 && missing <= this.#beforeFirst) return
    // Removing was begun and not ended: what is left goes back further than the log says.
    if (pruned && pruned.last >= first.seq && pruned.first <= first.seq) return
    const which = first.seq === 2 ? 'record 1 is' : `records 1 to ${first.seq - 1} are`
    const what = `${which} missing, and the log does not say that they were removed to save space`
    this.problem({ seq: 1, file: first.file, line: first.line, what }, 'start')
  }

  #checkEnd(): void {
    const head = this.#head
    const seq = this.#last?.seq ?? 0
    if (!head || head.seq === 0 || this.#headSeen || head.seq < (this.#first?.seq ?? 0)) return
    // It was reported where it should have been.
    if (head.seq <= seq) return
    const which = head.seq === seq + 1 ? `record ${head.seq} is` : `records ${seq + 1} to ${head.seq} are`
    const what = `${which} missing: the log ends before ${HEAD_NAME} says`
    this.problem({ seq: seq + 1, file: segmentName(head.segment), line: (this.#last?.line ?? 0) + 1, what })
  }

  #checkAnchorFound(): void {
    const expect = this.#expect
    if (!expect || this.#anchored) return
    const pruned = this.#pruned
    if (pruned?.last === expect.seq && pruned.lastHash === expect.hash) return
    const what =
      expect.seq < (this.#first?.seq ?? 0)
        ? `record ${expect.seq}, which is expected, was removed: expect a newer one`
        : `record ${expect.seq}, which is expected, is missing`
    this.problem({ seq: expect.seq, file: this.#last?.file ?? HEAD_NAME, line: 0, what })
  }
}

function outOfOrder(
  seq: number,
  before: number,
  place: Place,
  missing: number | undefined,
): [seq: number, place: Place, what: string] {
  const expected = before + 1
  if (seq < expected)
    return [seq, place, `record ${seq} stands after record ${before}: it was put in, or moved`]
  const which = seq === expected + 1 ? `record ${expected} is` : `records ${expected} to ${seq - 1} are`
  const where = missing === undefined ? '' : ` with the file ${segmentName(missing)}`
  return [expected, place, `${which} missing${where}, or moved`]
}

function linkOf(mark: Mark | undefined): Link | undefined {
  return mark && { seq: mark.seq, hash: mark.hash }
}

export function noteOf(entry: Entry): string | undefined {
  switch (entry.kind) {
    case 'gap':
      return `${entry.records} records could not be written since ${entry.since} (${entry.why})`
    case 'pruned':
      return `records ${entry.first} to ${entry.last} were removed to save space`
    case 'recovered':
      return `${entry.bytes ?? 'some'} bytes of a record that was not acknowledged were moved to ${entry.file}`
    default:
      return undefined
  }
}
