// Code that an earlier run compiled: to compile it at every start would take as long as to run it.

import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'

type Bundle = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
) => void

/** How many runs keep what they compiled. The first may only be `--help`. */
const KEEPING_RUNS = 3

/** The exports of a bundle that is one function, as scripts/bundle.mjs writes it. */
export function compiled<T>(filename: string): T {
  const source = readFileSync(filename)
  const { code, runs } = keptCode(filename, source)
  // All of it is ASCII, which needs no decoding.
  const script = new Script(source.toString('latin1'), { filename, ...(code && { cachedData: code }) })
  if (runs < KEEPING_RUNS) process.once('exit', () => keepCode(script, filename, source, runs + 1))
  const module = { exports: {} }
  const bundle: Bundle = script.runInThisContext()
  bundle(module.exports, require, module, filename)
  return module.exports as T
}

/**
 * The file for exactly the Node that runs here: code that another build of the same version compiled may end the process
 * silently, and a guard with it.
 */
export function cacheFile(filename: string): string {
  const { size, mtimeMs } = statSync(process.execPath)
  const build = `${process.version}-${process.arch}-${size}-${Math.floor(mtimeMs)}`
  return `${filename}.${place()}.${build}${CACHE}`
}

const CACHE = '.cache'

/** Where this Node is, as a part of a file name. */
function place(): string {
  return process.execPath.replace(/[^A-Za-z0-9]+/g, '-').slice(-LONGEST_PLACE)
}

const LONGEST_PLACE = 100

function keptCode(filename: string, source: Buffer): Kept {
  try {
    // Do not block on a FIFO.
    const fd = openSync(cacheFile(filename), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      return unsealed(readFileSync(fd), source)
    } finally {
      closeSync(fd)
    }
  } catch {
    return NOTHING // it only saves time
  }
}

/** Includes every function that ran. A process that starts meanwhile finds the whole file, or none. */
function keepCode(script: Script, filename: string, source: Buffer, runs: number): void {
  const path = cacheFile(filename)
  const draft = `${path}.${process.pid}.tmp`
  try {
    const fd = openSync(draft, 'wx') // Fails before the work, if the folder is read-only.
    try {
      writeFileSync(fd, sealed(script.createCachedData(), source, runs))
      renameSync(draft, path)
      removeOthers(path, filename)
    } catch {
      unlinkSync(draft)
    } finally {
      closeSync(fd)
    }
  } catch {
    // it only saves time
  }
}

const DAY_MS = 86_400_000
/** Another Node that is still in use compiles again. */
const OTHERS_STAY_MS = 30 * DAY_MS

/** An update of Node leaves the code of the old one behind, and a process that was killed its draft. */
function removeOthers(own: string, filename: string): void {
  const bundle = `${basename(filename)}.`
  for (const name of readdirSync(dirname(own))) {
    const isDraft = name.endsWith('.tmp')
    if (!name.startsWith(bundle) || !(isDraft || name.endsWith(CACHE)) || name === basename(own)) continue
    const path = join(dirname(own), name)
    try {
      const age = Date.now() - lstatSync(path).mtimeMs
      const isOfOlderNode = name.startsWith(`${bundle}${place()}.`)
      if (isDraft ? age > DAY_MS : isOfOlderNode || age > OTHERS_STAY_MS) unlinkSync(path)
    } catch {
      // Another process may have removed it.
    }
  }
}

/**
 * Node checks neither that cached code is intact nor that it belongs to this source, and damaged code can end the process
 * silently. So the file holds the code twice, and the source. Comparing them takes a tenth of the time of a digest. The
 * code is first, where V8 takes it without a copy.
 */
function sealed(code: Buffer, source: Buffer, runs: number): Buffer {
  return Buffer.concat([code, code, source, Buffer.of(runs)])
}

interface Kept {
  /** Undefined if there is none, or if it is damaged. */
  readonly code: Buffer | undefined
  /** How many runs contributed to it. */
  readonly runs: number
}

const NOTHING: Kept = { code: undefined, runs: 0 }

export function unsealed(content: Buffer, source: Buffer): Kept {
  const end = content.length - source.length - 1
  const code = content.subarray(0, end / 2)
  const isWhole =
    end > 0 && code.equals(content.subarray(end / 2, end)) && source.equals(content.subarray(end, -1))
  return isWhole ? { code, runs: content.at(-1) ?? 0 } : NOTHING
}
