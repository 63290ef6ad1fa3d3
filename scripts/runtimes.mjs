// Runtimes that Carabiner is tried on: fetched once from npm, and kept in a cache outside the checkout.
// `node scripts/runtimes.mjs node@22` prints the folder of that Node, for a PATH.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const { platform, arch } = process

/**
 * The packages that hold a program for this system, so that no install script has to run.
 * @type {Readonly<Record<string, { readonly name: string, readonly version: string, readonly program: string }>>}
 */
const PACKAGES = {
  'node@20': node('20.20.2'),
  'node@22': node('22.23.3'),
  'node@24': node('24.21.0'),
  bun: {
    name: `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`,
    version: '1.4.4',
    program: 'bin/bun',
  },
  deno: {
    name: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    version: '2.9.6',
    program: 'deno',
  },
}

export const RUNTIMES = Object.keys(PACKAGES)

/** @param {string} version */
function node(version) {
  const isAppleSilicon = platform === 'darwin' && arch === 'arm64'
  return { name: `node-${isAppleSilicon ? 'bin-' : ''}${platform}-${arch}`, version, program: 'bin/node' }
}

/** The path of the program. Throws if it cannot be fetched. @param {string} runtime one of RUNTIMES */
export function runtimeProgram(runtime) {
  const found = PACKAGES[runtime]
  if (!found) throw new Error(`There is no ${runtime}. Choose ${RUNTIMES.join(', ')}.`)
  // Use the Node that runs this script for its own version.
  if (runtime === `node@${process.versions.node.split('.')[0]}`) return process.execPath
  const cache = cacheFolder(runtime, found.version)
  const program = join(cache, 'node_modules', found.name, found.program)
  if (!existsSync(program)) installPackage(`${found.name}@${found.version}`, cache)
  return program
}

/** Tests that give up the rights of root cannot enter root's home. @param {readonly string[]} names */
export function cacheFolder(...names) {
  const home = process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache')
  return join(process.env.XDG_CACHE_HOME ?? home, 'carabiner', ...names)
}

/** Throws with the reason. @param {string | readonly string[]} what packages with their versions @param {string} folder */
export function installPackage(what, folder) {
  const packages = [what].flat()
  console.error(`installing ${packages.join(' ')} into ${folder}`)
  mkdirSync(folder, { recursive: true })
  const args = [
    'install',
    // Fail soon without a network.
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=1000',
    '--prefix',
    folder,
    '--no-save',
    '--no-audit',
    '--no-fund',
    ...packages,
  ]
  const { status, stderr, error } = spawnSync('npm', args, { encoding: 'utf8', timeout: 600_000 })
  if (error) throw new Error(`npm could not be run: ${error.message}\nInstall npm, or put it on the PATH.`)
  if (status === 0) return
  const last = stderr.trim().split('\n').slice(-8).join('\n')
  throw new Error(
    `npm could not install ${packages.join(' ')}:\n${last}\nIt needs the network once; after that the copy in ${folder} is used.`,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(dirname(runtimeProgram(process.argv[2] ?? '')))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
