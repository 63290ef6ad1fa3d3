// Records as they are read back: every field is checked, since half of what a person trusted is not what they trusted.

import { count, fieldsOf, listOf, oneOf, optional, type Reader, text } from '../files/fields.js'
import { isStamp } from './stamp.js'
import type { CopyKey, CopyStamps, TrustedFile, TrustedFolder, TrustRecord, UnitHook } from './unit.js'

const SHA256 = /^[0-9a-f]{64}$/

export function isDigest(value: string): boolean {
  return SHA256.test(value)
}

const sha: Reader<string> = (value, where) => {
  if (isDigest(text(value, where))) return value as string
  throw new Error(`is not valid: ${where} must be a SHA-256 in hexadecimal`)
}

const stamp: Reader<string> = (value, where) => {
  if (isStamp(text(value, where))) return value as string
  throw new Error(`is not valid: ${where} must be a stamp`)
}

const nullable: Reader<string | null> = (value, where) => (value === null ? null : text(value, where))

const texts: Reader<Readonly<Record<string, string>>> = (value, where) => {
  const entries = Object.entries(fieldsOf(value, where))
  return Object.fromEntries(entries.map(([name, one]) => [name, text(one, `${where}.${name}`)]))
}

const hook: Reader<UnitHook> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: text(fields.name, `${where}.name`),
    event: text(fields.event, `${where}.event`),
    matcher: nullable(fields.matcher, `${where}.matcher`),
    ...optional('type', fields.type, text, where),
    command: text(fields.command, `${where}.command`),
    ...optional('args', fields.args, listOf(text), where),
    ...optional('shell', fields.shell, oneOf('bash', 'sh', 'powershell'), where),
    ...optional('dir', fields.dir, text, where),
    ...optional('env', fields.env, texts, where),
    ...optional('terms', fields.terms, listOf(text), where),
    hash: text(fields.hash, `${where}.hash`),
    ...optional('line', fields.line, count, where),
  }
}

const file: Reader<TrustedFile> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    path: text(fields.path, `${where}.path`),
    mode: count(fields.mode, `${where}.mode`),
    size: count(fields.size, `${where}.size`),
    sha256: sha(fields.sha256, `${where}.sha256`),
    ...optional('link', fields.link, text, where),
    stamp: stamp(fields.stamp, `${where}.stamp`),
  }
}

const folder: Reader<TrustedFolder> = (value, where) => {
  const fields = fieldsOf(value, where)
  return { path: text(fields.path, `${where}.path`), stamp: stamp(fields.stamp, `${where}.stamp`) }
}

const copied: Reader<CopyStamps> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    files: listOf(stamp)(fields.files, `${where}.files`),
    folders: listOf(folder)(fields.folders, `${where}.folders`),
  }
}

/** Null: not trusted any more. */
export function storedRecord(value: unknown): TrustRecord | null {
  if (value === null) return null
  const { next } = fieldsOf(value, 'the record')
  return { ...record(value, 'the record'), ...(next !== undefined && { next: record(next, 'next') }) }
}

const copyKey: Reader<CopyKey> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    kind: oneOf('folder', 'file')(fields.kind, `${where}.kind`),
    path: text(fields.path, `${where}.path`),
    digest: sha(fields.digest, `${where}.digest`),
    programs: texts(fields.programs, `${where}.programs`),
  }
}

function record(value: unknown, where: string): TrustRecord {
  const fields = fieldsOf(value, where)
  return {
    ...copyKey(value, where),
    name: text(fields.name, `${where}.name`),
    projectDir: text(fields.projectDir, `${where}.projectDir`),
    hooks: listOf(hook)(fields.hooks, `${where}.hooks`),
    files: listOf(file)(fields.files, `${where}.files`),
    folders: listOf(folder)(fields.folders, `${where}.folders`),
    scripts: listOf(file)(fields.scripts, `${where}.scripts`),
    ...optional('source', fields.source, file, where),
    ...optional('copied', fields.copied, copied, where),
    absent: listOf(text)(fields.absent, `${where}.absent`),
    words: listOf(text)(fields.words, `${where}.words`),
    at: text(fields.at, `${where}.at`),
    ...optional('former', fields.former, copyKey, where),
  }
}
