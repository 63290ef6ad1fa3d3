// The table of hook kinds. A new kind is a folder next to this file and a row here.

import type { HookKind } from '../core/hooks/kinds.js'
import { AGENT } from './agent/kind.js'
import { COMMAND } from './command/kind.js'
import { HTTP } from './http/kind.js'
import type { Kind } from './kind.js'
import { MCP_TOOL } from './mcp-tool/kind.js'
import { MODULE } from './module/kind.js'
import { PROCESS } from './process/kind.js'
import { PROMPT } from './prompt/kind.js'
import { RULES } from './rules/kind.js'

/** Kinds that are listed under an event, by the `type` of the entry. Messages and the schema keep this order. */
export const EVENT_KINDS = {
  command: COMMAND,
  http: HTTP,
  prompt: PROMPT,
  agent: AGENT,
  mcp_tool: MCP_TOOL,
  module: MODULE,
} as const

/** All kinds. Entries of `process` are listed under "processes", and rules have a file of their own. */
export const KINDS = { ...EVENT_KINDS, process: PROCESS, rules: RULES } as const satisfies Record<
  Exclude<HookKind, 'function'>,
  object
>

export type HandlerType = keyof typeof EVENT_KINDS
export type KindName = keyof typeof KINDS

/** The fields of an entry, by kind. */
export type Handlers = {
  readonly [T in HandlerType]: (typeof EVENT_KINDS)[T] extends Kind<infer Spec, infer _>
    ? Spec['handler']
    : never
}

/** True for kinds that start a program, false for those that ask a server or a model. */
export function runsProgram(kind: string): boolean {
  return Object.hasOwn(KINDS, kind) && 'program' in KINDS[kind as KindName]
}

/** The row of a kind, for callers that treat all kinds alike. */
export function kindOf({ type }: { readonly type: KindName }): Kind {
  return KINDS[type] as unknown as Kind
}
