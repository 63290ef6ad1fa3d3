// What setup did to one settings file, kept for who wants it undone; and a lock, so that one alone changes the file at a time.

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

/** What was there before, and how the file looks since. */
export interface Installed {
  readonly file: string
  /** Null where there was no file. */
  readonly original: string | null
  /** Digests of the texts that are the original with our entries. */
  readonly written: readonly string[]
  /** Folders that were made for it, from the top down. */
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

/** Setting up takes milliseconds: who holds the lock longer is gone, or another process has its number. */
const HELD_MS = 60_000
const PATIENCE_MS = 10_000
const PAUSE_MS = 50
/** The original, as JSON. */
const MOST_BYTES = 32 * 1024 * 1024

export class SetupRecord {
  readonly #folder: string
  readonly #file: VersionedFile<Stored>
  readonly #patienceMs: number

  /** `real`: where the settings file is, behind links. `patienceMs`: how long it waits for another to finish. */
  constructor(real: string, { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {}) {
    this.#patienceMs = patienceMs
    this.#folder = join(recordsHome(), digestOf(real).slice(0, 32))
    this.#file = fileIn(this.#folder)
  }

  load(): Installed | undefined {
    return kept(() => this.#file.load().installed ?? undefined)
  }

  /** A plain copy of what is about to be replaced; answers its path. */
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

  /** Runs alone, of all that set up this file. `save` puts down what was done. */
  async alone<T>(work: (save: (installed: Installed | null) => void) => T): Promise<T> {
    const holder = await this.#taken()
    const isHeld = (stored: Stored) => stored.holder?.nonce === holder.nonce
    try {
      return work((installed) =>
        this.#update((stored) => {
          if (isHeld(stored)) return { ...stored, installed }
          throw new SetupProblem('Another carabiner setup took over while this one slept', 'Run it again.')
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
        throw new SetupProblem(`Another carabiner setup (process ${other.pid}) is at work`, 'Try again.')
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
    what: 'What setup changed',
    fresh: { holder: null, installed: null },
    check: checkStored,
    durable: true,
    maxBytes: MOST_BYTES,
  })
}

/** The settings files that hold entries of ours, as far as records say. Throws a SetupProblem if one cannot be read. */
export function recordedFiles(): readonly string[] {
  return kept(() =>
    namesIn(recordsHome()).flatMap((name) => {
      const { installed } = fileIn(join(recordsHome(), name)).load()
      return installed ? [installed.file] : []
    }),
  )
}

/** A folder of Carabiner's that cannot be used is for the user to put right. */
function kept<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof SetupProblem) throw error
    throw new SetupProblem(textOf(error), 'Run it again when that is put right.')
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
  if (!isObject(value)) throw new Error('holds no record')
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
