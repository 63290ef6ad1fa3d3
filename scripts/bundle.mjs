// Bundles the command line into dist/bin, or into the folder given: a small entry, and beside it programs that are each one file.

import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { runOften } from './run-often.mjs'

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
const cli = (/** @type {string} */ name) => here(`../src/cli/${name}.ts`)
const require = createRequire(import.meta.url)
const { version } = JSON.parse(readFileSync(here('../package.json'), 'utf8'))

const COMMON = {
  bundle: true,
  platform: /** @type {const} */ ('node'),
  target: 'node20',
  minify: true,
  external: [
    'chokidar',
    '@modelcontextprotocol/sdk',
    '@ai-sdk/anthropic',
    '@ai-sdk/openai-compatible',
    '@opentelemetry/api',
  ],
  logLevel: /** @type {const} */ ('warning'),
}

/** What src/cli/start/compiled.ts calls. The library for addresses is loaded only for a path that is not its own address. */
const AS_FUNCTION = `(function (exports, require, module, __filename) {
'use strict'
const importMeta = {
  get url() {
    return /^[\\w/.-]+$/.test(__filename) ? 'file://' + __filename : require('node:url').pathToFileURL(__filename).href
  },
}`

/** @param {string} outdir @param {readonly import('esbuild').Plugin[]} [more] plugins for esbuild */
export async function bundle(outdir, more = []) {
  rmSync(outdir, { recursive: true, force: true })
  const program = { ...COMMON, outdir, define: { CARABINER_VERSION: JSON.stringify(version) } }
  const asFunction = {
    ...program,
    format: /** @type {const} */ ('cjs'),
    banner: { js: AS_FUNCTION },
    footer: { js: '})' },
    // Code that was compiled beforehand cannot import(): it requires, also modules.
    supported: { 'dynamic-import': false },
    define: { ...program.define, 'import.meta.url': 'importMeta.url' },
  }
  await Promise.all([
    build({
      ...program,
      format: 'cjs',
      entryPoints: { carabiner: cli('main') },
      plugins: [lateModules(), ...more],
    }),
    build({
      ...asFunction,
      entryPoints: [cli('start/hook-program')],
      plugins: [onlyHooks((path) => !isGuard(path)), lateModules(), ...more],
    }),
    build({
      ...asFunction,
      entryPoints: { 'guard-program': cli('start/hook-program') },
      // Every command that is guarded is parsed.
      plugins: [onlyHooks(isGuard), lateModules(['unbash']), ...more],
    }),
    ...['fire-program', 'list-program', 'full-program'].map((name) =>
      build({ ...asFunction, entryPoints: [cli(`start/${name}`)], plugins: [lateModules(), ...more] }),
    ),
    ...Object.keys(LATE_PACKAGES).map((name) =>
      build({ ...COMMON, outfile: join(outdir, `${name}.cjs`), format: 'cjs', entryPoints: [name] }),
    ),
  ])
  for (const name of readdirSync(outdir).filter((name) => name.endsWith('-program.js')))
    writeFileSync(join(outdir, name), inAscii(importing(readFileSync(join(outdir, name), 'utf8'))))
  writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n')
  chmodSync(join(outdir, 'carabiner.js'), 0o755)
  runOften(join(outdir, 'carabiner.js'))
}

/** By the function that it is given. @param {string} code */
function importing(code) {
  return code.replace(/\bimport\(/g, 'importModule(')
}

/** As src/cli/start/compiled.ts reads it. What is left beyond ASCII stands in regular expressions. @param {string} code */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

// ---- what is loaded when first used ---------------------------------------------------------------------------

/** A host starts this program for every event, and most events need none of these. */
export const LATE_BUILTINS = [
  'node:crypto',
  'node:child_process',
  'node:os',
  'node:module',
  'node:timers/promises',
]
/**
 * The regex engine, as most matchers are lists of names, and the parser of commands: files of their own, not even read
 * before. Of each what is used here.
 */
const LATE_PACKAGES = {
  re2js: 'export const RE2JS = { compile: (...args) => load().RE2JS.compile(...args) }',
  unbash: `
    export const parse = (source) => load().parse(source)
    export const forEachChild = (...args) => load().forEachChild(...args)`,
  'ipaddr.js': `export default {
    parse: (text) => load().parse(text),
    fromByteArray: (bytes) => load().fromByteArray(bytes),
  }`,
}

/** @param {readonly string[]} [atOnce] @returns {import('esbuild').Plugin} */
function lateModules(atOnce = []) {
  const names = [...Object.keys(LATE_PACKAGES), ...LATE_BUILTINS].filter((name) => !atOnce.includes(name))
  return {
    name: 'late-modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path }) => ({
        path,
        namespace: 'late',
        sideEffects: false,
      }))
      onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
        contents: path in LATE_PACKAGES ? latePackage(path) : lateFunctions(path),
      }))
    },
  }
}

const isGuard = (/** @type {string} */ path) => path.includes('/pre-tool-use/')

/**
 * Of the hooks that src/pack/index.ts loads when they are asked for, those that a program is for, as hookProgram() of
 * src/cli/start/programs.ts says. Whoever asks it for another is told so.
 * @param {(path: string) => boolean} isIn @returns {import('esbuild').Plugin}
 */
function onlyHooks(isIn) {
  return {
    name: 'only-hooks',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path, importer, kind }) =>
        kind === 'dynamic-import' && /[/\\]pack[/\\]index\.ts$/.test(importer) && !isIn(path)
          ? { path, namespace: 'elsewhere' }
          : undefined,
      )
      onLoad({ filter: /./, namespace: 'elsewhere' }, () => ({
        contents: "throw new Error('this hook is in another file')",
      }))
    },
  }
}

/** @param {string} name */
function latePackage(name) {
  return `
    let loaded
    const load = () => (loaded ??= process.getBuiltinModule('node:module').createRequire(import.meta.url)('./${name}.cjs'))
    ${LATE_PACKAGES[/** @type {keyof typeof LATE_PACKAGES} */ (name)]}`
}

/** Every function of the module; those that nobody imports are dropped. @param {string} name */
export function lateFunctions(name) {
  const functions = Object.entries(require(name)).filter(([, value]) => typeof value === 'function')
  return functions
    .map(([key]) => `export const ${key} = (...args) => process.getBuiltinModule('${name}').${key}(...args)`)
    .join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(process.argv[2] ?? here('../dist/bin'))
