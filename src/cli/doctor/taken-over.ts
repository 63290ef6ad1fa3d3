// Hooks that Claude Code's settings had before Carabiner changed them, and that nobody runs since.

import { join } from 'node:path'
import { realOf } from '../../files/within.js'
import { ownCommand, userSettingsFolder } from '../../hosts/own-command.js'
import { SetupRecord } from '../../hosts/setup-record.js'
import { placeOf } from '../print/lines.js'
import { typedTrust } from '../print/typed.js'
import { undoOf } from '../why/undo.js'
import { type AgentCommand, commandsIn } from './agent-files.js'
import { commandText, eventsOf, plainCommand } from './command-text.js'
import { type Facts, type Written, written } from './facts.js'
import type { Finding } from './finding.js'

/** `now`: what agents run themselves. */
export function takenOver(facts: Facts, now: readonly AgentCommand[]): readonly Finding[] {
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

/** Commands in texts that settings of Claude Code had before they were replaced. */
function replaced({ home, project }: Facts): readonly AgentCommand[] {
  const files = [
    join(userSettingsFolder(home, process.env), 'settings.json'),
    ...['settings.json', 'settings.local.json'].map((name) => join(project, '.claude', name)),
  ]
  return files.flatMap((file) =>
    new SetupRecord(realOf(file)).replaced().flatMap((text) => commandsIn(AGENT, file, text) ?? []),
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
    modified: () => typedTrust([origin.source], sources),
    disabled: () => undoOf({ id, scope: origin.scope, source: origin.source }, spec, project),
  }
  const why = state === 'ready' ? 'Claude Code does not ask Carabiner' : `here it is ${state}`
  return {
    severity: 'warning',
    code: 'nobody-runs',
    ...where,
    text: `${placeOf({ file })} does not have it any more since it was migrated, and ${why}: nobody runs it`,
    fix: fixes[state](),
  }
}
