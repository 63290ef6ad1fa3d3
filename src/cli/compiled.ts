// Code that was compiled beforehand: to compile it at every start would take as long as to run it.

import { createHash } from 'node:crypto'
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
  const source = sourceOf(filename)
  const cachedData = cacheOf(filename, source)
  return evaluated<T>(new Script(source, { filename, ...(cachedData && { cachedData }) }), filename, require)
}

/** All of it is ASCII, which needs no decoding. */
export function sourceOf(filename: string): string {
  return readFileSync(filename, 'latin1')
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

function cacheOf(filename: string, source: string): Buffer | undefined {
  try {
    return unsealed(readFileSync(cacheFile(filename)), source)
  } catch {
    return undefined // it only saves time
  }
}

const SEAL_BYTES = 20

/** Node looks neither whether it is damaged, and would end without a word, nor whether it is the code of this very source. */
export function sealed(code: Buffer, source: string): Buffer {
  return Buffer.concat([code, sealOf(code, source)])
}

/** Undefined for what is not as it was written. */
function unsealed(content: Buffer, source: string): Buffer | undefined {
  const code = content.subarray(0, -SEAL_BYTES)
  return sealOf(code, source).equals(content.subarray(-SEAL_BYTES)) ? code : undefined
}

function sealOf(code: Buffer, source: string): Buffer {
  return createHash('sha1').update(source, 'latin1').update(code).digest()
}
