// Names that adapters take from SDKs. The SDKs are not installed here, so that `npm install` stays small: test/adapters
// checks each adapter against the real types.

declare module 'ai' {
  export type LanguageModelMiddleware = object
  export type ToolSet = Readonly<
    Record<string, { readonly execute?: (input: never, options: never) => unknown }>
  >
}

declare module '@openai/agents' {
  export interface RunContext {
    isToolApproved(call: { readonly toolName: string; readonly callId: string }): boolean | undefined
  }
  export interface FunctionTool<_Context = unknown, _Parameters = unknown, _Result = unknown> {
    readonly type: 'function'
    readonly name: string
    readonly invoke: (context: RunContext, input: string, details?: object) => Promise<unknown>
    readonly needsApproval: (context: RunContext, input: unknown, callId?: string) => Promise<boolean>
  }
  export type Tool<Context = unknown> =
    | FunctionTool<Context>
    | { readonly type: 'computer' | 'shell' | 'apply_patch' | 'hosted_tool'; readonly name: string }
  export interface RunToolApprovalItem {
    readonly rawItem: object
  }
  export interface ModelRequest {
    readonly systemInstructions?: string
    readonly input: string | readonly object[]
    readonly tools: readonly object[]
    readonly modelSettings: object
    readonly signal?: AbortSignal
  }
  export interface ModelResponse {
    readonly output: readonly object[]
  }
  export interface Model {
    getResponse(request: ModelRequest): Promise<ModelResponse>
    getStreamedResponse(request: ModelRequest): AsyncIterable<object>
  }
}
