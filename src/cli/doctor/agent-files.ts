// Hook commands in other agents' settings on this machine, read as untrusted text.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { holdsGroups, knownEvent, unknownEvent } from '../../config/stray-names.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { canonicalEvent } from '../../core/events/events.js'
import { callerEnv } from '../../files/caller.js'
import { type JsonPath, JsonText, under } from '../../files/json-text.js'
import { readPlain } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import { HOSTS } from '../../hosts/hosts.js'
import { looseCall, userSettingsFolder } from '../../hosts/own-command.js'
import { finding } from './configuration.js'
import type { Facts } from './facts.js'
import type { Finding } from './finding.js'

export interface AgentCommand {
  readonly agent: string
  /** Our event with that name or alias, if any. */
  readonly event: string | undefined
  readonly command: string
  readonly file: string
  readonly line: number
}

export interface AgentCommands {
  /** Files that exist and could be read. */
  readonly files: readonly string[]
  readonly commands: readonly AgentCommand[]
  /** Files that the agent cannot read, and events of Claude Code that are misspelt: those hooks never run. */
  readonly problems: readonly AgentFinding[]
  /** Every file that exists, also if the agent cannot read it. */
  readonly texts: readonly { readonly agent: string; readonly file: string; readonly text: string }[]
}

export interface AgentFinding extends Finding {
  readonly agent: string
}

type Place = readonly [agent: string, file: string]

/** Looked for below both the project and the home folder. */
const FILES: readonly Place[] = HOSTS.flatMap(({ title, hookFile }) =>
  hookFile === undefined ? [] : [[title, hookFile]],
)

export function agentCommands({ project, home }: Pick<Facts, 'project' | 'home'>): AgentCommands {
  const claude = userSettingsFolder(home, callerEnv())
  const places: readonly Place[] = [
    ['Claude Code', join(claude, 'settings.json')],
    ...['settings.json', 'settings.local.json'].map(
      (name): Place => ['Claude Code', join(project, '.claude', name)],
    ),
    ...[home, project].flatMap((base) => FILES.map(([agent, file]): Place => [agent, join(base, file)])),
    ...copilotFiles(project),
  ]
  const distinct = [...new Map(places.map((place) => [place[1], place])).values()]
  const read = distinct.flatMap(([agent, file]) => {
    const text = textOf(file)
    if (text === undefined) return []
    const problems = problemsIn(agent, file, text).map((one): AgentFinding => ({ ...one, agent }))
    return [{ agent, file, text, commands: commandsIn(agent, file, text), problems }]
  })
  return {
    files: read.flatMap(({ file, commands }) => (commands ? [file] : [])),
    commands: read.flatMap(({ commands = [] }) => commands),
    problems: read.flatMap(({ problems }) => problems),
    texts: read,
  }
}

function copilotFiles(project: string): readonly Place[] {
  const folder = join(project, '.github', 'hooks')
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .slice(0, 100)
      .map((name) => ['Copilot', join(folder, name)])
  } catch {
    return [] // no such folder
  }
}

const MOST_BYTES = 4 * 1024 * 1024

/** Undefined if there is no such file, or it is none that an agent would read. */
function textOf(file: string): string | undefined {
  try {
    const found = readPlain(realOf(file), MOST_BYTES)
    return 'problem' in found ? undefined : found.text
  } catch {
    return undefined // no such file
  }
}

function problemsIn(agent: string, file: string, text: string): readonly Finding[] {
  if (!isJson(file)) return []
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed) {
    const { problem, line } = parsed
    const what = `the file is not valid JSON: ${problem}. ${agent} runs none of its hooks`
    const notice: Diagnostic = { code: 'config-invalid', text: what, file, line }
    return text.trim() === '' ? [] : [finding(notice)]
  }
  const { hooks } = isObject(parsed.value) ? parsed.value : {}
  if (agent !== 'Claude Code' || !isObject(hooks)) return []
  return Object.keys(hooks).flatMap((name) => {
    const { text: what, meant } = unknownEvent(name)
    if (knownEvent(name) || !holdsGroups(hooks[name]) || meant === undefined) return []
    return [
      finding({
        code: 'unknown-event',
        text: what,
        file,
        line: json.lineOf(under(under(null, 'hooks'), name)),
      }),
    ]
  })
}

/** Reads the text that the file has, or had. Undefined if the agent itself could not read it. */
export function commandsIn(agent: string, file: string, text: string): readonly AgentCommand[] | undefined {
  if (!isJson(file)) return ownStrings(agent, file, text)
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed || !isObject(parsed.value)) return undefined
  const commands: AgentCommand[] = []
  const at = under(null, 'hooks')
  for (const [name, groups] of Object.entries(isObject(parsed.value.hooks) ? parsed.value.hooks : {})) {
    const event = canonicalEvent(name)
    walk(groups, under(at, name), 0, (command, place) =>
      commands.push({ agent, event, command, file, line: json.lineOf(place) }),
    )
  }
  return commands
}

function isJson(file: string): boolean {
  return file === '' || file.endsWith('.json')
}

/** Commands of ours, which setup writes as strings into files of any kind. */
function ownStrings(agent: string, file: string, text: string): readonly AgentCommand[] {
  return [...text.matchAll(/"(?:[^"\\\n]|\\.)*"/g)].flatMap(({ 0: literal, index }) => {
    const command = looseCall(literal) === undefined ? undefined : stringIn(literal)
    if (command === undefined) return []
    const event = canonicalEvent(/ ([A-Z]\w+)$/.exec(command)?.[1] ?? '')
    return [{ agent, event, command, file, line: text.slice(0, index).split('\n').length }]
  })
}

function stringIn(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string
  } catch {
    return undefined // not a string that setup wrote
  }
}

/** Events hold groups, groups hold hooks: no agent nests deeper. */
const DEEPEST = 5
const MOST_COMMANDS = 2000

function walk(
  value: unknown,
  at: JsonPath,
  depth: number,
  take: (command: string, at: JsonPath) => number,
): void {
  if (depth > DEEPEST || typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    const where = under(at, Array.isArray(value) ? Number(key) : key)
    if ((key === 'command' || key === 'bash') && typeof item === 'string') {
      if (take(item, where) >= MOST_COMMANDS) return
    } else walk(item, where, depth + 1, take)
  }
}
