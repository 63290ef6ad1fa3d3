// A copy of a project to fire events in: its files, what the user trusts and switched off there, and a home for records. Removed afterwards.

import { constants, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, sep } from 'node:path'
import { callerEnv } from '../../files/caller.js'
import { isWithin } from '../../files/within.js'
import { projectKey, SwitchStore } from '../../plugins/switches.js'
import type { Unit } from '../../trust/unit.js'
import type { Shown } from '../plugins/print-review.js'
import { findUnits, show } from '../plugins/review.js'
import { counted } from '../print/lines.js'
import { sourcesOf } from '../sources.js'

const MOST_FILES = 20_000
const MOST_BYTES = 256 * 1024 * 1024

export class PlaygroundCopy {
  readonly project: string
  /** CARABINER_HOME of the copy: sessions, counters, audit, approvals. */
  readonly carabinerHome: string
  /** What the copy lacks, in sentences. */
  readonly notes: string[] = []
  readonly #base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-play-')))
  readonly #real: string

  constructor(real: string) {
    this.#real = real
    this.project = join(this.#base, 'copy', basename(real))
    this.carabinerHome = join(this.#base, 'carabiner')
  }

  /** Rejects if a file cannot be copied. */
  async make(): Promise<void> {
    await this.#copyFiles()
    this.#copySwitches()
    await this.#copyTrust()
  }

  /** The digests that count as trusted in the copy. */
  get trustedFile(): string {
    return join(this.#base, 'trusted')
  }

  /** Writes the payload, and returns the file. */
  payloadFile(payload: object): string {
    const path = join(this.#base, 'payload.json')
    writeFileSync(path, JSON.stringify(payload))
    return path
  }

  /** The user's own environment and home: hooks find their programs and settings there. */
  env(): NodeJS.ProcessEnv {
    return { ...callerEnv(), CARABINER_HOME: this.carabinerHome, CARABINER_SERVICE: 'off' }
  }

  remove(): void {
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 3 })
  }

  // ---- files --------------------------------------------------------------------------------------------------

  /** Files near the top come first. Links that lead out of the project are left out: hooks could write through them. */
  async #copyFiles(): Promise<void> {
    const left = { packages: 0, links: 0, others: 0 }
    let [files, bytes] = [0, 0]
    const folders = ['']
    for (const folder of folders) {
      await mkdir(join(this.project, folder), { recursive: true })
      for (const entry of await readdir(join(this.#real, folder), { withFileTypes: true })) {
        const path = join(folder, entry.name)
        const [from, to] = [join(this.#real, path), join(this.project, path)]
        if (entry.isDirectory()) {
          if (entry.name === 'node_modules') left.packages++
          else folders.push(path)
        } else if (entry.isSymbolicLink()) {
          if (await isInside(from, this.#real)) await symlink(await readlink(from), to)
          else left.links++
        } else if (entry.isFile() && files < MOST_FILES && bytes + (await lstat(from)).size <= MOST_BYTES) {
          files++
          bytes += (await lstat(from)).size
          await copyFile(from, to, constants.COPYFILE_FICLONE)
        } else left.others++
      }
    }
    if (left.packages > 0) this.notes.push('The copy has no node_modules.')
    if (left.links > 0)
      this.notes.push(
        `The copy lacks ${counted(left.links, 'link')} that ${left.links === 1 ? 'leads' : 'lead'} out of the project.`,
      )
    if (left.others > 0)
      this.notes.push(
        `The copy lacks ${counted(left.others, 'file')}: the project is large, or they are no plain files.`,
      )
  }

  // ---- what the user decided ----------------------------------------------------------------------------------

  #copySwitches(): void {
    const now = Date.now()
    const key = projectKey(this.#real)
    const copied = new SwitchStore({ dataDir: this.carabinerHome })
    for (const { project, ...one } of new SwitchStore().inForce(now))
      if (project === undefined) copied.turnOff(one, now)
      else if (project === key) copied.turnOff({ ...one, project: projectKey(this.project) }, now)
  }

  /** What is trusted in the project is trusted in the copy, as far as every file and hook of it is the same. */
  async #copyTrust(): Promise<void> {
    const real = await findUnits(sourcesOf(this.#real), undefined)
    const copy = await findUnits(sourcesOf(this.project), undefined)
    const digests: string[] = []
    for (const unit of real.units.keys()) {
      const standing = real.store.standingOf(unit)
      const there = this.#inCopy(unit, [...copy.units.keys()])
      if (!there) continue
      if (standing.state === 'modified')
        this.notes.push(
          `${unit.name} was changed after you trusted it: the project runs it as you trusted it, the copy does not run it.`,
        )
      if (standing.state !== 'trusted') continue
      const [was, is] = [show(real, unit), show(copy, there)]
      if (this.#isSame(was, is) && is.review) digests.push(is.review.digest)
      else this.notes.push(`${unit.name} is not the same in the copy, and does not run there.`)
    }
    writeFileSync(this.trustedFile, `${digests.join('\n')}\n`)
  }

  #inCopy({ path }: Unit, units: readonly Unit[]): Unit | undefined {
    return units.find((unit) => this.#realPath(unit.path) === path && unit.path !== path)
  }

  #realPath(path: string): string {
    return isWithin(path, this.project) ? join(this.#real, path.slice(this.project.length)) : path
  }

  #isSame(was: Shown, is: Shown): boolean {
    const contentOf = ({ unit, review }: Shown) => {
      const files = [...(review?.files ?? []), ...(review?.scripts ?? [])]
      return JSON.stringify([
        unit.hooks,
        [...new Set(files.map(({ path, sha256 }) => `${this.#realPath(path)} ${sha256}`))].sort(),
      ])
    }
    return was.review !== undefined && is.review !== undefined && contentOf(was) === contentOf(is)
  }
}

/**
 * A `..` after a name may leave a folder that is a link itself, so such a target counts as outside. So does a way out of the
 * project and back in: from the copy it leads to the real one.
 */
async function isInside(link: string, project: string): Promise<boolean> {
  const target = await readlink(link)
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const named = parts.findIndex((part) => part !== '..')
  const ups = named < 0 ? parts.length : named
  if (target.startsWith('/') || parts.includes('..', ups)) return false
  return ups <= relative(project, dirname(link)).split(sep).filter(Boolean).length
}
