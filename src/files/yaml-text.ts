// One top-level key of a YAML file, with the position of every value under it. What setup could not change without a guess is
// refused by name.

import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  parseAllDocuments,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { type Placed, Unread } from './placed.js'

export type PlacedYaml =
  | { readonly placed: Placed }
  | { readonly problem: string; readonly line: number }
  | undefined

class Odd extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** Undefined if the file does not have the key. */
export function placedYaml(text: string, key: string): PlacedYaml {
  try {
    const placed = keyIn(text, key)
    return placed && { placed }
  } catch (error) {
    if (error instanceof RangeError) return { problem: 'it is nested too deeply', line: 1 }
    if (!(error instanceof Odd)) throw error
    return { problem: error.message, line: text.slice(0, error.at).split('\n').length }
  }
}

function keyIn(text: string, key: string): Placed | undefined {
  const documents = parseAllDocuments(text, { keepSourceTokens: true, logLevel: 'silent' })
  const [document, second] = documents
  if (!document) return undefined
  const [error] = document.errors
  if (error) throw new Odd(error.pos[0], error.message.split(/ at line |:?\n/)[0] ?? '')
  if (second) throw new Odd(second.range[0], 'it has several documents')
  const { contents } = document
  if (!isMap(contents)) return undefined
  // Each of them could be the key, for some program that reads the file.
  const keys = contents.items.map((one) => plainKey(one))
  const pair = contents.items[keys.indexOf(key)]
  return pair && placedPair(pair)[1]
}

/** Throws if programs may read another key than the text says. */
function plainKey({ key }: Pair): string {
  const [at = 0] = isNode(key) ? (key.range ?? []) : []
  if (!isScalar(key) || key.anchor !== undefined || key.tag !== undefined)
    throw new Odd(at, 'it has a key that is not plain text')
  // Programs that know YAML 1.1 put the keys of another map in its place.
  if (key.source === '<<' && key.type === 'PLAIN') throw new Odd(at, 'it merges another part of the file')
  return String(key.value)
}

/** `startAt`: of its key or its dash. */
function placedNode(node: unknown, startAt?: number): Placed {
  if (!isMap(node) && !isSeq(node) && !isScalar(node) && !isAlias(node))
    throw new Odd(startAt ?? 0, 'a value is missing')
  const [at = 0, end = at] = node.range ?? []
  if (!isAlias(node) && (node.anchor !== undefined || node.tag !== undefined))
    throw new Odd(at, 'it has an anchor or a tag')
  if (isMap(node)) return placedMap(node, startAt)
  if (isSeq(node)) return placedList(node, startAt)
  // Nothing that setup changes is a text after `|` or `>`.
  const isRead = isScalar(node) && !node.type?.startsWith('BLOCK')
  return {
    value: isRead ? node.value : new Unread(`${node.source}`),
    startAt: startAt ?? at,
    at,
    end,
    isBlock: false,
  }
}

function placedPair(pair: Pair): readonly [string, Placed] {
  const name = plainKey(pair)
  const [at = 0] = isScalar(pair.key) ? (pair.key.range ?? []) : []
  return [name, placedNode(pair.value, at)]
}

function placedMap(map: YAMLMap, startAt?: number): Placed {
  const pairs = new Map(map.items.map(placedPair))
  const values = [...pairs].map(([key, { value }]) => [key, value])
  return { ...around(map, [...pairs.values()], startAt), value: Object.fromEntries(values), pairs }
}

function placedList(list: YAMLSeq, startAt?: number): Placed {
  const { srcToken } = list
  const starts = srcToken?.type === 'block-seq' ? srcToken.items.flatMap(({ start }) => start) : []
  const dashes = starts.filter(({ type }) => type === 'seq-item-ind')
  const items = list.items.map((item, i) => placedNode(item, dashes[i]?.offset))
  return { ...around(list, items, startAt), value: items.map(({ value }) => value), items }
}

function around(collection: YAMLMap | YAMLSeq, parts: readonly Placed[], startAt?: number) {
  const isBlock = collection.flow !== true
  const [first = 0, last = first] = collection.range ?? []
  // What is around the parts of a block belongs to others: comments, and the end of the line.
  const at = isBlock ? (parts[0]?.startAt ?? first) : first
  const end = isBlock ? (parts.at(-1)?.end ?? at) : last
  return { startAt: startAt ?? at, at, end, isBlock }
}
