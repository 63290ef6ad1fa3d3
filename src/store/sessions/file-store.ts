// Sessions in files, for programs that handle one event per process: several at once, killed at any moment, with any id.

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import type { Data } from '../../core/base/json.js'
import { checkOptions, isFlag, isFunction, isList, isText } from '../../core/base/options.js'
import { NO_COUNTS, type StoredCounts } from '../../core/hooks/count.js'
import { FRESH_STATE, type SessionState } from '../../core/session/session-store.js'
import type { Grant } from '../../core/verdict/approval.js'
import { agentMark } from '../../files/agent-shell.js'
import { discard, makePrivate } from '../../files/folder.js'
import { dataHome, stateHome } from '../../files/homes.js'
import { keepText } from '../../files/kept-texts.js'
import { isOver, momentIn } from '../../files/moment.js'
import { Seal } from '../../files/seal.js'
import { VersionedFile } from '../../files/versioned-file.js'
import { isInProject } from '../../files/within.js'
import { isSignatureNeeded } from '../approvers.js'
import type { Sessions } from '../sessions.js'
import { type StoredGrant, storedGrants, storedState } from './stored-state.js'
import { sweep } from './sweep.js'

export interface FileStoreOptions {
  /** Each project has its own sessions and grants. */
  readonly projectDir: string
  /** Folders around the project. A session that began in one of them continues there, because the project may change. */
  readonly around?: readonly string[]
  /** For sessions, which may be lost; default `stateHome()`. */
  readonly stateDir?: string
  /** For grants, which are the user's decisions; default `dataHome()`. */
  readonly dataDir?: string
  /**
   * Grants from this process count even if an agent started it, but only for stores with the same option. For
   * `carabiner fire` and all other stores, they do not exist. Default false.
   */
  readonly answersOwnQuestions?: boolean
  /** While this list of approvers exists, no grant counts. Default `/etc/carabiner/approvers.json`. */
  readonly approversFile?: string
  /** Called with messages about old sessions that cannot be removed, and grants that no person gave. Default: a process warning. */
  readonly onTrouble?: (text: string) => void
  /** Runs the removal of old sessions, which nobody waits for. Default: `inItsTurn`. */
  readonly later?: (work: () => void) => void
}

const CHECKS = {
  projectDir: isText,
  around: isList,
  stateDir: isText,
  dataDir: isText,
  answersOwnQuestions: isFlag,
  approversFile: isText,
  onTrouble: isFunction,
  later: isFunction,
}

/** One new session in this many removes old ones, so that a session pays little for others. */
const SESSIONS_PER_SWEEP = 32

/** Runs the work later, if it is its turn. Turns are random: most processes see a single session. */
export function inItsTurn(work: () => void, run: (work: () => void) => void = setImmediate): void {
  if (Math.random() * SESSIONS_PER_SWEEP < 1) run(work)
}

const NO_GRANTS: readonly StoredGrant[] = []

/** Reserved names in a session's folder, beside the versions and drafts of its state. */
const AGENTS = 'agents'
const KEPT = 'kept'

const MARK = '{"format":1}\n'

/** Folders of marks. */
const SKILLED = 'skilled-sessions'
const COUNTED = 'counted-sessions'
type MarkFolder = typeof SKILLED | typeof COUNTED

/** Session state and grants must not come with a repository. */
function checkOutside(projectDir: string, folders: readonly string[]): void {
  const inside = folders.find((folder) => isInProject(folder, projectDir))
  if (inside === undefined) return
  throw new Error(
    `sessions and grants cannot be kept in ${JSON.stringify(inside)}, which lies in the project ${JSON.stringify(projectDir)}: the project could make its own decisions; set CARABINER_HOME to a folder outside it (CARABINER_HOME, XDG_STATE_HOME, XDG_DATA_HOME and HOME decide where it is)`,
  )
}

/** Every method is synchronous. Errors say what happened, where, and what to do. */
export class FileStore implements Sessions {
  readonly #sessions: string
  readonly #project: string
  /** This project's folder and those of others, where a session may have begun. */
  readonly #projects: readonly string[]
  readonly #projectDir: string
  readonly #grants: VersionedFile<readonly StoredGrant[]>
  readonly #dataDir: string
  #key: Seal | undefined
  readonly #answersOwnQuestions: boolean
  readonly #approversFile: string | undefined
  readonly #onTrouble: (text: string) => void
  readonly #later: (work: () => void) => void

  constructor(options: FileStoreOptions) {
    checkOptions('FileStore', { ...options, projectDir: options?.projectDir ?? null }, CHECKS)
    const { projectDir, stateDir = stateHome(), dataDir = dataHome() } = options
    checkOutside(resolve(projectDir), [resolve(stateDir), resolve(dataDir)])
    const project = folderName(resolve(projectDir))
    this.#projectDir = resolve(projectDir)
    this.#sessions = join(resolve(stateDir), 'sessions')
    this.#project = join(this.#sessions, project)
    const others = (options.around ?? []).map((folder) => folderName(resolve(folder)))
    this.#projects = [...new Set([project, ...others])].map((name) => join(this.#sessions, name))
    this.#grants = new VersionedFile({
      folder: join(resolve(dataDir), 'grants', project),
      what: 'the list of grants',
      fresh: NO_GRANTS,
      check: storedGrants,
      durable: true,
    })
    this.#dataDir = resolve(dataDir)
    this.#answersOwnQuestions = options.answersOwnQuestions ?? false
    this.#approversFile = options.approversFile
    this.#onTrouble = options.onTrouble ?? ((text) => process.emitWarning(text))
    this.#later = options.later ?? inItsTurn
  }

  /** The session's own folder. It is removed when the session is released, or by a sweep after a week without changes. */
  folderOf(session: string, make = false): string {
    const folders = this.#foldersOf(session)
    const folder = folders.find((one) => existsSync(one)) ?? (folders[0] as string)
    if (make && this.#make(session, folder)) this.#later(() => this.#sweep(session))
    return folder
  }

  /** In this project, and in others where it may have begun. */
  #foldersOf(session: string): readonly string[] {
    const name = folderName(sessionOf(session))
    return this.#projects.map((project) => `${project}${sep}${name}`)
  }

  /** A state that exists but cannot be read says so in `lost`, so that its content is not simply forgotten. */
  load(session: string): SessionState {
    try {
      return this.#whole(session, this.#stateOf(session).load())
    } catch (error) {
      // A file is in place of a folder, so nothing was ever stored below it.
      if (codeOf(error) === 'ENOTDIR') throw error
      return lostState(textOf(error))
    }
  }

  update(session: string, change: (state: SessionState) => SessionState): void {
    let made = false
    const makeFolder = (folder: string) => {
      made = this.#make(session, folder) || made
    }
    let next = FRESH_STATE
    let unloads = false
    let counts = false
    const state = this.#stateOf(session, makeFolder)
    state.update((now) => {
      const whole = this.#whole(session, now)
      next = change(whole)
      unloads = now.skills.length > 0 && next.skills.length === 0
      counts = next.counts !== whole.counts
      // Before the write: a mark without skills means that they are lost.
      if (unloads) this.#unmark(session)
      return next === whole ? now : next
    })
    if (next.skills.length > 0 && sessionOf(session) === session) {
      // Another process may have unloaded them by now. It checks the mark again, too.
      unloads = this.#mark(session, SKILLED) && state.load().skills.length === 0
    }
    if (unloads) this.#unmark(session)
    if (counts) this.#mark(session, COUNTED)
    if (made) this.#later(() => this.#sweep(session))
  }

  /** Removes a session's whole folder. For an agent, removes only its state. */
  release(session: string): void {
    const folder = this.#pathOf(session)
    try {
      this.#unmark(session)
      if (sessionOf(session) === session)
        rmSync(this.#markOf(this.folderOf(session), COUNTED), { force: true })
      discard(folder)
    } catch (error) {
      throw new Error(`${folder} cannot be removed: ${textOf(error)}`, { cause: error })
    }
  }

  keep(session: string, text: string): string {
    const folder = join(this.folderOf(session), KEPT)
    try {
      const made = this.#make(session, folder)
      const path = keepText(folder, text)
      if (made) this.#later(() => this.#sweep(session))
      return path
    } catch (error) {
      throw new Error(`the full text cannot be kept in ${folder}: ${textOf(error)}`, { cause: error })
    }
  }

  /** Grants that a person gave and that have not expired. */
  grants(): readonly Grant[] {
    const all = this.#grants.load()
    if (all.length > 0 && this.#needsPasskey()) {
      this.#onTrouble(unsigned(all.length))
      return []
    }
    const genuine = this.#genuine(all)
    if (genuine.length < all.length) this.#onTrouble(forged(all.length - genuine.length, this.#grants.folder))
    const mine = genuine.filter((one) => (one.answersOwnQuestions ?? false) === this.#answersOwnQuestions)
    return this.#living(mine).map(({ era: _, answersOwnQuestions: __, seal: ___, ...grant }) => grant)
  }

  /** Throws in an agent's shell, unless `proof` shows that a person answered "always" through the queue. */
  addGrant(grant: Grant, proof?: string): void {
    const isOwn = this.#answersOwnQuestions
    if (this.#needsPasskey()) throw new Error(unsigned(1))
    if (!isOwn) this.#checkGiver(grant, proof)
    const era = grant.expires === undefined ? 0 : momentIn(this.#dataDir, Date.now()).era
    const given = { ...grant, ...(era !== 0 && { era }), ...(isOwn && { answersOwnQuestions: isOwn }) }
    const stored = { ...given, seal: this.#seal.of('grant', this.#sealedOf(given)) }
    this.#grants.update((grants) => [
      ...this.#living(this.#genuine(grants)).filter(({ id }) => id !== grant.id),
      stored,
    ])
  }

  #checkGiver({ digest, tool, event }: Grant, proof: string | undefined): void {
    const mark = agentMark()
    if (mark === undefined) return
    if (proof !== undefined && this.#seal.isProven(digest, proof, Date.now())) return
    throw new Error(
      `only a person may always allow ${JSON.stringify(tool || event)}, but ${mark}; in your own terminal, type: carabiner approvals allow ID --always (a program that answers its own questions must say so: new FileStore({ projectDir, answersOwnQuestions: true }))`,
    )
  }

  /** A passkey allows one call at a time, and no grant has the signature of one. */
  #needsPasskey(): boolean {
    if (this.#answersOwnQuestions) return false
    return isSignatureNeeded({ approversFile: this.#approversFile, dataDir: this.#dataDir })
  }

  #genuine(grants: readonly StoredGrant[]): readonly StoredGrant[] {
    return grants.filter(
      (one) => one.seal !== undefined && this.#seal.isGenuine('grant', this.#sealedOf(one), one.seal),
    )
  }

  /** A grant of one project does not count in another. */
  #sealedOf({ seal: _, ...grant }: StoredGrant): Data {
    return { project: this.#projectDir, grant: { ...grant } as Data }
  }

  /** Read on first use: without grants, no key is created. */
  get #seal(): Seal {
    this.#key ??= new Seal(this.#dataDir)
    return this.#key
  }

  #living(grants: readonly StoredGrant[]): readonly StoredGrant[] {
    if (grants.every(({ expires }) => expires === undefined)) return grants
    const moment = momentIn(this.#dataDir, Date.now())
    return grants.filter(
      ({ expires, era }) => expires === undefined || !isOver({ ends: expires, era }, moment),
    )
  }

  revokeGrant(id: string): boolean {
    let revoked = false
    this.#grants.update((grants) => {
      const left = grants.filter((grant) => grant.id !== id)
      revoked = left.length < grants.length
      return revoked ? left : grants
    })
    return revoked
  }

  // ---- marks of sessions with skills or counts: kept apart from the state, so that removing the state does not silently remove gates ----

  /** A marked session without skills or counts has lost them. */
  #whole(session: string, state: SessionState): SessionState {
    const kept = this.#withCounts(session, state)
    if (kept.skills.length > 0 || kept.lost !== '') return kept
    if (!this.#marksOf(session).some((mark) => existsSync(mark))) return kept
    return { ...kept, lost: this.#removed(session) }
  }

  /** Subagents count with their session. */
  #withCounts(session: string, state: SessionState): SessionState {
    const { counts, turn } = state
    if (counts.list.length > 0 || counts.lost) return state
    const root = sessionOf(session)
    if (root !== session && root !== '') return state
    if (!existsSync(this.#markOf(this.folderOf(session), COUNTED))) return state
    return { ...state, counts: lostCounts(this.#removed(session), turn) }
  }

  #removed(session: string): string {
    return `its state in ${this.folderOf(session)} was removed or emptied`
  }

  /** Returns whether the mark is new. */
  #mark(session: string, of: MarkFolder): boolean {
    const mark = this.#markOf(this.folderOf(session), of)
    if (existsSync(mark)) return false
    try {
      makePrivate(dirname(mark))
      writeFileSync(mark, MARK, { mode: 0o600 })
      return true
    } catch (error) {
      this.#onTrouble(
        `${mark} cannot be written (${textOf(error)}): if the state of a session with ${of === SKILLED ? 'skills' : 'counts'} is removed, that goes unnoticed`,
      )
      return false
    }
  }

  #unmark(session: string): void {
    for (const mark of this.#marksOf(session)) rmSync(mark, { force: true })
  }

  /** Its own mark, and those in projects where it may have begun and no longer has a folder. An agent has none. */
  #marksOf(session: string): readonly string[] {
    if (sessionOf(session) !== session) return []
    const own = this.folderOf(session)
    return this.#foldersOf(session)
      .filter((folder) => folder === own || !existsSync(folder))
      .map((folder) => this.#markOf(folder, SKILLED))
  }

  #markOf(folder: string, of: MarkFolder): string {
    return [this.#dataDir, of, basename(dirname(folder)), basename(folder)].join(sep)
  }

  #stateOf(session: string, makeFolder?: (folder: string) => void): VersionedFile<SessionState> {
    return new VersionedFile({
      folder: this.#pathOf(session),
      what: 'the state of the session',
      fresh: FRESH_STATE,
      check: storedState,
      damaged: lostState,
      ...(makeFolder && { makeFolder }),
    })
  }

  #pathOf(session: string): string {
    const folder = this.folderOf(session)
    return sessionOf(session) === session ? folder : join(folder, AGENTS, folderName(session))
  }

  /** Returns whether the session had no folder before. */
  #make(session: string, folder: string): boolean {
    const first = makePrivate(folder)
    return first !== undefined && !first.startsWith(this.folderOf(session) + sep)
  }

  #sweep(session: string): void {
    const own = this.folderOf(session)
    const remove = (folder: string) => {
      for (const of of [SKILLED, COUNTED] as const) rmSync(this.#markOf(folder, of), { force: true })
      discard(folder)
    }
    const place = { sessions: this.#sessions, project: this.#project, own, parts: AGENTS, remove }
    const [trouble, ...more] = sweep(place)
    if (trouble === undefined) return
    const others = more.length > 0 ? ` (and ${more.length} more)` : ''
    this.#onTrouble(`state of old sessions could not be removed: ${trouble}${others}`)
  }
}

function lostState(problem: string): SessionState {
  return { ...FRESH_STATE, lost: problem, counts: lostCounts(problem, 0) }
}

function lostCounts(why: string, turn: number): StoredCounts {
  return { ...NO_COUNTS, lost: { why, turn: Math.max(1, turn), minute: Math.floor(Date.now() / 60_000) } }
}

function codeOf(error: unknown): string | undefined {
  return ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code
}

function forged(count: number, folder: string): string {
  const what = count === 1 ? '1 grant does' : `${count} grants do`
  return `${what} not count in ${folder}: they have no valid seal (0.1.0 made none; otherwise somebody else wrote there). The hook asks again: carabiner approvals allow ID --always`
}

function unsigned(count: number): string {
  const what = count === 1 ? '1 grant does' : `${count} grants do`
  return `${what} not count: on this machine only a passkey may allow calls, one at a time`
}

/** A key is a session's id, or a session's id, a NUL and an agent's id. */
function sessionOf(key: string): string {
  return key.split('\u0000', 1)[0] as string
}

/** A name that works on every file system, whatever the text. */
function folderName(text: string): string {
  return digest(text).slice(0, 32)
}
