// The approver for a person at the terminal. It asks one question at a time, and leaves the terminal as it was.

import { userInfo } from 'node:os'
import type { ReadStream, WriteStream } from 'node:tty'
import { textOf } from '../core/base/errors.js'
import { anything, checkOptions, isFlag } from '../core/base/options.js'
import { onAbort } from '../core/base/promise.js'
import { columnsOf, endOf, plainText, visible } from '../core/base/text.js'
import { countdown, LONGEST_TIMER_MS } from '../core/base/time.js'
import type { Question } from '../core/hooks/outcome.js'
import { type Approver, denyOf, type Reply, type Unanswered } from '../core/verdict/approval.js'
import { callerEnv } from '../files/caller.js'
import { questionText } from './question-text.js'
import { openTerminal, roundsOfTheLoop, type Terminal } from './terminal.js'
import { TypedLine, typedAnswer } from './typed.js'

export interface TerminalApproverOptions {
  /** A terminal; default: the controlling terminal, else standard input. Other readers should pause. */
  readonly input?: ReadStream
  /** A terminal; default: the controlling terminal, else standard error. */
  readonly output?: WriteStream
  /** Default: true, unless NO_COLOR is set or the terminal is dumb. */
  readonly color?: boolean
}

const CHECKS = { input: anything, output: anything, color: isFlag }

const NO_TERMINAL: Unanswered = {
  unanswered:
    'A person must approve this, but there is no terminal to ask in. Run this in the foreground of a terminal, and try the same call again.',
}
const TOO_LATE: Unanswered = {
  unanswered: 'Nobody was asked, because nothing is waiting for the answer any more.',
}

/** Stands for the controlling terminal. A process has only one. */
const CONTROLLING = {}
/** The last question at each terminal. */
const turns = new WeakMap<object, Promise<unknown>>()

/**
 * Asks at the terminal and waits. If there is no terminal, it says so at once. Another reader of the terminal would get
 * some of the keys, so it must pause. If the terminal fails, the call is refused, whatever the hooks' default is.
 */
export function terminalApprover(options: TerminalApproverOptions = {}): Approver {
  checkOptions('terminalApprover', options, CHECKS)
  const { input, output, color = isColourful() } = options
  const streams = { ...(input && { input }), ...(output && { output }) }
  const place = input ?? output ?? CONTROLLING
  return (question, signal) => {
    const until = performance.now() + question.timeout * 1000
    return inTurn(place, async () => {
      if (signal.aborted) return TOO_LATE
      try {
        const terminal = openTerminal(streams)
        if (!terminal) return NO_TERMINAL
        return await promptAt(terminal, question, { signal, until, by: userName(), color })
      } catch (error) {
        return { option: denyOf(question), reason: `the terminal failed: ${textOf(error)}`, by: 'default' }
      }
    })
  }
}

/** `ask` must never reject: the next question would not be asked. */
function inTurn(place: object, ask: () => Promise<Reply | Unanswered>): Promise<Reply | Unanswered> {
  const asked = (turns.get(place) ?? Promise.resolve()).then(ask)
  turns.set(place, asked)
  return asked
}

function isColourful(): boolean {
  const { NO_COLOR, TERM } = callerEnv()
  return !NO_COLOR && TERM !== 'dumb'
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'person' // the system does not know this user
  }
}

// ---- one question ---------------------------------------------------------------------------------------------------

interface PromptOptions {
  readonly signal: AbortSignal
  /** The end of the time to answer, on the clock of `performance.now()`. */
  readonly until: number
  /** The person's name. */
  readonly by: string
  readonly color: boolean
  /** The question can also be answered later, so neither leaving nor a timeout answers it. */
  readonly staysOpen?: boolean
}

const TICK_MS = 1000
/** Dragging a window changes its size many times a second. */
const RESIZE_MS = 200
/** The caller also keeps time and decides what a timeout means. This is for callers that do not. */
const GRACE_MS = 500

const NARROW = 40

const HOW = 'Type a number or the first letters of an answer. After a deny you can add a reason.'
const LEFT_OPEN: Unanswered = { unanswered: 'A person was asked at the terminal and left the question open.' }
const PASTED = 'several lines cannot be one answer; type a single line'

/** Leaves the terminal as it was. */
export function promptAt(
  terminal: Terminal,
  question: Question,
  options: PromptOptions,
): Promise<Reply | Unanswered> {
  return new Prompt(terminal, question, options).answered()
}

interface Ending {
  readonly reply: Reply | Unanswered
  /** The words that stay on the terminal. */
  readonly words: string
}

class Prompt {
  readonly #terminal: Terminal
  readonly #question: Question
  readonly #options: PromptOptions
  readonly #line = new TypedLine()
  /** Keys typed before the question was shown do not answer it. */
  #isShown = false
  #isOver = false
  #isDrawing = false
  /** The drawing in progress is out of date. */
  #isStale = false
  #drawn = 0
  #resizing: ReturnType<typeof setTimeout> | undefined
  #resolve: (ending: Ending) => void = () => {}

  constructor(terminal: Terminal, question: Question, options: PromptOptions) {
    this.#terminal = terminal
    this.#question = question
    this.#options = options
  }

  async answered(): Promise<Reply | Unanswered> {
    const { signal, until } = this.#options
    const ended = new Promise<Ending>((resolve) => {
      this.#resolve = resolve
    })
    const left = Math.max(0, until - performance.now()) + GRACE_MS
    const timer = setTimeout(() => this.#withdraw(), Math.min(left, LONGEST_TIMER_MS))
    const ticks = setInterval(() => this.#draw(), TICK_MS)
    const stopListening = onAbort(signal, () => this.#withdraw())
    try {
      this.#begin()
      const { reply, words } = await ended
      this.#terminal.lastWords(`${this.#erased()}${words}\n`)
      return reply
    } finally {
      stopListening()
      clearInterval(ticks)
      clearTimeout(timer)
      clearTimeout(this.#resizing)
      this.#terminal.end()
    }
  }

  /** Only the first call counts. */
  #end(ending: Ending): void {
    this.#isOver = true
    this.#isShown = false
    this.#resolve(ending)
  }

  #begin(): void {
    this.#terminal.begin({
      onKeys: (bytes) => this.#typed(bytes),
      onResize: () => {
        clearTimeout(this.#resizing)
        this.#resizing = setTimeout(() => this.#show(), RESIZE_MS)
      },
      onGone: () => this.#gone(),
    })
    // By then, earlier keys have arrived and been dropped.
    void roundsOfTheLoop(3).then(() => this.#show())
  }

  /** Redraws when the window changes size: if the terminal wrapped a line, third-party text would start at the left edge. */
  async #show(): Promise<void> {
    try {
      const lines = questionText(this.#question, { columns: this.#columns() })
      const painted = lines.map((line) => (this.#options.color && /^\S/.test(line) ? bold(line) : line))
      this.#drawn = 0
      await this.#write(`\r\n${painted.join('\n')}\n${HOW}\n`)
      this.#isShown = !this.#isOver
      this.#draw()
    } catch (error) {
      this.#deny(`the question cannot be shown: ${textOf(error)}`, 'default', '')
    }
  }

  #typed(bytes: Buffer): void {
    if (!this.#isShown) return
    const typed = this.#line.feed(bytes)
    if (typed === 'left') this.#left()
    else if (typed === 'lines') this.#tell(PASTED)
    else if (typed === 'line') this.#entered(this.#line.text)
    if (typed !== 'part') this.#line.clear()
    this.#draw()
  }

  #entered(line: string): void {
    const answer = typedAnswer(this.#question, line)
    if (answer === undefined) return
    if ('problem' in answer) this.#tell(answer.problem)
    else this.#answer(answer.option, answer.reason)
  }

  #answer(option: string, reason: string | undefined): void {
    const { by } = this.#options
    const reply = reason === undefined ? { option, by } : { option, reason: plainText(reason), by }
    this.#end({ reply, words: `Answered: ${visible(option)}` })
  }

  #left(): void {
    if (this.#options.staysOpen) this.#end({ reply: LEFT_OPEN, words: 'Left open.' })
    else this.#deny('the person left', this.#options.by, 'Denied: you left.')
  }

  #gone(): void {
    this.#deny('the terminal went away', 'default', '')
  }

  #deny(reason: string, by: string, words: string): void {
    this.#end({ reply: { option: denyOf(this.#question), reason, by }, words })
  }

  #withdraw(): void {
    const { default: otherwise } = this.#question
    const isLate = performance.now() >= this.#options.until - TICK_MS / 2
    const { signal, staysOpen } = this.#options
    const why =
      typeof signal.reason === 'string' ? signal.reason : 'nothing is waiting for the answer any more'
    const fate = staysOpen
      ? 'nobody answered.'
      : `${otherwise === 'allow' ? 'allowed' : 'denied'} by default.`
    const words = isLate ? `Time is up: ${fate}` : `No longer asked: ${visible(why)}.`
    this.#end({
      reply: { unanswered: 'A person was asked at the terminal and did not answer in time.' },
      words,
    })
  }

  #tell(problem: string): void {
    const lines = `${this.#erased()}${problem}\n`
    this.#drawn = 0
    void this.#write(lines)
  }

  /** Overwrites the line, without any sequence that a terminal may not know. */
  #draw(): void {
    this.#isStale = this.#isDrawing
    if (!this.#isShown || this.#isDrawing) return
    const left = Math.max(0, Math.ceil((this.#options.until - performance.now()) / 1000))
    const otherwise = this.#question.default === 'allow' ? 'allowed' : 'denied'
    const fate = this.#options.staysOpen ? 'it expires' : otherwise
    const columns = this.#columns()
    const prompt = columns < NARROW ? `${countdown(left)} > ` : `${countdown(left)} until ${fate} > `
    const room = columns - 1 - prompt.length
    const row = `${prompt}${endOf(visible(this.#line.text), Math.max(0, room))}`
    const text = `${this.#erased()}${row}`
    this.#drawn = columnsOf(row)
    this.#isDrawing = true
    void this.#write(text).then(() => {
      this.#isDrawing = false
      if (this.#isStale) this.#draw()
    })
  }

  #erased(): string {
    return `\r${' '.repeat(this.#drawn)}\r`
  }

  #columns(): number {
    try {
      return this.#terminal.columns()
    } catch {
      this.#gone()
      return NARROW
    }
  }

  async #write(text: string): Promise<void> {
    try {
      await this.#terminal.write(text)
    } catch {
      this.#gone()
    }
  }
}

function bold(text: string): string {
  return `\u001b[1m${text}\u001b[22m`
}
