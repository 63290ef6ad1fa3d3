// The kernel alone: `carabiner/core`. Pure: no files, no processes, no network.

export type {
  Approval,
  ApprovalAnswer,
  Approver,
  Ask,
  Grant,
  Question,
  Reply,
  Unanswered,
} from './approval.js'
export { type AuditRecord, type AuditSink, memoryAudit } from './audit-record.js'
export { CATALOGUE, type DenyEffect, type EventRow, type FieldType } from './catalogue.js'
export { Engine } from './engine.js'
export {
  type CodeEntry,
  DIAGNOSTIC_CODES,
  type Diagnostic,
  type DiagnosticCode,
  ERROR_CODES,
  type ErrorCode,
  HookError,
} from './errors.js'
export {
  type EventAlias,
  type EventKind,
  type EventName,
  knownEvents,
  type Payload,
  resolveEvent,
} from './events.js'
export type { FireOptions } from './fire.js'
export {
  type Answer,
  type Callback,
  type CallbackAnswer,
  type Handler,
  type Hook,
  type HookContext,
  type HookDef,
  type HookEvent,
  type HookKind,
  hook,
  type Origin,
  type RegisterOptions,
  type Run,
  type SessionInfo,
} from './hook.js'
export type { ContextMessage, Host } from './host.js'
export type { Data, Json } from './json.js'
export { compileMatcher, type Matcher, type MatcherSpec } from './matcher.js'
export type { CallModelOptions, ModelCallResult, ModelRequest } from './model-call.js'
export type { Injection, Message, Outcome, Trace, Verdict } from './outcome.js'
export { type Admit, type Candidate, type Plan, planOf, type Skip, type SkipReason } from './plan.js'
export {
  buildRegistry,
  type EmitOptions,
  globalHooks,
  HookRegistry,
  type RegistryOptions,
} from './registry.js'
export {
  type Action,
  abortTurn,
  askUser,
  deny,
  type HookResult,
  hardAbort,
  inject,
  modify,
  parseResult,
  proceed,
  respond,
} from './result.js'
export { Session, type SessionOptions } from './session.js'
export { FRESH_STATE, MemoryStore, type SessionState, type SessionStore } from './session-store.js'
export { DEFAULT_SETTINGS, type Settings } from './settings.js'
export type { CallOptions, RunTool, ToolCall, ToolCallResult } from './tool-call.js'
