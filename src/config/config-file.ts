// Reads and parses configuration files, within limits and without waiting. A file that becomes unreadable keeps its last good text.

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { textOf } from '../core/base/errors.js'
import type { Origin } from '../core/hooks/hook.js'
import { lstatIfThere } from '../files/if-there.js'
import { type JsonPath, JsonText, under } from '../files/json-text.js'
import { noteContent, noted, noteFailure } from '../files/looks.js'
import type { Advice, Notes } from './notes.js'
import type { Owner } from './owner.js'

/** A file that could be read and parsed. */
export interface ConfigFile {
  readonly path: string
  readonly json: JsonText
  readonly value: unknown
}

/** Returns the problem with a parsed value as a whole, if there is one. */
export type Shape = (value: unknown) => (Omit<Problem, 'line'> & { readonly key?: string }) | undefined

/** `missing` is normal; `broken` has already been reported. */
export type Found = ConfigFile | 'missing' | 'broken'

/** For all files together. The user's are read first, so a repository with many large files cannot crowd them out. */
const MOST_BYTES = 16 * 1024 * 1024

/** Returns undefined if the file holds nothing for us. If it returns a problem and JSON, the problem is reported and the JSON counts. */
export type Convert = (text: string) => (Partial<Problem> & { readonly json?: string }) | undefined

const asItIs: Convert = (text) => ({ json: text })

interface Problem extends Advice {
  readonly problem: string
  readonly line?: number
}

/** The files of one load. Each is read once, synchronously: waiting for the thread pool takes longer than reading small files. */
export class ConfigFiles {
  /** The text in force of every file, by path. */
  readonly texts = new Map<string, string>()
  readonly #found = new Map<string, Found>()
  readonly #previous: ReadonlyMap<string, string>
  readonly #notes: Notes
  #room = MOST_BYTES

  constructor(previous: ReadonlyMap<string, string>, notes: Notes) {
    this.#previous = previous
    this.#notes = notes
  }

  /** Every path that was looked at, whether it exists or not. */
  get paths(): readonly string[] {
    return [...this.#found.keys()]
  }

  knew(path: string): boolean {
    return this.#previous.has(path)
  }

  /** Paths that had good content at the last load. */
  get previousPaths(): Iterable<string> {
    return this.#previous.keys()
  }

  /** `convert` turns another format into JSON, line by line. */
  read(path: string, shape: Shape, convert?: Convert): Found {
    const known = this.#found.get(path)
    if (known !== undefined) return known
    const found = this.#read(path, shape, convert)
    this.#found.set(path, found)
    if (typeof found === 'object') this.texts.set(path, found.json.text)
    return found
  }

  #read(path: string, shape: Shape, convert: Convert = asItIs): Found {
    const bytes = readBounded(path)
    if (bytes === undefined) return 'missing'
    if ('problem' in bytes) return this.#broken(path, bytes, shape)
    if (this.#room < bytes.length) return this.#broken(path, TOO_MUCH, shape)
    this.#room -= bytes.length
    const text = bytes.toString('utf8')
    const converted = convert(text)
    if (converted === undefined) return 'missing'
    const { json, problem, line = 1 } = converted
    if (json === undefined) return this.#broken(path, { problem: problem ?? 'cannot be read', line }, shape)
    if (problem !== undefined) this.#notes.add('config-invalid', `the file ${problem}`, { path, line })
    const file = parse(path, json, shape)
    if ('problem' in file) return this.#broken(path, file, shape)
    if (text.includes('\uFFFD') && !isUtf8(bytes)) {
      const damage = 'the file is not UTF-8: unreadable bytes were replaced by \uFFFD'
      this.#notes.add('config-invalid', damage, { path, line: 1 }, { todo: 'Save the file as UTF-8.' })
    }
    return file
  }

  #broken(path: string, { problem, line = 1, todo }: Problem, shape: Shape): Found {
    this.#notes.add('config-invalid', `the file ${problem}`, { path, line }, { todo })
    return this.#lastGood(path, shape)
  }

  /** A file that has just broken is probably being edited. That must not open a gate. */
  #lastGood(path: string, shape: Shape): Found {
    const text = this.#previous.get(path)
    if (text === undefined) return 'broken'
    const file = parse(path, text, shape)
    if ('problem' in file) return 'broken'
    this.#notes.add('config-kept', 'the last valid version of the file stays in force', { path, line: 1 })
    return file
  }
}

function parse(path: string, text: string, shape: Shape): ConfigFile | Problem {
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed) {
    const todo = parsed.endsEarly ? `${TO_CLOSE} ${emptyFile(path)}` : TO_CORRECT
    return { problem: `is not valid JSON: ${parsed.problem}`, line: parsed.line, todo }
  }
  const wrong = shape(parsed.value)
  if (wrong)
    return {
      ...wrong,
      line: json.lineOf(wrong.key === undefined ? null : under(null, wrong.key)),
    }
  return { path, json, value: parsed.value }
}

/** An empty text ends too early, too. */
function emptyFile(path: string): string {
  return path.endsWith('rules.json')
    ? 'A file without rules is {"rules": []}.'
    : 'A file without hooks is {"hooks": {}}.'
}

const TO_CLOSE = 'Close what is open at the end of the file, a bracket or a quote.'
const TO_CORRECT =
  'Look for a comma or bracket that is missing, or one too many, here or just before; or for a " inside a text, which needs a \\ before it.'

// ---- reading --------------------------------------------------------------------------------------------------

const LIMIT = 1024 * 1024
let scratch: Buffer | undefined

/** Undefined if there is no file. The buffer is valid until the next call. */
function readBounded(path: string): Buffer | Problem | undefined {
  noteContent(path)
  try {
    return readFile(path)
  } catch (error) {
    noteFailure(error)
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return isLink(path) ? BROKEN_LINK : undefined
    return code === 'ENOTDIR' ? undefined : { problem: `cannot be read: ${textOf(error)}` }
  }
}

export const TO_RELINK = 'Put a file where the link leads, or remove the link.'
const BROKEN_LINK: Problem = { problem: 'is a broken link', todo: TO_RELINK }

export const isLink = noted((path): boolean => {
  try {
    return lstatIfThere(path)?.isSymbolicLink() === true
  } catch {
    return false
  }
})

/** Does not wait for the writer of a pipe, and does not become the controlling terminal. */
const OPEN = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** Checked after opening: the file at the path may change, the open one does not. */
function readFile(path: string): Buffer | Problem {
  const fd = openSync(path, OPEN)
  try {
    const stats = fstatSync(fd)
    const oddity = oddityOf(stats)
    if (oddity) return oddity
    scratch ??= Buffer.allocUnsafe(LIMIT + 1)
    let length = 0
    for (let read = 1; read > 0 && length < scratch.length; length += read) {
      read =
        length > 0 && length === stats.size ? 0 : readSync(fd, scratch, length, scratch.length - length, null)
    }
    return length > LIMIT ? TOO_LARGE : scratch.subarray(0, length)
  } finally {
    closeSync(fd)
  }
}

const TOO_MUCH: Problem = {
  problem: 'was not read: the files before it already hold more than 16 MiB of configuration',
}
const TOO_LARGE: Problem = { problem: 'is larger than 1 MiB' }

function oddityOf(stats: Stats): Problem | undefined {
  if (stats.isFile()) return stats.size > LIMIT ? TOO_LARGE : undefined
  if (stats.isDirectory()) return { problem: 'is a folder, not a file' }
  return { problem: 'is a pipe, a socket or a device, not a file' }
}

// ---- where an entry is ----------------------------------------------------------------------------------------

/** Looks up the line lazily: most hooks are never shown, and finding lines takes longer than loading. Copies (`{ ...origin }`, JSON) include the line. */
export class FileOrigin implements Origin {
  readonly scope: Owner['scope']
  readonly source: string
  readonly file: string
  /** SHA-256 of the entry's text. It decides whether this exact text was trusted. */
  readonly hash: string
  declare readonly line: number
  declare readonly writtenFor?: NonNullable<Origin['writtenFor']>
  readonly #text: ConfigFile['json']
  readonly #at: JsonPath
  #line: number | undefined

  /** One getter for all instances: an own getter per object makes construction three times as slow. */
  static readonly #lineProperty: PropertyDescriptor & ThisType<FileOrigin> = {
    enumerable: true,
    get() {
      this.#line ??= this.#text.lineOf(this.#at)
      return this.#line
    },
  }

  constructor(
    { scope, source }: Owner,
    { path, json }: ConfigFile,
    at: JsonPath,
    hash: string,
    writtenFor?: Origin['writtenFor'],
  ) {
    this.scope = scope
    this.source = source
    this.file = path
    this.hash = hash
    if (writtenFor) this.writtenFor = writtenFor
    this.#text = json
    this.#at = at
    Object.defineProperty(this, 'line', FileOrigin.#lineProperty)
  }

  /** The line of its group's matcher. */
  matcherLine(): number {
    return this.#text.lineOf(under(this.#at?.parent?.parent ?? null, 'matcher'))
  }
}
