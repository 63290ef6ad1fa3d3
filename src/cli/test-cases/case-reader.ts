// Checks the fields of a file of cases, and collects what is wrong, each with its line.

import { type JsonPath, type JsonText, under } from '../../config/json-text.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { didYouMean, shown } from '../../core/base/text.js'

/** What it must be, in words, and whether a value is. */
export type Field = readonly [words: string, isRight: (value: unknown) => boolean]

export type Fields = Readonly<Record<string, Field>>

export class CaseReader {
  readonly problems: Diagnostic[] = []
  readonly #file: string
  readonly #json: JsonText

  constructor(file: string, json: JsonText) {
    this.#file = file
    this.#json = json
  }

  lineOf(at: JsonPath): number {
    return this.#json.lineOf(at)
  }

  say(at: JsonPath, text: string): void {
    this.sayAt(this.lineOf(at), text)
  }

  sayAt(line: number, text: string): void {
    this.problems.push({ code: 'config-invalid', file: this.#file, line, text })
  }

  /** False if something was wrong. A key that is not known would be an expectation that nobody checks. */
  check(value: object, at: JsonPath, fields: Fields): boolean {
    const before = this.problems.length
    for (const [key, one] of Object.entries(value)) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined
      const where = under(at, key)
      if (!field) {
        const known = Object.keys(fields).filter((name) => name !== '$schema')
        const meant = didYouMean(key, known) || `; there is ${known.join(', ')}`
        this.say(where, `${shown(key)} means nothing here${meant}`)
      } else if (!field[1](one)) {
        this.say(where, `${shown(key)} must be ${field[0]}, got ${shown(one)}`)
      }
    }
    return this.problems.length === before
  }
}
