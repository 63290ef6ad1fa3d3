// Bundles the entries of the library into a folder. There are few files, because each one slows down the import.

import { readFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { LATE_BUILTINS, lateFunctions } from './bundle.mjs'
import { tablesOnlyInLibrary } from './without-examples.mjs'

const require = createRequire(import.meta.url)
const source = (/** @type {string} */ path) => fileURLToPath(new URL(`../src/${path}`, import.meta.url))

/** What package.json exports, as paths below src/ without their ending: `index`, `core/index`, `adapters/ai-sdk/index`. */
export const ENTRY_NAMES = Object.values(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).exports,
).flatMap((entry) => /^\.\/dist\/(.+)\.js$/.exec(entry.default ?? '')?.[1] ?? [])

const ENTRIES = Object.fromEntries(ENTRY_NAMES.map((name) => [name, source(`${name}.ts`)]))

/** Started anew for every event by each hook on `runHook`, so it is one file with only what it needs. */
const AUTHOR = 'author/index'

/** @param {string} dir */
export async function bundleLibrary(dir) {
  const { [AUTHOR]: author = '', ...others } = ENTRIES
  await Promise.all([
    write(dir, others, {
      includeDependenciesRecursively: false,
      groups: [{ name: byEntries(others), debugName: 'by entries' }],
    }),
    write(dir, { [AUTHOR]: author }, false),
  ])
}

/**
 * Shared chunks keep one `globalHooks` and one `HookError`, whichever entries a program imports. Their names carry a
 * hash, so that two builds never share a name for different code.
 * @param {string} dir @param {Readonly<Record<string, string>>} input
 * @param {import('rolldown').OutputOptions['codeSplitting']} codeSplitting
 */
async function write(dir, input, codeSplitting) {
  const library = await rolldown({
    input: { ...input },
    platform: 'node',
    transform: { target: 'node20' },
    tsconfig: false,
    // The parser of commands is bundled, because it has many small files.
    external: (id) => isPackage(id) && id !== 'unbash' && !isBuiltin(id),
    treeshake: { moduleSideEffects: false, propertyReadSideEffects: false },
    // Entries are files of their own, so chunks never add an export to them.
    preserveEntrySignatures: 'allow-extension',
    plugins: [builtins, tablesOnlyInLibrary],
    // Programs import these late, but the library gains nothing from that.
    checks: { ineffectiveDynamicImport: false },
  })
  await library.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting,
  })
  await library.close()
}

/** @param {string} id */
function isPackage(id) {
  return !/^[./\0]/.test(id) && !id.startsWith(source(''))
}

/**
 * Modules of Node. An import statement would read all their exports, and with that load more of Node; those that are slow
 * to load and often not needed are loaded on the first call.
 */
const builtins = {
  name: 'builtins',
  resolveId: (/** @type {string} */ id) => (isBuiltin(id) ? `\0${id}` : undefined),
  load(/** @type {string} */ id) {
    if (!id.startsWith('\0node:')) return undefined
    const name = id.slice(1)
    return LATE_BUILTINS.includes(name) ? lateFunctions(name) : exportsOf(name)
  },
}

/** Unused exports are dropped. @param {string} name */
function exportsOf(name) {
  const exported = Object.keys(require(name)).map((key) => `export const ${key} = builtin.${key}`)
  return [`const builtin = /* @__PURE__ */ process.getBuiltinModule('${name}')`, ...exported].join('\n')
}

/** @typedef {{ getModuleInfo(id: string): { importedIds: readonly string[], dynamicallyImportedIds: readonly string[] } | null }} Graph */

/**
 * One chunk for all modules that the same entries load at once. Modules that are loaded late come after all of
 * `carabiner`, so its own modules need no separate chunk for them.
 * @param {Readonly<Record<string, string>>} entries
 */
function byEntries(entries) {
  /** @type {Map<string, Set<string>> | undefined} */
  let users
  return (/** @type {string} */ id, /** @type {Graph} */ graph) => {
    // Whoever imports one adapter may not have the SDKs of the others.
    if (Object.values(entries).includes(id) || id.startsWith(source('adapters/'))) return null
    users ??= usersOf(entries, graph)
    const names = users.get(id) ?? new Set()
    if (names.has('index')) names.delete('late')
    return names.size === 0 || (names.size === 1 && names.has('late')) ? null : [...names].join('-')
  }
}

/**
 * The entries that reach each module through static imports; `late` where that begins with an import().
 * @param {Readonly<Record<string, string>>} entries @param {Graph} graph
 */
function usersOf(entries, graph) {
  /** @type {Map<string, Set<string>>} */
  const users = new Map()
  const visit = (/** @type {string} */ id, /** @type {string} */ user) => {
    const module = graph.getModuleInfo(id)
    const names = users.get(id) ?? new Set()
    if (!module || names.has(user)) return
    users.set(id, names.add(user))
    for (const next of module.importedIds) visit(next, user)
    for (const next of module.dynamicallyImportedIds) visit(next, 'late')
  }
  for (const [name, id] of Object.entries(entries)) visit(id, name.split('/')[0] ?? name)
  return users
}
