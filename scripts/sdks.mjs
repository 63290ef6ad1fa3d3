// SDKs that adapters are tried with: installed once from the lock files in test/adapters, and kept in a cache outside the
// checkout.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from './runtimes.mjs'

const FILES = ['package.json', 'package-lock.json']

/**
 * The folder that has the packages of a lock file in its node_modules. Throws with the reason if they cannot be installed.
 * @param {string} lock the folder of the lock file, below test/adapters, such as `ai-sdk/6`
 */
export function sdkPackages(lock) {
  const given = fileURLToPath(new URL(`../test/adapters/${lock}`, import.meta.url))
  const digest = createHash('sha256')
  for (const file of FILES) digest.update(readFileSync(join(given, file)))
  const folder = cacheFolder('sdks', digest.digest('hex').slice(0, 16))
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const making = mkdtempSync(`${folder}-`)
  try {
    for (const file of FILES) cpSync(join(given, file), join(making, file))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--fetch-retries=1'], {
      cwd: making,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    renameSync(making, folder)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    // Another process may have been faster.
    if (!existsSync(folder)) throw error
  }
  return folder
}
