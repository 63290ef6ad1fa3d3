// Every agent whose payloads are read and whose answers are written, and which of them sent a payload.

import type { Data } from '../core/base/json.js'
import { amazonQ } from './amazon-q/host.js'
import { claudeCode, ownEngine } from './claude-code/host.js'
import { cline } from './cline/host.js'
import { codex } from './codex/host.js'
import { copilot } from './copilot/host.js'
import { crush } from './crush/host.js'
import { cursor } from './cursor/host.js'
import { droid } from './droid/host.js'
import { gemini } from './gemini/host.js'
import { goose } from './goose/host.js'
import { type HostDialect, isIsoTime } from './host-dialect.js'
import { kimi } from './kimi/host.js'
import { letta } from './letta/host.js'
import { openhands } from './openhands/host.js'
import { qwen } from './qwen/host.js'
import { vscode } from './vscode/host.js'
import { windsurf } from './windsurf/host.js'

/** In the order in which they are held against a payload: what is like nothing else first. */
const HOSTS = [
  windsurf,
  cline,
  cursor,
  letta,
  openhands,
  goose,
  crush,
  kimi,
  codex,
  qwen,
  droid,
  amazonQ,
  gemini,
  vscode,
  copilot,
  claudeCode,
] as const

export type HostName = (typeof HOSTS)[number]['name']
export type Host = HostDialect<HostName>

export const HOST_NAMES: readonly HostName[] = HOSTS.map(({ name }) => name).toSorted()

export function hostNamed(name: string): Host | undefined {
  return HOSTS.find((host) => host.name === name)
}

/**
 * Whoever sent it; Claude Code where nobody else fits. `event` is what the payload calls it, without case and
 * separators.
 */
export function hostOf(payload: Data, event: string, env: NodeJS.ProcessEnv = {}): Host {
  if (isOurs(payload, env)) return ownEngine
  return HOSTS.find((host) => host.sends(payload, event)) ?? claudeCode
}

/** An engine of ours, or Amplifier's, speaks Claude Code's dialect with a time, as some agents do. */
function isOurs(payload: Data, env: NodeJS.ProcessEnv): boolean {
  const name = payload.hook_event_name
  return Boolean(env.AMPLIFIER_HOOKS_DIR) && typeof name === 'string' && isIsoTime(payload.timestamp)
}
