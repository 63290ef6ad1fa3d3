// The real Claude Code, in a cache outside the checkout: it is no dependency, and is fetched once.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder as cacheIn, installPackage } from '../../../scripts/runtimes.mjs'

const PACKAGE = '@anthropic-ai/claude-agent-sdk'
/** Carries Claude Code 2.1.325. */
const PINNED = '0.3.325'

/** Says what happened and what to do; shown without a stack. */
export class RecordingError extends Error {}

/** Where it is if it was fetched before: who may not fetch does without. @returns {string | undefined} */
export function cachedClaudeCode() {
  return binaryIn(cacheFolder())
}

function cacheFolder() {
  return cacheIn('claude-code', PINNED)
}

/** @returns {{ binary: string, version: string }} */
export function claudeCode() {
  const cache = cacheFolder()
  const binary = binaryIn(cache) ?? install(cache)
  const { status, stdout, stderr, error } = spawnSync(binary, ['--version'], {
    encoding: 'utf8',
    timeout: 30_000,
  })
  const [version] = /^\d+\.\d+\.\d+/.exec(stdout ?? '') ?? []
  if (status !== 0 || version === undefined) {
    const why = error?.message ?? (stderr.trim() || `it exited with ${status}`)
    throw new RecordingError(`${binary} does not start: ${why}\nRemove ${cache} and run this again.`)
  }
  return { binary, version }
}

/** @param {string} cache */
function install(cache) {
  try {
    installPackage(`${PACKAGE}@${PINNED}`, cache)
  } catch (error) {
    throw new RecordingError(error instanceof Error ? error.message : String(error))
  }
  const binary = binaryIn(cache)
  if (binary) return binary
  throw new RecordingError(
    `${PACKAGE}@${PINNED} has no binary for ${process.platform}-${process.arch}.\nRecord on Linux or macOS, x64 or arm64; the tests need no binary.`,
  )
}

/** @param {string} cache @returns {string | undefined} */
function binaryIn(cache) {
  const scope = join(cache, 'node_modules', '@anthropic-ai')
  if (!existsSync(scope)) return undefined
  const prefix = `claude-agent-sdk-${process.platform}-${process.arch}`
  // Linux has two: npm leaves out the one for the other libc, where it can tell.
  const names = readdirSync(scope).filter((name) => name === prefix || name === `${prefix}-musl`)
  return names.map((name) => join(scope, name, 'claude')).find((path) => existsSync(path))
}
