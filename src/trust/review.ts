// What a person is shown before trusting: everything as it was read and hashed, and what is different from last time.

import { join } from 'node:path'
import { quoted } from '../core/base/text.js'
import { changeText } from './changes.js'
import { isSameFile } from './copies.js'
import { isReadable, type KeptFiles, LONGEST_TEXT, textAt } from './kept-files.js'
import { isExecutable, type TrustedFile, type TrustRecord, type Unit, type UnitHook } from './unit.js'
import { readContent, type Takers, type UnitContent } from './unit-content.js'

export interface ReviewedFile extends TrustedFile {
  /** The very text that was hashed; undefined for a link, a file that is no text, and one too large to show. */
  readonly text?: string
  readonly isText: boolean
}

export interface Review extends UnitContent {
  readonly unit: Unit
  readonly files: readonly ReviewedFile[]
  readonly scripts: readonly ReviewedFile[]
  /** The last time it was trusted. */
  readonly record: TrustRecord | undefined
  /** Empty without a record. */
  readonly differences: readonly Difference[]
}

export type Difference =
  | { readonly what: 'hook-added' | 'hook-removed'; readonly hook: UnitHook; readonly text: string }
  | {
      readonly what: 'file-added' | 'file-removed' | 'file-changed' | 'mode-changed' | 'program-moved'
      /** Of a program, its name. */
      readonly path: string
      /** A sentence. */
      readonly text: string
      /** What was in it, where it is text and still known; of a link or a program, where it led. */
      readonly before?: string
      readonly after?: string
    }

/** Of all files together, in bytes. */
const MOST_TEXT = 32 * 1024 * 1024

/** What was trusted the last time, and where its texts are. */
export interface Before {
  readonly record: TrustRecord
  readonly copy: string | undefined
  readonly kept: KeptFiles
}

/** Writes nothing. */
export function reviewOf(unit: Unit, before: Before | undefined): Review {
  const texts = new Map<TrustedFile, Pick<ReviewedFile, 'text' | 'isText'>>()
  let left = MOST_TEXT
  const take: Takers['file'] = (file, bytes) => {
    const isText = isReadable(bytes)
    const isShown = isText && bytes.length <= Math.min(LONGEST_TEXT, left)
    if (isShown) left -= bytes.length
    texts.set(file, { isText, ...(isShown && { text: bytes.toString('utf8') }) })
  }
  const { source, ...content } = readContent(unit, { file: take, script: take, source: take })
  const withText = (file: TrustedFile): ReviewedFile => ({ ...file, isText: true, ...texts.get(file) })
  const files = content.files.map(withText)
  const scripts = content.scripts.map(withText)
  const now: Now = { files, scripts, source: source && withText(source), programs: content.programs }
  const differences = before ? [...hooksChanged(before.record, unit), ...filesChanged(before, now)] : []
  return { ...content, unit, files, scripts, record: before?.record, differences }
}

function hooksChanged({ hooks }: TrustRecord, unit: Unit): readonly Difference[] {
  const isIn = (list: readonly UnitHook[]) => {
    const hashes = new Set(list.map(({ hash }) => hash))
    return ({ hash }: UnitHook) => hashes.has(hash)
  }
  const [before, now] = [isIn(hooks), isIn(unit.hooks)]
  return [
    ...unit.hooks
      .filter((hook) => !before(hook))
      .map((hook) => ({
        what: 'hook-added' as const,
        hook,
        text: `The hook ${hook.name} was added or changed since it was trusted.`,
      })),
    ...hooks
      .filter((hook) => !now(hook))
      .map((hook) => ({
        what: 'hook-removed' as const,
        hook,
        text: `The hook ${hook.name} was removed or changed since it was trusted.`,
      })),
  ]
}

interface Now extends Pick<UnitContent, 'programs'> {
  readonly files: readonly ReviewedFile[]
  readonly scripts: readonly ReviewedFile[]
  readonly source: ReviewedFile | undefined
}

function filesChanged({ record, copy, kept }: Before, now: Now): readonly Difference[] {
  const copied = (file: TrustedFile) => (copy === undefined ? undefined : textAt(join(copy, file.path), file))
  const outside = (file: TrustedFile) => kept.textOf(file)
  // A file of hooks counts by its hooks; hooks that it lost, and keys that tighten, are seen in its text alone.
  const sources = record.source && now.source ? changesBetween([record.source], [now.source], outside) : []
  return [
    ...sources,
    ...changesBetween(record.files, now.files, copied),
    ...changesBetween(record.scripts, now.scripts, outside),
    ...programsMoved(record, now),
  ]
}

function programsMoved(record: TrustRecord, { programs }: Now): readonly Difference[] {
  return Object.entries(record.programs).flatMap(([name, before]): Difference[] => {
    const after = Object.hasOwn(programs, name) ? programs[name] : undefined
    if (after === before) return []
    const is = after === undefined ? 'is not found any more' : `is ${quoted(after)} now`
    const text = `The program ${quoted(name)} was ${quoted(before)} when it was trusted, and ${is}.`
    return [{ what: 'program-moved', path: name, text, before, ...(after !== undefined && { after }) }]
  })
}

function changesBetween(
  before: readonly TrustedFile[],
  now: readonly ReviewedFile[],
  oldText: (file: TrustedFile) => string | undefined,
): readonly Difference[] {
  const [then, current] = [byPath(before), byPath(now)]
  const paths = [...new Set([...then.keys(), ...current.keys()])].sort()
  return paths.flatMap((path): Difference[] => {
    const [a, b] = [then.get(path), current.get(path)]
    if (a && b && isSameFile(a, b)) return []
    const old = a && (a.link ?? oldText(a))
    const fresh = b && (b.link ?? b.text)
    const texts = { ...(old !== undefined && { before: old }), ...(fresh !== undefined && { after: fresh }) }
    if (a && b) {
      const isMode = a.sha256 === b.sha256 && a.link === b.link && isExecutable(a) !== isExecutable(b)
      return [{ what: isMode ? 'mode-changed' : 'file-changed', path, text: changeText(a, b), ...texts }]
    }
    const [what, done] = b ? (['file-added', 'added'] as const) : (['file-removed', 'removed'] as const)
    return [{ what, path, text: `${quoted(path)} was ${done} since it was trusted.`, ...texts }]
  })
}

function byPath<F extends TrustedFile>(files: readonly F[]): ReadonlyMap<string, F> {
  return new Map(files.map((file) => [file.path, file]))
}
