// All that counts of a unit as it is now, each file read once.

import { quoted } from '../core/base/text.js'
import { readFile } from './file-reading.js'
import { MOST_BYTES, readFolder } from './folder-reading.js'
import { type HookNote, namedBy } from './named-files.js'
import { findPrograms, searchPath, shebangProgram } from './program-search.js'
import type { Programs, TrustedFile, TrustedFolder, Unit } from './unit.js'
import { unitDigest } from './unit-digest.js'

export interface UnitContent {
  readonly digest: string
  readonly files: readonly TrustedFile[]
  readonly folders: readonly TrustedFolder[]
  /** Files outside the copy that commands name. */
  readonly scripts: readonly TrustedFile[]
  /** Of a file of hooks, the file itself: what it says beside its hooks is no part of the digest. */
  readonly source?: TrustedFile
  readonly absent: readonly string[]
  readonly words: readonly string[]
  readonly programs: Programs
  /** Programs that `$PATH` does not have. */
  readonly missing: readonly string[]
  /** Programs that a folder of `$PATH` has, but that lie in the project. */
  readonly inProject: readonly string[]
  /** Entries of `$PATH` that were not used: relative ones, and those in the project. */
  readonly skippedPath: readonly string[]
  /** What cannot be seen from the commands. */
  readonly notes: readonly HookNote[]
  /** What commands may run that is not part of what is trusted. Sentences. */
  readonly unseen: readonly string[]
  /** What prevents trust. Sentences. */
  readonly problems: readonly string[]
}

/** Is handed every file with its bytes. */
export interface Takers {
  readonly file?: (file: TrustedFile, bytes: Buffer) => void
  readonly script?: (script: TrustedFile, bytes: Buffer) => void
  readonly source?: (source: TrustedFile, bytes: Buffer) => void
}

export function readContent(unit: Unit, takers: Takers = {}): UnitContent {
  const path = searchPath(unit.projectDir)
  const named = namedBy(unit, path.folders)
  const names = new Set(named.programs)
  const look = (bytes: Buffer) => {
    const program = shebangProgram(bytes)
    if (program !== undefined && !program.includes('/')) names.add(program)
  }
  const folder = unit.kind === 'folder' ? read(unit, takers, look) : NOTHING
  const { scripts, problems } = readScripts(named.files, takers, look)
  const source = unit.kind === 'file' ? readSource(unit.path, takers) : undefined
  const own = ownNames(unit)
  const found = findPrograms(names, path.folders, unit.projectDir)
  return {
    digest: unitDigest(unit, { files: folder.files, scripts }),
    files: folder.files,
    folders: folder.folders,
    scripts,
    ...(source && { source }),
    absent: named.absent,
    words: named.words,
    ...found,
    missing: found.missing.filter((name) => !own.has(name)),
    skippedPath: path.skipped,
    notes: named.notes,
    unseen: named.unseen,
    problems: [...folder.problems, ...problems],
  }
}

const DEFINITION =
  /(?:^|[\s;&|({])(?:function\s{1,9}([\w.+@-]{1,99})|([\w.+@-]{1,99})\s{0,9}\(\s{0,9}\)|alias\s{1,9}([\w.+@-]{1,99})=)/g

/** Functions and aliases that commands define: nobody has to find these. */
export function ownNames({ hooks }: Pick<Unit, 'hooks'>): ReadonlySet<string | undefined> {
  return new Set(
    hooks.flatMap(({ command }) => [...command.matchAll(DEFINITION)].flatMap((found) => found.slice(1))),
  )
}

const NOTHING = { files: [], folders: [], problems: [] }

function read({ path, projectDir }: Unit, takers: Takers, look: (bytes: Buffer) => void) {
  return readFolder(path, {
    within: projectDir,
    take: (file, bytes) => {
      look(bytes)
      takers.file?.(file, bytes)
    },
  })
}

/** Where it cannot be read now, nothing can be shown of it; its hooks were read before. */
function readSource(path: string, takers: Takers): TrustedFile | undefined {
  const read = readFile(path, { follow: true, limit: MOST_BYTES })
  if (read === 'untouched' || 'problem' in read) return undefined
  const { bytes, ...rest } = read
  const source: TrustedFile = { path, ...rest }
  takers.source?.(source, bytes)
  return source
}

function readScripts(paths: readonly string[], takers: Takers, look: (bytes: Buffer) => void) {
  const scripts: TrustedFile[] = []
  const problems: string[] = []
  let limit = MOST_BYTES
  for (const path of paths) {
    const file = readFile(path, { follow: true, limit })
    if (file === 'untouched') continue
    if ('problem' in file) {
      problems.push(`${quoted(path)}, which a command names, ${file.problem}.`)
      continue
    }
    const { bytes, ...rest } = file
    const script: TrustedFile = { path, ...rest }
    limit -= bytes.length
    scripts.push(script)
    look(bytes)
    takers.script?.(script, bytes)
  }
  return { scripts, problems }
}
