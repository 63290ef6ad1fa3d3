// The front door of the library. A program on a machine in a fleet counts with the fleet.

import { isObject } from './core/base/json.js'
import { FleetCounters } from './fleet/machine/counters.js'
import type { Hooks } from './hooks.js'
import { type HooksOptions, createHooks as hooksWith } from './runtime.js'

export { type QueueApproverOptions, queueApprover } from './asking/queue-approver.js'
export { type TerminalApproverOptions, terminalApprover } from './asking/terminal-approver.js'
export type { MergedSettings as Settings } from './config/merged-settings.js'
export {
  type Action,
  type Admit,
  type Answer,
  type Approval,
  type Approver,
  type AuditRecord,
  type AuditSink,
  abortTurn,
  askUser,
  type BeginModelOptions,
  type BegunModel,
  type BegunTool,
  buildRegistry,
  type Callback,
  type CallModelOptions,
  type CallOptions,
  type CallSink,
  type Candidate,
  type ContextMessage,
  type Data,
  type Diagnostic,
  deny,
  type Embedder,
  type EmitOptions,
  type EventAlias,
  type EventName,
  type FinishedModel,
  type FinishedTool,
  type FireOptions,
  type Grant,
  globalHooks,
  globalRegistry,
  type Handler,
  type Hold,
  type Hook,
  type HookContext,
  type HookDef,
  HookError,
  HookRegistry,
  type HookResult,
  hardAbort,
  hook,
  type Injection,
  inject,
  isTool,
  type Json,
  MemoryStore,
  type Message,
  type ModelCallResult,
  type ModelRequest,
  memoryAudit,
  modify,
  type Origin,
  type Outcome,
  type Payload,
  type Plan,
  proceed,
  type Question,
  type RegisterOptions,
  type RenderedInjection,
  type Reply,
  type RunModel,
  type RunTool,
  respond,
  type Session,
  type SessionOptions,
  type SessionState,
  type SessionStore,
  type Skip,
  type StreamedModel,
  type StreamModelOptions,
  type ToolCall,
  type ToolCallResult,
  type ToolInputs,
  type Trace,
  type Unanswered,
  type Verdict,
} from './core/index.js'
export type { Hooks, ListedHook } from './hooks.js'
export { type AgentEvent, answerFor, eventFrom } from './hosts/agent-event.js'
export type { HostAnswer } from './hosts/host.js'
export type { HostName } from './hosts/hosts.js'
export { InvalidHookInput } from './hosts/payload.js'
export type { HooksOptions } from './runtime.js'
export { type FileApprovalsOptions, fileApprovals } from './store/approvals/file-approvals.js'
export type { Approvals, Pending as PendingQuestion } from './store/approvals.js'
export { type FileAudit, fileAudit } from './store/audit/file-audit.js'
export { verify as verifyAudit } from './store/audit/verify.js'
export { type FileCallsOptions, fileAuditCalls } from './store/audit-calls/file-calls.js'
export type { AuditCalls, KeptCall } from './store/audit-calls.js'
export type { Verification } from './store/audit-log.js'
export { FileStore, type FileStoreOptions } from './store/sessions/file-store.js'
export type { Expectation, ExpectedGate } from './trust/expectation.js'
export type { Untrusted } from './trust/unit.js'

/** All options are optional. An unknown one is refused, because a misspelt `approver` would never be asked. */
export function createHooks(options: HooksOptions = {}): Promise<Hooks> {
  return hooksWith(isObject(options) ? { counters: new FleetCounters(), ...options } : options)
}
