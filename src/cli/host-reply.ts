// `fire --as HOST`: the payload as that agent sends it, the outcome as it understands it. What cannot be evaluated is refused.

import { isAbsolute } from 'node:path'
import { type Diagnostic, isHookError, textOf } from '../core/errors.js'
import { resolveEvent } from '../core/events.js'
import type { Data } from '../core/json.js'
import type { Outcome } from '../core/outcome.js'
import { plainText } from '../core/text.js'
import { type HostEvent, type HostVerdict, verdictOfOutcome } from '../dialects/host-answer.js'
import { askedBy, readHostPayload } from '../dialects/host-payload.js'
import { HOST_NAMES, type Host, hostNamed } from '../dialects/hosts.js'
import { BYPASSED } from './bypass.js'
import type { Output } from './output.js'
import type { Payload } from './payload.js'
import { Refusal, usage } from './refusal.js'

/** Of an agent's patience, so that it still hears the answer. */
const SHARE = 0.9
const QUIET = { injections: [], messages: [] } as const

/** One event, from the payload of an agent to the answer it reads. */
export class HostReply {
  readonly #host: Host
  readonly #named: string | undefined
  readonly #output: Output
  #event: HostEvent
  #exit: number | undefined

  constructor(host: string, named: string | undefined, output: Output) {
    this.#host = hostNamed(host) ?? unknownHost(host)
    this.#named = named
    this.#output = output
    this.#event = { name: named ? this.#nameOf(named) : 'Unknown', sentAs: named ?? '', data: {} }
  }

  #nameOf(event: string): string {
    return askedBy({}, { event, host: this.#host.name }).name
  }

  /** The event in canonical terms. Throws where the payload is none of this agent's. */
  read(payload: Payload): HostEvent {
    const event = { ...(this.#named !== undefined && { event: this.#named }), host: this.#host.name }
    const { event: read } = readHostPayload(payload as Data, event)
    if (this.#named !== undefined && this.#nameOf(this.#named) !== read.name) {
      throw usage(
        `The command line says ${this.#named}, the payload says ${read.sentAs}`,
        'Leave the EVENT out, or send the payload of that event.',
      )
    }
    this.#event = { ...read, sentAs: read.sentAs || this.#event.sentAs }
    return this.#event
  }

  /** Seconds until the answer must be out. */
  get patience(): number {
    const { patience, patienceWith = {} } = this.#host
    const { name } = this.#event
    return SHARE * (Object.hasOwn(patienceWith, name) ? (patienceWith[name] as number) : patience)
  }

  get isGiven(): boolean {
    return this.#exit !== undefined
  }

  async give(outcome: Outcome): Promise<void> {
    const verdict = verdictOfOutcome(outcome)
    if (verdict.action !== 'ask_user') return this.#say(verdict)
    const reason = `A person must approve this, and nobody was asked: ${verdict.reason ?? 'a hook wants it'}`
    await this.#say({ ...verdict, action: 'deny', reason })
  }

  async bypass(): Promise<number> {
    await this.#say({ action: 'continue', ...QUIET, messages: [BYPASSED.text] })
    return this.exit
  }

  /** A gate that could not be asked is closed; what is no gate, or would keep the agent from stopping, goes on. */
  async refuse(why: unknown): Promise<void> {
    if (this.isGiven) throw why
    const reason = plainText(`carabiner could not evaluate the hooks: ${wordsOf(why)}`)
    const { deny, custom } = resolveEvent(this.#event.name)
    const isGate = deny === 'block' || (custom && this.#named === undefined)
    await this.#say(
      isGate ? { action: 'deny', reason, ...QUIET } : { action: 'continue', ...QUIET, messages: [reason] },
    )
  }

  async #say(verdict: HostVerdict): Promise<void> {
    const { stdout, stderr, exit } = this.#host.encode(this.#event, verdict)
    if (stdout) await this.#output.print([stdout.trimEnd()])
    if (stderr) await this.#output.complain([stderr.trimEnd()])
    const isRefusal = verdict.action !== 'continue' && verdict.action !== 'respond'
    // A refusal that could not be told is one by its exit code.
    this.#exit = this.#output.failure && isRefusal ? REFUSED : exit
  }

  get exit(): number {
    return this.#exit ?? REFUSED
  }
}

const REFUSED = 2

/** An abort has its reason from whoever aborted. */
function wordsOf(why: unknown): string {
  const told = isHookError(why) && why.cause instanceof Refusal ? why.cause : why
  const hint = told instanceof Refusal && told.hint !== undefined ? `. ${told.hint}` : ''
  return `${textOf(told)}${hint}`
}

function unknownHost(name: string): never {
  throw usage(`There is no host ${JSON.stringify(name)}`, `--as takes one of ${HOST_NAMES.join(', ')}.`)
}

/** Agents start hooks where they work just then; the project is where they began. */
export function projectOfHost(given: string | undefined): string | undefined {
  const { CLAUDE_PROJECT_DIR: folder } = process.env
  return given ?? (folder !== undefined && isAbsolute(folder) ? folder : undefined)
}

/** Why an outcome does not count as evaluated. */
export function lossOf(notices: readonly Diagnostic[]): Refusal {
  return new Refusal('CONFIG_INVALID', notices.map(({ text }) => text).join('; '))
}
