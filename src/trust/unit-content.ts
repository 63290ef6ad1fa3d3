// The current content of a unit, each file read once, and its digest.

import { digest } from '../core/base/digest.js'
import { quoted } from '../core/base/text.js'
import { userHome } from '../files/homes.js'
import { searchPath } from '../files/search-path.js'
import { readFile } from './file-reading.js'
import { MOST_BYTES, readFolder } from './folder-reading.js'
import { type HookNote, namedBy } from './named-files.js'
import { findPrograms, shebangProgram } from './program-search.js'
import { loadsOf } from './script-loads.js'
import {
  type ImplicitLoad,
  isExecutable,
  type Programs,
  type TrustedFile,
  type TrustedFolder,
  type Unit,
} from './unit.js'

export interface UnitContent {
  readonly digest: string
  readonly files: readonly TrustedFile[]
  readonly folders: readonly TrustedFolder[]
  /** Files outside the copy that commands name. */
  readonly scripts: readonly TrustedFile[]
  /** The hooks file itself. Its text beyond the hooks is not part of the digest. */
  readonly source?: TrustedFile
  /** Paths where a command would find a file, and there is none. */
  readonly absent: readonly string[]
  /** The programs and scripts among `absent`. */
  readonly lacking: readonly string[]
  readonly words: readonly string[]
  readonly implicit: readonly ImplicitLoad[]
  readonly programs: Programs
  /** Programs that are not in `$PATH`. */
  readonly missing: readonly string[]
  /** Programs on `$PATH` that are links into the project. */
  readonly inProject: readonly string[]
  /** Entries of `$PATH` that were not used: relative ones, and those in the project. */
  readonly skippedPath: readonly string[]
  /** Things that the commands do not show. */
  readonly notes: readonly HookNote[]
  /** Sentences about files that commands may run and that are not part of what is trusted. */
  readonly unseen: readonly string[]
  /** Sentences about what prevents trust. */
  readonly problems: readonly string[]
}

/** Called with each file and its bytes. */
export interface Takers {
  readonly file?: (file: TrustedFile, bytes: Buffer) => void
  readonly script?: (script: TrustedFile, bytes: Buffer) => void
  readonly source?: (source: TrustedFile, bytes: Buffer) => void
}

export function readContent(unit: Unit, takers: Takers = {}): UnitContent {
  const path = searchPath([unit.projectDir])
  const named = namedBy(unit, path.folders)
  const names = new Set(named.programs)
  const look = (bytes: Buffer) => {
    const program = shebangProgram(bytes)
    if (program !== undefined && !program.includes('/')) names.add(program)
  }
  const folder = unit.kind === 'folder' ? read(unit, takers, look) : NOTHING
  const implicit = [...named.implicit]
  const absent = new Set(named.absent)
  const { scripts, problems } = readScripts(named.files, takers, (bytes, path) => {
    look(bytes)
    const loads = loadsOf({ path, bytes, by: named.interpreters.get(path) }, unit.projectDir)
    implicit.push(...loads.implicit)
    for (const one of loads.absent) absent.add(one)
  })
  const source = unit.kind === 'file' ? readSource(unit.path, takers) : undefined
  const own = ownNames(unit)
  const found = findPrograms(names, path.folders, unit.projectDir)
  return {
    digest: unitDigest(unit, { files: folder.files, scripts }),
    files: folder.files,
    folders: folder.folders,
    scripts,
    ...(source && { source }),
    absent: [...absent].sort(),
    lacking: named.lacking,
    words: named.words,
    implicit,
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

/** Functions and aliases that commands define. They need not be found in `$PATH`. */
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

/** Undefined if it cannot be read now. Then it is not shown; its hooks were read before. */
function readSource(path: string, takers: Takers): TrustedFile | undefined {
  const read = readFile(path, { follow: true, limit: MOST_BYTES })
  if (read === 'untouched' || 'problem' in read) return undefined
  const { bytes, ...rest } = read
  const source: TrustedFile = { path, ...rest }
  takers.source?.(source, bytes)
  return source
}

function readScripts(paths: readonly string[], takers: Takers, look: (bytes: Buffer, path: string) => void) {
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
    look(bytes, path)
    takers.script?.(script, bytes)
  }
  return { scripts, problems }
}

// ---- the digest: one value for everything that was reviewed, the same on every machine ------------------------

/** Raise it when the digest covers something else. Everything must then be reviewed again. */
const FORMAT = 1

interface Content {
  readonly files: readonly TrustedFile[]
  readonly scripts: readonly TrustedFile[]
}

/** Leaves out everything that differs between machines: users, folders above the project, times, umask bits, programs. */
function unitDigest({ kind, hooks, projectDir }: Unit, { files, scripts }: Content): string {
  return digest({
    carabiner: FORMAT,
    kind,
    hooks: [...new Set(hooks.map(({ hash }) => hash))].sort(),
    files: files.map((file) =>
      file.link === undefined
        ? [file.path, file.sha256, isExecutable(file)]
        : [file.path, { link: file.link }],
    ),
    scripts: scripts
      .map((script) => [placeOf(script.path, projectDir), script.sha256, isExecutable(script)])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  })
}

function placeOf(path: string, projectDir: string): string {
  if (path.startsWith(`${projectDir}/`)) return `project/${path.slice(projectDir.length + 1)}`
  const home = userHome()
  return home !== '/' && path.startsWith(`${home}/`) ? `~/${path.slice(home.length + 1)}` : path
}
