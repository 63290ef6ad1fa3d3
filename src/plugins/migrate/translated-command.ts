// Which programs need a translator under another agent, and the command that runs a program with one.

import { isDeepStrictEqual } from 'node:util'
import { resolveEvent } from '../../core/events/events.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import type { AgentHook } from '../../hosts/hook-files/agent-hook.js'
import type { AgentSystem } from '../../hosts/hook-files/agent-system.js'
import { hostNamed, limitOf, shareOf } from '../../hosts/hosts.js'
import { WITHOUT_CODE } from '../../hosts/own-command.js'

/**
 * `own`: the other agent sends what the program reads, and reads what it answers. `translated`: Carabiner stands between
 * them. `foreign`: nothing can, so its deny is lost.
 */
export type Speech = 'own' | 'translated' | 'foreign'

/** `tools` are Claude Code's names of the tools that the hook is for; none if its event is not about a tool. */
export function speechOf(from: AgentSystem, to: AgentSystem, tools: readonly string[]): Speech {
  if (from.name === to.name) return 'own'
  const isAlike = from.speaksClaude !== undefined && to.speaksClaude === 'fully'
  if (isAlike && callsAlike(from, to, tools)) return 'own'
  if (hostNamed(to.name)) return 'translated'
  return isAlike ? 'own' : 'foreign'
}

/** A program that looks for `Bash` lets `run_shell_command` pass. */
function callsAlike(from: AgentSystem, to: AgentSystem, tools: readonly string[]): boolean {
  return tools.every((tool) => isDeepStrictEqual(calledAs(from, tool), calledAs(to, tool)))
}

/** The agent's name of a tool, and of its fields. */
function calledAs({ tools, agent }: AgentSystem, tool: string) {
  const name = tools[tool]?.[0] ?? tool
  return { name, fields: agent.tools?.[name]?.fields ?? {} }
}

export interface Translated {
  readonly from: AgentSystem
  readonly to: AgentSystem
  readonly hook: AgentHook
  /** Canonical. */
  readonly event: string
  /** The command line of the program, for a shell. */
  readonly program: string
  /** Seconds until the other agent gives up on it. */
  readonly seconds: number | undefined
  readonly failsClosed: boolean
}

/**
 * For a file that other people may get: the program is found by its name. Without Carabiner a gate stays closed, and says
 * why. For sh, zsh and fish.
 */
export function translatedCommand(given: Translated): string {
  const { from, to, hook, event, program, seconds, failsClosed } = given
  const host = hostNamed(to.name)
  const limit = seconds ?? (host ? limitOf(host, event) : to.timeout)
  const pattern = commandPatternOf(from, hook)
  const words = [
    'carabiner',
    'fire',
    event,
    '--as',
    to.name,
    '--timeout',
    String(shareOf(limit)),
    '--for',
    `${from.name}:${hook.event}`,
    // A value may begin with a dash.
    ...(pattern === undefined ? [] : [`--when=${pattern}`]),
    ...(failsClosed ? ['--fail-closed'] : []),
    `--run=${program}`,
  ]
  return `${unlessInstalled(event)} ${[...WITHOUT_CODE, ...words.map(shellQuoted)].join(' ')}`
}

function unlessInstalled(event: string): string {
  const exit = resolveEvent(event).deny === 'block' ? 2 : 1
  return `command -v carabiner > /dev/null || exec sh -c 'echo "This hook needs Carabiner, and there is no carabiner on the path" >&2; exit ${exit}';`
}

/** What the text of a shell command must fit, which other agents do not compare. */
function commandPatternOf(from: AgentSystem, { event, matcher, commandPattern }: AgentHook) {
  const isOver = from.events[event]?.over === 'command'
  if (isOver && typeof matcher === 'string' && matcher !== '' && matcher !== '*') return matcher
  return commandPattern
}

/** The command without the time that it may take, to find it again after somebody has changed that. */
export function withoutTime(command: string): string {
  return command.replace(/( carabiner fire \S+ --as \S+) --timeout [\d.]+/, '$1')
}
