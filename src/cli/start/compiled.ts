// Code that was compiled beforehand: to compile it at every start would take as long as to run it.

import { readFileSync, statSync } from 'node:fs'
import { Script } from 'node:vm'

type Bundle = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
) => void

/** The exports of a bundle that is one function, as scripts/bundle.mjs writes it. */
export function compiled<T>(filename: string): T {
  const source = readFileSync(filename)
  return evaluated<T>(scriptOf(filename, source, cacheOf(filename, source)), filename, require)
}

/** All of it is ASCII, which needs no decoding. */
export function scriptOf(filename: string, source: Buffer, cachedData?: Buffer): Script {
  return new Script(source.toString('latin1'), { filename, ...(cachedData && { cachedData }) })
}

export function evaluated<T>(script: Script, filename: string, require: NodeJS.Require): T {
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

function cacheOf(filename: string, source: Buffer): Buffer | undefined {
  try {
    return unsealed(readFileSync(cacheFile(filename)), source)
  } catch {
    return undefined // it only saves time
  }
}

/**
 * Node looks neither whether it is damaged, and would end without a word, nor whether it is the code of this very source.
 * So it is there twice, and the source with it: to compare them takes a tenth of the time that a digest takes, of which
 * the library alone is slower to load than all of the hook. The code is first, where V8 takes it without a copy.
 */
export function sealed(code: Buffer, source: Buffer): Buffer {
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
