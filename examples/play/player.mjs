// Plays the steps of a script through a session: fires what an agent would, and does what the hooks decided.

import { createHooks, fileAudit, HookError, verifyAudit } from 'carabiner'
import { ScriptError } from './script.mjs'
import { openWorkspace } from './workspace.mjs'

/** @import { Data, Diagnostic, Hooks, Outcome, Session, Verification } from 'carabiner' */
/** @import { ModelStep, PromptStep, Register, Script, Step, StopStep, ToolStep } from './script.mjs' */
/** @import { Workspace } from './workspace.mjs' */

/**
 * @typedef {{ event: string, outcome: Outcome, ms: number }} Played one event that was played
 *
 * @typedef {object} Cast who plays
 * @property {readonly Register[]} registers
 * @property {readonly string[]} plugins folders
 * @property {(needs: string | undefined) => boolean} isMissing whether that program is not installed
 *
 * @typedef {object} Audience is told as it happens
 * @property {(step: Step) => void} onStep
 * @property {(played: Played) => void} onEvent
 * @property {(text: string) => void} onResult what the agent did next
 */

/**
 * Plays a script to its end. Rejects with a ScriptError where a step cannot be played.
 *
 * @param {Script} script
 * @param {Cast} cast
 * @param {Audience} audience
 * @returns {Promise<{ diagnostics: readonly Diagnostic[], audit: Verification }>} what went wrong off the path (in
 *   plugins' files, in observers), and whether all of it is on record
 */
export async function play(script, cast, audience) {
  const workspace = await openWorkspace()
  try {
    return await playIn(workspace, script, cast, audience)
  } finally {
    await workspace.remove()
  }
}

/**
 * @param {Workspace} workspace
 * @param {Script} script
 * @param {Cast} cast
 * @param {Audience} audience
 */
async function playIn(workspace, script, { registers, plugins, isMissing }, audience) {
  const player = new Player(audience, workspace, isMissing)
  const audit = fileAudit({ projectDir: workspace.dir })
  const hooks = await createHooks({
    globals: false,
    projectDir: workspace.dir,
    // No hooks of the reader's own: the session is the same for everybody.
    home: workspace.dir,
    plugins,
    trust: 'all',
    approver: () => player.answer(),
    context: ({ role, content }) => player.hear({ role, content }),
    audit: (record) => {
      if (record.kind === 'fire') player.clock(record.ms)
      return audit(record)
    },
  })
  try {
    for (const register of registers) await register(hooks)
    await player.play(script, hooks)
  } finally {
    await hooks.close()
    await audit.flush()
  }
  return { diagnostics: hooks.diagnostics, audit: verifyAudit(audit.folder) }
}

/** Thrown by a tool that the script lets fail. */
class ToolFailure extends Error {}

/** Verbs of a turn: none is played once a hook has ended the turn. */
const IN_TURN = ['model', 'tool', 'stop']

class Player {
  /** @type {Audience} */
  #audience
  /** @type {Workspace} */
  #workspace
  /** @type {Cast['isMissing']} */
  #isMissing
  /** @type {Step | undefined} */
  #step
  /** What the model is sent. @type {object[]} */
  #messages = []
  /** @type {'turn' | 'agent' | undefined} */
  #ended
  #stopRefused = false
  #wasAsked = false
  #ms = 0

  /**
   * @param {Audience} audience
   * @param {Workspace} workspace
   * @param {Cast['isMissing']} isMissing
   */
  constructor(audience, workspace, isMissing) {
    this.#audience = audience
    this.#workspace = workspace
    this.#isMissing = isMissing
  }

  /**
   * @param {Script} script
   * @param {Hooks} hooks
   */
  async play(script, hooks) {
    const session = hooks.session({ id: 'play', cwd: this.#workspace.dir })
    for (const step of script.steps) {
      this.#audience.onStep(step)
      this.#step = step
      this.#wasAsked = false
      const skipped = this.#whySkipped(step)
      if (skipped) this.#audience.onResult(skipped)
      else await this.#playStep(session, step, script.file)
      if (step.person !== undefined && !this.#wasAsked) this.#audience.onResult('the person was not asked')
    }
  }

  /** The person of the script. Where there is none, nobody answers: the question's own default counts. */
  answer() {
    this.#wasAsked = true
    if (this.#step?.person === undefined) throw new Error('the script has no "person" in this step')
    return this.#step.person
  }

  /** @param {object} message */
  hear(message) {
    this.#messages.push(message)
  }

  /** @param {number} ms how long the event took whose outcome comes next */
  clock(ms) {
    this.#ms = ms
  }

  /**
   * @param {Step} step
   * @returns {string | undefined}
   */
  #whySkipped({ verb, needs }) {
    const over = this.#ended === 'agent' ? verb !== 'end' : this.#ended === 'turn' && IN_TURN.includes(verb)
    if (over) return `not played: a hook ended the ${this.#ended}`
    return this.#isMissing(needs) ? `skipped: ${needs} is not installed` : undefined
  }

  /**
   * @param {Session} session
   * @param {Step} step
   * @param {string} file
   */
  async #playStep(session, step, file) {
    try {
      switch (step.verb) {
        case 'start':
          await this.#fire(session, 'SessionStart', { source: step.start })
          break
        case 'end':
          await this.#fire(session, 'SessionEnd', { reason: step.end })
          break
        case 'fire':
          await this.#fire(session, step.fire, step.data ?? {})
          break
        case 'prompt':
          await this.#prompt(session, step)
          break
        case 'model':
          await this.#callModel(session, step)
          break
        case 'tool':
          await this.#callTool(session, step)
          break
        case 'stop':
          await this.#stop(session, step)
          break
      }
    } catch (error) {
      if (!(error instanceof HookError)) throw error
      // The event that ended it has been shown already.
      if (error.code === 'TURN_ABORTED' || error.code === 'AGENT_ABORTED') return
      throw new ScriptError(file, [`step ${step.number} (${step.verb}): ${error.message}`])
    }
  }

  /**
   * @param {Session} session
   * @param {string} event
   * @param {object} data
   */
  async #fire(session, event, data) {
    const outcome = await session.fire(event, data)
    this.#saw(event, outcome)
    return outcome
  }

  /**
   * @param {string} event
   * @param {Outcome} outcome
   */
  #saw(event, outcome) {
    this.#audience.onEvent({ event, outcome, ms: this.#ms })
    if (outcome.action === 'abort_turn') this.#ended = 'turn'
    if (outcome.action === 'hard_abort') this.#ended = 'agent'
  }

  /**
   * @param {Session} session
   * @param {PromptStep} step
   */
  async #prompt(session, step) {
    this.#ended = undefined
    this.#stopRefused = false
    await session.startTurn()
    const outcome = await this.#fire(session, 'UserPromptSubmit', { prompt: step.prompt })
    if (outcome.action === 'continue') this.hear({ role: 'user', content: outcome.data.prompt })
    else {
      this.#ended ??= 'turn'
      this.#audience.onResult('the prompt was not sent')
    }
  }

  /**
   * @param {Session} session
   * @param {ModelStep} step
   */
  async #callModel(session, step) {
    const scripted = typeof step.model === 'string' ? { role: 'assistant', content: step.model } : step.model
    const request = { model: 'scripted', messages: this.#messages, tools: [] }
    let sent = 'nothing'
    const { status, response } = await session.callModel(
      request,
      ({ messages, tools }) => {
        sent = `${count(messages, 'message')} and ${count(tools, 'tool')}`
        return scripted
      },
      { onOutcome: (event, outcome) => this.#saw(event, outcome) },
    )
    if (status === 'ok' || status === 'responded') this.hear(/** @type {Data} */ (response))
    if (status === 'responded') this.#audience.onResult('a hook answered in place of the model')
    else this.#audience.onResult(`the model got ${sent}${status === 'ok' ? '' : '; its answer is not used'}`)
  }

  /**
   * @param {Session} session
   * @param {ToolStep} step
   */
  async #callTool(session, step) {
    const id = `call-${step.number}`
    const call = { name: step.tool, input: step.input ?? {}, id }
    try {
      const { status, result, reason } = await session.callTool(
        call,
        async (input, { name }) => this.#runTool(step, name, input),
        { onOutcome: (event, outcome) => this.#saw(event, outcome) },
      )
      this.hear({ role: 'tool', tool_call_id: id, content: JSON.stringify(result ?? reason ?? null) })
      this.#audience.onResult(TOOL_RESULTS[status])
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error
      this.hear({ role: 'tool', tool_call_id: id, content: error.message, is_error: true })
      this.#audience.onResult(`the tool failed: ${error.message}`)
    }
  }

  /**
   * @param {ToolStep} step
   * @param {string} name as hooks left it
   * @param {Data} input as hooks left it
   */
  async #runTool(step, name, input) {
    if (step.fails !== undefined) throw new ToolFailure(step.fails)
    await this.#workspace.touch(name, input).catch((error) => {
      throw new ToolFailure(error.message)
    })
    return step.result ?? null
  }

  /**
   * @param {Session} session
   * @param {StopStep} step
   */
  async #stop(session, step) {
    const data = { stop_hook_active: this.#stopRefused, last_assistant_message: step.stop }
    const { action, reason } = await this.#fire(session, 'Stop', data)
    this.#stopRefused = action === 'deny'
    if (this.#stopRefused) this.hear({ role: 'user', content: reason })
    else await session.endTurn()
    this.#audience.onResult(this.#stopRefused ? 'the agent goes on' : 'the turn is over')
  }
}

/**
 * @param {readonly unknown[]} list
 * @param {string} noun
 */
function count(list, noun) {
  return `${list.length} ${noun}${list.length === 1 ? '' : 's'}`
}

const TOOL_RESULTS = {
  ok: 'the tool ran',
  responded: 'a hook answered in place of the tool',
  denied: 'the tool did not run',
  needs_approval: 'the tool waits for approval',
}
