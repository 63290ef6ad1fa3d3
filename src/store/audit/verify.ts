// Verifies a log in files: every byte of every record, in order, from the beginning to the end that its head names.

import { closeSync, existsSync, readdirSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { namesIn } from '../../files/folder.js'
import { ifThere } from '../../files/if-there.js'
import type { Entry, Link, Problem, PrunedEntry, Verification, VerifyOptions } from '../audit-log.js'
import { isIntact, type Mark, markOf, START } from './chain.js'
import { HEAD_NAME, type Head, problemOf, type ReadEnd, readEnd, readHead, usable } from './head.js'
import { notesAmong } from './notes.js'
import { entryOf } from './read.js'
import {
  linesFrom,
  NotPlain,
  openPlain,
  segmentName,
  segmentPath,
  segmentsIn,
  strangersAmong,
} from './segments.js'
import { unwitnessedText, witnessPath, witnessProblem } from './witness.js'

/*
 * This cannot prove everything: anybody who can write to the folder and the witness can write a whole new chain with its
 * head and witness, or cut off the end and reset both. `expect` guards against that with a number and a hash that were
 * noted elsewhere.
 */

const MOST_TRIES = 5

/** The end of the log as noted in its folder and outside it. */
interface Ends {
  readonly head: ReadEnd
  readonly witness: ReadEnd
}

/** Reads in little memory while others write. */
export function verify(folder: string, options: VerifyOptions = {}): Verification {
  const work = verifying(folder, options)
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value
}

/** The same in small steps, so that the process can do something else in between. */
export function* verifying(folder: string, options: VerifyOptions = {}): Generator<void, Verification> {
  const { mostBytes = Infinity } = options
  for (let tries = 1; ; tries++) {
    // Read the witness before the head, so that the head is at least as far as the witness, and the log as far as the head.
    const witness = readEnd(witnessPath(folder))
    const ends = { witness, head: readHead(folder) }
    const numbers = segmentsIn(folder)
    const newest = numbers.at(-1)
    const steps = new Steps(options, sizeOf(folder, numbers))
    if (newest !== undefined && steps.bytes > mostBytes)
      return yield* verifyNewest(folder, newest, ends, new Steps(options, sizeOf(folder, [newest])))
    const isRemoved = numbers.length === 0 && ends.head === undefined
    const chain = new Chain(options.expect, usable(ends.head), isRemoved ? undefined : usable(witness))
    let isGone = false
    for (const number of numbers) {
      isGone = !(yield* checkSegment(folder, number, number === newest, chain, steps))
      if (isGone) break
    }
    // The oldest segment may be removed while we read it.
    if (isGone && tries < MOST_TRIES) continue
    for (const problem of [...endProblems(folder, numbers.length, ends), ...strangers(folder)])
      chain.problem(problem)
    const found = chain.end()
    const missed = unwitnessed(folder, ends)
    const notes = [...found.notes, ...waiting(folder), ...(missed === undefined ? [] : [missed])]
    return { ...found, notes, ...(missed !== undefined && { unwitnessed: missed }) }
  }
}

/** So many lines are one step: about a millisecond. */
const STEP_LINES = 200

/** Counts what was read, and tells it. */
class Steps {
  readonly bytes: number
  readonly #options: VerifyOptions
  #lines = 0
  #done = 0

  constructor(options: VerifyOptions, bytes: number) {
    this.#options = options
    this.bytes = bytes
  }

  /** True at the end of a step. */
  add(length: number): boolean {
    const { onLine, onProgress } = this.#options
    onLine?.()
    this.#done += length
    if (++this.#lines % STEP_LINES > 0) return false
    // Others write meanwhile.
    onProgress?.(Math.min(1, this.#done / this.bytes))
    return true
  }
}

/** Problems with the notes about the end. */
function endProblems(folder: string, segments: number, { head, witness }: Ends): readonly Problem[] {
  const seen = usable(witness)
  if (segments === 0 && head === undefined) {
    const what = seen
      ? `the log was removed: it had ${seen.seq === 1 ? '1 record' : `${seen.seq} records`}, according to its witness ${witnessPath(folder)}; to start a new log, remove that file, too`
      : 'there is no log here: nothing has been written yet, or all of it was removed'
    return [{ file: folder, line: 0, what }]
  }
  const cannotTell = 'the newest records may be missing unnoticed'
  const known = usable(head)
  if (!known) {
    const why = head === undefined ? 'it is missing' : problemOf(head)
    return [{ file: HEAD_NAME, line: 0, what: `${why}: ${cannotTell}` }]
  }
  if (known.witness && !seen) {
    const why = witness === undefined ? 'is missing' : `cannot be used (${problemOf(witness)})`
    const what = `its witness ${why}: ${cannotTell}; the next event creates it again`
    return [{ file: witnessPath(folder), line: 0, what }]
  }
  if (!seen || known.seq >= seen.seq) return []
  const what = `it was set back to record ${known.seq}: its witness says ${seen.seq}`
  return [{ file: HEAD_NAME, line: 0, what }]
}

function strangers(folder: string): readonly Problem[] {
  const what = 'this file is not part of the log: somebody added it; move it away'
  return strangersAmong(namesIn(folder)).map((file) => ({ file, line: 0, what }))
}

/** A witness that cannot be written does not stop the log, but less is proven without it. */
function unwitnessed(folder: string, { head }: Ends): string | undefined {
  if (usable(head)?.witness !== false) return undefined
  const path = witnessPath(folder)
  return unwitnessedText(path, witnessProblem(path))
}

/** Notes that the next writer will add to the log. */
function waiting(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return notesAmong(folder, readdirSync(folder)).flatMap(({ entry }) => noteOf(entry) ?? [])
}

/** False if the segment is gone. */
function checkSegment(
  folder: string,
  number: number,
  isLast: boolean,
  chain: Chain,
  steps: Steps,
): Generator<void, boolean> {
  const file = segmentName(number)
  return plainly(segmentPath(folder, number), chain, function* (fd) {
    chain.openSegment(number)
    let line = 0
    for (const { bytes, end, whole, offset } of linesFrom(fd)) {
      line++
      if (whole || !isLast) chain.add(bytes, { segment: number, file, line, end })
      else chain.torn = { file, bytes: end - offset }
      if (steps.add(end - offset)) yield
    }
    chain.closeSegment(file, line)
  })
}

/** False if there is no such file. Reports anything but a regular file as a problem with the log: its records may be anywhere. */
function* plainly(
  path: string,
  found: { problem(problem: Problem): void },
  use: (fd: number) => Generator<void, void>,
): Generator<void, boolean> {
  let file: ReturnType<typeof openPlain>
  try {
    file = openPlain(path)
  } catch (error) {
    if (!(error instanceof NotPlain)) throw error
    const what = `this file is not part of the log: ${error.message}`
    found.problem({ file: basename(path), line: 0, what })
    return true
  }
  if (!file) return false
  try {
    yield* use(file.fd)
  } finally {
    closeSync(file.fd)
  }
  return true
}

function sizeOf(folder: string, numbers: readonly number[]): number {
  const sizes = numbers.map((number) => ifThere(() => statSync(segmentPath(folder, number)))?.size)
  return sizes.reduce<number>((sum, size = 0) => sum + size, 0)
}

/** Checks that the lines of one segment are intact and follow each other, and that the head names one of them. */
function* verifyNewest(
  folder: string,
  number: number,
  ends: Ends,
  steps: Steps,
): Generator<void, Verification> {
  const file = segmentName(number)
  const head = usable(ends.head)
  const problems: Problem[] = [...endProblems(folder, 1, ends), ...strangers(folder)]
  const marks: Mark[] = []
  let isHeadSeen = head === undefined || head.segment !== number
  let records = 0
  let line = 0
  const problem = (line: number, what: string) => void problems.push({ file, line, what })
  yield* plainly(segmentPath(folder, number), { problem: (one) => void problems.push(one) }, function* (fd) {
    for (const { bytes, whole, offset, end } of linesFrom(fd)) {
      line++
      if (steps.add(end - offset)) yield
      if (!whole) continue
      const mark = markOf(bytes)
      const before = marks.at(-1)
      if (!mark || !isIntact(bytes, mark)) return problem(line, 'this line was changed, or is not a record')
      if (before !== undefined && mark.prev !== before.hash)
        return problem(line, `record ${mark.seq} does not follow the one before it`)
      records++
      marks[Math.min(marks.length, 1)] = mark
      if (head?.hash === mark.hash) isHeadSeen = true
    }
    if (!isHeadSeen) problem(line, `${file} ends before ${HEAD_NAME} says: the newest records are missing`)
  })
  const [first, last] = [linkOf(marks[0]), linkOf(marks.at(-1))]
  const problemCount = problems.length
  const missed = unwitnessed(folder, ends)
  const more = missed === undefined ? {} : { unwitnessed: missed }
  return { ok: problemCount === 0, records, first, last, problems, problemCount, head, notes: [], ...more }
}

// ---- along the chain -------------------------------------------------------------------------------------------

interface Place {
  readonly segment: number
  readonly file: string
  readonly line: number
  /** The offset of the next line. */
  readonly end: number
}

const MOST_PROBLEMS = 100
const MOST_NOTES = 100
/** Entries about the log itself. */
const OWN_KIND = /"kind":"(?:recovered|gap|pruned)"/

/** The record that the next one has to follow. Its hash is unknown after a line that is not a record. */
interface Before {
  readonly seq: number
  readonly hash: string | undefined
  /** True if the previous line is not a record. It may have been inserted, or it was the next record. */
  readonly unsure: boolean
}

class Chain {
  torn: Verification['torn']
  readonly #expect: Link | undefined
  readonly #head: Head | undefined
  readonly #witness: Head | undefined
  readonly #problems: Problem[] = []
  #problemCount = 0
  readonly #notes: string[] = []
  #records = 0
  #first: (Mark & Place) | undefined
  #last: (Mark & Place) | undefined
  #before: Before = { ...START, unsure: false }
  /** Lines before the first record that are not records. */
  #beforeFirst = 0
  #segment: number | undefined
  #missingSegment: number | undefined
  #pruned: PrunedEntry | undefined
  #anchored = false
  #headSeen = false
  #empty: string | undefined

  constructor(expect: Link | undefined, head: Head | undefined, witness: Head | undefined) {
    this.#expect = expect
    this.#head = head
    this.#witness = witness
  }

  problem(problem: Problem, at: 'end' | 'start' = 'end'): void {
    this.#problemCount++
    if (at === 'start') this.#problems.unshift(problem)
    else this.#problems.push(problem)
    if (this.#problems.length > MOST_PROBLEMS) this.#problems.pop()
  }

  openSegment(number: number): void {
    const next = (this.#segment ?? number - 1) + 1
    this.#missingSegment = number > next ? next : undefined
    this.#segment = number
  }

  /** A writer never leaves an empty file, unless the very first record was not finished. */
  closeSegment(file: string, lines: number): void {
    if (lines === 0 && !(this.#segment === 1 && this.#head?.seq === 0)) this.#empty = file
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
    if (this.#witness?.seq === mark.seq) this.#checkWitness(this.#witness, mark, place)
    if (this.#expect?.seq === mark.seq) this.#checkAnchor(this.#expect, mark, place)
    if (OWN_KIND.test(line.toString('latin1', 0, 512))) this.#hear(line, place)
    this.#first ??= { ...mark, ...place }
    this.#last = { ...mark, ...place }
    this.#before = { seq: mark.seq, hash: mark.hash, unsure: false }
  }

  /** A changed record can be trusted only for its position. */
  #changed(said: Mark, place: Place): Mark {
    const seq = this.#first || said.seq === 1 ? this.#before.seq + 1 : said.seq
    this.#report(seq, place, `record ${seq} was changed`)
    return { ...said, seq }
  }

  #addNoRecord(place: Place): void {
    this.#before = { ...this.#before, unsure: true }
    if (!this.#first) this.#beforeFirst++
    if (!this.#first && place.segment > 1) {
      // Older segments were removed, so its number is unknown.
      this.problem({ file: place.file, line: place.line, what: 'this line is not a record' })
      return
    }
    const seq = this.#before.seq + 1
    this.#report(seq, place, `the line in place of record ${seq} is not a record`)
  }

  #checkOrder({ seq, prev }: Mark, place: Place): void {
    const { seq: before, hash, unsure } = this.#before
    // The beginning of the log is known only after all of it has been read.
    if (!this.#first && before === 0 && seq > 1) return
    const missing = this.#missingSegment
    this.#missingSegment = undefined
    // The unreadable line before is this record's predecessor.
    if (unsure && seq === before + 2) return
    if (seq !== before + 1) this.#report(...outOfOrder(seq, before, place, missing))
    else if (missing !== undefined) {
      const what = `the file ${segmentName(missing)} before it is missing or was renamed`
      this.problem({ file: place.file, line: 0, what })
    } else if (prev !== hash) {
      const what =
        before === 0
          ? 'record 1 does not begin a log'
          : `record ${before} or record ${seq} was replaced: ${seq} follows a different record`
      this.#report(before || seq, place, what)
    }
  }

  #checkHead(head: Head, mark: Mark, place: Place): void {
    this.#headSeen = true
    if (head.hash !== mark.hash) {
      const what = `record ${mark.seq} has a different hash from the one in ${HEAD_NAME}: one of them was replaced`
      this.#report(mark.seq, place, what)
    } else if (head.segment !== place.segment || head.size !== place.end) {
      const what = `record ${mark.seq} does not end where ${HEAD_NAME} says: lines were inserted, moved or lengthened`
      if (this.#problemCount === 0) this.#report(mark.seq, place, what)
    }
  }

  #checkWitness({ hash }: Head, mark: Mark, place: Place): void {
    if (hash === mark.hash || this.#problemCount > 0) return
    this.#report(
      mark.seq,
      place,
      `record ${mark.seq} has a different hash from the one in its witness: the log was replaced`,
    )
  }

  #checkAnchor({ hash }: Link, mark: Mark, place: Place): void {
    this.#anchored = true
    if (hash !== mark.hash)
      this.#report(mark.seq, place, `record ${mark.seq} has a different hash from the expected one`)
  }

  /** Collects the log's entries about itself. */
  #hear(line: Buffer, place: Place): void {
    const entry = entryOf(line)
    if (entry?.kind === 'pruned') this.#pruned = entry
    if (entry?.kind === 'recovered' && (entry.what === 'head' || entry.what === 'segment')) {
      const what =
        entry.what === 'segment'
          ? `before record ${entry.seq}, ${entry.why}: somebody added it`
          : `${HEAD_NAME} was lost before record ${entry.seq} (${entry.why}): records before it may be missing`
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
    if (this.#empty !== undefined && this.#problemCount === 0)
      this.problem({ file: this.#empty, line: 0, what: 'this file is empty: somebody added or emptied it' })
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

  /** A log that does not begin with record 1 must say why. */
  #checkStart(): void {
    const first = this.#first
    if (!first || first.seq <= 1) return
    const pruned = this.#pruned
    if (pruned?.last === first.seq - 1 && pruned.lastHash === first.prev) return
    // Already reported: the lines are there, but they are no longer records.
    const missing = first.seq - 1 - (pruned?.last ?? 0)
    if (missing > 0 && missing <= this.#beforeFirst) return
    // The removal was interrupted, so the log still goes back further than its entry says.
    if (pruned && pruned.last >= first.seq && pruned.first <= first.seq) return
    const which = first.seq === 2 ? 'record 1 is' : `records 1 to ${first.seq - 1} are`
    const what = `${which} missing, and the log has no entry that they were removed to save space`
    this.problem({ seq: 1, file: first.file, line: first.line, what }, 'start')
  }

  #checkEnd(): void {
    const seq = this.#last?.seq ?? 0
    const witness = this.#witness
    if (witness && witness.seq > seq && witness.seq > (this.#head?.seq ?? 0)) {
      this.#missingUpTo(witness, 'its witness')
      return
    }
    const head = this.#head
    if (!head || head.seq === 0 || this.#headSeen || head.seq < (this.#first?.seq ?? 0)) return
    // Already reported where it should have been.
    if (head.seq > seq) this.#missingUpTo(head, HEAD_NAME)
  }

  #missingUpTo(head: Head, by: string): void {
    const seq = this.#last?.seq ?? 0
    const which = head.seq === seq + 1 ? `record ${head.seq} is` : `records ${seq + 1} to ${head.seq} are`
    const what = `${which} missing: the log ends before ${by} says`
    this.problem({ seq: seq + 1, file: segmentName(head.segment), line: (this.#last?.line ?? 0) + 1, what })
  }

  #checkAnchorFound(): void {
    const expect = this.#expect
    if (!expect || this.#anchored) return
    const pruned = this.#pruned
    if (pruned?.last === expect.seq && pruned.lastHash === expect.hash) return
    const what =
      expect.seq < (this.#first?.seq ?? 0)
        ? `the expected record ${expect.seq} was removed: expect a newer one`
        : `the expected record ${expect.seq} is missing`
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
  if (seq < expected) return [seq, place, `record ${seq} follows record ${before}: it was inserted or moved`]
  const which = seq === expected + 1 ? `record ${expected} is` : `records ${expected} to ${seq - 1} are`
  const where = missing === undefined ? '' : ` with the file ${segmentName(missing)}`
  return [expected, place, `${which} missing${where}, or moved`]
}

function linkOf(mark: Mark | undefined): Link | undefined {
  return mark && { seq: mark.seq, hash: mark.hash }
}

function noteOf(entry: Entry): string | undefined {
  switch (entry.kind) {
    case 'gap':
      return `${entry.records} records could not be written since ${entry.since} (${entry.why})`
    case 'pruned':
      return `records ${entry.first} to ${entry.last} were removed to save space`
    case 'recovered':
      if (entry.what === 'witness')
        return `its witness was missing before it (${entry.why}): records may have been missing by then`
      return `${entry.bytes ?? 'some'} bytes of a record that was not acknowledged were moved to ${entry.file}`
    default:
      return undefined
  }
}
