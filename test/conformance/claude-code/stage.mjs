// The files of a case, as Claude Code reads them: settings, plugins, stubs, and a spy that keeps what was fired.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stubText } from '../stub.mjs'

/** @typedef {import('./case.mjs').Case} Case */
/** @typedef {import('./case.mjs').CaseHook} CaseHook */

/** What is to be overdue is so for good. */
const FOREVER = 300
/** A spy would be taken at its word: what it prints is the path of the worktree. */
const UNSPIED = new Set(['WorktreeCreate'])

export class Stage {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'claude-code-')))
  home = join(this.folder, 'home')
  dir = join(this.folder, 'project')
  #spied = join(this.folder, 'spied')
  /** The commands of the case: Claude Code quotes them before a reason. @type {string[]} */
  commands = []
  #case

  /** @param {Case} one */
  constructor(one) {
    this.#case = one
    for (const path of [this.home, this.dir, this.#spied]) mkdirSync(path)
    this.#write()
  }

  get settings() {
    return this.path('settings')
  }

  get plugins() {
    return (this.#case.plugin ?? []).map(({ dir }) => join(this.folder, 'plugins', dir))
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** @param {string} name a file in the project */
  lines(name) {
    const path = join(this.dir, name)
    return existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : []
  }

  /** What was fired, of the events that the case is about, in order. @returns {Record<string, unknown>[]} */
  get spied() {
    const files = readdirSync(this.#spied).map((name) => join(this.#spied, name))
    const timed = files.map((file) => ({ file, at: statSync(file, { bigint: true }).mtimeNs }))
    timed.sort((a, b) => Number(a.at - b.at))
    return timed.flatMap(({ file }) => {
      const text = readFileSync(file, 'utf8')
      return text === '' ? [] : [JSON.parse(text)]
    })
  }

  /** @param {string} text */
  filled(text) {
    const { dir, home, folder } = this
    return text
      .replaceAll('{{PROJECT}}', dir)
      .replaceAll('{{DIR}}', dir)
      .replaceAll('{{HOME}}', home)
      .replaceAll('{{NODE}}', process.execPath)
      .replaceAll('{{FOLDER}}', folder)
  }

  /** The same text on every machine. @param {string} text */
  emptied(text) {
    return text
      .replaceAll(this.dir, '{{PROJECT}}')
      .replaceAll(this.home, '{{HOME}}')
      .replaceAll(this.folder, '{{FOLDER}}')
  }

  /** @param {string} source */
  path(source) {
    if (source === 'settings') return join(this.folder, 'session-settings.json')
    if (source === 'project') return join(this.dir, '.claude/settings.json')
    if (source === 'user') return join(this.home, '.claude/settings.json')
    const [, dir = 'plug', file = 'hooks/hooks.json'] = /^plugin(?:\/([\w-]+))?:(.*)$/.exec(source) ?? []
    return join(this.folder, 'plugins', dir === 'plug' ? (this.#case.plugin?.[0]?.dir ?? dir) : dir, file)
  }

  #write() {
    const {
      hooks = [],
      raw_config = {},
      plugin = [],
      settings = {},
      files = {},
      event,
      run = {},
    } = this.#case
    /** @type {Map<string, object>} */
    const written = new Map([[this.settings, {}]])
    for (const [source, more] of Object.entries(settings)) written.set(this.path(source), more)
    for (const { dir, manifest } of plugin) {
      written.set(join(this.folder, 'plugins', dir, '.claude-plugin/plugin.json'), { name: dir, ...manifest })
    }
    for (const source of new Set(hooks.map((hook) => hook.source))) {
      const path = this.path(source)
      const own = hooks.filter((hook) => hook.source === source)
      written.set(path, { ...written.get(path), hooks: this.#events(own) })
    }
    for (const [path, value] of written) this.#file(path, this.filled(JSON.stringify(value)))
    for (const [source, text] of Object.entries(raw_config)) this.#file(this.path(source), this.filled(text))
    for (const [path, text] of Object.entries(files))
      this.#file(join(this.dir, path), this.filled(text), 0o755)
    const spied = new Set([...(event ? [event] : []), ...hooks.map((hook) => hook.event), ...(run.spy ?? [])])
    if (run.spy !== null)
      this.#file(join(this.dir, '.claude/settings.local.json'), JSON.stringify(this.#spy([...spied])))
  }

  /** Local settings, which no case is about. @param {readonly string[]} events */
  #spy(events) {
    const command = `f=$(mktemp ${this.#spied}/XXXXXX) && cat > $f`
    const hooks = events
      .filter((name) => !UNSPIED.has(name))
      .map((name) => [name, [{ hooks: [{ type: 'command', command }] }]])
    return { hooks: Object.fromEntries(hooks) }
  }

  /** @param {readonly CaseHook[]} hooks */
  #events(hooks) {
    const names = [...new Set(hooks.map(({ event }) => event))]
    return Object.fromEntries(
      names.map((name) => [name, this.#groups(hooks.filter(({ event }) => event === name))]),
    )
  }

  /** @param {readonly CaseHook[]} hooks of one event */
  #groups(hooks) {
    return [...new Set(hooks.map(({ group }) => group))].map((at) => {
      const own = hooks.filter(({ group }) => group === at)
      const [first] = own
      const handlers = own.map((hook) => this.#handler(hook))
      return { ...(first && 'matcher' in first && { matcher: first.matcher }), hooks: handlers }
    })
  }

  /** @param {CaseHook} hook */
  #handler(hook) {
    if (hook.handler) {
      const handler = JSON.parse(this.filled(JSON.stringify(hook.handler)))
      this.commands.push(handler.command)
      return handler
    }
    const { id = '', stdout = '', stderr = '', sleep = 0, fields } = hook
    const seconds = fields?.timeout !== undefined && sleep > 0 ? FOREVER : sleep
    const out = this.#file(join(this.dir, `stubs/${id}.out`), this.filled(stdout))
    const err = this.#file(join(this.dir, `stubs/${id}.err`), stderr)
    const command = this.#file(
      join(this.dir, `stubs/${id}`),
      stubText(hook, { dir: this.dir, out, err, seconds }),
      0o755,
    )
    this.commands.push(command)
    return { type: 'command', command, ...fields }
  }

  /** @param {string} path @param {string} text @param {number} [mode] */
  #file(path, text, mode = 0o644) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode })
    return path
  }
}
