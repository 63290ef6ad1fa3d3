// The tools of an agent hook's model. It may read the project's files, find them by name and search them, nothing else.

import type { FileHandle } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { byteLength, cleanText, cutText } from '../../core/base/text.js'
import { type ModelTool, type ModelToolCall, toolInput } from '../model/language-model.js'
import { expression, glob } from './glob-pattern.js'
import { isSystemError, type ProjectFolder, Refused, shownPath } from './project-folder.js'

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 1 } as const
const schema = (properties: object, ...required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

export const TOOLS: readonly ModelTool[] = [
  {
    name: 'read',
    description: 'Reads numbered lines of a text file in the project.',
    inputSchema: schema({ path: text, from_line: count, lines: count }, 'path'),
  },
  {
    name: 'glob',
    description:
      'Finds files in the project by a pattern such as "src/**/*.ts". Without a slash, it matches names in any folder.',
    inputSchema: schema({ pattern: text, path: text }, 'pattern'),
  },
  {
    name: 'grep',
    description:
      'Searches files in the project for lines that match a regular expression (RE2: no lookaround).',
    inputSchema: schema({ pattern: text, path: text, glob: text }, 'pattern'),
  },
]

/** Bytes of one result, and of all results of one hook together. */
const RESULT_LIMIT = 32 * 1024
const TOTAL_LIMIT = 512 * 1024
/** The most bytes read of one file, and of all files in one search. */
const FILE_LIMIT = 2 * 1024 * 1024
const SEARCH_LIMIT = 32 * 1024 * 1024
const MOST_FOUND = 200
const MOST_LINES = 2000
const LONGEST_LINE = 1000
/** Other work needs the event loop too. */
const TURN_MS = 20

export interface ToolResult {
  readonly type: 'text' | 'error-text'
  readonly value: string
}

type Input = { readonly [key: string]: unknown }

export class Tools {
  readonly #folder: ProjectFolder
  readonly #signal: AbortSignal
  #left = TOTAL_LIMIT

  constructor(folder: ProjectFolder, signal: AbortSignal) {
    this.#folder = folder
    this.#signal = signal
  }

  /** Rejects only when the signal is aborted. The model is told about every other failure. */
  async use({ name, input }: ModelToolCall): Promise<ToolResult> {
    this.#signal.throwIfAborted()
    if (this.#left <= 0) return failed('you cannot read any more; answer with what you know')
    const given = toolInput(input)
    if (!given) return failed('the input must be a JSON object')
    try {
      const value = this.#charged(await this.#run(name, given))
      return { type: 'text', value }
    } catch (error) {
      this.#signal.throwIfAborted()
      if (error instanceof Refused) return failed(error.message)
      if (isSystemError(error)) return failed(`it cannot be read (${(error as NodeJS.ErrnoException).code})`)
      throw error
    }
  }

  #run(name: string, input: Input): Promise<string> {
    if (name === 'read') return this.#read(input)
    if (name === 'glob') return this.#glob(input)
    if (name === 'grep') return this.#grep(input)
    throw new Refused(`there is no tool ${shownPath(name)}; use read, glob or grep`)
  }

  #charged(result: string): string {
    const limit = Math.min(RESULT_LIMIT, this.#left)
    const clean = cleanText(result)
    const value = byteLength(clean) > limit ? cutText(clean, limit, '\n[cut here]') : clean
    this.#left -= byteLength(value)
    return value
  }

  async #read(input: Input): Promise<string> {
    const path = wanted(input, 'path')
    const from = number(input, 'from_line', 1)
    const most = Math.min(number(input, 'lines', MOST_LINES), MOST_LINES)
    const { text, cut } = await this.#folder.withFile(path, contentOf)
    const lines = text.split('\n')
    if (from > lines.length) return `[it has ${lines.length} lines${cut ? ' and more' : ''}]`
    const shown = lines.slice(from - 1, from - 1 + most).map((line, i) => `${from + i}\t${short(line)}`)
    const rest = lines.length - (from - 1 + shown.length)
    const more = cut || rest > 0 ? [`[${rest} more lines${cut ? ', and more beyond the limit' : ''}]`] : []
    return [...shown, ...more].join('\n')
  }

  async #glob(input: Input): Promise<string> {
    const test = glob(wanted(input, 'pattern'))
    const { files, cut } = await this.#folder.filesBelow(optional(input, 'path') ?? '.', this.#signal)
    const found = await this.#filtered(files, test)
    const shown = found.slice(0, MOST_FOUND).map(shownPath)
    if (found.length > MOST_FOUND) shown.push(`[${found.length - MOST_FOUND} more]`)
    if (cut) shown.push('[the project has too many files to list them all; give a "path"]')
    return shown.join('\n') || '[none]'
  }

  async #grep(input: Input): Promise<string> {
    const test = expression(wanted(input, 'pattern'))
    const within = optional(input, 'glob')
    const { files, cut } = await this.#folder.filesBelow(optional(input, 'path') ?? '.', this.#signal)
    const candidates = within === undefined ? files : await this.#filtered(files, glob(within))
    const found: string[] = []
    let left = SEARCH_LIMIT
    for (const path of candidates) {
      if (found.length >= MOST_FOUND || left <= 0) break
      this.#signal.throwIfAborted()
      const content = await this.#contentOrNothing(path)
      left -= content.length
      const lines = content.split('\n').map((line, i) => ({ line: short(line), number: i + 1 }))
      const hits = await this.#filtered(lines, ({ line }) => test(line), MOST_FOUND - found.length)
      found.push(...hits.map(({ line, number }) => `${shownPath(path)}:${number}: ${line}`))
    }
    if (found.length >= MOST_FOUND) found.push('[and maybe more]')
    if (cut || left <= 0) found.push('[not everything was searched; give a "path" or a "glob"]')
    return found.join('\n') || '[none]'
  }

  /** Binary and unreadable files count as empty. */
  async #contentOrNothing(path: string): Promise<string> {
    try {
      return (await this.#folder.withFile(path, contentOf)).text
    } catch (error) {
      if (error instanceof Refused || isSystemError(error)) return ''
      throw error
    }
  }

  /** Lets other work run in between, so that an abort takes effect. */
  async #filtered<T>(all: readonly T[], test: (one: T) => boolean, most = Infinity): Promise<T[]> {
    const found: T[] = []
    let since = performance.now()
    for (const one of all) {
      if (found.length >= most) break
      if (test(one)) found.push(one)
      if (performance.now() - since < TURN_MS) continue
      await setImmediate()
      this.#signal.throwIfAborted()
      since = performance.now()
    }
    return found
  }
}

async function contentOf(
  file: FileHandle,
  size: number,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  // A file may claim to be empty, or grow while it is read.
  const bytes = Buffer.alloc(Math.min(Math.max(size, 64 * 1024), FILE_LIMIT))
  let length = 0
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  const content = bytes.subarray(0, length)
  if (content.subarray(0, 8192).includes(0)) throw new Refused(`it is not a text file (${size} bytes)`)
  return { text: content.toString('utf8').replace(/\n$/, ''), cut: size > length }
}

function short(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line
}

function failed(value: string): ToolResult {
  return { type: 'error-text', value }
}

// ---- input ----------------------------------------------------------------------------------------------------

function wanted(input: Input, key: string): string {
  const value = optional(input, key)
  if (value === undefined || value === '') throw new Refused(`"${key}" must be a string`)
  return value
}

function optional(input: Input, key: string): string | undefined {
  const value = input[key] ?? undefined
  if (value !== undefined && typeof value !== 'string') throw new Refused(`"${key}" must be a string`)
  return value
}

function number(input: Input, key: string, otherwise: number): number {
  const value = input[key] ?? otherwise
  if (!Number.isInteger(value) || (value as number) < 1)
    throw new Refused(`"${key}" must be a whole number of at least 1`)
  return value as number
}
