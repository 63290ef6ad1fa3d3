// The kernel alone: `carabiner/core`. Pure: no files, no processes, no network.

export {
  type CodeEntry,
  DIAGNOSTIC_CODES,
  type Diagnostic,
  type DiagnosticCode,
  ERROR_CODES,
  type ErrorCode,
  HookError,
} from './base/errors.js'
export type { Data, Json } from './base/json.js'
export type { Action, Verdict } from './events/actions.js'
export { CATALOGUE, type DenyEffect, type EventRow, type FieldType } from './events/catalogue.js'
export {
  type EventAlias,
  type EventKind,
  type EventName,
  knownEvents,
  type Payload,
  resolveEvent,
} from './events/events.js'
export {
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
} from './events/result.js'
export { isTool, type ToolInputs } from './events/tool-inputs.js'
export {
  type Answer,
  type Callback,
  type CallbackAnswer,
  type Handler,
  type Hook,
  type HookContext,
  type HookDef,
  type HookEvent,
  hook,
  type Origin,
  type RegisterOptions,
  type Run,
  type SessionInfo,
} from './hooks/hook.js'
export type { HookKind } from './hooks/kinds.js'
export { compileMatcher, type Matcher, type MatcherSpec } from './hooks/matcher.js'
export type {
  Approval,
  ApprovalAnswer,
  Ask,
  Injection,
  Message,
  Outcome,
  Question,
  SkipReason,
  Trace,
} from './hooks/outcome.js'
export { type Admit, type Candidate, type Plan, planOf, type Skip } from './run/plan.js'
export { type AuditRecord, type AuditSink, type CallSink, memoryAudit } from './session/audit-record.js'
export type { CallOptions } from './session/begun-call.js'
export type { ContextMessage, Embedder } from './session/embedder.js'
export { DEFAULT_SETTINGS, type Settings } from './session/embedder.js'
export type { FireOptions } from './session/fire.js'
export type { RenderedInjection } from './session/injection.js'
export type {
  BeginModelOptions,
  BegunModel,
  CallModelOptions,
  FinishedModel,
  ModelCallResult,
  ModelRequest,
  RunModel,
} from './session/model-call.js'
export type { Hold, StreamedModel, StreamModelOptions } from './session/model-stream.js'
export {
  buildRegistry,
  type EmitOptions,
  globalHooks,
  globalRegistry,
  HookRegistry,
  type RegistryOptions,
} from './session/registry.js'
export type { Session, SessionOptions } from './session/session.js'
export { FRESH_STATE, MemoryStore, type SessionState, type SessionStore } from './session/session-store.js'
export type { BegunTool, FinishedTool, RunTool, ToolCall, ToolCallResult } from './session/tool-call.js'
export type { Approver, Grant, Reply, Unanswered } from './verdict/approval.js'
