// Names that adapters take from SDKs. The SDKs are not installed here, so that `npm install` stays small: test/adapters
// checks each adapter against the real types.

declare module 'ai' {
  interface Middleware {
    readonly wrapGenerate?: (calling: never) => unknown
    readonly wrapStream?: (calling: never) => unknown
  }
  export function wrapLanguageModel(wrapped: { readonly middleware: Middleware | Middleware[] }): object
  export type ToolSet = Readonly<
    Record<string, { readonly execute?: (input: never, options: never) => unknown }>
  >
}

declare module '@openai/agents' {
  export interface RunContext {
    readonly usage: object
    isToolApproved(call: { readonly toolName: string; readonly callId: string }): boolean | undefined
    toJSON(): {
      readonly approvals: Readonly<Record<string, { readonly approved: boolean | string[] } | undefined>>
    }
  }
  interface ToolCallDetails {
    readonly toolCall?: { readonly callId: string }
    readonly signal?: AbortSignal
    readonly resumeState?: string
  }
  export interface FunctionTool<_Context = unknown, _Parameters = unknown, _Result = unknown> {
    readonly type: 'function'
    readonly name: string
    readonly parameters: object
    readonly invoke: (context: RunContext, input: string, details?: ToolCallDetails) => Promise<unknown>
    readonly needsApproval: (context: RunContext, input: unknown, callId?: string) => Promise<boolean>
  }
  export type Tool<Context = unknown> =
    | FunctionTool<Context>
    | { readonly type: 'computer' | 'shell' | 'apply_patch' | 'hosted_tool'; readonly name: string }
  export interface RunToolApprovalItem {
    readonly rawItem: object
  }
  type SerializedTool =
    | { readonly type: 'function'; readonly name: string; readonly parameters: object }
    | { readonly type: 'shell'; readonly name: string; readonly environment?: { readonly type: string } }
    | { readonly type: 'computer' | 'apply_patch' | 'hosted_tool'; readonly name: string }
  export interface ModelRequest {
    readonly systemInstructions?: string
    readonly input: string | readonly object[]
    readonly tools: readonly SerializedTool[]
    readonly modelSettings: object
    readonly signal?: AbortSignal
  }
  export interface AssistantMessageItem {
    readonly type?: 'message'
    readonly role: 'assistant'
    readonly status: string
    readonly content: readonly (
      | { readonly type: 'output_text'; readonly text: string }
      | { readonly type: 'refusal' }
    )[]
  }
  type OutputItem =
    | AssistantMessageItem
    | {
        readonly type: 'function_call'
        readonly callId: string
        readonly name: string
        readonly arguments: string
      }
    | { readonly type: 'reasoning' }
  interface Usage {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly totalTokens: number
  }
  export interface ModelResponse {
    readonly usage: Usage
    readonly output: readonly OutputItem[]
  }
  export interface StreamEventResponseCompleted {
    readonly type: 'response_done'
    readonly response: { readonly id: string; readonly usage: Usage; readonly output: readonly OutputItem[] }
  }
  export type StreamEvent =
    | StreamEventResponseCompleted
    | { readonly type: 'response_started' }
    | { readonly type: 'output_text_delta'; readonly delta: string }
    | { readonly type: 'model' }
  export interface Model {
    getResponse(request: ModelRequest): Promise<ModelResponse>
    getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent>
  }
}

declare module '@langchain/langgraph' {
  export function getConfig(): {
    readonly configurable?: Readonly<Record<string, unknown>>
    readonly metadata?: Readonly<Record<string, unknown>>
  }
  export function interrupt(value: unknown): unknown
  export function isGraphInterrupt(error: unknown): boolean
  export function task<T>(name: string, func: () => Promise<T>): () => Promise<T>
  export class Command {
    constructor(fields: Command)
    readonly lg_name: 'Command'
  }
  export function isCommand(made: unknown): made is Command
  export function pushMessage(message: object, options: { readonly stateKey: null }): void
}

declare module 'langchain' {
  export interface BaseMessage {
    id?: string
    readonly type: string
    readonly content: unknown
    readonly text: string
  }
  interface MessageClass<M, F> {
    new (fields: F): M
    isInstance(value: unknown): value is M
  }
  export interface AIMessage extends BaseMessage {
    readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: object }[]
    readonly usage_metadata?: object
    readonly response_metadata?: Readonly<Record<string, unknown>>
    readonly additional_kwargs?: Readonly<Record<string, unknown>>
  }
  export interface ToolMessage extends BaseMessage {
    readonly status?: string
    readonly artifact?: unknown
  }
  export const AIMessage: MessageClass<AIMessage, object>
  export const ToolMessage: MessageClass<ToolMessage, object>
  export const HumanMessage: MessageClass<BaseMessage, object | string>
  export const SystemMessage: MessageClass<BaseMessage, object>
  export interface AgentMiddleware {
    readonly name: string
  }
  interface AgentRequest {
    readonly state: { readonly messages: BaseMessage[] }
    readonly runtime: { readonly signal?: AbortSignal }
  }
  interface ToolCallRequest extends AgentRequest {
    readonly toolCall: {
      readonly name: string
      readonly args: Record<string, import('../core/index.js').Json>
      readonly id?: string
    }
  }
  interface ModelRequest extends AgentRequest {
    readonly model: { getName(): string }
    readonly messages: BaseMessage[]
    readonly systemPrompt?: string
    readonly tools: Record<string, unknown>[]
  }
  type Wrap<Request, Made> = (
    request: Request,
    handler: (request: Request) => Made | Promise<Made>,
  ) => Made | Promise<Made>
  export function createMiddleware(middleware: {
    readonly name: string
    readonly wrapToolCall: Wrap<ToolCallRequest, ToolMessage>
    readonly wrapModelCall: Wrap<ModelRequest, AIMessage>
  }): AgentMiddleware
}

declare module '@langchain/core/runnables' {
  export class RunnableBinding {
    constructor(fields: { readonly bound: unknown; readonly kwargs: object; readonly config: object })
  }
}

declare module '@google/adk' {
  export interface Part {
    readonly text?: string
    readonly thought?: boolean
    readonly functionCall?: {
      readonly id?: string
      readonly name?: string
      readonly args?: Record<string, unknown>
    }
  }
  export interface LlmRequest {
    model?: string
    contents: { role?: string; parts?: Part[] }[]
    config?: object
  }
  export interface LlmResponse {
    readonly content?: { role?: string; parts?: Part[] }
    readonly partial?: boolean
    readonly errorCode?: string
    readonly errorMessage?: string
  }
  export interface BaseTool {
    readonly name: string
    checkRequireConfirmation(args: Record<string, unknown>, context?: Context): Promise<boolean>
  }
  interface Agent {
    readonly name: string
    readonly rootAgent: Agent
  }
  export interface InvocationContext {
    readonly agent?: Agent
  }
  export interface Context {
    readonly invocationContext: InvocationContext
    readonly eventActions: object
    readonly actions: { skipSummarization?: boolean; requestedToolConfirmations: Record<string, unknown> }
    readonly functionCallId?: string
    readonly abortSignal?: AbortSignal
    toolConfirmation?: { readonly confirmed: boolean }
    requestConfirmation(question: { hint?: string }): void
  }
  export function isAgentTool(tool: unknown): boolean
  export abstract class BasePlugin {
    constructor(name: string)
    beforeToolCallback(given: object): Promise<Record<string, unknown> | undefined>
    afterToolCallback(given: object): Promise<Record<string, unknown> | undefined>
    onToolErrorCallback(given: object): Promise<Record<string, unknown> | undefined>
    beforeModelCallback(given: object): Promise<LlmResponse | undefined>
    afterModelCallback(given: object): Promise<LlmResponse | undefined>
    onModelErrorCallback(given: object): Promise<LlmResponse | undefined>
  }
}

declare module '@mastra/core/agent' {
  export type ToolsInput = Record<string, object>
  export interface Agent {
    listAgents(options?: {
      requestContext?: object
    }): Record<string, object> | Promise<Record<string, object>>
    listConfiguredInputProcessors(requestContext?: object): Promise<{ readonly id: string }[]>
  }
}

declare module '@mastra/core/processors' {
  export interface ProcessInputArgs {
    readonly messageList: object
    readonly agent?: import('@mastra/core/agent').Agent
    readonly requestContext?: object
  }
  export interface ProcessInputStepArgs {
    readonly tools?: Record<string, unknown>
    readonly model: object
  }
  export interface ProcessLLMRequestArgs {
    readonly model: object
  }
}

declare module '@anthropic-ai/claude-agent-sdk' {
  export interface HookInput {
    readonly hook_event_name: string
    readonly agent_id?: string
    readonly agent_type?: string
  }
  export type HookCallback = (
    input: HookInput,
    toolUseID: string | undefined,
    options: { signal: AbortSignal },
  ) => Promise<object>
  export interface Options {
    hooks?: Partial<Record<string, { hooks: HookCallback[]; timeout?: number; onFailure?: 'block' }[]>>
  }
}
