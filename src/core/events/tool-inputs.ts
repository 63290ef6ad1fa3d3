// The inputs of well-known tools, as types, and the tools that a matcher names.

import type { Data } from '../base/json.js'
import { type FORMER_TOOL_NAMES, formerNamesOf } from './catalogue.js'

/**
 * The input of each of Claude Code's tools, as Claude Code sends it. Nothing checks it at run time: another agent's tool
 * that is matched under the same name may have other fields. A `PreToolUse` handler that throws on one denies the call.
 *
 * Add your own tools with `declare module 'carabiner' { interface ToolInputs { MyTool: { path: string } } }`.
 */
export interface ToolInputs {
  Agent: AgentInput
  AskUserQuestion: {
    readonly questions: readonly {
      readonly question: string
      readonly header: string
      readonly options: readonly { readonly label: string; readonly description: string }[]
      readonly multiSelect?: boolean
    }[]
    readonly answers?: { readonly [question: string]: string }
  }
  Bash: {
    readonly command: string
    /** Milliseconds. */
    readonly timeout?: number
    readonly description?: string
    readonly run_in_background?: boolean
    readonly dangerouslyDisableSandbox?: boolean
  }
  BashOutput: { readonly bash_id: string; readonly filter?: string }
  Edit: FileEdit & { readonly file_path: string }
  ExitPlanMode: { readonly plan?: string }
  Glob: { readonly pattern: string; readonly path?: string }
  Grep: {
    readonly pattern: string
    readonly path?: string
    readonly glob?: string
    readonly type?: string
    readonly output_mode?: 'content' | 'files_with_matches' | 'count'
    readonly '-A'?: number
    readonly '-B'?: number
    readonly '-C'?: number
    readonly '-i'?: boolean
    readonly '-n'?: boolean
    readonly '-o'?: boolean
    readonly context?: number
    readonly head_limit?: number
    readonly offset?: number
    readonly multiline?: boolean
  }
  KillBash: TaskStopInput
  KillShell: TaskStopInput
  LS: { readonly path: string; readonly ignore?: readonly string[] }
  MultiEdit: { readonly file_path: string; readonly edits: readonly FileEdit[] }
  NotebookEdit: {
    readonly notebook_path: string
    readonly new_source: string
    readonly cell_id?: string
    readonly cell_type?: 'code' | 'markdown'
    readonly edit_mode?: 'replace' | 'insert' | 'delete'
  }
  NotebookRead: { readonly notebook_path: string; readonly cell_id?: string }
  Read: {
    readonly file_path: string
    readonly offset?: number
    readonly limit?: number
    /** Pages of a PDF, for example `1-5`. */
    readonly pages?: string
  }
  Skill: { readonly skill: string; readonly args?: string }
  Task: AgentInput
  TaskCreate: {
    readonly subject: string
    readonly description: string
    readonly activeForm?: string
    readonly metadata?: Data
  }
  TaskGet: { readonly taskId: string }
  TaskStop: TaskStopInput
  TaskUpdate: {
    readonly taskId: string
    readonly subject?: string
    readonly description?: string
    readonly activeForm?: string
    readonly status?: 'pending' | 'in_progress' | 'completed' | 'deleted'
    readonly addBlocks?: readonly string[]
    readonly addBlockedBy?: readonly string[]
    readonly owner?: string
    readonly metadata?: Data
  }
  TodoWrite: {
    readonly todos: readonly {
      readonly content: string
      readonly status: 'pending' | 'in_progress' | 'completed'
      readonly activeForm: string
    }[]
  }
  WebFetch: { readonly url: string; readonly prompt: string }
  WebSearch: {
    readonly query: string
    readonly allowed_domains?: readonly string[]
    readonly blocked_domains?: readonly string[]
  }
  Write: { readonly file_path: string; readonly content: string }
}

// Type aliases, because an interface would not be assignable to `Data`.

type AgentInput = {
  readonly description: string
  readonly prompt: string
  readonly subagent_type?: string
  readonly model?: string
  readonly run_in_background?: boolean
}

type FileEdit = {
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}

type TaskStopInput = { readonly task_id?: string; readonly shell_id?: string }

/** The input of a tool. An unknown tool's input is any JSON object. */
export type ToolInput<T extends string> = T extends keyof ToolInputs ? ToolInputs[T] : Data

/** The payload `P` with the input of each of the tools `T`, told apart by `tool_name`. */
export type OfTool<P, T extends string> = T extends unknown
  ? {
      [K in keyof P]: K extends 'tool_name' ? T : K extends 'tool_input' ? ToolInput<T> | Absent<P[K]> : P[K]
    }
  : never
type Absent<V> = Extract<V, null | undefined>

// ---- a call whose tool is not known from a matcher -------------------------------------------------------------

/** A tool call as a handler reads it: of `register()`, of `runHook()`, or of `serveHook()`. */
type Call = { readonly tool_name: string } | { readonly toolName: string } | { readonly tool: string }

type CallOf<C, T extends string> = T extends unknown
  ? C extends { readonly tool_name: string }
    ? C & { readonly tool_name: T; readonly tool_input: ToolInput<T> }
    : C extends { readonly toolName: string }
      ? C & { readonly toolName: T; readonly toolInput: ToolInput<T> }
      : C & { readonly tool: T; readonly arguments: ToolInput<T> }
  : never

/** Whether this is a call of one of these tools. If so, its input gets that tool's type. Only the name is checked. */
export function isTool<C extends Call, const T extends string>(
  call: C,
  ...tools: readonly T[]
): call is C & CallOf<C, T | Renamed<T>> {
  const { tool_name, toolName, tool } = call as { readonly [name: string]: string | undefined }
  const called = tool_name ?? toolName ?? tool ?? ''
  return [called, ...formerNamesOf(called)].some((name) => (tools as readonly string[]).includes(name))
}

// ---- matchers -------------------------------------------------------------------------------------------------

/** The tools that a matcher lets through: `'Write' | 'Edit'` for `'Write|Edit'`, `string` for a pattern. */
export type ToolsOf<M> = M extends { readonly tool_name: infer S }
  ? ToolsOf<S>
  : M extends '' | '*'
    ? string
    : M extends string
      ? Listed<M>
      : string

type Listed<S extends string> = S extends `${infer One}|${infer Rest}`
  ? Listed<One> | Listed<Rest>
  : S extends `${infer One},${infer Rest}`
    ? Listed<One> | Listed<Rest>
    : Named<Trimmed<S>>

type Trimmed<S extends string> = S extends ` ${infer Rest}`
  ? Trimmed<Rest>
  : S extends `${infer Rest} `
    ? Trimmed<Rest>
    : S

type Named<S extends string> = S extends keyof ToolInputs
  ? S | Renamed<S>
  : IsName<S> extends true
    ? S | Renamed<S>
    : string

/** A matcher that names a former tool matches the tool that replaced it. */
type Renamed<Old extends string> = {
  [New in keyof Former]: Old extends Former[New][number] ? New : never
}[keyof Former]
type Former = typeof FORMER_TOOL_NAMES

/** Any other character makes the matcher a pattern. */
type IsName<S extends string> = S extends `${infer Char}${infer Rest}`
  ? Char extends NameChar
    ? IsName<Rest>
    : false
  : true
type NameChar = Letter | Uppercase<Letter> | Digit | '_' | '-' | ' '
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'
// biome-ignore format: one line of letters
type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z'
