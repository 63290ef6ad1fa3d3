// Runs one case in the real Claude Code: offline, against a scripted model, in a project and a home of its own.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { endLiving } from '../living.mjs'
import { RecordingError } from './install.mjs'
import { MockModel, textOf } from './mock-model.mjs'
import { firedIn, observe } from './observation.mjs'
import { Stage } from './stage.mjs'

/** @typedef {import('./case.mjs').Case} Case */
/** @typedef {Record<string, any>} Message a line of Claude Code's output */

/** A case takes about a second; the longest waits for a budget of its own. */
const LIMIT = 60_000
const MODEL = 'claude-sonnet-4-5'

/**
 * @param {Case} one @param {string} binary
 * @param {(text: string) => void} [show] told what the model and the user saw
 * @param {(stage: Stage) => void} [prepare] what is done in the project and the home before it starts
 */
export async function runCase(one, binary, show, prepare) {
  const stage = new Stage(one)
  const { run = {}, tool_name, tool_input } = one
  const call = tool_name ? [{ tools: [{ name: tool_name, input: filledIn(tool_input, stage) }] }] : []
  const model = new MockModel(run.turns ?? call, run.subagent)
  const address = await model.start()
  try {
    prepare?.(stage)
    /** @type {Message[]} */
    const messages = []
    for (const args of [run.args ?? [], ...(run.again ?? [])]) {
      const process = new ClaudeProcess(binary, stage, one, address, args)
      messages.push(...(await process.finished()))
    }
    const log = { messages, requests: model.main, all: model.requests, stage }
    if (show) for (const line of told(log)) show(line)
    return { observed: observe(one, log), fired: one.fires ?? firedIn(one, stage) }
  } finally {
    await model.stop()
    endLiving(stage.folder)
    stage.remove()
  }
}

/** @param {unknown} input @param {Stage} stage */
function filledIn(input, stage) {
  return JSON.parse(stage.filled(JSON.stringify(input ?? {})))
}

class ClaudeProcess {
  /** @type {Message[]} */
  #messages = []
  #prompts
  #case
  #child
  #stderr = ''

  /** @param {string} binary @param {Stage} stage @param {Case} one @param {string} address @param {readonly string[]} args */
  constructor(binary, stage, one, address, args) {
    const { prompts = ['MAIN_PROMPT go'] } = one.run ?? {}
    this.#case = one
    this.#prompts = [...prompts]
    this.#child = spawn(binary, argumentsOf(one, stage, args), {
      cwd: stage.dir,
      env: {
        HOME: stage.home,
        PATH: process.env.PATH,
        ANTHROPIC_BASE_URL: address,
        ANTHROPIC_API_KEY: 'dummy',
        DISABLE_AUTOUPDATER: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...one.run?.env,
      },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  }

  /** @returns {Promise<Message[]>} all that it said */
  async finished() {
    const child = this.#child
    const limit = setTimeout(() => this.#end(), LIMIT)
    child.stdin.on('error', () => {})
    child.stderr.on('data', (chunk) => {
      this.#stderr += chunk
    })
    createInterface({ input: child.stdout }).on('line', (line) => this.#hear(line))
    this.#next()
    const code = await new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    })
    clearTimeout(limit)
    if (code === null) {
      throw new RecordingError(
        `${this.#case.name}: Claude Code did not end within ${LIMIT / 1000} s. ${this.#stderr}`,
      )
    }
    if (this.#stderr.trim() !== '') this.#messages.push({ type: 'stderr', text: this.#stderr })
    this.#messages.push({ type: 'exit', code })
    return this.#messages
  }

  #end() {
    try {
      if (this.#child.pid) process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // it ended by itself
    }
  }

  /** @param {string} line */
  #hear(line) {
    /** @type {Message} */
    const message = JSON.parse(line)
    this.#messages.push(message)
    if (message.type === 'result') this.#next()
    if (message.type === 'control_response') this.#next()
    if (message.type === 'control_request') this.#allow(message)
  }

  /** The next prompt, or the end. */
  #next() {
    const prompt = this.#prompts.shift()
    if (prompt === undefined) this.#child.stdin.end()
    else if (typeof prompt === 'object') this.#say(prompt)
    else
      this.#say({
        type: 'user',
        message: { role: 'user', content: prompt },
        parent_tool_use_id: null,
        session_id: '',
      })
  }

  /** A host that permits and accepts whatever it is asked for. @param {Message} message */
  #allow({ request_id, request }) {
    const answers = {
      can_use_tool: { behavior: 'allow', updatedInput: request.input },
      elicitation: { action: 'accept', content: { name: 'host' } },
    }
    const response = answers[/** @type {keyof typeof answers} */ (request.subtype)]
    if (response === undefined) return
    this.#say({ type: 'control_response', response: { subtype: 'success', request_id, response } })
  }

  /** @param {object} message */
  #say(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
  }
}

/** @param {Case} one @param {Stage} stage @param {readonly string[]} args */
function argumentsOf({ run = {}, tool_name }, stage, args) {
  const allowed = [
    ...(run.turns ?? []).flatMap(({ tools = [] }) => tools.map(({ name }) => name)),
    ...(tool_name ? [tool_name] : []),
  ]
  return [
    ...['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
    ...['--include-hook-events', '--model', MODEL, '--settings', stage.settings],
    ...(run.hostless ? [] : ['--permission-prompt-tool', 'stdio']),
    ...(run.ask || allowed.length === 0 ? [] : ['--allowedTools', [...new Set(allowed)].join(',')]),
    ...stage.plugins.flatMap((path) => ['--plugin-dir', path]),
    ...args.map((arg) => stage.filled(arg)),
  ]
}

/** For a person: what the model was shown, and what Claude Code said. @param {import('./observation.mjs').Log} log */
function* told({ messages, all, stage }) {
  const seen = new Set()
  for (const { role, body } of all) {
    for (const message of body.messages) {
      // What Claude Code always tells is not about hooks.
      const text = stage
        .emptied(textOf(message))
        .replace(/<system-reminder>(?![\s\S]{0,40} hook )[\s\S]*?<\/system-reminder>/g, '')
        .trim()
      const line = `${role} <- ${message.role}: ${text.slice(-600)}`
      if (text && !seen.has(line)) yield line
      seen.add(line)
    }
  }
  for (const { session_id: _, uuid: __, timestamp: ___, ...message } of messages) {
    if (message.type === 'result')
      yield `result: ${message.terminal_reason} ${message.subtype} ${message.result ?? ''}`
    else if (message.subtype !== 'init' && message.type !== 'assistant')
      yield `said: ${stage.emptied(JSON.stringify(message)).slice(0, 700)}`
  }
}
