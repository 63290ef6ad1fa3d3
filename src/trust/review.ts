// The review that a person sees before trusting: everything as read and hashed, changes since last time, and a reading order.

import { basename, extname, join } from 'node:path'
import { quoted } from '../core/base/text.js'
import { changeText } from './changes.js'
import { isReadable, isSameFile, type KeptFiles, LONGEST_TEXT, textAt } from './copies.js'
import { isExecutable, type TrustedFile, type TrustRecord, type Unit, type UnitHook } from './unit.js'
import { readContent, type Takers, type UnitContent } from './unit-content.js'

export interface ReviewedFile extends TrustedFile {
  /** The text that was hashed. Undefined for a link, a file that is not text, and a file that is too large to show. */
  readonly text?: string
  readonly isText: boolean
}

export interface Review extends UnitContent {
  readonly unit: Unit
  readonly files: readonly ReviewedFile[]
  readonly scripts: readonly ReviewedFile[]
  /** The record from the last time it was trusted. */
  readonly record: TrustRecord | undefined
  /** Empty without a record. */
  readonly differences: readonly Difference[]
}

export type Difference =
  | { readonly what: 'hook-added' | 'hook-removed'; readonly hook: UnitHook; readonly text: string }
  | {
      readonly what: 'file-added' | 'file-removed' | 'file-changed' | 'mode-changed' | 'program-moved'
      /** For a program, its name. */
      readonly path: string
      /** A sentence. */
      readonly text: string
      /** The old content, if it is text and still known. For a link or a program, its old target. */
      readonly before?: string
      readonly after?: string
    }

/** For all files together, in bytes. */
const MOST_TEXT = 32 * 1024 * 1024

/** The record from last time, and where its texts are. */
interface Before {
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
  // Only the hooks of a hooks file count for trust. Hooks that it lost, and keys that tighten, show only in its text.
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
    const is = after === undefined ? 'is no longer found' : `is ${quoted(after)} now`
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

// ---- reading order: files that commands name, files that those name, other scripts, the rest ------------------

/** `named`: by a command, or by another named file. Names that are built at run time are not found. */
type Part = 'named' | 'script' | 'other'

export interface RankedFile {
  readonly file: ReviewedFile
  readonly part: Part
}

/** Characters per file. Names of other files come early; the rest is data. */
const MOST_SEARCHED = 256 * 1024

const orders = new WeakMap<readonly ReviewedFile[], readonly RankedFile[]>()

/** Files of the folder and scripts outside it, most important first. */
export function inReadingOrder(review: Review): readonly RankedFile[] {
  const order = orders.get(review.files) ?? readingOrder(review)
  orders.set(review.files, order)
  return order
}

function readingOrder({ unit, files, scripts }: Review): readonly RankedFile[] {
  const named = new Set<ReviewedFile>(scripts)
  const waiting = new Set(files.filter(({ link }) => link === undefined))
  const take = (texts: readonly string[]): readonly ReviewedFile[] => {
    const words = new Set(texts.flatMap(wordsIn))
    const found = [...waiting].filter(({ path }) => namesOf(path).some((name) => words.has(name)))
    for (const file of found) waiting.delete(file)
    return found
  }
  const whole = new Map<ReviewedFile, number>()
  const ofHooks = unit.hooks.flatMap(({ command, args = [] }) => {
    const text = [command, ...args].join(' ')
    const found = take([text])
    for (const file of found) whole.set(file, isWholeIn(text, file.path) ? 0 : 1)
    return found
  })
  const first = ofHooks.sort((a, b) => (whole.get(a) ?? 1) - (whole.get(b) ?? 1))
  // In rounds, so that files named by a command come before those named only by another file.
  for (let round: readonly ReviewedFile[] = [...scripts, ...first]; round.length > 0; ) {
    for (const file of round) named.add(file)
    round = take(round.map(({ text = '' }) => text.slice(0, MOST_SEARCHED)))
  }
  const others = files.filter((file) => !named.has(file))
  return [
    ...[...named].map((file) => ({ file, part: 'named' as const })),
    ...others.filter(isScript).map((file) => ({ file, part: 'script' as const })),
    ...others.filter((file) => !isScript(file)).map((file) => ({ file, part: 'other' as const })),
  ]
}

/** Compares whole paths, so that a file with the same name in another folder does not come first. */
function isWholeIn(command: string, path: string): boolean {
  const at = command.indexOf(path)
  return at >= 0 && !/[\w.-]/.test(command[at - 1] ?? '')
}

function wordsIn(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{N}_.@%+~-]+/u).map((word) => word.replace(/^\.+(?=.)|\.+$/g, ''))
}

/** `./check` may mean check.js, and a folder may mean its index or its __main__. */
function namesOf(path: string): readonly string[] {
  const name = basename(path).replace(/^\.+(?=.)/, '')
  return COMPLETED.test(name) ? [name, name.slice(0, -extname(name).length)] : [name]
}

const COMPLETED = /\.(?:[cm]?[jt]s|[jt]sx|py)$/
const SCRIPT = /\.(?:(?:ba|z|k|da|fi)?sh|[cm]?[jt]s|[jt]sx|py|rb|pl|php|ps1|lua|awk|go|rs)$/i

function isScript(file: ReviewedFile): boolean {
  return (
    file.link === undefined && (isExecutable(file) || SCRIPT.test(file.path) || !!file.text?.startsWith('#!'))
  )
}
