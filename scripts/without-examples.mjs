// Leaves the examples of the tables in src/effects/ out of a bundle: tests play them, and no program reads them.

import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'

const TABLES = /[\\/]src[\\/]effects[\\/](?:programs|tools)[\\/][\w-]+\.ts$/

/** Each file is in several bundles. @type {Map<string, string>} */
const known = new Map()

/** @param {string} path */
function tableAt(path) {
  const code = readFileSync(path, 'utf8')
  const key = `${path}\0${code}`
  const table = known.get(key) ?? withoutExamples(code)
  known.set(key, table)
  return table
}

/** Every `examples: […]` becomes an empty list. @param {string} code */
export function withoutExamples(code) {
  return listsIn(parseAst(code, { lang: 'ts' }))
    .toReversed()
    .reduce((text, { start, end }) => `${text.slice(0, start)}[]${text.slice(end)}`, code)
}

/** @param {unknown} node @returns {readonly { readonly start: number, readonly end: number }[]} */
function listsIn(node) {
  if (Array.isArray(node)) return node.flatMap(listsIn)
  if (typeof node !== 'object' || node === null) return []
  const { type, key, value } = /** @type {any} */ (node)
  return type === 'Property' && key.name === 'examples' && value.type === 'ArrayExpression'
    ? [value]
    : Object.values(node).flatMap(listsIn)
}

/** @type {import('esbuild').Plugin} */
export const tablesOnly = {
  name: 'tables-only',
  setup({ onLoad }) {
    onLoad({ filter: TABLES }, ({ path }) => ({ contents: tableAt(path), loader: 'ts' }))
  },
}

/** The same for rolldown. */
export const tablesOnlyInLibrary = {
  name: 'tables-only',
  load(/** @type {string} */ id) {
    return TABLES.test(id) ? { code: tableAt(id), moduleType: /** @type {const} */ ('ts') } : undefined
  },
}
