// Checks whether trust records are reliable. If a project or another user can write them, they prove nothing.

import { join } from 'node:path'
import { perCaller } from '../../core/base/caller.js'
import { quoted } from '../../core/base/text.js'
import { statIfThere } from '../../files/if-there.js'
import { isInProject } from '../../files/within.js'

const ELSEWHERE = 'set CARABINER_HOME to a folder'

/** Root may write anywhere. */
const ROOT = 0

/** Folders with the user's decisions. Each of them may be a link. */
const STORE_FOLDERS = [
  'trust',
  'trust-projects',
  'listed',
  'listed-projects',
  'copies',
  'texts',
  'sources',
] as const

export class StorePlace {
  readonly #root: string
  readonly #folders: readonly string[]
  /** By project, so that links are followed only once. A service follows them again for each call. */
  readonly #inside = perCaller(() => new Map<string, boolean>())
  readonly #checked = perCaller(() => ({ isPrivate: false }))

  constructor(root: string) {
    this.#root = root
    this.#folders = [root, ...STORE_FOLDERS.map((name) => join(root, name))]
  }

  /** Throws if the project contains the store, because the records could then come with the repository. */
  checkOutside(projectDir: string): void {
    const known = this.#inside()
    const inside = known.get(projectDir) ?? this.#folders.some((folder) => isInProject(folder, projectDir))
    known.set(projectDir, inside)
    if (!inside) return
    throw new Error(
      `the folder of your trust records, ${quoted(this.#root)}, lies in the project ${quoted(projectDir)}, which must not trust itself; ${ELSEWHERE} outside it (CARABINER_HOME, XDG_DATA_HOME and HOME decide where it is)`,
    )
  }

  /** `checkPrivate`, unless it was done before: in this call, if this is a service. */
  checkPrivateOnce(): void {
    if (!this.#checked().isPrivate) this.checkPrivate()
  }

  /** Throws if others can write to it, because the content could then be anybody's. */
  checkPrivate(): void {
    if (process.platform !== 'win32') this.#checkFolders()
    this.#checked().isPrivate = true
  }

  #checkFolders(): void {
    for (const folder of this.#folders) {
      const { mode = 0, uid = ROOT } = statIfThere(folder) ?? {}
      if (uid !== ROOT && uid !== process.getuid?.()) {
        throw new Error(
          `the folder of your trust records, ${quoted(folder)}, belongs to another user (${uid}), who could have put anything in it; ${ELSEWHERE} of your own`,
        )
      }
      if ((mode & 0o022) === 0) continue
      throw new Error(
        `the folder of your trust records, ${quoted(folder)}, is writable by others (mode ${(mode & 0o7777).toString(8)}), who could have put anything in it; if everything in it is yours, chmod go-w it, otherwise ${ELSEWHERE} that only you can write to`,
      )
    }
  }
}
