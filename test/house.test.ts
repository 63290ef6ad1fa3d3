import { readdirSync, readFileSync } from 'node:fs'
import { dirname, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/** The house, from the roof down: a file may import from its own floor and the floors below. */
const FLOORS = [
  'index.ts',
  'cli',
  'verify',
  'page',
  'fleet',
  'service',
  'adapters',
  'plugins',
  'pack',
  'author',
  'runtime.ts',
  'hooks.ts',
  'configuration.ts',
  'config',
  'trust',
  'asking',
  'store',
  'runners',
  'hosts',
  'systems',
  'rules',
  'rpc',
  'effects',
  'files',
  'core',
]

interface Import {
  /** Path below src/, with forward slashes. */
  readonly file: string
  readonly specifier: string
}

const COMMENTS_AND_STRINGS =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

const NAMES_A_MODULE = /\bfrom\s*$|\b(?:import|require)\s*\(?\s*$/

/** Every module that a source names: static and dynamic imports, re-exports, types, require. */
function specifiersOf(source: string): string[] {
  return [...source.matchAll(COMMENTS_AND_STRINGS)]
    .filter(({ 0: found, index }) => /^['"]/.test(found) && NAMES_A_MODULE.test(source.slice(0, index)))
    .map(({ 0: found }) => found.slice(1, -1))
}

/** Paths below src/, with forward slashes. */
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => path.split(sep).join('/'))
const imports: readonly Import[] = sources.flatMap((file) =>
  specifiersOf(readFileSync(`${SRC}/${file}`, 'utf8')).map((specifier) => ({ file, specifier })),
)
const codeOf = (file: string) => readFileSync(`${SRC}/${file}`, 'utf8').replace(COMMENTS_AND_STRINGS, ' ')
const ofCore = imports.filter(({ file }) => file.startsWith('core/'))
const outside = ofCore.filter(({ specifier }) => !specifier.startsWith('.'))

/** Where a relative import leads, as a path below src/. */
const target = ({ file, specifier }: Import) => posix.join(dirname(file), specifier)
/** The source behind the name of a compiled file. */
const fileOf = (path: string) => {
  const tsx = path.replace(/\.js$/, '.tsx')
  return sources.includes(tsx) ? tsx : path.replace(/\.js$/, '.ts')
}
const floor = (path: string) => FLOORS.indexOf((path.split('/')[0] ?? '').replace(/\.js$/, '.ts'))

describe('the reader of imports', () => {
  it('sees every form, and nothing in comments or texts', () => {
    const source = `
      import a from './a.js'
      import { b, type C } from "./b.js"
      import {
        d,
      } from './d.js'
      import './e.js'
      export * from './f.js'
      export { g } from './g.js'
      const h = await import('./h.js')
      type I = import('./i.js').I
      const j = require('./j.js')
      // import k from './k.js'
      /* import l from './l.js' */
      const m = \`import m from './m.js'\`
      const n = "a text from './n.js'"
    `
    expect(specifiersOf(source)).toEqual(
      ['a', 'b', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => `./${name}.js`),
    )
  })

  it('finds the sources', () => {
    expect(imports).toContainEqual({ file: 'core/hooks/matcher.ts', specifier: 're2js' })
    expect(imports).toContainEqual({ file: 'index.ts', specifier: './core/index.js' })
  })
})

describe('core', () => {
  it('imports nothing above it', () => {
    const leaving = ofCore.filter((one) => one.specifier.startsWith('.') && !target(one).startsWith('core/'))
    expect(leaving).toEqual([])
  })

  it('is read along the path of an event: its folders import only from those before them', () => {
    const path = ['base', 'events', 'hooks', 'run', 'verdict', 'session']
    const place = (file: string) => path.indexOf(file.split('/')[1] ?? '')
    const inner = ofCore.filter((one) => one.file !== 'core/index.ts' && one.specifier.startsWith('.'))
    expect(inner.filter((one) => place(one.file) < 0)).toEqual([])
    expect(inner.filter((one) => place(target(one)) > place(one.file))).toEqual([])
  })

  it('uses the regex engine in the matcher alone', () => {
    const users = outside.filter(({ specifier }) => specifier === 're2js').map(({ file }) => file)
    expect(users).toEqual(['core/hooks/matcher.ts'])
  })

  it('uses cryptography for digests and ids alone', () => {
    const users = outside.filter(({ specifier }) => specifier === 'node:crypto').map(({ file }) => file)
    expect(users.sort()).toEqual([
      'core/base/digest.ts',
      'core/session/counter.ts',
      'core/session/record.ts',
      'core/session/session.ts',
      'core/verdict/approval.ts',
    ])
  })

  it('imports nothing else: no files, no processes, no network', () => {
    const others = outside.filter(({ specifier }) => !['re2js', 'node:crypto'].includes(specifier))
    expect(others).toEqual([])
  })

  it('reaches for no process, network or file behind its imports either', () => {
    const files = [...new Set(ofCore.map(({ file }) => file))]
    const reaching = files.filter((file) => {
      return /\bprocess\s*[.[]|\bglobalThis\b|\bfetch\s*\(|\bWebSocket\b/.test(codeOf(file))
    })
    expect(reaching).toEqual([])
  })
})

/** Groups of files that reach each other through imports. */
function circles(): string[][] {
  const reach = new Map<string, string[]>()
  for (const one of imports) {
    if (!one.specifier.startsWith('.')) continue
    const list = reach.get(one.file) ?? []
    reach.set(one.file, [...list, fileOf(target(one))])
  }
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) found.push([...path.slice(at), file])
    if (at >= 0 || done.has(file)) return
    for (const next of reach.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of reach.keys()) visit(file, [])
  return found
}

describe('folders', () => {
  it('are drawn in CONTRIBUTING.md', () => {
    const map = readFileSync(`${SRC}/../CONTRIBUTING.md`, 'utf8')
    const drawn = [...map.matchAll(/^src\/([a-z.]+)/gm)].map(([, name]) => name)
    expect(drawn).toEqual(FLOORS)
  })

  it('have no circles of files', () => {
    expect(circles()).toEqual([])
  })

  it('are all on the plan of the house', () => {
    const unknown = [...new Set(imports.map(({ file }) => file.split('/')[0]))].filter(
      (name) => !FLOORS.includes(name ?? ''),
    )
    expect(unknown).toEqual([])
  })

  it('import downward only', () => {
    const upward = imports.filter(
      (one) => one.specifier.startsWith('.') && floor(target(one)) < floor(one.file),
    )
    expect(upward).toEqual([])
  })

  it('import what is there', () => {
    const files = new Set(
      readdirSync(SRC, { recursive: true, encoding: 'utf8' }).map((path) =>
        relative('', path).split(sep).join('/'),
      ),
    )
    const missing = imports.filter((one) => one.specifier.startsWith('.') && !files.has(fileOf(target(one))))
    expect(missing).toEqual([])
  })
})

/** Files that may name agents: their lists of programs and of paths, and examples in help. */
const NAMING_AGENTS = [
  'cli/commands/list.ts',
  'cli/commands/migrate.ts',
  'cli/commands/setup.ts',
  'cli/commands/test.ts',
  'cli/commands/verify.ts',
  'files/agent-shell.ts',
  'hosts/hosts.ts',
  'hosts/late-parts.ts',
  'hosts/mcp/clients.ts',
  'hosts/mcp/entry-forms.ts',
  'hosts/setting-files.ts',
]

/** Words that mean something else there: a model, its protocol, a position in a list, another program. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  codex: ['runners/model/endpoint-model.ts'],
  copilot: ['effects/programs/platforms.ts', 'effects/programs/deployments.ts'],
  crush: ['verify/canary.ts'],
  cursor: ['runners/mcp-tool/tool-list.ts', 'rpc/frames.ts'],
  goose: ['effects/programs/database.ts'],
  gemini: ['verify/model/gemini-content.ts', 'verify/model/mock-model.ts'],
}

describe('an agent is one folder, and a row of each table of agents', () => {
  const agents = [...new Set(sources.flatMap((file) => /^hosts\/([^/]+)\/host\.ts$/.exec(file)?.[1] ?? []))]
  // Claude Code is the standard that others are described by. pi and cline are parts of other words.
  const known = agents.filter((name) => !['claude-code', 'cline', 'cline-core', 'pi'].includes(name))
  const spoken = new Map(
    sources.map((file) => {
      const source = readFileSync(`${SRC}/${file}`, 'utf8')
      return [file, source.replace(COMMENTS_AND_STRINGS, (text) => (/^\/[/*]/.test(text) ? ' ' : text))]
    }),
  )

  it.each(known)('%s: no general code names it', (name) => {
    const word = new RegExp(`(?<!\\w)${name}(?!\\w)`, 'i')
    const allowed = [...NAMING_AGENTS, ...(OTHER_WORDS[name] ?? [])]
    const naming = sources.filter((file) => {
      // Agents that descend from another share its facts.
      const isOfAgent = agents.some((agent) => file.startsWith(`hosts/${agent}/`))
      return !isOfAgent && !allowed.includes(file) && word.test(spoken.get(file) ?? '')
    })
    expect(naming).toEqual([])
  })
})

describe('the page', () => {
  it('is loaded by carabiner open and carabiner fleet serve alone', () => {
    const users = imports.filter(
      (one) => one.specifier.startsWith('.') && /^(?:page|cli\/open)\//.test(target(one)),
    )
    const outside = users.map(({ file }) => file).filter((file) => !/^(?:page|cli\/open)\//.test(file))
    expect([...new Set(outside)].sort()).toEqual([
      'cli/commands/open.ts',
      'cli/fleet/serve.ts',
      'cli/page-files.ts',
    ])
    const starters = imports.filter((one) => target(one).endsWith('/commands/open.js'))
    expect(starters).toEqual([{ file: 'cli/commands.ts', specifier: './commands/open.js' }])
  })

  it('takes only types and its own files into the browser', () => {
    const inBrowser = imports.filter(({ file }) => file.startsWith('page/browser/'))
    const allowed = (one: Import) =>
      /^preact(?:\/hooks)?$/.test(one.specifier) || /^page\/(?:browser|view)\//.test(target(one))
    expect(inBrowser.filter((one) => !allowed(one))).toEqual([])
    const inViews = imports.filter(({ file }) => file.startsWith('page/view/'))
    expect(inViews.filter(({ specifier }) => !/^\.\/[\w-]+\.js$/.test(specifier))).toEqual([])
  })
})

describe('the fleet', () => {
  const isFleet = (path: string) => /^(?:fleet|cli\/fleet|page\/fleet)\//.test(path)

  it('is loaded by carabiner fleet alone, and by its counters if a limit counts with it', () => {
    const COUNTERS = 'fleet/machine/counters.js'
    const users = imports.filter((one) => one.specifier.startsWith('.') && isFleet(target(one)))
    const outside = users.filter(({ file }) => !isFleet(file))
    const naming = (isMeant: (path: string) => boolean) => [
      ...new Set(outside.filter((one) => isMeant(target(one))).map(({ file }) => file)),
    ]
    expect(naming((path) => path !== COUNTERS)).toEqual(['cli/commands/fleet.ts'])
    expect(naming((path) => path === COUNTERS).sort()).toEqual(['cli/sources.ts', 'index.ts'])
    const source = readFileSync(`${SRC}/${COUNTERS.replace(/js$/, 'ts')}`, 'utf8')
    const atOnce = [...source.matchAll(/^import (?!type)[^\n]* from '([^']+)'/gm)].map(([, name]) => name)
    expect(atOnce).toEqual(['../../files/fleet-places.js'])
    const starters = imports
      .filter((one) => target(one).endsWith('/commands/fleet.js'))
      .map(({ file }) => file)
    expect(starters).toEqual(['cli/commands.ts', 'cli/start/gateway-program.ts'])
  })

  it('loads PostgreSQL in one place, and late', () => {
    const users = imports.filter(({ specifier }) => specifier === 'pg')
    expect([...new Set(users.map(({ file }) => file))]).toEqual(['fleet/database/connection.ts'])
    const source = readFileSync(`${SRC}/fleet/database/connection.ts`, 'utf8')
    expect(source.match(/^import (?!type)[^\n]*'pg'/m)).toBeNull()
  })

  it('loads The Update Framework in one place, and late', () => {
    const late = sources.filter((file) =>
      /await import\('(?:tuf-js|@tufjs\/)/.test(readFileSync(`${SRC}/${file}`, 'utf8')),
    )
    expect(late).toEqual(['fleet/policy/tuf.ts'])
    const early = sources.filter((file) =>
      /^import (?!type\b)[^']*'(?:tuf-js|@tufjs\/models)'/m.test(readFileSync(`${SRC}/${file}`, 'utf8')),
    )
    expect(early).toEqual([])
  })
})

describe('a file that is not there', () => {
  it('means the same in every version of Node: only one file asks with throwIfNoEntry', () => {
    const asking = sources.filter((file) => /throwIfNoEntry\s*:/.test(codeOf(file)))
    expect(asking).toEqual(['files/if-there.ts'])
  })
})

/** What can open a connection. Each file is in a row of docs/reference/support.md, under Network. */
const ON_THE_NETWORK = [
  'cli/collector.ts',
  'fleet/gateway/listener.ts',
  'fleet/gateway/webhook.ts',
  'fleet/machine/gateway-client.ts',
  'plugins/sources/archive.ts',
  'plugins/sources/foreign-source.ts',
  'plugins/sources/redirect.ts',
  'runners/http/exchange.ts',
  'runners/http/reach.ts',
  'runners/mcp-tool/http-link.ts',
]

describe('no telemetry', () => {
  it('nothing reaches the network but hooks, models, sources of plugins, a fleet and what people send', () => {
    const modules =
      /^node:(?:http2?|https|net|tls|dns|dgram)(?:\/|$)|^(?:undici|ws|axios)$|^@opentelemetry\/exporter-/
    const typesOnly = /\bimport type [^'"]*$/
    const reaching = sources.filter((file) => {
      const source = readFileSync(`${SRC}/${file}`, 'utf8')
      const loads = [...source.matchAll(COMMENTS_AND_STRINGS)].some(({ 0: found, index }) => {
        const before = source.slice(0, index)
        return modules.test(found.slice(1, -1)) && NAMES_A_MODULE.test(before) && !typesOnly.test(before)
      })
      return (
        loads ||
        /(?<![.\w]|async )\bfetch\s*\(|\bnew (?:WebSocket|EventSource|XMLHttpRequest)\b/.test(codeOf(file))
      )
    })
    // They read certificates from node:tls, write to standard output, open a pipe to the parent, and listen to a socket in a
    // folder or on the loopback, or are the page that asks there; none of this leaves the machine.
    const local = [
      'page/browser/ask.ts',
      'page/browser/feed.ts',
      'page/browser/fleet/live.ts',
      'page/listener.ts',
      'cli/fleet/serve.ts',
      'cli/resident/streams.ts',
      'runners/module/module-host.ts',
      'runners/spawner/node-helper.ts',
      'service/socket/listener.ts',
      'service/socket/running-services.ts',
      'effects/shell/own-environment.ts',
      'verify/enclosure.ts',
      'verify/model/mock-model.ts',
    ]
    expect(reaching.filter((file) => !local.includes(file)).sort()).toEqual(ON_THE_NETWORK)
  })
})
