// The table of hosts, one row each. Names, types, completion and lookups derive from it.

import type { Data } from '../core/base/json.js'
import { amazonQ } from './amazon-q/host.js'
import { antigravity } from './antigravity/host.js'
import { claudeCode, ownEngine } from './claude-code/host.js'
import { cline } from './cline/host.js'
import { clineCore } from './cline-core/host.js'
import { codex } from './codex/host.js'
import { copilot } from './copilot/host.js'
import { crush } from './crush/host.js'
import { cursor } from './cursor/host.js'
import { devin } from './devin/host.js'
import { droid } from './droid/host.js'
import { gemini } from './gemini/host.js'
import { goose } from './goose/host.js'
import { grok } from './grok/host.js'
import { type Agent, type Host, isIsoTime } from './host.js'
import { kimi } from './kimi/host.js'
import { kiro } from './kiro/host.js'
import { letta } from './letta/host.js'
import { opencode } from './opencode/host.js'
import { openhands } from './openhands/host.js'
import { pi } from './pi/host.js'
import { qwen } from './qwen/host.js'
import { vscode } from './vscode/host.js'
import { windsurf } from './windsurf/host.js'

/** In the order in which payloads are matched: the most distinctive first. */
const TABLE = [
  windsurf,
  opencode,
  pi,
  antigravity,
  clineCore,
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
  kiro,
  amazonQ,
  gemini,
  vscode,
  copilot,
  claudeCode,
] as const

export type HostName = (typeof TABLE)[number]['name']
export type KnownHost = Host<HostName>

/** Sorted by name. */
export const HOSTS: readonly KnownHost[] = [...TABLE].sort((a, b) => (a.name < b.name ? -1 : 1))
export const HOST_NAMES: readonly HostName[] = HOSTS.map(({ name }) => name)

/** Agents that only have hook files to run here. */
const ONLY_FILES = [devin, grok] as const

export type AgentName = HostName | (typeof ONLY_FILES)[number]['name']

/** All of them, sorted by name. */
export const AGENTS: readonly Agent[] = [...HOSTS, ...ONLY_FILES].sort((a, b) => (a.name < b.name ? -1 : 1))

export function hostNamed(name: string): KnownHost | undefined {
  return HOSTS.find((host) => host.name === name)
}

/** The host that sent a payload; Claude Code if none fits. `event` is the payload's name for it, without case and separators. */
export function hostOf(payload: Data, event: string, env: NodeJS.ProcessEnv = {}): KnownHost {
  if (isOurs(payload, env)) return ownEngine
  return TABLE.find((host: KnownHost) => host.sends(payload, event)) ?? claudeCode
}

/** Our own engine, and Amplifier's, send Claude Code's payload with a timestamp, as some hosts do. */
function isOurs(payload: Data, env: NodeJS.ProcessEnv): boolean {
  const name = payload.hook_event_name
  return Boolean(env.AMPLIFIER_HOOKS_DIR) && typeof name === 'string' && isIsoTime(payload.timestamp)
}

/** Seconds until the host gives up on a hook. */
export function limitOf({ timeout, timeouts = {} }: Host, event: string): number {
  return Object.hasOwn(timeouts, event) ? (timeouts[event] as number) : timeout
}

/** The part of a host's limit, in seconds, that we use, so that it still gets the answer. */
export function shareOf(limit: number): number {
  return Math.round(limit * SHARE * 10) / 10
}

/** The limit of a host of which we use this many seconds. */
export function limitFor(share: number): number {
  return share / SHARE
}

const SHARE = 0.9
