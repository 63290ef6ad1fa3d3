// For authors of TypeScript hooks: runHook is started for every event, serveHook keeps running.

export type { Data, Json } from '../core/base/json.js'
export type { EventName } from '../core/events/events.js'
export {
  abortTurn,
  askUser,
  deny,
  type HookResult,
  hardAbort,
  inject,
  modify,
  proceed,
  respond,
} from '../core/events/result.js'
export type { ToolInputs } from '../core/events/tool-inputs.js'
export type { HostAnswer } from '../hosts/host.js'
export {
  approve,
  denyTool,
  modifyCall,
  modifyRequest,
  modifyResponse,
  modifyResult,
  refuse,
  respondWith,
} from './deprecated.js'
export {
  type HookInput,
  type HostName,
  type InputOf,
  InvalidHookInput,
  type ParseOptions,
  parseHookInput,
  type UnknownInput,
} from './hook-input.js'
export { isTool } from './is-tool.js'
export type { ModuleContext, ModuleHandler } from './module-handler.js'
export type {
  AfterLlm,
  AfterTool,
  ApproveTool,
  BeforeLlm,
  BeforeTool,
  LlmMessage,
  LlmRequest,
  Meta,
  Observed,
  ToolCall,
  ToolDefinition,
  ToolResult,
} from './params.js'
export { type HookHandler, type HookHandlers, type RunHookOptions, runHook } from './run-hook.js'
export { type ResidentHook, type ServeOptions, serveHook } from './serve-hook.js'
