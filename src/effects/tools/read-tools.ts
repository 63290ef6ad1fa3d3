// What the tools of agents that only look at files read: Read, Grep, Glob and their other names.

import { isObject, type Json } from '../../core/base/json.js'
import type { Place } from '../effect.js'
import { placesOf } from '../program.js'
import { pathsIn, plainName } from './tool-call.js'

const READING =
  /^(?:read|view|cat|open|glob|grep|rg|search|find|list|ls|get|stat|tree|codebase|semantic)|^(?:notebook|fs|file|document|multi)(?:read|view|search|open)/
/** Tools that show only names, as `ls` and `find` do. */
const LISTING = /^(?:glob|ls|list|tree|stat|find(?!in))/
const SEARCHING = /grep|search|^rg$|codebase|semantic|^find(?:in|text)/

/** `str_replace_editor` has a command that only views. */
const EDITOR = /^strreplace|editor$/

export function isReadTool(toolName: string): boolean {
  const name = plainName(toolName)
  return READING.test(name) || EDITOR.test(name)
}

/** The files and folders that such a tool reads. */
export function readPlaces(toolName: string, input: Json, cwd: string, home: string): readonly Place[] {
  const name = plainName(toolName)
  const isListing = LISTING.test(name)
  const patterns = textsAt(input, isListing ? PATTERN_KEY : FILTER_KEY).filter((text) => text !== '')
  const isSearch = SEARCHING.test(name) || (!isListing && textsAt(input, QUERY_KEY).length > 0)
  const given = pathsIn(input, 0)
  const isInside = isSearch || isListing || patterns.length > 0
  const paths = given.length > 0 || !isInside ? given : ['.']
  const found = new Map<string, Place>()
  const add = (text: string, deep: boolean, from: readonly string[]) => {
    for (const form of formsOf(text))
      for (const place of placesOf({ text: form, known: true, glob: /[*?[]/.test(form) }, from, home, deep))
        found.set(place.path, place)
  }
  for (const path of paths) add(path, isSearch && !isListing, [cwd])
  const folders = isInside ? [...found.values()].map((place) => place.path) : [cwd]
  for (const pattern of patterns.slice(0, MOST_PATTERNS))
    for (const one of expanded(pattern)) {
      if (isListing) add(folderOf(one), false, folders)
      else if (isTelling(one)) add(SEARCHING.test(name) ? anywhere(one) : one, false, folders)
      else if (!one.startsWith('!')) add(folderOf(one), true, folders)
    }
  return [...found.values()]
}

const PATTERN_KEY = /^(?:pattern|glob|globs|patterns|query)$/i
/** Which files a search looks into. */
const FILTER_KEY = /^(?:globs?|includes?|include_?patterns?|file_?patterns?)$/i
const QUERY_KEY = /^(?:pattern|query|regex)$/i
const MOST_PATTERNS = 50

function textsAt(input: Json, key: RegExp): readonly string[] {
  if (!isObject(input)) return []
  return Object.entries(input).flatMap(([name, value]) => {
    if (!key.test(name)) return []
    return [value].flat().filter((one): one is string => typeof one === 'string')
  })
}

/** `*.{a,b}` as `*.a` and `*.b`. */
function expanded(pattern: string): readonly string[] {
  const [whole, choices] = /\{([^{}]*)\}/.exec(pattern) ?? []
  if (whole === undefined || choices === undefined) return [pattern]
  return choices
    .split(',')
    .slice(0, MOST_PATTERNS)
    .map((choice) => pattern.replace(whole, choice))
}

/** The folder before the first name with a star. */
function folderOf(pattern: string): string {
  const first = pattern.search(/[*?[]/)
  if (first < 0) return pattern
  const end = pattern.lastIndexOf('/', first)
  return end < 0 ? '.' : pattern.slice(0, end) || '/'
}

/** Whether it says something about the name of a file. The folder itself is read in any case. */
function isTelling(pattern: string): boolean {
  return !pattern.startsWith('!') && /[^*?./]/.test(pattern.slice(pattern.lastIndexOf('/') + 1))
}

/** A filter without a folder counts in every folder. */
function anywhere(pattern: string): string {
  return pattern.startsWith('/') || pattern.startsWith('~') ? pattern : `**/${pattern.replace(/^\*\*\//, '')}`
}

/** The path as it is, and as a tool may read it: with Windows slashes, or without spaces, quotes, escapes or the part after a NUL. */
export function formsOf(text: string): readonly string[] {
  const [start = ''] = text.split('\0')
  const bare = start
    .trim()
    .replace(/^(['"`])(.*)\1$/s, '$2')
    .replace(/^file:(?!\/\/)/i, '')
  const decoded = bare.replace(/%([2-7][0-9a-f])/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return [...new Set([text, bare, decoded].flatMap((form) => [form, form.replaceAll('\\', '/')]))]
}
