// A commit of a git repository as a tree. Its objects are read one by one, and nothing is ever checked out.

import { mkdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { visibleName } from '../../core/base/text.js'
import { programEnvironment } from '../../effects/shell/own-environment.js'
import { PluginProblem } from '../plugin-problem.js'
import { type Ended, runProgram } from './external-program.js'
import { FileTree, isLeftOut, pathOfBytes } from './file-tree.js'
import { MOST_BYTES, MOST_ENTRIES, tooLarge, tooMany } from './limits.js'
import { plainFiles } from './links.js'
import type { Source } from './source.js'

/*
 * Without a working tree there are no hooks, filters, attributes or submodules, and links are only text: everything in
 * the repository is data.
 */

type GitSource = Extract<Source, { readonly kind: 'git' }>

interface GitTree {
  readonly tree: FileTree
  readonly commit: string
  /** A tag is not expected to move. */
  readonly isTag: boolean
}

const COMMIT = /^[0-9a-f]{40}$/
const FETCH_MS = 300_000
const LOCAL_MS = 60_000
/** For a list of refs or names. A path has at most 1 KiB. */
const MOST_LISTED = 16 * 1024 * 1024

/** `work` is an empty folder of our own. */
export async function fetchGit(source: GitSource, work: string): Promise<GitTree> {
  const git = new Git(source.url, join(work, 'objects.git'))
  await git.begin()
  const found = await git.find(source.ref)
  const commit = await git.fetch(found.want)
  return { tree: await git.read(commit, source.path ?? ''), commit, isTag: found.isTag }
}

/** A commit that is read file by file. Links and large files do no harm unless they are asked for. */
interface GitCommit {
  readonly commit: string
  /** Undefined if there is not a regular file with at most that many bytes. */
  file(path: string, maxBytes: number): Promise<Buffer | undefined>
  folders(): Promise<ReadonlySet<string>>
}

/** `work` is an empty folder of our own. The result works as long as the folder exists. */
export async function openGit(source: GitSource, work: string): Promise<GitCommit> {
  const git = new Git(source.url, join(work, 'objects.git'))
  await git.begin()
  const { want } = await git.find(source.ref)
  const commit = await git.fetch(want)
  return {
    commit,
    file: (path, maxBytes) => git.file(commit, path, maxBytes),
    folders: () => git.folders(commit),
  }
}

/** The user's git settings that apply here too. The others are for repositories that somebody works in. */
const KEPT = /^GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|ASKPASS|TRACE\w*)$/

function environment(): NodeJS.ProcessEnv {
  return {
    ...programEnvironment(undefined, undefined, KEPT),
    // ssh has no terminal to ask on, and must not open a window.
    SSH_ASKPASS_REQUIRE: 'never',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LFS_SKIP_SMUDGE: '1',
    LC_ALL: 'C',
  }
}

/** Allows only this address's protocol: `ext::` runs any program. */
function protocolOf(url: string): string {
  if (isAbsolute(url)) return 'file'
  return /^(https?|ssh):\/\//i.exec(url)?.[1]?.toLowerCase() ?? 'ssh'
}

interface Listed {
  readonly mode: string
  readonly object: string
  readonly size: number
  readonly path: string
}

/** A file under the name that it gets in the plugin. */
interface PlainEntry {
  readonly path: string
  readonly entry: Listed
}

/** The mode of a symbolic link. Its content is its target. */
const LINK = '120000'
const LONGEST_TARGET = 1024

class Git {
  readonly #url: string
  /** The address that it redirects to. */
  #address: string
  readonly #folder: string
  readonly #env = environment()
  readonly #settings: readonly string[]

  constructor(url: string, folder: string) {
    this.#url = url
    this.#address = url
    this.#folder = folder
    this.#settings = [
      'core.hooksPath=/dev/null',
      'core.fsmonitor=false',
      'core.symlinks=false',
      'core.askPass=',
      'protocol.allow=never',
      `protocol.${protocolOf(url)}.allow=always`,
      'submodule.recurse=false',
      'fetch.recurseSubmodules=false',
      'fetch.unpackLimit=1',
      'gc.auto=0',
      'maintenance.auto=false',
      'http.lowSpeedLimit=1',
      'http.lowSpeedTime=60',
      'http.followRedirects=false',
    ].flatMap((setting) => ['-c', setting])
  }

  async begin(): Promise<void> {
    mkdirSync(this.#folder, { mode: 0o700 })
    const { code, stderr } = await this.#run(['init', '--quiet', '--bare', '--template=', '--', '.'])
    if (code !== 0) throw this.#failed('cannot be fetched: git init failed', stderr)
  }

  /** A tag wins over a branch of the same name, as everywhere in git. */
  async find(ref: string | undefined): Promise<{ readonly want: string; readonly isTag: boolean }> {
    if (ref !== undefined && COMMIT.test(ref)) return { want: ref, isTag: false }
    const names = ref === undefined ? ['HEAD'] : [`refs/tags/${ref}`, `refs/heads/${ref}`]
    const { code, stdout, stderr } = await this.#ask((url) => ['ls-remote', '--quiet', '--', url, ...names])
    if (code !== 0) throw this.#failed('cannot be reached', stderr)
    const there = new Set(
      stdout
        .toString('latin1')
        .split('\n')
        .map((line) => line.split('\t')[1]),
    )
    const want = names.find((name) => there.has(name))
    if (want !== undefined) return { want, isTag: want.startsWith('refs/tags/') }
    throw new PluginProblem(
      'SOURCE_NOT_FOUND',
      ref === undefined
        ? `${visibleName(this.#url)} is empty`
        : `${visibleName(this.#url)} has no tag or branch ${visibleName(ref)}`,
      'Name a commit by all of its 40 digits.',
    )
  }

  async fetch(want: string): Promise<string> {
    const target = 'refs/carabiner/fetched'
    const how = ['--quiet', '--no-tags', '--no-recurse-submodules', '--depth=1', '--force']
    const { code, stderr } = await this.#ask((url) => ['fetch', ...how, '--', url, `${want}:${target}`])
    if (code !== 0) throw this.#failed('cannot be fetched', stderr)
    const { stdout } = await this.#run(['rev-parse', '--verify', '--quiet', `${target}^{commit}`])
    const commit = stdout.toString('latin1').trim()
    if (!COMMIT.test(commit)) throw this.#failed('has no commit at that ref', '')
    if (COMMIT.test(want) && commit !== want) throw this.#failed(`answered ${commit} for ${want}`, '')
    return commit
  }

  async read(commit: string, path: string): Promise<FileTree> {
    const entries = await this.#list(commit, path)
    if (entries.length > MOST_ENTRIES) throw tooMany()
    const tree = new FileTree()
    for (const { mode, path: name } of entries) {
      if (mode === '160000') tree.refuse(name, 'a submodule')
      if (!mode.startsWith('100') && mode !== LINK) tree.refuse(name, `an entry of unknown mode (${mode})`)
    }
    const files = entries.some(({ mode }) => mode === LINK)
      ? await this.#linked(commit, path)
      : entries.map((entry) => ({ path: entry.path, entry }))
    const bytes = files.reduce((sum, { entry }) => sum + entry.size, 0)
    if (bytes > MOST_BYTES) throw tooLarge(undefined, MOST_BYTES)
    const contents = await this.#contents(files.map(({ entry }) => entry))
    for (const [i, { path: name, entry }] of files.entries()) {
      tree.addFile(name, contents[i] as Buffer, entry.mode === '100755')
    }
    return tree
  }

  /** The files of a folder with its links replaced. A link may lead anywhere in the repository. */
  async #linked(commit: string, folder: string): Promise<readonly PlainEntry[]> {
    const all = (await this.#list(commit, '')).filter(({ mode }) => mode.startsWith('100') || mode === LINK)
    const links = all.filter(({ mode }) => mode === LINK)
    if (links.length > MOST_ENTRIES) throw tooMany()
    const long = links.find(({ size }) => size > LONGEST_TARGET)
    if (long) new FileTree().refuse(long.path, 'a symbolic link without a valid target')
    const targets = (await this.#contents(links)).map(pathOfBytes)
    const linkAt = new Map(links.map(({ path }, i) => [path, targets[i]]))
    const found = new Map(all.map((entry) => [entry.path, entry]))
    const entries = new Map(all.map(({ path }) => [path, { link: linkAt.get(path) }]))
    return plainFiles(entries, folder).map(({ path, from }) => ({
      path,
      entry: found.get(from) as Listed,
    }))
  }

  async file(commit: string, path: string, maxBytes: number): Promise<Buffer | undefined> {
    const { stdout } = await this.#run(['ls-tree', '-z', '-l', '--full-tree', commit, '--', path])
    const [entry] = records(stdout).map(listed)
    if (!entry?.mode.startsWith('100') || entry.path !== path || entry.size > maxBytes) return undefined
    return (await this.#contents([entry]))[0]
  }

  async folders(commit: string): Promise<ReadonlySet<string>> {
    const { code, stdout, stderr } = await this.#run([
      'ls-tree',
      '-r',
      '-d',
      '-z',
      '--name-only',
      '--full-tree',
      commit,
    ])
    if (code !== 0) throw this.#failed('cannot be read', stderr)
    return new Set(records(stdout).map((name) => name.toString('utf8')))
  }

  /** A tree can contain itself a thousand times, so the output is bounded. */
  async #list(commit: string, path: string): Promise<readonly Listed[]> {
    const from = path === '' ? commit : `${commit}:${path}`
    const { code, stdout } = await this.#run(['ls-tree', '-r', '-z', '-l', '--full-tree', from])
    if (code !== 0) {
      throw new PluginProblem(
        'NO_PLUGIN',
        `There is no folder ${visibleName(path)} in ${visibleName(this.#url)} at ${commit.slice(0, 12)}`,
      )
    }
    return records(stdout)
      .map(listed)
      .filter((entry) => !isLeftOut(entry.path))
  }

  async #contents(entries: readonly Listed[]): Promise<readonly Buffer[]> {
    const input = entries.map(({ object }) => `${object}\n`).join('')
    const most = MOST_BYTES + 200 * entries.length
    const { code, stdout, stderr } = await this.#run(['cat-file', '--batch'], LOCAL_MS, most, input)
    if (code !== 0) throw this.#failed('cannot be read', stderr)
    let at = 0
    return entries.map(({ object }) => {
      const end = stdout.indexOf(0x0a, at)
      const [name, type, size] = stdout.toString('latin1', at, end).split(' ')
      if (end < 0 || name !== object || type !== 'blob') throw this.#failed('is incomplete', '')
      const start = end + 1
      at = start + Number(size) + 1
      return stdout.subarray(start, at - 1)
    })
  }

  async #ask(args: (url: string) => readonly string[]): Promise<Ended> {
    const run = (url: string) => this.#run(args(url), FETCH_MS)
    if (!/^https?:/i.test(this.#url)) return run(this.#url)
    const { followed } = await import('./redirect.js')
    const { ended, address } = await followed(this.#address, run)
    this.#address = address
    return ended
  }

  #run(args: readonly string[], timeoutMs = LOCAL_MS, maxBytes = MOST_LISTED, input = ''): Promise<Ended> {
    return runProgram({
      program: 'git',
      // Passed explicitly, because users can forbid git to use a bare repository that it discovers by itself.
      args: [...this.#settings, '--literal-pathspecs', `--git-dir=${this.#folder}`, ...args],
      cwd: this.#folder,
      env: this.#env,
      input,
      timeoutMs,
      maxBytes,
    })
  }

  #failed(what: string, stderr: string): PluginProblem {
    const said = stderr
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-3)
      .join(' ')
    return new PluginProblem(
      'FETCH_FAILED',
      `${visibleName(this.#url)} ${what}${said === '' ? '' : `: ${said}`}`,
      'Check whether git ls-remote reaches it from here without asking for a password.',
    )
  }
}

function records(bytes: Buffer): readonly Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at)
    if (end < 0) break
    found.push(bytes.subarray(at, end))
    at = end + 1
  }
  return found
}

/** `mode type object size<TAB>path`. */
function listed(record: Buffer): Listed {
  const tab = record.indexOf(0x09)
  const [mode = '', , object = '', size = ''] = record.toString('latin1', 0, tab).split(/ +/)
  return { mode, object, size: Number(size) || 0, path: pathOfBytes(record.subarray(tab + 1)) }
}
