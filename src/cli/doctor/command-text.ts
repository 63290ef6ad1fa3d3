// When two commands are the same, though one has other blanks and quotes, or says a folder in another way.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import { ownCommand } from '../../hosts/own-command.js'

/** With blanks as they may be, and folders under one name. Undefined where it runs no command. */
export function commandText(spec: ConfiguredHook): string | undefined {
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

export function plainCommand(command: string, projectDir: string): string {
  const own = ownCommand({ command })
  if (own?.call === 'hook') return `carabiner hook ${own.name}`
  return command
    .replace(/["']/g, '')
    .replace(/\$\{?(?:CLAUDE|AMPLIFIER)_PROJECT_DIR\}?/g, () => projectDir)
    .replaceAll(`${projectDir}/`, './')
    .replace(/\s+/g, ' ')
    .trim()
}

export function eventsOf({ hook: { events } }: ConfiguredHook): readonly string[] {
  return events === 'all' ? ['*'] : [...events]
}
