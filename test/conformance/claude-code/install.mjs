// The real Claude Code, in a cache outside the checkout: it is no dependency, and is fetched once.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

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
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'carabiner', 'claude-code', PINNED)
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
  console.log(`installing ${PACKAGE}@${PINNED} into ${cache}`)
  mkdirSync(cache, { recursive: true })
  const args = [
    'install',
    // Where there is no network, that is known soon.
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=1000',
    '--prefix',
    cache,
    '--no-save',
    '--no-audit',
    '--no-fund',
    `${PACKAGE}@${PINNED}`,
  ]
  const { status, stderr, error } = spawnSync('npm', args, { encoding: 'utf8', timeout: 600_000 })
  if (error) {
    throw new RecordingError(`npm could not be run: ${error.message}\nInstall npm, or put it on the PATH.`)
  }
  if (status !== 0) {
    const last = stderr.trim().split('\n').slice(-8).join('\n')
    throw new RecordingError(
      `npm could not install ${PACKAGE}@${PINNED}:\n${last}\nIt needs the network once; after that the copy in ${cache} is used.`,
    )
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
