// A catalogue as it is kept: every field is checked when it is read back, unknown ones are dropped.

import { isAbsolute } from 'node:path'
import { frozenCopy, type Json } from '../../core/base/json.js'
import { fieldsOf, flag, listOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import { SOURCE_KINDS } from '../lock-file.js'
import type { FetchableSource } from '../sources/source.js'
import type { CatalogEntry, EntryManifest, Where } from './entry.js'
import type { CatalogSource } from './fetch.js'

export interface CatalogRecord {
  /** The user's name for it. */
  readonly name: string
  readonly source: CatalogSource
  /** Of git: what was fetched. */
  readonly commit?: string
  readonly added: string
  readonly updated: string
  readonly plugins: readonly CatalogEntry[]
  /** Sentences about entries that were left out. */
  readonly problems: readonly string[]
}

const path: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (!isAbsolute(read)) throw new Error(`is not valid: ${where} must be an absolute path`)
  return read
}

const json: Reader<Json> = (value, where) => frozenCopy(value, where)

const fetchable: Reader<FetchableSource> = (value, where) => {
  const fields = fieldsOf(value, where)
  const kind = oneOf(...SOURCE_KINDS)(fields.kind, `${where}.kind`)
  const below = optional('path', fields.path, text, where)
  switch (kind) {
    case 'folder':
      return { kind, folder: path(fields.folder, `${where}.folder`), ...below }
    case 'git':
      return {
        kind,
        url: text(fields.url, `${where}.url`),
        ...optional('ref', fields.ref, text, where),
        ...below,
      }
    case 'npm':
      return {
        kind,
        name: text(fields.name, `${where}.name`),
        range: text(fields.range, `${where}.range`),
        ...below,
      }
    case 'archive':
      return { kind, place: text(fields.place, `${where}.place`), ...below }
  }
}

const catalogSource: Reader<CatalogSource> = (value, where) => {
  const fields = fieldsOf(value, where)
  if (fields.kind === 'file') return { kind: 'file', file: path(fields.file, `${where}.file`) }
  const source = fetchable(value, where)
  if (source.kind === 'folder' || source.kind === 'git') return source
  throw new Error(`is not valid: ${where} is no source of a catalogue`)
}

const whereIs: Reader<Where> = (value, where) => {
  const { inside, source } = fieldsOf(value, where)
  return inside === undefined
    ? { source: fetchable(source, `${where}.source`) }
    : { inside: text(inside, `${where}.inside`) }
}

const manifest: Reader<EntryManifest> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: text(fields.name, `${where}.name`),
    strict: flag(fields.strict, `${where}.strict`),
    ...optional('description', fields.description, text, where),
    ...optional('version', fields.version, text, where),
    ...optional('hooks', fields.hooks, json, where),
  }
}

const entry: Reader<CatalogEntry> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: text(fields.name, `${where}.name`),
    description: text(fields.description, `${where}.description`),
    keywords: listOf(text)(fields.keywords, `${where}.keywords`),
    where: whereIs(fields.where, `${where}.where`),
    ...optional('version', fields.version, text, where),
    ...optional('commit', fields.commit, text, where),
    ...optional('integrity', fields.integrity, text, where),
    ...optional('manifest', fields.manifest, manifest, where),
  }
}

/** Throws an Error that names the first field that is wrong. */
export function storedCatalog(value: unknown): CatalogRecord | null {
  if (value === null) return null
  const fields = fieldsOf(value, 'the catalogue')
  return {
    name: text(fields.name, 'name'),
    source: catalogSource(fields.source, 'source'),
    ...optional('commit', fields.commit, text, ''),
    added: text(fields.added, 'added'),
    updated: text(fields.updated, 'updated'),
    plugins: listOf(entry)(fields.plugins, 'plugins'),
    problems: listOf(text)(fields.problems, 'problems'),
  }
}
