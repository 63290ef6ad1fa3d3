// `fire --as HOST`: reads the payload that the agent sends, and answers in its format. Whatever cannot be evaluated is refused.

import { type Diagnostic, isHookError, textOf } from '../../core/base/errors.js'
import type { Data } from '../../core/base/json.js'
import { nearest, plainText } from '../../core/base/text.js'
import { knownEvents, resolveEvent } from '../../core/events/events.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { OUR_PROJECT_VARIABLE } from '../../files/project-env.js'
import { projectDirOf, startsOf } from '../../files/which-project.js'
import { contextCarrier } from '../../hosts/abilities.js'
import { abilitiesOf, answerOf, verdictOfOutcome } from '../../hosts/answer.js'
import type { HostEvent, HostVerdict } from '../../hosts/host.js'
import { HOST_NAMES, hostNamed, type KnownHost, limitOf, shareOf } from '../../hosts/hosts.js'
import { type Envelope, eventOf, isAboutTool, readEnvelope, refuseTwoNames } from '../../hosts/payload.js'
import { BYPASSED } from '../bypass.js'
import type { Output } from '../output.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import type { Payload } from './payload.js'

const QUIET = { injections: [], messages: [] } as const

/** One event, from the payload of an agent to the answer it reads. */
export class HostReply {
  readonly #host: KnownHost
  readonly #named: string | undefined
  readonly #output: Output
  #event: HostEvent
  /** It is unclear what was asked, and it may concern something that a gate guards. */
  #isDoubtful = false
  #exit: number | undefined

  constructor(host: string, named: string | undefined, output: Output) {
    this.#host = hostNamed(host) ?? unknownHost(host)
    this.#named = named
    this.#output = output
    // Without the agent's own name for the event, which only the payload knows and which decides the shape of the answer.
    this.#event = { name: named ? this.#meantBy(named) : 'Unknown', sentAs: '', data: {} }
  }

  #asked(event: string): Envelope {
    return readEnvelope({}, { event, host: this.#host.name })
  }

  /** The canonical name, or the likely one for a misspelt event. */
  #meantBy(event: string): string {
    const { known, name } = this.#asked(event)
    if (known !== undefined) return known
    const names = knownEvents().flatMap(({ name, aliases }) => [name, ...aliases])
    const meant = nearest(event, [...names, ...Object.keys(this.#host.events ?? {})])
    return meant === undefined ? name : this.#asked(meant).name
  }

  /** Agents start hooks in any folder. Their variable or ours, or the event's `cwd`, names the project. */
  placesOf(given: string | undefined, cwd?: string): { project: string; workFolders: readonly string[] } {
    const { projectVariable } = this.#host
    const variables = [...(projectVariable === undefined ? [] : [projectVariable]), OUR_PROJECT_VARIABLE]
    return {
      project: given ?? projectDirOf(cwd, callerEnv(), userHome(), variables),
      workFolders: startsOf(cwd, callerEnv(), userHome(), variables),
    }
  }

  /** The event in canonical terms. Throws if the payload is not this agent's, or belongs to another event. */
  read(payload: Payload): HostEvent {
    const named = this.#named
    const asked = readEnvelope(payload as Data, {
      ...(named !== undefined && { event: named }),
      host: this.#host.name,
    })
    const { name, sentAs } = asked
    this.#event = { name, sentAs, data: {} }
    if (named !== undefined && this.#asked(named).name !== name) this.#disagree(named, sentAs, payload)
    if (asked.known === undefined) this.#checkSpelling(name, payload)
    this.#checkNames(name, payload)
    this.#event = eventOf(payload as Data, asked, true)
    return this.#event
  }

  #checkNames(name: string, payload: Payload): void {
    try {
      refuseTwoNames(payload as Data)
    } catch (error) {
      this.#doubt(name, payload)
      throw error
    }
  }

  #disagree(named: string, sentAs: string, payload: Payload): never {
    const meant = [sentAs, named].map((name) => this.#meantBy(name))
    this.#doubt(meant.find(canBlock) ?? (meant[0] as string), payload)
    throw usage(
      `The command line says ${named}, the payload says ${sentAs}${this.#didYouMean(named)}`,
      'Leave out EVENT, or send the payload of that event.',
    )
  }

  /** A misspelt event would skip the gates it was meant for. Agents also have events that we do not know. */
  #checkSpelling(called: string, payload: Payload): void {
    const meant = this.#meantBy(called)
    const isSlip = meant !== called && (this.#named !== undefined || canBlock(meant))
    if (!isSlip && !(this.#named !== undefined && isAboutTool(payload as Data))) return
    this.#doubt(meant === called ? 'PreToolUse' : meant, payload)
    throw usage(
      `There is no event ${called}${this.#didYouMean(called)}`,
      'Leave out EVENT if the payload names it.',
    )
  }

  #didYouMean(called: string): string {
    const meant = this.#meantBy(called)
    return meant === called || this.#asked(called).known !== undefined ? '' : `; did you mean ${meant}?`
  }

  #doubt(name: string, payload: Payload): void {
    this.#event = { ...this.#event, name }
    this.#isDoubtful = canBlock(name) || isAboutTool(payload as Data)
  }

  /** The agent neither waits for an answer nor lets its hooks finish. */
  get isUnawaited(): boolean {
    return this.#host.unawaited?.includes(this.#event.name) ?? false
  }

  /** For an event that another process goes on with. */
  async passOn(): Promise<number> {
    await this.#say({ action: 'continue', ...QUIET })
    return this.exit
  }

  /** The agent can ask its user about this event. */
  get hasDialog(): boolean {
    return abilitiesOf(this.#host, this.#event)?.includes('ask') ?? false
  }

  /** The agent cannot add context on this event, but on another. */
  get contextLater(): boolean {
    const isCarried = abilitiesOf(this.#host, this.#event)?.includes('context') ?? false
    return !isCarried && contextCarrier(this.#host, this.#event.name) !== undefined
  }

  /** Seconds until the answer must be out. */
  get patience(): number {
    return shareOf(this.limit)
  }

  /** Seconds until the host gives up on us. */
  get limit(): number {
    return limitOf(this.#host, this.#event.name)
  }

  get isGiven(): boolean {
    return this.#exit !== undefined
  }

  /** `dialog`: the agent asks its user whatever a hook asks. */
  async give(outcome: Outcome, dialog: boolean): Promise<void> {
    const verdict = this.#warned(verdictOfOutcome(outcome), outcome)
    if (verdict.action !== 'ask_user') return this.#say(verdict)
    if (dialog) return this.#say({ ...verdict, reason: questionsIn(outcome) || verdict.reason || '' })
    await this.#say({ ...verdict, action: 'deny', reason: openReason(outcome, verdict.reason) })
  }

  /** If nobody sees the warnings, the model is asked to pass on the one that a gate is missing. */
  #warned(verdict: HostVerdict, { hooks }: Outcome): HostVerdict {
    const count = hooks.filter(({ why }) => why === 'untrusted' || why === 'modified').length
    const isHeard = abilitiesOf(this.#host, this.#event)?.includes('context')
    if (count === 0 || !isHeard || !this.#host.isUnattended?.(callerEnv())) return verdict
    const which = count === 1 ? 'A hook of this project' : `${count} hooks of this project`
    const text = `${which} did not run, because nobody has trusted ${count === 1 ? 'it' : 'them'}. Mention this to the user: carabiner trust is theirs to run.`
    return { ...verdict, injections: [...verdict.injections, text] }
  }

  async bypass(): Promise<number> {
    await this.#say({ action: 'continue', ...QUIET, messages: [BYPASSED.text] })
    return this.exit
  }

  /**
   * A gate that could not be asked is closed. Other events go on, and so does Stop, or the agent could never stop; only
   * where our share of its patience is over, it is refused once.
   */
  async refuse(why: unknown): Promise<void> {
    if (this.isGiven) throw why
    const reason = plainText(`carabiner could not evaluate the hooks: ${wordsOf(why)}`)
    const { name } = this.#event
    const mayBeGate = resolveEvent(name).custom && this.#named === undefined
    const closes = canBlock(name) || mayBeGate || this.#isDoubtful || (isLate(why) && this.#isFirstStop())
    await this.#say(
      closes ? { action: 'deny', reason, ...QUIET } : { action: 'continue', ...QUIET, messages: [reason] },
    )
  }

  /** Only an agent that says whether a stop was refused before can be refused once. */
  #isFirstStop(): boolean {
    const { name, data } = this.#event
    return resolveEvent(name).deny === 'go-on' && data.stop_hook_active === false
  }

  async #say(verdict: HostVerdict): Promise<void> {
    const { stdout, stderr, exit } = answerOf(this.#host, this.#event, verdict)
    if (stdout) await this.#output.print([stdout.trimEnd()])
    // An agent without a screen shows no message to the user. Its log, or whoever started it, has standard error.
    const unseen = exit === EXIT.ok ? verdict.messages.join('\n') : ''
    const said = stderr ?? unseen
    if (said) await this.#output.complain([said.trimEnd()])
    const isRefusal = verdict.action !== 'continue' && verdict.action !== 'respond'
    // A refusal that could not be written is told by the exit code.
    this.#exit = this.#output.failure && isRefusal ? REFUSED : exit
  }

  get exit(): number {
    return this.#exit ?? REFUSED
  }
}

const REFUSED = 2

/** Tells the agent how to get an answer, and which hook asks. */
function openReason({ approval }: Outcome, reason = 'A person must approve this.'): string {
  const asks = approval?.question.asks.map(({ hook, prompt }) => `${hook} asks: ${prompt}`) ?? []
  return [reason, ...asks].join(' ')
}

/** For the agent's dialog. */
function questionsIn({ approval }: Outcome): string {
  return approval?.question.asks.map(({ prompt }) => prompt).join('\n') ?? ''
}

function canBlock(event: string): boolean {
  return resolveEvent(event).deny === 'block'
}

/** The deadline of the whole event cut the hooks short. */
function isLate(why: unknown): boolean {
  const cause = isHookError(why, 'ABORTED') ? why.cause : undefined
  return cause instanceof Refusal && cause.code === 'HOOK_TIMEOUT'
}

/** The cause of an abort says why. */
function wordsOf(why: unknown): string {
  const told = isHookError(why) && why.cause instanceof Refusal ? why.cause : why
  const hint = told instanceof Refusal && told.hint !== undefined ? `. ${told.hint}` : ''
  return `${textOf(told)}${hint}`
}

function unknownHost(name: string): never {
  throw usage(`There is no agent ${JSON.stringify(name)}`, `--as takes one of ${HOST_NAMES.join(', ')}.`)
}

export function lossOf(notices: readonly Diagnostic[]): Refusal {
  return new Refusal('CONFIG_INVALID', notices.map(({ text }) => text).join('; '))
}
