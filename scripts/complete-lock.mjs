// npm run lock: adds packages for other platforms that npm left out of package-lock.json. npm drops an optional package
// that the current registry does not serve, and `npm ci` then refuses the file everywhere.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const LOCK = new URL('../package-lock.json', import.meta.url)
const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
const PROCESSORS = 'arm arm64 ia32 loong64 mips64el ppc64 riscv64 s390x wasm32 x64'.split(' ')
const LIBRARIES = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' }

/**
 * @typedef {object} Entry
 * @property {string} [version]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {Readonly<Record<string, string>>} [optionalDependencies]
 * @typedef {Record<string, Entry>} Entries
 */

/** Entries for optional packages that are named but missing. @param {Entries} packages @returns {Entries} */
export function missingEntries(packages) {
  /** @type {Entries} */
  const missing = {}
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages))
    for (const [name, version] of Object.entries(optionalDependencies))
      if (!isFound(packages, path, name)) missing[`node_modules/${name}`] = entryOf(name, version, dev)
  return missing
}

/** Searches as Node does: in the package's own folder, then in each one above. @param {Entries} packages @param {string} path @param {string} name */
function isFound(packages, path, name) {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('node_modules/')).replace(/\/$/, '')) {
    if (`${at === '' ? '' : `${at}/`}node_modules/${name}` in packages) return true
    if (at === '') return false
  }
}

/** @param {string} name @param {string} version @param {boolean | undefined} dev */
function entryOf(name, version, dev) {
  if (!/^\d+\.\d+\.\d+/.test(version))
    throw new Error(`${name} is required as ${version}, which is not an exact version`)
  const words = name.split(/[/-]/)
  const os = words.filter((word) => SYSTEMS.includes(word))
  const cpu = words.filter((word) => PROCESSORS.includes(word))
  const libc = Object.entries(LIBRARIES).flatMap(([word, library]) => (words.includes(word) ? [library] : []))
  if (os.length + cpu.length === 0) throw new Error(`${name} does not say which platform it is for`)
  return {
    version,
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lock = JSON.parse(readFileSync(LOCK, 'utf8'))
  const missing = missingEntries(lock.packages)
  const entries = Object.entries({ ...lock.packages, ...missing })
  lock.packages = Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(LOCK, `${JSON.stringify(lock, undefined, 2)}\n`)
  console.log(`${Object.keys(missing).length} packages for other platforms were added`)
}
