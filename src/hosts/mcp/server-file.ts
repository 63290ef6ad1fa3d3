// The text of a file with MCP servers, in JSON, YAML or TOML: reads the servers, and changes some of them in place.

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../core/base/json.js'
import { JsonText, type Spot } from '../../files/json-text.js'
import type { Placed } from '../../files/placed.js'
import { tomlPair, tomlValue } from '../../files/toml-out.js'
import { placedToml } from '../../files/toml-text.js'
import { placedYaml } from '../../files/yaml-text.js'
import { edited } from '../forms/json-edit.js'
import { editsFor, type Syntax, Unchangeable } from '../forms/placed-edit.js'
import { tomlValues } from '../forms/toml-form.js'
import { SetupProblem } from '../setup-problem.js'
import { FORMS, type McpForm } from './entry-forms.js'

export interface McpFile {
  readonly path: string
  readonly text: string
  /** The key of the object or list that holds the servers. */
  readonly key: string
  readonly form: McpForm
  /** The key of the address of a server that speaks streamable HTTP. */
  readonly address: string
  /** The types of entries, if the agent wants them. */
  readonly types?: { readonly stdio: string; readonly http: string }
}

type FileSyntax = 'json' | 'yaml' | 'toml'

export interface McpServer {
  readonly name: string
  /** As it stands in the file, which may be anything. */
  readonly entry: unknown
}

interface PlacedServer extends McpServer {
  readonly placed: Placed
}

function syntaxOf({ path }: Pick<McpFile, 'path'>): FileSyntax {
  if (path.endsWith('.toml')) return 'toml'
  return /\.ya?ml$/.test(path) ? 'yaml' : 'json'
}

/** Throws a SetupProblem if the file cannot be read. */
export function serversIn(file: McpFile): readonly McpServer[] {
  return placedServers(file)
}

/** The text with other entries for some servers. Undefined if it cannot be changed without touching anything else. */
export function withServers(file: McpFile, fresh: ReadonlyMap<string, object>): string | undefined {
  const servers = placedServers(file)
  const syntax = SYNTAXES[syntaxOf(file)]
  try {
    const edits = servers.flatMap(({ name, placed }) => {
      const entry = fresh.get(name)
      return entry ? editsFor(file.text, placed, entry as Readonly<Record<string, unknown>>, syntax) : []
    })
    const after = edited(file.text, edits)
    const wanted = servers.map(({ name, entry }) => ({ name, entry: fresh.get(name) ?? entry }))
    return isDeepStrictEqual(plainServers({ ...file, text: after }), wanted) ? after : undefined
  } catch (error) {
    if (error instanceof Unchangeable || error instanceof SetupProblem) return undefined
    throw error
  }
}

function plainServers(file: McpFile): readonly McpServer[] {
  return placedServers(file).map(({ name, entry }) => ({ name, entry }))
}

function placedServers(file: McpFile): readonly PlacedServer[] {
  const { path, key } = file
  const servers = READERS[syntaxOf(file)](file)
  if (!servers) return []
  const items = FORMS[file.form].hasLists ? servers.items : undefined
  const named = servers.pairs
    ? [...servers.pairs].map(([name, placed]) => ({ name, entry: placed.value, placed }))
    : items?.map((placed, i) => ({ name: nameIn(items, i), entry: placed.value, placed }))
  if (!named) {
    if (servers.value === null) return []
    throw new SetupProblem(`${path}: "${key}" is not an object`, 'It was not changed.')
  }
  const twice = named.find(({ name }, i) => named.findIndex((one) => one.name === name) < i)
  if (twice)
    throw new SetupProblem(
      `${path}: two servers are called ${JSON.stringify(twice.name)}`,
      'It was not changed.',
    )
  return named
}

/** In a list, servers name themselves, or say where they come from. */
function nameIn(items: readonly Placed[], i: number): string {
  const fieldOf = (item: Placed | undefined, field: string) =>
    isObject(item?.value) && typeof item.value[field] === 'string' ? item.value[field] : undefined
  const uses = fieldOf(items[i], 'uses')
  const isOnly = items.filter((item) => fieldOf(item, 'uses') === uses).length === 1
  return fieldOf(items[i], 'name') ?? (isOnly ? uses : undefined) ?? `number ${i + 1}`
}

// ---- syntaxes -------------------------------------------------------------------------------------------------

const asJson = (value: unknown) => JSON.stringify(value)

const SYNTAXES: Readonly<Record<FileSyntax, Syntax>> = {
  json: { value: asJson, pair: (key, value) => `${JSON.stringify(key)}: ${value}` },
  // JSON is YAML, apart from its keys, which look foreign between others.
  yaml: { value: asJson, pair: (key, value) => `${/^\w+$/.test(key) ? key : JSON.stringify(key)}: ${value}` },
  toml: { value: tomlValue, pair: tomlPair },
}

type Read = (file: McpFile) => Placed | undefined

const READERS: Readonly<Record<FileSyntax, Read>> = {
  json: ({ path, text, key }) => {
    const json = new JsonText(text)
    const parsed = json.parse()
    if (!('value' in parsed))
      throw new SetupProblem(`${path}:${parsed.line} is not JSON: ${parsed.problem}`, 'It was not changed.')
    const root = json.spotOf(null)
    const mark = text.length - json.text.length
    const servers = root && placedJson(root, parsed.value, mark).pairs?.get(key)
    // Agents may take the other one, which would not be behind the proxy.
    const [double] = servers ? json.doubleKeys() : []
    if (double)
      throw new SetupProblem(
        `${path}:${double.line} ${JSON.stringify(double.key)} is there twice`,
        'It was not changed. Remove one of them first.',
      )
    return servers
  },
  yaml: ({ path, text, key }) => {
    const read = placedYaml(text, key)
    if (read === undefined || 'placed' in read) return read?.placed
    throw new SetupProblem(
      `${path}:${read.line}: "${key}" is written in a way that setup does not read: ${read.problem}`,
      'It was not changed. Put its servers behind carabiner mcp by hand.',
    )
  },
  toml: ({ path, text, key }) => {
    const values = tomlValues(text)
    if (!values) throw new SetupProblem(`${path} is not valid TOML`, 'It was not changed.')
    const servers = placedToml(text)?.pairs?.get(key)
    // Two programs read it, so that no text is taken for something else.
    if (!isDeepStrictEqual(plain(values[key]), servers?.value))
      throw new SetupProblem(
        `${path}: "${key}" is written in a way that setup does not read`,
        'It was not changed. Put its servers behind carabiner mcp by hand.',
      )
    return servers
  },
}

function placedJson({ at, end, keyAt, inside }: Spot, value: unknown, mark: number): Placed {
  const where = { startAt: (keyAt ?? at) + mark, at: at + mark, end: end + mark, isBlock: false, value }
  if (Array.isArray(value)) {
    const items = value.flatMap((one, i) => {
      const spot = inside?.get(i)
      return spot ? [placedJson(spot, one, mark)] : []
    })
    return { ...where, items }
  }
  if (!isObject(value)) return where
  const pairs = Object.entries(value).flatMap(([key, one]) => {
    const spot = inside?.get(key)
    return spot ? [[key, placedJson(spot, one, mark)] as const] : []
  })
  return { ...where, pairs: new Map(pairs) }
}

/** smol-toml makes objects without a prototype. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]))
}
