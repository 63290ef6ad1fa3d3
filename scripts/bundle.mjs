// Bundles the command line into dist/bin or another folder: a small entry, and programs of one file each beside it.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundleFleetPage, bundlePage } from './page.mjs'
import { runOften } from './run-often.mjs'
import { tablesOnly } from './without-examples.mjs'

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
    '@opentelemetry/exporter-*',
    '@simplewebauthn/server',
    'pg',
    '@tufjs/models',
  ],
  logLevel: /** @type {const} */ ('warning'),
}

/**
 * The function that src/cli/start/compiled.ts calls. It loads node:url only for a path that needs escaping, and no
 * node:perf_hooks, which `performance` loads.
 */
const AS_FUNCTION = `(function (exports, require, module, __filename) {
'use strict'
const importMeta = {
  get url() {
    return /^[\\w/.-]+$/.test(__filename) ? 'file://' + __filename : require('node:url').pathToFileURL(__filename).href
  },
}
const clock = {
  now() {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1e3 + nanoseconds / 1e6
  },
  get timeOrigin() {
    return performance.timeOrigin
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
    // Precompiled code cannot import(), so it requires everything, including modules.
    supported: { 'dynamic-import': false },
    define: { ...program.define, 'import.meta.url': 'importMeta.url', performance: 'clock' },
  }
  await Promise.all([
    bundlePage(join(outdir, 'page')),
    bundleFleetPage(join(outdir, 'fleet-page')),
    build({
      ...program,
      format: 'cjs',
      entryPoints: { carabiner: cli('main') },
      plugins: [lateModules(), tablesOnly, ...more],
    }),
    build({
      ...asFunction,
      entryPoints: [cli('start/hook-program')],
      plugins: [onlyHooks((path) => !isGuard(path)), onlyAnswers, lateModules(), tablesOnly, ...more],
    }),
    build({
      ...asFunction,
      entryPoints: { 'guard-program': cli('start/hook-program') },
      // Loaded at once, because guards parse every command.
      plugins: [onlyHooks(isGuard), onlyAnswers, lateModules(['unbash']), tablesOnly, ...more],
    }),
    build({
      ...asFunction,
      entryPoints: [cli('start/fire-program')],
      plugins: [withoutProofs, lateModules(), tablesOnly, ...more],
    }),
    build({
      ...asFunction,
      entryPoints: [cli('start/full-program')],
      plugins: [lateModules(), tablesOnly, ...more],
    }),
    build({
      ...asFunction,
      entryPoints: [cli('start/service-program')],
      // It starts once for many events.
      plugins: [withoutSetups, lateModules(LATE_BUILTINS), tablesOnly, ...more],
    }),
    build({
      ...asFunction,
      entryPoints: [cli('start/gateway-program')],
      plugins: [onlyServe, lateModules(LATE_BUILTINS), tablesOnly, ...more],
    }),
    build({
      ...asFunction,
      entryPoints: [cli('start/list-program')],
      // Loaded at once, because list checks whether every hook can start.
      plugins: [withoutProofs, lateModules(['unbash']), tablesOnly, ...more],
    }),
    // The process of modules, what they import as carabiner/author, and the helper that starts programs: files that load faster
    // than the library.
    build({
      ...COMMON,
      outdir,
      outExtension: { '.js': '.mjs' },
      format: 'esm',
      entryPoints: {
        'module-host': here('../src/runners/module/module-host.ts'),
        author: here('../src/author/index.ts'),
        spawner: here('../src/runners/spawner/node-helper.ts'),
      },
      plugins: [onlyAnswers, lateModules(), tablesOnly, ...more],
    }),
    ...Object.keys(LATE_PACKAGES).map((name) =>
      build({ ...COMMON, outfile: join(outdir, `${name}.cjs`), format: 'cjs', entryPoints: [name] }),
    ),
  ])
  for (const name of readdirSync(outdir).filter((name) => name.endsWith('-program.js')))
    writeFileSync(join(outdir, name), inAscii(importing(readFileSync(join(outdir, name), 'utf8'))))
  writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n')
  chmodSync(join(outdir, 'carabiner.js'), 0o755)
  addClient(outdir)
  writeFileSync(join(outdir, 'build-id'), `${buildId(outdir)}\n`)
  runOften(join(outdir, 'carabiner.js'))
}

/** The source of clip, which setup compiles, and the programs that a release has compiled already. @param {string} outdir */
function addClient(outdir) {
  const [source, prebuilt] = [here('../src/service/clip.c'), here('../prebuilt')]
  if (existsSync(source)) copyFileSync(source, join(outdir, 'clip.c'))
  if (existsSync(prebuilt)) cpSync(prebuilt, join(outdir, 'prebuilt'), { recursive: true })
}

/**
 * Names this build by the contents of its files, so that clip never talks to a service of another one. The names of
 * files count, their times do not. @param {string} folder
 */
export function buildId(folder) {
  const hash = createHash('sha256')
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
  for (const name of files.map((entry) => entry.name).sort()) {
    if (name === 'build-id' || /\.(?:cache|tmp)$/.test(name)) continue
    hash.update(`${name}\0`).update(
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest(),
    )
  }
  return hash.digest('hex').slice(0, 32)
}

/** Makes the code import through the function that it receives. @param {string} code */
function importing(code) {
  return code.replace(/\bimport\(/g, 'importModule(')
}

/** The encoding that src/cli/start/compiled.ts reads. Remaining non-ASCII characters are in regular expressions. @param {string} code */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

// ---- loaded on first use --------------------------------------------------------------------------------------

/** Hosts start this program for every event, and most events need none of these. */
export const LATE_BUILTINS = [
  'node:crypto',
  'node:child_process',
  'node:os',
  'node:module',
  'node:timers/promises',
]
/**
 * The regex engine, because most matchers are lists of names, and the parser of commands. Each is a file of its own that
 * is read on first use. Only the functions used here are exported.
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

/** What a program that answers one event needs of a module that is slow to load. @type {Record<string, Record<string, string>>} */
const OWN_FUNCTIONS = { 'node:crypto': { randomUUID: './files/random.ts' } }

/** Leaves out how agents are set up and proven, for programs that only answer them. */
const withoutSetups = withoutParts(['setup', 'proof'])
/** For programs that also read no hook files. */
const onlyAnswers = withoutParts(['setup', 'proof', 'hook-file'])
/** For programs that only read what is set up. */
const withoutProofs = withoutParts(['proof'])

/** Leaves out parts of agents that are loaded late. @param {string[]} names @returns {import('esbuild').Plugin} */
function withoutParts(names) {
  const namespace = `without-${names.join('-')}`
  return {
    name: namespace,
    setup({ onResolve, onLoad }) {
      onResolve(
        { filter: new RegExp(`^\\./[\\w-]+/(?:${names.join('|')})\\.js$`) },
        ({ path, importer, kind }) =>
          kind === 'dynamic-import' && /[\\/]src[\\/]hosts[\\/]late-parts\.ts$/.test(importer)
            ? { path, namespace }
            : undefined,
      )
      onLoad({ filter: /./, namespace }, () => ({ contents: 'export {}' }))
    },
  }
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
        contents: path in LATE_PACKAGES ? latePackage(path) : lateFunctions(path, OWN_FUNCTIONS[path]),
        resolveDir: here('../src'),
      }))
    },
  }
}

const isGuard = (/** @type {string} */ path) => path.includes('/pre-tool-use/')

/**
 * Keeps only the hooks that a program is for, as hookProgram() in src/cli/start/programs.ts decides. The others, which
 * src/pack/index.ts loads on demand, throw an error.
 * @param {(path: string) => boolean} isIn @returns {import('esbuild').Plugin}
 */
function onlyHooks(isIn) {
  return onlySome(/[/\\]pack[/\\]index\.ts$/, isIn)
}

/** Keeps only the action of `carabiner fleet` that runs the gateway. */
const onlyServe = onlySome(/[/\\]cli[/\\]fleet[/\\]actions\.ts$/, (path) => path === './serve.js')

/**
 * Of what these files load on demand, keeps only some. The rest throws an error.
 * @param {RegExp} importers @param {(path: string) => boolean} isIn @returns {import('esbuild').Plugin}
 */
function onlySome(importers, isIn) {
  return {
    name: 'only-some',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path, importer, kind }) =>
        kind === 'dynamic-import' && importers.test(importer) && !isIn(path)
          ? { path, namespace: 'elsewhere' }
          : undefined,
      )
      onLoad({ filter: /./, namespace: 'elsewhere' }, ({ path }) => ({
        contents: `throw new Error('${path} is in another file')`,
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

/**
 * Exports every function of the module, and every class, which has a capital letter. Unused ones are dropped.
 * @param {string} name @param {Readonly<Record<string, string>>} [own] files of src/ with a function of the same name
 */
export function lateFunctions(name, own = {}) {
  const functions = Object.entries(require(name)).filter(([, value]) => typeof value === 'function')
  return functions
    .map(([key]) => {
      const late = `process.getBuiltinModule('${name}').${key}`
      if (own[key]) return `export { ${key} } from '${own[key]}'`
      return /^[A-Z]/.test(key)
        ? `export function ${key}(...args) { return new (${late})(...args) }`
        : `export const ${key} = (...args) => ${late}(...args)`
    })
    .join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(process.argv[2] ?? here('../dist/bin'))
