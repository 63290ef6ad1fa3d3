// A file of hooks as migration sees it: its entries as they are written, and what in it is no hook, with the reason.

import { basename, dirname } from 'node:path'
import type { ConfigFile } from '../../config/config-file.js'
import { type Contents, hooksShape, readDocument } from '../../config/hook-document.js'
import type { Entry } from '../../config/hook-group.js'
import { type JsonPath, JsonText } from '../../config/json-text.js'
import { Matchers } from '../../config/matchers.js'
import { Names } from '../../config/names.js'
import { Notes } from '../../config/notes.js'
import type { Owner } from '../../config/owner.js'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { frozenCopy, isObject } from '../../core/base/json.js'
import { plainText } from '../../core/base/text.js'
import { readSettings, type SettingsFile } from '../../hosts/settings-file.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import type { Leg } from './route.js'

export type Fields = { readonly [key: string]: unknown }

export interface HookFile {
  readonly file: SettingsFile
  readonly config: ConfigFile
  readonly value: Fields
  readonly contents: Contents
  /** What is no hook, and what is said about those that are. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Undefined where there is no file, or nothing in it. Throws a SetupProblem for one that cannot be understood. */
export function readHookFile({ from, role }: Pick<Leg, 'from' | 'role'>): HookFile | undefined {
  const file = readSettings(from, false)
  const isEmpty = file.text === undefined || file.text.replace('\uFEFF', '').trim() === ''
  return isEmpty ? undefined : hooksIn(file, file.text ?? '', role)
}

/** The same of another text for the file. */
export function hooksIn(file: SettingsFile, text: string, role: Leg['role']): HookFile {
  const config = parsed(file.path, text)
  const notes = new Notes()
  const shared = { notes, names: new Names(), matchers: new Matchers() }
  const folder = dirname(file.path)
  const owner: Owner = {
    scope: 'named',
    source: basename(file.path),
    realm: 'settings',
    place: { projectDir: folder, hooksDir: folder },
  }
  const contents = attempt(file.path, () => readDocument({ owner, role, file: config, at: null }, shared))
  return { file, config, value: config.value as Fields, contents, diagnostics: notes.all() }
}

function parsed(path: string, text: string): ConfigFile {
  const json = new JsonText(text)
  const read = json.parse()
  if ('problem' in read) {
    throw new SetupProblem(`${path}:${read.line} is not valid JSON: ${read.problem}`, 'Correct it first.')
  }
  const value = attempt(path, () => frozenCopy(read.value, path))
  const wrong = hooksShape(value)
  if (wrong) throw new SetupProblem(`${path} ${wrong.problem}`, 'Correct it first.')
  return { path, json, value }
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new SetupProblem(`${path} cannot be understood: ${textOf(error)}`, 'It was left as it is.')
  }
}

/** As it is written. */
export function valueAt(value: unknown, at: JsonPath): unknown {
  return at === null ? value : (valueAt(value, at.parent) as Record<string | number, unknown>)[at.key]
}

/** The group in which an entry stands. */
export function groupAt({ at }: Pick<Entry, 'at'>): JsonPath {
  return at?.parent?.parent ?? null
}

/** For people: `PreToolUse Bash: ./check.sh`. */
export function titleOf({ event, group, handler: { type, fields } }: Entry): string {
  const pattern = isObject(group.spec) ? group.spec.tool_name : group.spec
  const matcher = typeof pattern === 'string' && pattern !== '' ? ` ${pattern}` : ''
  const { command, args, url, prompt, server, tool } = fields
  const words = Array.isArray(args) ? [command, ...args].join(' ') : (command ?? url ?? prompt)
  const what = words === undefined ? `${server} ${tool}` : String(words)
  return `${event.name}${matcher}: ${type === 'command' ? '' : `${type} `}${shortened(what)}`
}

const LONGEST_TITLE = 200

function shortened(text: string): string {
  const line = plainText(text).replace(/\s+/g, ' ').trim()
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line
}
