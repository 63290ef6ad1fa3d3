// A plugin that runs inside an agent: a few lines that pass each event on to our commands, and apply their answers.

import { isObject } from '../../core/base/json.js'
import { resolveEvent } from '../../core/events/events.js'
import { closesOnFailure } from '../../core/hooks/hook.js'
import { PLUGIN_MARK } from '../answer.js'
import type { Entry, Form, FormCommand } from '../host-setup.js'
import { ownFile } from './own-file.js'

/**
 * `agent`: its name for setup. `bindings`: JavaScript that calls `ask(EVENT, payload)` for the events of the agent, shows
 * `message` of the answer to the person, and defines `read(answer)`, which returns an answer as `answerPlugin` has it, and `withInput(payload, input)`.
 */
export function pluginFile(agent: string, bindings: string): Form {
  return ownFile({
    text: (entries) => pluginText(agent, entries, bindings),
    isWritten: (text) => text.startsWith(FIRST),
    commands: commandsIn,
  })
}

const FIRST = '// Asks Carabiner before tools run. Written by carabiner setup'

/**
 * It imports nothing: agents skip a plugin that cannot be loaded, without a word. Whatever goes wrong when Carabiner is asked
 * before something happens is a refusal. Our own bundler would rewrite an import in this text, too.
 */
function pluginText(agent: string, entries: readonly Entry[], bindings: string): string {
  return `${FIRST} ${agent}, and removed by carabiner setup ${agent} --remove.

const COMMANDS = ${JSON.stringify(byEvent(entries))}

/** Every answer has it. Anything else is not an answer, not even an empty object. */
const MARK = ${JSON.stringify(PLUGIN_MARK)}

/** Events that a command must allow: if it cannot be asked, that is a refusal. Elsewhere, it is a message to the person. */
const GATES = ${JSON.stringify(gatesIn(entries))}

/** Asks all commands of an event, one after the other. The first that refuses decides. */
async function ask(event, payload) {
  const told = {}
  for (const [command, seconds] of COMMANDS[event] ?? []) {
    let answer
    try {
      answer = await run(command, seconds, payload)
    } catch (error) {
      const problem = \`Carabiner could not be asked: \${error?.message ?? error}\`
      answer = GATES.includes(event) ? { deny: problem } : { message: problem }
    }
    for (const key of ['context', 'message'])
      if (answer[key]) told[key] = [told[key], answer[key]].filter(Boolean).join('\\n\\n')
    if (answer.deny !== undefined) return { deny: answer.deny, context: told.context, message: told.message }
    for (const key of ['input', 'output', 'prompt']) if (answer[key] !== undefined) told[key] = answer[key]
    if (answer.input !== undefined) payload = withInput(payload, answer.input)
  }
  return told
}

async function run(command, seconds, payload) {
  const { spawn } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {}
    }
    const timer = setTimeout(() => {
      end()
      reject(new Error(\`it took longer than \${seconds} seconds\`))
    }, seconds * 1000)
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (err += text))
    child.stdin.on('error', () => {})
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      try {
        const said = out.trim() === '' ? undefined : JSON.parse(out)
        const isOurs = Object.entries(MARK).every(([key, value]) => said?.[key] === value)
        const answer = isOurs ? read(said) : undefined
        if (code !== 0 && answer?.deny === undefined) throw new Error(\`it exited with \${code}\`)
        if (answer === undefined) throw new Error('its output is not an answer of Carabiner')
        resolve(answer)
      } catch (error) {
        reject(new Error(err.trim() || error.message))
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

/** Changes an object in place: agents look at the one that they handed out. */
function replace(object, values) {
  for (const key of Object.keys(object)) if (!(key in values)) delete object[key]
  Object.assign(object, values)
}

${bindings.trim()}
`
}

function gatesIn(entries: readonly Entry[]): readonly string[] {
  const events = new Set(entries.map(({ event }) => event))
  return [...events].filter((event) => closesOnFailure(resolveEvent(event), 'byEvent', false))
}

type Asked = readonly (readonly [command: string, seconds: number])[]

function byEvent(entries: readonly Entry[]): Readonly<Record<string, Asked>> {
  const commands: Record<string, Asked> = {}
  for (const { event, command, timeout = 60 } of entries)
    commands[event] = [...(commands[event] ?? []), [command, timeout]]
  return commands
}

function commandsIn(text: string): readonly FormCommand[] {
  const found = /^const COMMANDS = (.*)$/m.exec(text)
  const [, json = '{}'] = found ?? []
  const line = text.slice(0, found?.index).split('\n').length
  try {
    const parsed: unknown = JSON.parse(json)
    return Object.entries(isObject(parsed) ? parsed : {}).flatMap(([event, list]) =>
      (Array.isArray(list) ? list : []).flatMap((one: unknown) => {
        const command: unknown = Array.isArray(one) ? one[0] : undefined
        return typeof command === 'string' ? [{ event, command, line }] : []
      }),
    )
  } catch {
    return []
  }
}
