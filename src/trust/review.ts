// What a person is shown before trusting: everything as it was read and hashed, and what is different from last time.

import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { changeText } from './changes.js'
import { isSameFile } from './copies.js'
import { readFile } from './file-reading.js'
import { quoted } from './quoted.js'
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
      readonly what: 'file-added' | 'file-removed' | 'file-changed' | 'mode-changed'
      readonly path: string
      /** A sentence. */
      readonly text: string
      /** What was in it, where it is text; of a link, where it led. A script outside the folder has no old text. */
      readonly before?: string
      readonly after?: string
    }

/** Of one file, and of all together, in bytes. */
const LONGEST_TEXT = 1024 * 1024
const MOST_TEXT = 32 * 1024 * 1024

/** Writes nothing. `copy`: where the last one is. */
export function reviewOf(unit: Unit, record: TrustRecord | undefined, copy: string | undefined): Review {
  const texts = new Map<TrustedFile, Pick<ReviewedFile, 'text' | 'isText'>>()
  let left = MOST_TEXT
  const take: Takers['file'] = (file, bytes) => {
    const isText = isUtf8(bytes) && !bytes.includes(0)
    const isShown = isText && bytes.length <= Math.min(LONGEST_TEXT, left)
    if (isShown) left -= bytes.length
    texts.set(file, { isText, ...(isShown && { text: bytes.toString('utf8') }) })
  }
  const content = readContent(unit, { file: take, script: take })
  const withText = (file: TrustedFile): ReviewedFile => ({ ...file, isText: true, ...texts.get(file) })
  const files = content.files.map(withText)
  const scripts = content.scripts.map(withText)
  const differences = record
    ? [...hooksChanged(record, unit), ...filesChanged(record, { files, scripts }, copy)]
    : []
  return { ...content, unit, files, scripts, record, differences }
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

interface Files {
  readonly files: readonly ReviewedFile[]
  readonly scripts: readonly ReviewedFile[]
}

function filesChanged(record: TrustRecord, now: Files, copy: string | undefined): readonly Difference[] {
  const oldText = (file: TrustedFile) =>
    copy === undefined ? undefined : textAt(join(copy, file.path), file)
  return [
    ...changesBetween(record.files, now.files, oldText),
    ...changesBetween(record.scripts, now.scripts, () => undefined),
  ]
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

/** Only if it is still what was trusted. */
function textAt(path: string, { sha256 }: TrustedFile): string | undefined {
  const read = readFile(path, { follow: false, limit: LONGEST_TEXT })
  if (read === 'untouched' || 'problem' in read || read.sha256 !== sha256) return undefined
  return isUtf8(read.bytes) && !read.bytes.includes(0) ? read.bytes.toString('utf8') : undefined
}
