// The record of what setup did to a settings file, so that it can be undone, and a lock, so that only one setup changes the file at a time.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { makePrivate, namesIn } from '../files/folder.js'
import { dataHome } from '../files/homes.js'
import { keepText, keptTexts } from '../files/kept-texts.js'
import { nonce } from '../files/nonce.js'
import { VersionedFile } from '../files/versioned-file.js'
import { SetupProblem } from './setup-problem.js'

/** The file before and after setup. */
export interface Installed {
  readonly file: string
  /** Null if there was no file. */
  readonly original: string | null
  /** Digests of the texts that setup wrote: the original with our entries. */
  readonly written: readonly string[]
  /** Folders that were created for it, from the top down. */
  readonly folders: readonly string[]
}

interface Holder {
  readonly pid: number
  readonly nonce: string
  readonly at: number
}

interface Stored {
  readonly holder: Holder | null
  readonly installed: Installed | null
}

/** Setup takes milliseconds. After this time the holder has ended, or another process has its number. */
const HELD_MS = 60_000
const PATIENCE_MS = 10_000
const PAUSE_MS = 50
/** The original, as JSON. */
const MOST_BYTES = 32 * 1024 * 1024

export class SetupRecord {
  readonly #folder: string
  readonly #file: VersionedFile<Stored>
  readonly #patienceMs: number

  /** `real`: the settings file, after following links. `patienceMs`: how long to wait for another setup to finish. */
  constructor(real: string, { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {}) {
    this.#patienceMs = patienceMs
    this.#folder = join(recordsHome(), digestOf(real).slice(0, 32))
    this.#file = fileIn(this.#folder)
  }

  load(): Installed | undefined {
    return kept(() => this.#file.load().installed ?? undefined)
  }

  /** Saves a copy of the text that is about to be replaced. Returns its path. */
  keep(text: string): string {
    const folder = join(this.#folder, 'replaced')
    return kept(() => {
      makePrivate(folder)
      return keepText(folder, text)
    })
  }

  /** Those copies, the newest first. */
  replaced(): readonly string[] {
    return kept(() => keptTexts(join(this.#folder, 'replaced')))
  }

  /** Holds the lock while `work` runs. `save` records what was done. */
  async alone<T>(work: (save: (installed: Installed | null) => void) => T): Promise<T> {
    const holder = await this.#taken()
    const isHeld = (stored: Stored) => stored.holder?.nonce === holder.nonce
    try {
      return work((installed) =>
        this.#update((stored) => {
          if (isHeld(stored)) return { ...stored, installed }
          throw new SetupProblem(
            'Another carabiner setup took over while this one was suspended',
            'Run it again.',
          )
        }),
      )
    } finally {
      this.#update((stored) => (isHeld(stored) ? { ...stored, holder: null } : stored))
    }
  }

  #update(change: (stored: Stored) => Stored): void {
    kept(() => this.#file.update(change))
  }

  async #taken(): Promise<Holder> {
    const patience = performance.now() + this.#patienceMs
    for (;;) {
      const holder = { pid: process.pid, nonce: nonce(), at: Date.now() }
      let other: Holder | undefined
      this.#update((stored) => {
        other = stored.holder && isAtWork(stored.holder) ? stored.holder : undefined
        return other ? stored : { ...stored, holder }
      })
      if (!other) return holder
      if (performance.now() >= patience) {
        throw new SetupProblem(
          `Another carabiner setup (process ${other.pid}) is running`,
          'Try again when it is done.',
        )
      }
      await sleep(PAUSE_MS)
    }
  }
}

function recordsHome(): string {
  return join(dataHome(), 'setup')
}

function fileIn(folder: string): VersionedFile<Stored> {
  return new VersionedFile({
    folder,
    what: 'The record of setup',
    fresh: { holder: null, installed: null },
    check: checkStored,
    durable: true,
    maxBytes: MOST_BYTES,
  })
}

/** The settings files that contain our entries, according to the records. Throws a SetupProblem if a record cannot be read. */
export function recordedFiles(): readonly string[] {
  return kept(() =>
    namesIn(recordsHome()).flatMap((name) => {
      const { installed } = fileIn(join(recordsHome(), name)).load()
      return installed ? [installed.file] : []
    }),
  )
}

/** If Carabiner's own folder cannot be used, the user has to fix it. */
function kept<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof SetupProblem) throw error
    throw new SetupProblem(textOf(error), 'Fix that, then run it again.')
  }
}

function isAtWork({ pid, at }: Holder): boolean {
  if (Math.abs(Date.now() - at) > HELD_MS) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

// ---- what was read --------------------------------------------------------------------------------------------

function checkStored(value: unknown): Stored {
  if (!isObject(value)) throw new Error('is not a record')
  return {
    holder: value.holder === null ? null : checkHolder(value.holder),
    installed: value.installed === null ? null : checkInstalled(value.installed),
  }
}

function checkHolder(value: unknown): Holder {
  if (isObject(value)) {
    const { pid, nonce: name, at } = value
    if (Number.isInteger(pid) && typeof name === 'string' && typeof at === 'number') {
      return { pid: pid as number, nonce: name, at }
    }
  }
  throw new Error('has no valid "holder"')
}

function checkInstalled(value: unknown): Installed {
  if (isObject(value)) {
    const { file, original, written, folders } = value
    const isText = (one: unknown): one is string => typeof one === 'string'
    const isList = (one: unknown): one is readonly string[] => Array.isArray(one) && one.every(isText)
    if (isText(file) && (original === null || isText(original)) && isList(written) && isList(folders)) {
      return { file, original, written, folders }
    }
  }
  throw new Error('has no valid "installed"')
}
