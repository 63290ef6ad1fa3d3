// The copy of a unit, looked at as if it were the unit: what tells that the one changed tells it of the other.

import { compare, Watch } from './changes.js'
import { isFolder } from './copies.js'
import { isExecutable, type TrustedFile, type TrustRecord } from './unit.js'

export class CopiedUnit {
  readonly path: string
  readonly #record: TrustRecord
  readonly #watch: Watch

  constructor(path: string, record: TrustRecord) {
    this.path = path
    this.#record = asUnit(path, record)
    this.#watch = new Watch({ ...this.#record, files: mostTelling(this.#record.files) })
  }

  /** Whether it is there itself, and no link to something else. */
  isThere(): boolean {
    return isFolder(this.path)
  }

  /** Looks at every folder and at most of its files, opens none. False does not mean that anything changed. */
  isUntouched(): boolean {
    return this.#watch.isUntouched()
  }

  /** Reads what has another stamp: the stamps of now, or a sentence about the first difference. */
  compare(): NonNullable<TrustRecord['copied']> | string {
    const now = compare(this.#record)
    if ('why' in now) return now.why
    return { files: now.record.files.map(({ stamp }) => stamp), folders: now.record.folders }
  }
}

/** Nobody but the user can change a copy, and it is read-only: to look at thousands of files twice, here and in the project, is not worth it. */
const MOST_LOOKED_AT = 100

function mostTelling(files: readonly TrustedFile[]): readonly TrustedFile[] {
  if (files.length <= MOST_LOOKED_AT) return files
  return [...files.filter(isExecutable), ...files.filter((file) => !isExecutable(file))].slice(
    0,
    MOST_LOOKED_AT,
  )
}

function asUnit(path: string, record: TrustRecord): TrustRecord {
  const { files = [], folders = [{ path: '', stamp: '' }] } = record.copied ?? {}
  return {
    ...record,
    path,
    files: record.files.map((file, i) => ({ ...file, stamp: files[i] ?? '' })),
    folders,
    scripts: [],
    absent: [],
  }
}
