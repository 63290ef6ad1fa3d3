// Commands that run twice: in several of our files, or here and in an agent's own settings; and migrated ones that nobody runs.

import { dirname, join } from 'node:path'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import { KNOWN_TOOLS } from '../../config/matcher-slips.js'
import { resolveEvent } from '../../core/events/events.js'
import type { Matcher } from '../../core/hooks/matcher.js'
import { callerEnv } from '../../files/caller.js'
import { realOf } from '../../files/within.js'
import { claudeCode } from '../../hosts/claude-code/host.js'
import { userSettings } from '../../hosts/claude-code/settings.js'
import { setup } from '../../hosts/claude-code/setup.js'
import { userSettingsFolder } from '../../hosts/claude-code/user-folder.js'
import { HOSTS } from '../../hosts/hosts.js'
import { looseCall, ownCommand } from '../../hosts/own-command.js'
import { SetupRecord } from '../../hosts/setup-record.js'
import { counted, grouped, placeOf } from '../print/lines.js'
import { typedTake, typedTrust } from '../print/next-command.js'
import { proxiedServers } from '../setup/proxied-servers.js'
import { undoOf } from '../why/advice.js'
import { type AgentCommand, agentCommands, commandsIn } from './agent-files.js'
import { type Facts, type Written, wanted, written } from './facts.js'
import type { Checked, Finding } from './finding.js'

export async function duplicates(facts: Facts): Promise<Checked> {
  const { files, commands, problems } = await agentCommands(facts.project)
  const findings = [
    ...among(wanted(facts)),
    ...elsewhere(wanted(facts), commands, files),
    ...takenOver(facts, commands),
    ...firedTwice(commands),
    ...judgedTwice(facts, commands),
    ...problems.flatMap(({ agent, ...finding }) => (agent === AGENT ? [] : [finding])),
  ]
  const compared = `${counted(facts.specs.length, 'hook')}, ${counted(files.length, 'settings file')} of agents`
  return { what: findings.length === 0 ? 'none' : compared, findings }
}

// ---- among our files -----------------------------------------------------------------------------------------------

/** Bounds the comparison of each hook with those before it. */
const MOST_ALIKE = 200

/** Groups hooks by event, rule and command; a later one is the duplicate. */
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

/** Different `if` rules make different hooks. */
function ruleOf(spec: ConfiguredHook): string {
  return ('common' in spec && spec.common.if) || ''
}

/** Whether some known tool, or a word in either pattern, matches both. */
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

// ---- here and in an agent's settings -------------------------------------------------------------------------------------------

function elsewhere(
  those: readonly Written[],
  commands: readonly AgentCommand[],
  files: readonly string[],
): readonly Finding[] {
  return those.flatMap(({ spec, where }) => {
    const text = commandText(spec)
    // A file given with --config is the agent's own file: there is no second copy.
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
        fix:
          dirname(same.file) === join(spec.place.projectDir, '.claude')
            ? 'carabiner migrate --write --remove-source'
            : `Remove one of them: ${placeOf(where)} or ${place}.`,
      } satisfies Finding,
    ]
  })
}

/** If two files of one agent call Carabiner, each event is judged twice, unless the agent sees that they are equal. */
function firedTwice(commands: readonly AgentCommand[]): readonly Finding[] {
  const firing = commands.filter(({ command }) => looseCall(command) === 'fire')
  return [...grouped(firing, ({ agent, event }) => `${agent} ${event}`).values()].flatMap((group) => {
    const [first, second] = [...new Map(group.map((one) => [one.file, one])).values()]
    if (!first || !second) return []
    const isEqual = new Set(group.map(({ command }) => command)).size === 1
    const isOnce =
      isEqual && HOSTS.some(({ title, runsEqualOnce }) => title === second.agent && runsEqualOnce)
    const effect = isOnce ? 'it runs equal commands once' : 'every hook runs twice'
    return [
      {
        severity: isOnce ? 'note' : 'warning',
        code: 'registration',
        file: second.file,
        line: second.line,
        text: `${second.agent} has carabiner fire for ${second.event} here and at ${placeOf(first)}: ${effect}`,
        fix: `Remove one of them: ${placeOf(second)} or ${placeOf(first)}.`,
      } satisfies Finding,
    ]
  })
}

/** An agent that fires MCP calls itself, and has its servers behind the proxy. */
function judgedTwice({ project }: Facts, commands: readonly AgentCommand[]): readonly Finding[] {
  return proxiedServers(project).flatMap(({ client, file, names }): readonly Finding[] => {
    const title = HOSTS.find(({ name }) => name === client.host)?.title
    const firing = commands.find(({ agent, command }) => agent === title && looseCall(command) === 'fire')
    if (!firing) return []
    const text = `${names.join(', ')}: ${client.title} runs hooks for MCP tools (${placeOf(firing)}), and so does carabiner mcp: each call is judged twice`
    const fix = `carabiner setup --mcp ${client.name} --remove`
    return [{ severity: 'warning', code: 'judged-twice', file, text, fix }]
  })
}

// ---- when two commands are the same ---------------------------------------------------------------------------

/** Normalises blanks, quotes and spellings of folders. Undefined if the hook runs no command. */
function commandText(spec: ConfiguredHook): string | undefined {
  if (spec.type !== 'command') return undefined
  const { command, args = [] } = spec.handler
  const { projectDir, hooksDir, plugin, skillDir } = spec.place
  const text = [command, ...args]
    .join(' ')
    .replace(/\$\{?AMPLIFIER_HOOKS_DIR\}?/g, () => hooksDir)
    .replace(/\$\{?(?:CLAUDE_)?PLUGIN_ROOT\}?/g, () => plugin?.root ?? '')
    .replace(/\$\{?(?:CLAUDE|AMPLIFIER)_SKILL_DIR\}?/g, () => skillDir ?? '')
  return plainCommand(text, projectDir)
}

function plainCommand(command: string, projectDir: string): string {
  const own = ownCommand({ command })
  if (own?.call === 'hook') return `carabiner hook ${own.name}`
  return command
    .replace(/["']/g, '')
    .replace(/\$\{?(?:CLAUDE|AMPLIFIER)_PROJECT_DIR\}?/g, () => projectDir)
    .replaceAll(`${projectDir}/`, './')
    .replace(/\s+/g, ' ')
    .trim()
}

function eventsOf({ hook: { events } }: ConfiguredHook): readonly string[] {
  return events === 'all' ? ['*'] : [...events]
}

// ---- migrated from Claude Code's settings, and run by nobody since --------------------------------------------

/** `now` holds the commands that agents run themselves. */
function takenOver(facts: Facts, now: readonly AgentCommand[]): readonly Finding[] {
  const before = replaced(facts)
  if (before.length === 0) return []
  const isFired = now.some(
    ({ agent, command }) => agent === AGENT && ownCommand({ command })?.call === 'fire',
  )
  return facts.specs.map(written).flatMap((one) => {
    const was = before.find((command) => isSame(command, one))
    if (!was || now.some((command) => command.agent === AGENT && isSame(command, one))) return []
    const listed = facts.hooks.find(({ id }) => id === one.spec.hook.id)
    const state = one.spec.disabled === undefined ? (listed?.state ?? 'ready') : 'disabled'
    if (state === 'ready' && isFired) return []
    return [orphan(one, was, state, facts)]
  })
}

const AGENT = 'Claude Code'

function isSame({ event, command }: AgentCommand, { spec }: Written): boolean {
  return (
    event !== undefined &&
    eventsOf(spec).includes(event) &&
    plainCommand(command, spec.place.projectDir) === commandText(spec)
  )
}

/** Commands that Claude Code's settings had before Carabiner replaced them. */
function replaced({ home, project }: Facts): readonly AgentCommand[] {
  const files = [
    join(userSettingsFolder(home, callerEnv()), 'settings.json'),
    ...['settings.json', 'settings.local.json'].map((name) => join(project, '.claude', name)),
  ]
  const { form } = userSettings()
  return files.flatMap((file) =>
    new SetupRecord(realOf(file))
      .replaced()
      .flatMap((text) =>
        commandsIn({ host: claudeCode, setup, path: file, isProject: false, commands: form.commands(text) }),
      ),
  )
}

type State = Facts['hooks'][number]['state']

function orphan(
  { spec, where }: Written,
  { file }: AgentCommand,
  state: State,
  { sources, project }: Facts,
): Finding {
  const { id, origin } = spec.hook
  const fixes: Readonly<Record<State, () => string>> = {
    ready: () => 'carabiner setup claude-code --engine',
    untrusted: () => typedTrust([origin.source], sources),
    modified: () => typedTake(sources),
    disabled: () => undoOf({ id, scope: origin.scope, source: origin.source }, spec, project),
  }
  const why = state === 'ready' ? 'Claude Code does not run Carabiner' : `here it is ${state}`
  return {
    severity: 'warning',
    code: 'nobody-runs',
    ...where,
    text: `${placeOf({ file })} no longer has it since it was migrated, and ${why}: nothing runs it`,
    fix: fixes[state](),
  }
}
