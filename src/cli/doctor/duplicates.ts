// The same command twice: in several files of ours, or here and in the settings of an agent on this machine.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import { resolveEvent } from '../../core/events/events.js'
import type { Matcher } from '../../core/hooks/matcher.js'
import { PACK_NAMES } from '../../hosts/pack-names.js'
import { registrationProblems, settingsFiles } from '../../pack/registrations.js'
import { counted, grouped, placeOf, shortPath } from '../print/lines.js'
import { version } from '../version.js'
import { type AgentCommand, agentCommands } from './agent-files.js'
import { commandText, eventsOf, plainCommand } from './command-text.js'
import { type Facts, type Written, wanted } from './facts.js'
import type { Checked, Finding } from './finding.js'
import { KNOWN_TOOLS } from './matchers.js'
import { takenOver } from './taken-over.js'

export function duplicates(facts: Facts): Checked {
  const { files, commands } = agentCommands(facts)
  return {
    what: `${counted(facts.specs.length, 'hook')} against each other, and ${counted(files.length, 'file')} of other agents`,
    findings: [
      ...among(wanted(facts)),
      ...elsewhere(wanted(facts), commands, files),
      ...takenOver(facts, commands),
      ...registered(facts),
      ...firedTwice(commands),
    ],
  }
}

// ---- among ours -----------------------------------------------------------------------------------------------

/** Each is held against those before it. */
const MOST_ALIKE = 200

/** Groups of one command on one event; a later one is the duplicate. */
function among(those: readonly Written[]): readonly Finding[] {
  const commands = those.filter(({ spec }) => commandText(spec) !== undefined)
  const groups = grouped(commands, ({ spec }) =>
    [...eventsOf(spec), ruleOf(spec), commandText(spec)].join('\0'),
  )
  return [...groups.values()].flatMap((group) =>
    group.slice(0, MOST_ALIKE).flatMap((one, i) => {
      const first = group.slice(0, i).find((other) => meet(other.spec, one.spec))
      return first ? [twice(one, first)] : []
    }),
  )
}

function twice({ spec, where }: Written, first: Written): Finding {
  const isOnce = spec.hook.sameAs !== undefined && spec.hook.sameAs === first.spec.hook.sameAs
  const place = placeOf(first.where)
  return {
    severity: isOnce ? 'note' : 'warning',
    code: 'duplicate',
    ...where,
    text: `${first.where.hook} (${place}) runs the same command on the same event; ${
      isOnce ? 'where both match, it runs once' : 'where both match, it runs twice'
    }`,
    fix: `Remove one of them: ${placeOf(where)} or ${place}.`,
  }
}

/** Two rules are two hooks. */
function ruleOf(spec: ConfiguredHook): string {
  return ('common' in spec && spec.common.if) || ''
}

/** Whether one value fits both: names in their patterns, and the tools that are known. */
function meet({ hook: a }: ConfiguredHook, { hook: b }: ConfiguredHook): boolean {
  const [event] = a.events === 'all' ? [] : a.events
  if (event !== undefined && resolveEvent(event).matcher === null) return true
  if (a.matcher === null || b.matcher === null || a.matcher.pattern === b.matcher.pattern) return true
  const values = [...KNOWN_TOOLS, ...wordsOf(a.matcher), ...wordsOf(b.matcher)]
  return values.some((value) => a.matcher?.test(value) && b.matcher?.test(value))
}

function wordsOf({ pattern }: Matcher): readonly string[] {
  return pattern.match(/[\w-]+/g) ?? []
}

// ---- here and there -------------------------------------------------------------------------------------------

function elsewhere(
  those: readonly Written[],
  commands: readonly AgentCommand[],
  files: readonly string[],
): readonly Finding[] {
  return those.flatMap(({ spec, where }) => {
    const text = commandText(spec)
    // A file that was named is the agent's own: there is no other.
    if (text === undefined || files.includes(spec.hook.origin.file ?? '')) return []
    const events = eventsOf(spec)
    const same = commands.find(
      ({ event, command }) =>
        (event === undefined || events.includes(event)) &&
        plainCommand(command, spec.place.projectDir) === text,
    )
    if (!same) return []
    const place = placeOf(same)
    return [
      {
        severity: 'warning',
        code: 'runs-elsewhere',
        ...where,
        text: `${same.agent} runs the same command itself (${place}): where Carabiner answers for it, it runs twice`,
        fix: `Remove one of them: ${placeOf(where)} or ${place}.`,
      } satisfies Finding,
    ]
  })
}

/** What setup wrote into Claude Code's settings, and what became of it. */
function registered({ home, project }: Facts): readonly Finding[] {
  const places = settingsFiles(home, project, process.env)
  const script = process.argv[1] ?? ''
  return registrationProblems(places, PACK_NAMES, { script, version }).map((text) => {
    const [what = text, ...todo] = text.split('; ')
    const place = places.find(({ file }) => text.includes(file))
    return {
      severity: /not there|not valid/.test(text) ? 'broken' : 'warning',
      code: 'registration',
      ...(place && { file: place.file }),
      text: shortened(what, home),
      fix: shortened(todo.join('; ') || 'carabiner setup claude-code puts it right', home),
    }
  })
}

const FIRES = /\bcarabiner(?:\.js)?["']?\s+fire\b/

/** Carabiner itself in two files of one agent: each event is judged twice. */
function firedTwice(commands: readonly AgentCommand[]): readonly Finding[] {
  const firing = commands.filter(({ command }) => FIRES.test(command))
  return [...grouped(firing, ({ agent, event }) => `${agent} ${event}`).values()].flatMap((group) => {
    const [first, second] = [...new Map(group.map((one) => [one.file, one])).values()]
    if (!first || !second) return []
    return [
      {
        severity: 'warning',
        code: 'registration',
        file: second.file,
        line: second.line,
        text: `${second.agent} has carabiner fire for ${second.event} here and at ${placeOf(first)}: every hook is asked twice`,
        fix: `Remove one of them: ${placeOf(second)} or ${placeOf(first)}.`,
      } satisfies Finding,
    ]
  })
}

function shortened(text: string, home: string): string {
  return text.replaceAll(/\/[^\s,;]+/g, (path) => (path.startsWith(home) ? shortPath(path) : path))
}
