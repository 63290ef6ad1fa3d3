// Finding plugins in catalogs by words. The name counts most, then keywords, then the description.

import { nearest } from '../../core/base/text.js'
import { PluginProblem } from '../plugin-problem.js'
import { ENTRY_NAME } from '../sources/source.js'
import type { CatalogEntry } from './entry.js'
import { type CatalogRecord, CatalogStore } from './store.js'

export interface FoundPlugin {
  readonly entry: CatalogEntry
  readonly catalog: string
  readonly score: number
}

/** Plugins that contain every word, best first. Without words, all of them. */
export function searchCatalogs(
  catalogs: readonly CatalogRecord[],
  words: readonly string[],
): readonly FoundPlugin[] {
  const wanted = words
    .flatMap((word) => word.split(/\s+/))
    .map(folded)
    .filter((word) => word !== '')
  return catalogs
    .flatMap(({ name: catalog, plugins }) =>
      plugins.map((entry) => ({ entry, catalog, score: scoreOf(entry, wanted) })),
    )
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || order(a.entry.name, b.entry.name) || order(a.catalog, b.catalog))
}

/** Zero if a word is missing. */
function scoreOf(entry: CatalogEntry, words: readonly string[]): number {
  const name = folded(entry.name)
  const keywords = entry.keywords.map(folded)
  const description = folded(entry.description)
  let sum = 1
  for (const word of words) {
    const score = wordScore(word, name, keywords, description)
    if (score === 0) return 0
    sum += score
  }
  return sum
}

function wordScore(word: string, name: string, keywords: readonly string[], description: string): number {
  if (name === word) return 100
  const inName = name.startsWith(word) ? 50 : name.includes(word) ? 30 : 0
  const inKeywords = keywords.includes(word) ? 20 : keywords.some((one) => one.includes(word)) ? 10 : 0
  return inName + inKeywords + (description.includes(word) ? 4 : 0)
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Unlike localeCompare, gives the same order on every machine. */
function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

// ---- a bare name instead of a source --------------------------------------------------------------------------

/** The error for a bare name, which suggests the plugin that was probably meant. Undefined if no catalog has one like it. */
export function bareNameProblem(text: string): PluginProblem | undefined {
  if (!ENTRY_NAME.test(text)) return undefined
  const all = new CatalogStore()
    .all()
    .catalogs.flatMap(({ name: catalog, plugins }) => plugins.map(({ name }) => ({ name, catalog })))
  const meant = nearest(
    text,
    all.map(({ name }) => name),
  )
  const isSame = (one: string) => one.toLowerCase() === text.toLowerCase()
  const exact = all.filter(({ name }) => isSame(name))
  const found = exact.length > 0 ? exact : all.filter(({ name }) => name === meant)
  const names = found.map(({ name, catalog }) => `${name}@${catalog}`)
  if (names.length === 0) return undefined
  const either = names.join(' or ')
  const said = exact.length > 0 ? `but there is ${either}` : `did you mean ${either}?`
  return new PluginProblem(
    'SOURCE_INVALID',
    `"${text}" is not a valid source; ${said}`,
    `carabiner install ${names[0]}`,
  )
}
