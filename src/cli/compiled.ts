// Code that was compiled beforehand: to compile it at every start would take as long as to run it.

import { hash } from 'node:crypto'
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
  return evaluated<T>(scriptOf(filename, cacheOf(filename)), filename, require)
}

export function scriptOf(filename: string, cachedData?: Buffer): Script {
  // All of it is ASCII, which needs no decoding.
  return new Script(readFileSync(filename, 'latin1'), { filename, ...(cachedData && { cachedData }) })
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

function cacheOf(filename: string): Buffer | undefined {
  try {
    return unsealed(readFileSync(cacheFile(filename)))
  } catch {
    return undefined // it only saves time
  }
}

const SEAL_BYTES = 20

/** Node does not look whether it is damaged, and would end without a word. */
export function sealed(code: Buffer): Buffer {
  return Buffer.concat([sealOf(code), code])
}

/** Undefined for what is not as it was written. */
function unsealed(content: Buffer): Buffer | undefined {
  const code = content.subarray(SEAL_BYTES)
  return sealOf(code).equals(content.subarray(0, SEAL_BYTES)) ? code : undefined
}

function sealOf(code: Buffer): Buffer {
  return hash('sha1', code, 'buffer')
}
