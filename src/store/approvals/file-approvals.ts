// Approvals in files: a folder for each question and its answer, and an index to find it.

import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { type Check, checkOptions, isFlag, isFunction, isText } from '../../core/base/options.js'
import type { MaybePromise } from '../../core/base/promise.js'
import { nearest } from '../../core/base/text.js'
import type { Question } from '../../core/hooks/outcome.js'
import { countPeople, effectOf, isEnough } from '../../core/verdict/approval.js'
import { agentMark } from '../../files/agent-shell.js'
import { callerPid } from '../../files/caller.js'
import { readyForFleet } from '../../files/fleet-files.js'
import { discard, makePrivate } from '../../files/folder.js'
import { dataHome, stateHome } from '../../files/homes.js'
import { checkOwnFolder } from '../../files/plain-file.js'
import { keyPath } from '../../files/seal.js'
import { isInProject } from '../../files/within.js'
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
  type Vote,
  type WaitOptions,
  type Watching,
} from '../approvals.js'
import { type Signers, signersOf } from '../approvers.js'
import { isId, type Listed, projectMark, QuestionIndex, readId } from './question-index.js'
import { Shelf, type ShelfPlace } from './shelf.js'
import { isNewer } from './stored-question.js'
import { UsedIds } from './used-ids.js'
import { beginWatching, isAnybodyWatching, waitForAnswer } from './waiting.js'

export interface FileApprovalsOptions {
  /** For questions and answers; default `stateHome()`. */
  readonly stateDir?: string
  /** For the key that seals them; default `dataHome()`. */
  readonly dataDir?: string
  /** For how many seconds a question can be answered and its answer used. Default an hour, at most a day. */
  readonly openFor?: number
  /**
   * This process may answer the questions that it raises, even if an agent started it. Others do not accept such an
   * answer: `carabiner fire`, and every queue without this option, asks a person about the same call. Default false.
   */
  readonly answersOwnQuestions?: boolean
  /** The list of people who may allow, which only root may change. Default `/etc/carabiner/approvers.json`. */
  readonly approversFile?: string
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Called with messages about forged and damaged files, and old ones that cannot be removed. Default: a process warning. */
  readonly onTrouble?: (text: string) => void
}

export function fileApprovals(options: FileApprovalsOptions = {}): Approvals {
  const queue = new FileApprovals(options)
  return {
    checkOutside: (project) => queue.checkOutside(project),
    raise: (question, where) => queue.ready().then(() => queue.raise(question, where)),
    answer: (id, given) => queue.ready().then(() => queue.answer(id, given)),
    take: (question) => queue.ready().then(() => queue.take(question)),
    wait: (question, how) => queue.wait(question, how),
    open: (of) => queue.open(of),
    waiting: (project) => queue.waiting(project),
    get: (typed) => queue.get(typed),
    watching: () => queue.watching(),
    isWatched: () => queue.isWatched(),
  }
}

const DEFAULT_OPEN = 3600
const LONGEST_OPEN = 24 * 3600
/** Per project, so that one project cannot block another. */
const MOST_OPEN = 1000
/** Small, because somebody is waiting for the question to be raised. */
const MOST_SWEPT = 100

const openFor: Check = [
  (value) => Number.isFinite(value) && (value as number) > 0 && (value as number) <= LONGEST_OPEN,
  `a number of seconds above 0, and at most ${LONGEST_OPEN} (a day)`,
]
const CHECKS = {
  stateDir: isText,
  dataDir: isText,
  openFor,
  answersOwnQuestions: isFlag,
  approversFile: isText,
  now: isFunction,
  onTrouble: isFunction,
}

/**
 * Every method but `wait` is synchronous, unless people sign: signatures are checked in promises. In a fleet, await `ready`
 * before `raise`, `answer` and `take`.
 */
export class FileApprovals implements Approvals {
  readonly #place: ShelfPlace
  readonly #openMs: number
  readonly #answersOwnQuestions: boolean
  readonly #approversFile: string | undefined
  readonly #index: QuestionIndex
  readonly #now: () => number

  constructor(options: FileApprovalsOptions = {}) {
    checkOptions('fileApprovals', options, CHECKS)
    const { onTrouble = (text) => process.emitWarning(text) } = options
    const folder = join(resolve(options.stateDir ?? stateHome()), 'approvals')
    this.#place = { folder, dataDir: resolve(options.dataDir ?? dataHome()), onTrouble }
    this.#openMs = (options.openFor ?? DEFAULT_OPEN) * 1000
    this.#answersOwnQuestions = options.answersOwnQuestions ?? false
    this.#approversFile = options.approversFile
    this.#index = new QuestionIndex(folder)
    this.#now = options.now ?? Date.now
  }

  /** Whoever must sign in a fleet is read from its files. */
  ready(): Promise<void> {
    return readyForFleet(this.#place.dataDir)
  }

  raise(question: Question, { project }: { readonly project: string }): Raised {
    const { folder } = this.#place
    this.checkOutside(project)
    makePrivate(folder)
    checkOwnFolder(folder, { follow: true })
    const shelf = this.#shelf()
    const signers = this.#signers(shelf)
    checkPeople(question, signers)
    const how = signers && {
      needs: signers.asker === undefined ? ('passkey' as const) : ('fleet' as const),
    }
    const open = this.#openLike(question, shelf, this.#index.like(this.#keyOf(question)))
    if (open) {
      // Its process may have been killed before it added the question to the index.
      this.#index.add(listedOf(open))
      return { ...open, ...how, isNew: false }
    }
    this.#checkRoom(resolve(project), shelf)
    const answersOwnQuestions = this.#answersOwnQuestions
    const raising = { project: resolve(project), openMs: this.#openMs, answersOwnQuestions }
    const pending = shelf.add(question, raising)
    const other = this.#enter(pending, shelf)
    if (other) return { ...other, ...how, isNew: false }
    this.#tidy()
    return { ...pending, ...how, isNew: true }
  }

  /** A project that holds the key or the answers could approve its own calls. */
  checkOutside(project: string): void {
    const { folder, dataDir } = this.#place
    const inside = [folder, keyPath(dataDir)].find((path) => isInProject(path, resolve(project)))
    if (inside === undefined) return
    throw new Error(
      `approvals cannot be kept in ${JSON.stringify(inside)}, which lies in the project ${JSON.stringify(project)}: the project could approve its own calls; set CARABINER_HOME to a folder outside it`,
    )
  }

  answer(id: string, given: AnswerGiven): MaybePromise<AnswerResult> {
    const shelf = this.#shelf()
    const pending = isId(readId(id)) ? shelf.pending(readId(id)) : undefined
    if (!pending) return this.#unknown(id)
    const answer = answerTo(pending, given, shelf.moment.now)
    if (!answer) return { status: 'not-offered', options: pending.question.options }
    const effect = effectOf(pending.question, answer.option)
    const signers = effect === 'deny' ? undefined : this.#signers(shelf)
    if (signers)
      return signed(pending, answer, signers, shelf.moment.now).then(
        (one) => this.#addAllow(pending, one, shelf, signers),
        (error) => ({ status: 'not-signed', why: textOf(error) }),
      )
    if (effect !== 'deny' && isForSeveral(pending)) return { status: 'not-signed', why: NOT_HERE }
    checkAnswerer(pending, answer)
    return this.#addAnswer(pending, answer, shelf)
  }

  /** Counts it, if several people must allow. The last one that is needed is the answer. */
  async #addAllow(
    pending: Pending,
    answer: GivenAnswer,
    shelf: Shelf,
    signers: Signers,
  ): Promise<AnswerResult> {
    const { question } = pending
    const isAnswerable = !shelf.isOver(pending) && !shelf.isUsed(pending) && !shelf.answerTo(pending)
    if (!isForSeveral(pending) || !isAnswerable) return this.#addAnswer(pending, answer, shelf)
    const votes = shelf.addVote(pending, answer)
    const valid: Vote[] = []
    for (const { option, by, at, signature } of votes) {
      const vote = { option, by, at, ...(signature && { signature }) }
      const name = await this.#signerOf(pending, vote, signers, shelf.moment.now)
      if (name !== undefined && signature) valid.push({ option, by: name, at, signature })
    }
    const names = valid.map(({ by }) => by)
    if (!isEnough(question, names))
      return { status: 'counted', pending, more: (question.people ?? 1) - countPeople(names) }
    const earlier = valid.filter(({ by }) => by !== answer.by)
    const result = this.#addAnswer(pending, { ...answer, earlier }, shelf)
    // Of two who allow at the same time, one writes the answer, with the allow of the other in it.
    const isIn = result.status === 'too-late' && result.answer.earlier?.some(({ by }) => by === answer.by)
    return isIn ? { status: 'answered', pending, answer: result.answer } : result
  }

  #addAnswer(pending: Pending, answer: GivenAnswer, shelf: Shelf): AnswerResult {
    const earlier = shelf.answerTo(pending)
    if (!earlier && (shelf.isOver(pending) || shelf.isUsed(pending))) return { status: 'expired', pending }
    const first = earlier ?? shelf.addAnswer(pending, answer)
    if (!first) return { status: 'answered', pending, answer }
    return { status: 'too-late', pending, answer: first, used: shelf.isUsed(pending) }
  }

  take(question: Question): MaybePromise<Taken | undefined> {
    const shelf = this.#shelf()
    const signers = this.#signers(shelf)
    if (signers) return this.#takeSigned(question, shelf, signers)
    for (const one of this.#answers(question, shelf)) {
      const isAllow = effectOf(question, one.answer.option) !== 'deny'
      const taken = isAllow && isForSeveral(one.pending) ? undefined : takenFrom(one, shelf)
      if (taken) return taken
    }
    return undefined
  }

  async #takeSigned(question: Question, shelf: Shelf, signers: Signers): Promise<Taken | undefined> {
    for (const one of this.#answers(question, shelf)) {
      const people = await this.#signersOf(one, signers, shelf.moment.now)
      const taken = people ? takenFrom(one, shelf) : undefined
      if (taken && isForSeveral(one.pending) && taken.decision === 'allow')
        return { ...taken, people: people ?? [] }
      if (taken) return taken
    }
    return undefined
  }

  /** Who signed the answer, or nobody for a deny. Undefined if it does not count. */
  async #signersOf(
    { pending, answer }: Answered,
    signers: Signers,
    now: number,
  ): Promise<readonly string[] | undefined> {
    if (effectOf(pending.question, answer.option) === 'deny') return []
    const names: string[] = []
    for (const one of [...(answer.earlier ?? []), answer]) {
      const name = await this.#signerOf(pending, one, signers, now)
      if (name !== undefined) names.push(name)
    }
    return names.length > 0 && isEnough(pending.question, names) ? names : undefined
  }

  /** Undefined if no approver signed it, which is told. */
  async #signerOf(
    pending: Pending,
    answer: Pick<GivenAnswer, 'option' | 'signature'>,
    signers: Signers,
    now: number,
  ): Promise<string | undefined> {
    try {
      return (await signed(pending, { ...answer }, signers, now)).by
    } catch (error) {
      this.#place.onTrouble(`the answer to ${pending.id} does not count: ${textOf(error)}`)
      return undefined
    }
  }

  /** Genuine answers to this question that have not expired. */
  *#answers(question: Question, shelf: Shelf): Generator<Answered> {
    for (const { id } of this.#index.like(this.#keyOf(question))) {
      const pending = shelf.pending(id)
      if (!pending || !this.#isLike(pending, question) || shelf.isOver(pending)) continue
      const answer = shelf.answerTo(pending)
      if (answer && !shelf.isOver({ ...pending, expires: answer.expires })) yield { pending, answer }
    }
  }

  /** Undefined if people allow by typing. */
  #signers(shelf: Shelf): Signers | undefined {
    if (this.#answersOwnQuestions) return undefined
    const { dataDir } = this.#place
    return signersOf({ approversFile: this.#approversFile, dataDir, now: () => shelf.moment.now })
  }

  async wait(question: Question, options: WaitOptions): Promise<Taken | undefined> {
    const entry = this.#index.like(this.#keyOf(question)).at(-1)
    const folder = entry && this.#shelf().folderOf(entry.id)
    // The machine may join a fleet meanwhile.
    const take = async () => {
      await this.ready()
      return options.signal?.aborted ? undefined : this.take(question)
    }
    return waitForAnswer(take, folder, options)
  }

  open({ project, most = Infinity }: Partial<OpenOf> = {}): readonly Pending[] {
    const shelf = this.#shelf()
    const wanted = project === undefined ? undefined : resolve(project)
    const open: Pending[] = []
    for (const one of this.#listed(shelf, wanted)) {
      if (open.length >= most) break
      // Most of them, and nothing has to be read of them.
      if (shelf.isUsed(one)) continue
      const pending = shelf.pending(one.id)
      if (!pending || (wanted !== undefined && pending.project !== wanted)) continue
      if (shelf.isOpen(pending)) open.push(pending)
    }
    return open.sort((a, b) => Date.parse(a.asked) - Date.parse(b.asked))
  }

  waiting(project: string): { readonly here: number; readonly elsewhere: number } {
    const shelf = this.#shelf()
    const count = (all: readonly Listed[]) => all.filter((one) => shelf.isWaiting(one)).length
    const here = count(this.#listed(shelf, resolve(project)))
    return { here, elsewhere: count(this.#listed(shelf)) - here }
  }

  /** Those that may be open, by the index alone; the ones that expire first come first. */
  #listed(shelf: Shelf, project?: string): readonly Listed[] {
    const mark = project === undefined ? undefined : projectMark(project)
    return this.#index
      .all()
      .filter((one) => (mark === undefined || (one.project ?? mark) === mark) && !shelf.isListedOver(one))
      .sort((a, b) => a.expires - b.expires)
  }

  get(typed: string): Found {
    const wanted = readId(typed)
    const ids = isId(wanted) ? [wanted] : this.#idsLike(wanted)
    if (ids.length > 1) return { status: 'ambiguous', ids }
    const shelf = this.#shelf()
    const pending = ids[0] === undefined ? undefined : shelf.pending(ids[0])
    if (!pending) return this.#unknown(typed)
    const answer = shelf.answerTo(pending)
    const found = { pending, ...(answer && { answer }) }
    if (shelf.isUsed(pending)) return { ...found, status: 'used' }
    if (shelf.isOver(pending)) return { ...found, status: 'expired' }
    if (answer) return { ...found, status: 'answered' }
    return { ...found, status: 'open', ...(isForSeveral(pending) && { allowed: shelf.allowers(pending) }) }
  }

  /** Removes questions that expired long ago, and leftovers of killed processes. Returns how many questions it removed. */
  sweep(): number {
    return this.#sweep(Infinity)
  }

  watching(): Watching {
    return beginWatching(this.#watchers)
  }

  isWatched(): boolean {
    return isAnybodyWatching(this.#watchers)
  }

  get #watchers(): string {
    return join(this.#place.folder, 'watchers')
  }

  #shelf(): Shelf {
    return new Shelf(this.#place, this.#now())
  }

  /** Answered questions do not count. They are checked only if there may be too many. */
  #checkRoom(project: string, shelf: Shelf): void {
    const own = this.#listed(shelf, project)
    if (own.length < MOST_OPEN || own.filter((one) => shelf.isWaiting(one)).length < MOST_OPEN) return
    throw new Error(
      `${MOST_OPEN} questions of ${project} are waiting for an answer, and no more are accepted; answer some (carabiner approvals), or deny all of them: carabiner approvals deny --all`,
    )
  }

  /** If another process raised the same question first, removes this one and returns that. */
  #enter(pending: Pending, shelf: Shelf): Pending | undefined {
    const { id, question } = pending
    let other: Pending | undefined
    let isIn = false
    try {
      this.#index.update(this.#keyOf(question), (entries) => {
        other = this.#openLike(question, shelf, entries)
        if (other) return entries
        const left = entries.filter((one) => !shelf.isListedOver(one) && !shelf.isUsed(one))
        return [...left, { ...listedOf(pending), binding: this.#keyOf(question) }]
      })
      isIn = other === undefined
    } finally {
      if (!isIn) discard(shelf.folderOf(id))
    }
    this.#index.add(listedOf(other ?? pending))
    return other
  }

  #openLike(question: Question, shelf: Shelf, entries: readonly Listed[]): Pending | undefined {
    return shelf.openAmong(entries, (pending) => this.#isLike(pending, question))
  }

  /** A question that its own process answers never counts as one that a person answers. */
  #keyOf({ binding }: Question): string {
    return this.#answersOwnQuestions ? `own ${binding}` : binding
  }

  #isLike({ question, answersOwnQuestions }: Pending, other: Question): boolean {
    const isOwn = answersOwnQuestions ?? false
    return isOwn === this.#answersOwnQuestions && isSameQuestion(question, other)
  }

  #idsLike(beginning: string): readonly string[] {
    return this.#index.all().flatMap(({ id }) => (beginning !== '' && id.startsWith(beginning) ? [id] : []))
  }

  #unknown(typed: string): { readonly status: 'unknown'; readonly nearest?: string } {
    const now = this.#now()
    const ids = this.#index.all().flatMap(({ id, expires }) => (expires > now ? [id] : []))
    const meant = nearest(readId(typed), ids)
    return { status: 'unknown', ...(meant !== undefined && { nearest: meant }) }
  }

  /** A failure here is reported, but does not fail the call. */
  #tidy(): void {
    try {
      this.#sweep(MOST_SWEPT)
    } catch (error) {
      this.#place.onTrouble(`old questions could not be removed: ${textOf(error)}`)
    }
  }

  #sweep(most: number): number {
    const { dataDir, onTrouble } = this.#place
    new UsedIds(dataDir).sweep(most)
    return this.#index.sweep(this.#now(), { most, onTrouble, mayGo })
  }
}

/** A question and the answer to it. */
interface Answered {
  readonly pending: Pending
  readonly answer: GivenAnswer
}

/** Undefined if another process used it first. */
function takenFrom({ pending, answer }: Answered, shelf: Shelf): Taken | undefined {
  const effect = effectOf(pending.question, answer.option)
  if (effect === 'deny') return { ...answer, decision: 'deny' }
  if (!shelf.useUp(pending)) return undefined
  const proof = effect === 'always' ? shelf.proofOf(pending) : undefined
  return { ...answer, decision: 'allow', ...(proof !== undefined && { proof }) }
}

function isForSeveral({ question: { people = 1 } }: Pending): boolean {
  return people > 1
}

const NOT_HERE =
  'several different people must allow it, and on this machine one person allows by typing; put them on the list (carabiner approvers), or join a fleet'

/** Throws if the question can never be allowed here. */
function checkPeople({ people = 1 }: Question, signers: Signers | undefined): void {
  if (people <= 1) return
  if (!signers) throw new Error(`this call cannot be allowed here: ${NOT_HERE}`)
  const count = countPeople(signers.approvers.map(({ name }) => name))
  if (count < people)
    throw new Error(
      `this call cannot be allowed here: ${people} different people must allow it, and only ${count} may allow calls on this machine; put more on the list (carabiner approvers, or carabiner fleet people add)`,
    )
}

/** The answer in the name of the person who signed it. Throws if no approver did. */
async function signed<T extends Pick<GivenAnswer, 'option' | 'signature'>>(
  pending: Pending,
  answer: T,
  { approvers, asker }: Signers,
  now: number,
): Promise<T & { readonly by: string }> {
  const { signature, option } = answer
  // Whoever can forge a question could let it be open for years, and use the one allow again and again.
  if (Date.parse(pending.expires) > now + LONGEST_OPEN * 1000)
    throw new Error('the question would be open for longer than a day')
  if (effectOf(pending.question, option) === 'always')
    throw new Error('a passkey allows one call at a time, so nothing can be allowed always on this machine')
  if (!signature)
    throw new Error(
      asker === undefined
        ? 'only a passkey may allow calls on this machine; type carabiner open, and allow it there'
        : 'only the people of the fleet may allow calls on this machine, and they sign what they allow',
    )
  const { challengeOf, signerOf } = await import('./signature.js')
  const challenge = challengeOf(pending, { option, nonce: signature.nonce, asker })
  const { name } = await signerOf(signature, challenge, approvers)
  return { ...answer, by: name }
}

function listedOf({ id, expires, era = 0, project }: Pending): Listed {
  return { id, expires: Date.parse(expires), era, project: projectMark(project) }
}

/** A newer version's question is left to that version. */
function mayGo(folder: string): boolean {
  return !isNewer(folder)
}

/** A deny may come from anywhere. Throws if an agent would allow something in a person's place. */
function checkAnswerer(
  { id, question, raisedBy, answersOwnQuestions }: Pending,
  { option }: GivenAnswer,
): void {
  if (effectOf(question, option) === 'deny') return
  const isOwn = raisedBy.pid === callerPid() && raisedBy.host === hostname()
  if (answersOwnQuestions && isOwn) return
  const mark = agentMark()
  if (mark === undefined) return
  throw new Error(
    `only a person may allow ${id}, but ${mark}; in your own terminal, type: carabiner approvals allow ${id} (a program that answers its own questions must say so when it asks: fileApprovals({ answersOwnQuestions: true }))`,
  )
}
