// A project with one SDK and this package in it, as somebody has it who installed both.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { runtimeProgram } from '../../scripts/runtimes.mjs'
import { sdkPackages } from '../../scripts/sdks.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

export interface SdkProject extends Disposable {
  readonly folder: string
  /** Copies files of this repository there, to the same paths. */
  add(...paths: readonly string[]): void
  /** Type-checks files strictly, with the declarations of libraries (`skipLibCheck: false`). Returns what tsc complains about. */
  check(...paths: readonly string[]): string
  /** What npm says against this package in a project that has the SDK, such as a conflict of peers. Nothing is downloaded. */
  conflicts(): string
  /** Runs a TypeScript program of this repository there, gives it a text, and returns what it printed. */
  run(path: string, input?: string): Promise<string>
}

/**
 * `lock` is a folder with package.json and package-lock.json, below test/adapters. Its packages are installed once, and kept
 * in a cache. Returns undefined and says why if they cannot be installed.
 */
export function sdkProject(lock: string, node = 'node@20'): SdkProject | undefined {
  let program: string
  let packages: string
  try {
    program = runtimeProgram(node)
    packages = sdkPackages(lock)
  } catch (error) {
    console.error(`SKIPPED: ${lock} cannot be installed: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
  // Below the packages, so that Carabiner finds the SDK as it would find it in a project.
  const folder = mkdtempSync(join(packages, 'project-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  npmInstall(folder, packed(), `@types/node@${MANIFEST.devDependencies['@types/node']}`)
  const add = (...paths: readonly string[]) => {
    for (const path of paths) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  }
  return {
    folder,
    add,
    check(...paths) {
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, files: paths }))
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
      const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder], {
        encoding: 'utf8',
      })
      const isChecked = status === 0 || (status !== null && stdout.includes('error TS'))
      if (!isChecked) throw new Error(`tsc did not run, status ${status}: ${stdout}${stderr}`)
      return ourComplaints(stdout)
    },
    conflicts() {
      const copy = join(folder, 'conflicts')
      cpSync(join(ROOT, 'test/adapters', lock), copy, { recursive: true })
      try {
        npmInstall(copy, '--package-lock-only', packed())
        return ''
      } catch (error) {
        return String(error)
      }
    },
    async run(path, input = '') {
      const outfile = join(folder, 'program.mjs')
      await build({
        entryPoints: [join(ROOT, path)],
        outfile,
        bundle: true,
        packages: 'external',
        // Without the paths of this repository: it must import the package.
        tsconfigRaw: {},
        platform: 'node',
        format: 'esm',
      })
      return printed(spawn(program, [outfile], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] }), input)
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const STRICT = {
  ...{
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'es2022',
    // Most SDKs need types of browsers.
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
  },
  ...{ types: ['node'], strict: true, skipLibCheck: false, noEmit: true },
}

/** Errors in an SDK's own declarations are there without us. Lines that belong to an error are indented. */
function ourComplaints(text: string): string {
  const complaints = text.split(/\n(?=\S)/)
  return complaints
    .filter((one) => !/^[^(]*\/node_modules\/(?!carabiner\/)[^(]*\(/.test(one))
    .join('\n')
    .trim()
}

function npmInstall(folder: string, ...args: readonly string[]): void {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  execFileSync('npm', ['install', ...quiet, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
}

let tarball: string | undefined

/** The package as it would be published; it must have been built. */
function packed(): string {
  if (tarball === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'carabiner-packed-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const [{ filename }] = JSON.parse(
      execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    )
    tarball = join(folder, filename)
  }
  return tarball
}

async function printed(child: ReturnType<typeof spawn>, input: string): Promise<string> {
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (some) => {
    text += some
  })
  child.stdin?.end(input)
  const status = await new Promise((resolve) => child.once('close', resolve))
  if (status !== 0) throw new Error(`the program ended with ${status}\n${text}`)
  return text
}
