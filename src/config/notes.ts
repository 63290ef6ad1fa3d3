// Diagnostics of a load, each with file and line, limited in number. Some kinds are reported once per file.

import type { Diagnostic, DiagnosticCode } from '../core/base/errors.js'
import { plainText, shown } from '../core/base/text.js'
import type { JsonPath, JsonText } from '../files/json-text.js'

export type Where =
  | { readonly file: { readonly path: string; readonly json: JsonText }; readonly at: JsonPath }
  | { readonly path: string; readonly line: number }

/** What is known beyond the text. */
export interface Advice {
  readonly meant?: string | undefined
  readonly todo?: string | undefined
  readonly hook?: string | undefined
}

/** The most common advice. */
export function changeOf(key: string, value: unknown, wanted: string): Advice {
  return { todo: `Change "${key}" from ${shown(value)} to ${wanted}.` }
}

/** A file full of junk must not fill the memory with diagnostics. */
const MOST_PER_FILE = 500

export class Notes {
  readonly #list: Diagnostic[] = []
  readonly #counts = new Map<string, number>()
  readonly #said = new Set<string>()

  add(code: DiagnosticCode, text: string, where: Where, { meant, todo, hook }: Advice = {}): void {
    const file = 'file' in where ? where.file.path : where.path
    const count = (this.#counts.get(file) ?? 0) + 1
    this.#counts.set(file, count)
    if (count > MOST_PER_FILE) return
    const line = 'file' in where ? where.file.json.lineOf(where.at) : where.line
    this.#list.push({
      code,
      text: plainText(text),
      file,
      line,
      ...(meant !== undefined && { meant }),
      ...(hook !== undefined && { hook }),
      ...(todo !== undefined && { todo: plainText(todo) }),
    })
  }

  /** Adds only the first of its kind per file. */
  once(kind: string, code: DiagnosticCode, text: string, where: Where, advice?: Advice): void {
    const key = `${'file' in where ? where.file.path : where.path}\0${kind}`
    if (this.#said.has(key)) return
    this.#said.add(key)
    this.add(code, text, where, advice)
  }

  all(): readonly Diagnostic[] {
    const rest = [...this.#counts].filter(([, count]) => count > MOST_PER_FILE)
    return [
      ...this.#list,
      ...rest.map(([file, count]) => ({
        code: 'entry-invalid' as const,
        text: `${count - MOST_PER_FILE} more problems in this file are not listed`,
        file,
        line: 1,
      })),
    ]
  }
}
