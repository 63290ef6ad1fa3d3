// Code that an earlier run compiled: to compile it at every start would take as long as to run it.

import { closeSync, openSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { Script } from 'node:vm'

type Bundle = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
) => void

/** The exports of a bundle that is one function, as scripts/bundle.mjs writes it. Its first run keeps what the next one needs. */
export function compiled<T>(filename: string): T {
  const source = readFileSync(filename)
  const cachedData = codeOf(filename, source)
  // All of it is ASCII, which needs no decoding.
  const script = new Script(source.toString('latin1'), { filename, ...(cachedData && { cachedData }) })
  if (!cachedData) process.once('exit', () => keepCode(script, filename, source))
  const module = { exports: {} }
  const bundle: Bundle = script.runInThisContext()
  bundle(module.exports, require, module, filename)
  return module.exports as T
}

/**
 * Where the code of a bundle is for the Node that runs here, and for no other: what another build of the same version has
 * compiled may end the process without a word, and a guard with it.
 */
export function cacheFile(filename: string): string {
  const { size, mtimeMs } = statSync(process.execPath)
  return `${filename}.${process.version}-${process.arch}-${size}-${Math.floor(mtimeMs)}.cache`
}

function codeOf(filename: string, source: Buffer): Buffer | undefined {
  try {
    return unsealed(readFileSync(cacheFile(filename)), source)
  } catch {
    return undefined // it only saves time
  }
}

/** Of all functions that were used. Another process may start at any moment: it finds the file whole, or none. */
function keepCode(script: Script, filename: string, source: Buffer): void {
  const path = cacheFile(filename)
  const draft = `${path}.${process.pid}.tmp`
  try {
    const fd = openSync(draft, 'wx') // before the work that is in vain where nothing may be written
    try {
      writeFileSync(fd, sealed(script.createCachedData(), source))
      renameSync(draft, path)
    } catch {
      unlinkSync(draft)
    } finally {
      closeSync(fd)
    }
  } catch {
    // it only saves time
  }
}

/**
 * Node looks neither whether it is damaged, and would end without a word, nor whether it is the code of this very source.
 * So it is there twice, and the source with it: to compare them takes a tenth of the time that a digest takes, of which
 * the library alone is slower to load than all of the hook. The code is first, where V8 takes it without a copy.
 */
function sealed(code: Buffer, source: Buffer): Buffer {
  return Buffer.concat([code, code, source])
}

/** Undefined for what is not as it was written. */
export function unsealed(content: Buffer, source: Buffer): Buffer | undefined {
  const end = content.length - source.length
  const code = content.subarray(0, end / 2)
  const isWhole =
    end > 0 && code.equals(content.subarray(end / 2, end)) && source.equals(content.subarray(end))
  return isWhole ? code : undefined
}
