// Hook commands in the files of agents on this machine, with what is wrong with those files.

import { holdsGroups, knownEvent, unknownEvent } from '../../config/stray-names.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { JsonText, under } from '../../files/json-text.js'
import { type AgentFile, agentFiles, eventOf } from '../../hosts/registrations.js'
import { finding } from './configuration.js'
import type { Finding } from './finding.js'

export interface AgentCommand {
  readonly agent: string
  /** Our event with that name or alias, if any. */
  readonly event: string | undefined
  readonly command: string
  readonly file: string
  readonly line: number
  /** Registers our hooks in that file. */
  readonly setup: string
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

export async function agentCommands(project: string): Promise<AgentCommands> {
  const read = (await agentFiles(project)).map((file) => ({
    ...file,
    agent: file.host.title,
    problems: problemsIn(file.host.title, file.path, file.text),
  }))
  const isReadable = ({ problems }: (typeof read)[number]) =>
    problems.every(({ code }) => code !== 'config-invalid')
  return {
    files: read.filter(isReadable).map(({ path }) => path),
    commands: read.flatMap(commandsIn),
    problems: read.flatMap(({ agent, problems }) => problems.map((one) => ({ ...one, agent }))),
    texts: read.map(({ agent, path, text }) => ({ agent, file: path, text })),
  }
}

/** In the text that the file has, or had. */
export function commandsIn({ host, setup, path, isProject, commands }: CommandFile): readonly AgentCommand[] {
  return commands.slice(0, MOST_COMMANDS).map((one) => ({
    agent: host.title,
    event: eventOf(setup, one),
    command: one.command,
    file: path,
    line: one.line ?? 1,
    setup: `carabiner setup ${host.name}${isProject ? ' --project' : ''}`,
  }))
}

type CommandFile = Pick<AgentFile, 'host' | 'setup' | 'path' | 'isProject' | 'commands'>

const MOST_COMMANDS = 2000

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

function isJson(file: string): boolean {
  return file.endsWith('.json')
}
