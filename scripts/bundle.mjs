// Bundles the command line into dist/bin, or into the folder given: a small entry, `fire` in one file, the rest as it is needed.

import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
const cli = (/** @type {string} */ name) => here(`../src/cli/${name}.ts`)
const require = createRequire(import.meta.url)
const { version } = JSON.parse(readFileSync(here('../package.json'), 'utf8'))

const COMMON = {
  bundle: true,
  platform: /** @type {const} */ ('node'),
  target: 'node20',
  minify: true,
  external: ['chokidar'],
  logLevel: /** @type {const} */ ('warning'),
}

/** @param {string} outdir */
export async function bundle(outdir) {
  rmSync(outdir, { recursive: true, force: true })
  const program = {
    ...COMMON,
    outdir,
    format: /** @type {const} */ ('esm'),
    define: { CARABINER_VERSION: JSON.stringify(version) },
    plugins: [lateModules],
    // Imported where a hook has an `if`, so a file of its own.
    external: [...COMMON.external, './if-rule.js'],
  }
  await Promise.all([
    build({
      ...COMMON,
      outdir,
      format: 'esm',
      entryPoints: { carabiner: cli('main') },
      external: ['./*-program.js'],
    }),
    build({ ...program, entryPoints: [cli('fire-program')] }),
    build({ ...program, entryPoints: [cli('full-program')], splitting: true }),
    build({ ...program, entryPoints: [here('../src/config/if-rule.ts')] }),
    ...Object.keys(LATE_PACKAGES).map((name) =>
      build({ ...COMMON, outfile: join(outdir, `${name}.cjs`), format: 'cjs', entryPoints: [name] }),
    ),
  ])
  chmodSync(join(outdir, 'carabiner.js'), 0o755)
}

// ---- what is loaded when first used ---------------------------------------------------------------------------

/** A host starts this program for every event, and most events need none of these. */
const LATE_BUILTINS = ['node:crypto', 'node:child_process']
/**
 * The regex engine, as most matchers are lists of names, and the parser of commands: files of their own, not even read
 * before. Of each what is used here.
 */
const LATE_PACKAGES = {
  re2js: 'export const RE2JS = { compile: (...args) => load().RE2JS.compile(...args) }',
  unbash: `
    export const parse = (source) => load().parse(source)
    export const forEachChild = (...args) => load().forEachChild(...args)`,
}

/** @type {import('esbuild').Plugin} */
const lateModules = {
  name: 'late-modules',
  setup({ onResolve, onLoad }) {
    const late = new RegExp(`^(?:${[...Object.keys(LATE_PACKAGES), ...LATE_BUILTINS].join('|')})$`)
    onResolve({ filter: late }, ({ path }) => ({ path, namespace: 'late', sideEffects: false }))
    onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
      contents: path in LATE_PACKAGES ? latePackage(path) : lateFunctions(path),
    }))
  },
}

/** @param {string} name */
function latePackage(name) {
  return `
    let loaded
    const load = () => (loaded ??= process.getBuiltinModule('node:module').createRequire(import.meta.url)('./${name}.cjs'))
    ${LATE_PACKAGES[/** @type {keyof typeof LATE_PACKAGES} */ (name)]}`
}

/** Every function of the module; those that nobody imports are dropped. @param {string} name */
function lateFunctions(name) {
  const functions = Object.entries(require(name)).filter(([, value]) => typeof value === 'function')
  return functions
    .map(([key]) => `export const ${key} = (...args) => process.getBuiltinModule('${name}').${key}(...args)`)
    .join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(process.argv[2] ?? here('../dist/bin'))
