// Where one case runs: a project and a home of its own, removed afterwards, and {{project}}, {{home}}, {{plugin}} that stand for them.

import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { hooksDirOf } from '../../config/discovery.js'
import { resolveEvent } from '../../core/events/events.js'
import { callerEnv } from '../../files/caller.js'
import { ifThere } from '../../files/if-there.js'
import { isBelow, realOf } from '../../files/within.js'
import { MINIMAL } from '../../runners/program/environment.js'
import type { Payload } from '../fire/payload.js'
import type { TestCase } from './case-file.js'
import { isPlugin, type Subject } from './find-cases.js'

export class CaseStage {
  readonly folders: Folders & { readonly project: string; readonly home: string }
  readonly #base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-test-')))

  /** Throws if a file cannot be written, and leaves nothing behind. */
  constructor(subject: Subject, { files }: Pick<TestCase, 'files'>) {
    const [project, home] = [join(this.#base, 'project'), join(this.#base, 'home')]
    this.folders = {
      project,
      home,
      ...(subject.plugin !== undefined && { plugin: subject.plugin }),
    }
    try {
      for (const folder of [project, home]) mkdirSync(folder)
      if (subject.project !== undefined) copyHooks(subject.project, project)
      if (subject.config) linkProject(subject.config.project, project)
      const written = Object.entries(files).map(([path, text]) => [join(project, path), text] as const)
      const copied = new Set(written.map(([path]) => path).filter(isThere))
      for (const [path, text] of written) this.#write(path, text, copied.has(path))
    } catch (error) {
      this.remove()
      throw error
    }
  }

  /** The copied hooks are under test, and may contain links: nothing is written over them or through them. */
  #write(path: string, text: string, isCopied: boolean): void {
    const shown = JSON.stringify(relative(this.folders.project, path))
    if (!isBelow(realOf(path), this.folders.project))
      throw new Error(`${shown} leads out of the project, through a link`)
    if (isCopied)
      throw new Error(`${shown} in "files" would replace a file of the project under test: remove it`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, withFolders(text, this.folders))
    if (text.startsWith('#!')) chmodSync(path, 0o755)
  }

  /** Writes the payload as an agent would send it, and returns the file. */
  payloadFile({ event, payload }: Pick<TestCase, 'event' | 'payload'>): string {
    const path = join(this.#base, 'payload.json')
    writeFileSync(path, JSON.stringify(this.#complete(event, withFolders(payload, this.folders))))
    return path
  }

  #complete(event: string, payload: Payload): Payload {
    const { name, optional } = resolveEvent(event)
    return {
      session_id: 'test',
      cwd: this.folders.project,
      permission_mode: 'default',
      ...('tool_use_id' in optional && { tool_use_id: 'toolu_test' }),
      ...payload,
      hook_event_name: typeof payload.hook_event_name === 'string' ? payload.hook_event_name : event,
      ...(name === 'SessionStart' && payload.source === undefined && { source: 'startup' }),
    }
  }

  /** The environment of the fire: without the user's settings and secrets, so that a case has the same result everywhere. */
  env(more: TestCase['env']): NodeJS.ProcessEnv {
    const inherited = Object.entries(callerEnv()).filter(
      ([name]) => MINIMAL.test(name) || FINDS_PROGRAMS.test(name),
    )
    return {
      ...Object.fromEntries(inherited),
      // The plugin's folder must not change.
      PYTHONDONTWRITEBYTECODE: '1',
      ...withFolders(more, this.folders),
      HOME: this.folders.home,
      CARABINER_HOME: join(this.#base, 'carabiner'),
    }
  }

  remove(): void {
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Also true for a broken link. */
function isThere(path: string): boolean {
  return ifThere(() => lstatSync(path)) !== undefined
}

/** These locate programs that would not be found with another home. */
const FINDS_PROGRAMS = /^(?:ASDF_DIR|ASDF_DATA_DIR|MISE_DATA_DIR|PYENV_ROOT|RBENV_ROOT|VOLTA_HOME)$/

/** The commands of a hook file may name any script of its project. Git's folder is left out, so that no hook commits. */
function linkProject(from: string, to: string): void {
  for (const name of readdirSync(from)) if (name !== '.git') symlinkSync(join(from, name), join(to, name))
}

/** Copies the project's own hooks and the files beside them, without its plugins, which have their own cases. */
function copyHooks(from: string, to: string): void {
  const [source, target] = [hooksDirOf(from), hooksDirOf(to)]
  cpSync(source, target, {
    recursive: true,
    filter: (path) => path === source || !isLeftOut(path, dirname(path) === source),
  })
  for (const name of ['settings.json', 'rules.json']) {
    const file = join(from, '.amplifier', name)
    if (existsSync(file)) cpSync(file, join(to, '.amplifier', name))
  }
}

function isLeftOut(path: string, isTop: boolean): boolean {
  if (['node_modules', '.git'].includes(basename(path))) return true
  return isTop && lstatSync(path).isDirectory() && isPlugin(path)
}

// ---- stand-ins for folders -------------------------------------------------------------------------------------

/** Folders by the names of their stand-ins. */
export type Folders = Readonly<Partial<Record<'project' | 'home' | 'plugin', string>>>

/** A copy with folders in place of the stand-ins, at any depth. In patterns they are escaped. */
export function withFolders<T>(value: T, folders: Folders): T {
  return mapped(value, (text, isPattern) =>
    text.replace(/\{\{(project|home|plugin)\}\}/g, (all, name: keyof Folders) => {
      const folder = folders[name]
      if (folder === undefined) return all
      return isPattern ? folder.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : folder
    }),
  )
}

/** A copy with stand-ins in place of the folders. The longest folder is replaced first, and only as a whole. */
export function withStandIns<T>(value: T, folders: Folders): T {
  const known = Object.entries(folders)
    .filter(([, folder]) => folder !== undefined && folder.length > 1)
    .sort(([, a], [, b]) => b.length - a.length)
  return mapped(value, (text) =>
    known.reduce((left, [name, folder]) => replaced(left, folder, `{{${name}}}`), text),
  )
}

/** `/home/me` is not in `/home/menu`, nor in `/mnt/home/me`. */
function replaced(text: string, folder: string, standIn: string): string {
  const pieces = text.split(folder)
  return pieces.reduce((left, piece) => {
    const isWhole = !/[\w.-]$/.test(left) && !/^[\w-]/.test(piece)
    return left + (isWhole ? standIn : folder) + piece
  })
}

function mapped<T>(value: T, change: (text: string, isPattern: boolean) => string): T {
  return walk(value, false, change) as T
}

function walk(
  value: unknown,
  isPattern: boolean,
  change: (text: string, isPattern: boolean) => string,
): unknown {
  if (typeof value === 'string') return change(value, isPattern)
  if (Array.isArray(value)) return value.map((one) => walk(one, false, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, walk(one, key === 'matches', change)]),
  )
}
