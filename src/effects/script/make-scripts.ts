// The makefile that a call of make reads, and what make runs from it.

import { posix } from 'node:path'
import { type MakeGoals, recipesOf } from './makefile.js'
import type { Call } from './shell-script.js'

/** In the order in which make looks for them. */
const NAMES = ['GNUmakefile', 'makefile', 'Makefile']

/** Options that take the next word. */
const VALUED = /^(?:-[CfIoWj]|--(?:directory|file|makefile|include-dir|old-file|what-if))$/

const MOST_INCLUDED = 5

export interface MakeCall extends MakeGoals {
  /** Relative to the call's. */
  readonly folders: readonly string[]
  /** The makefiles that may be read. */
  readonly files: readonly string[]
  /** Whether it only prints what it would run. */
  readonly isDry: boolean
}

export function isMake(name: string): boolean {
  return name === 'make' || name === 'gmake'
}

export function makeCall({ args }: Call): MakeCall {
  const texts = args.map(({ text }) => text)
  const folders: string[] = []
  const files: string[] = []
  const goals: string[] = []
  const variables: string[] = []
  let isDry = false
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] as string
    const [, letter, long, attached] = /^(?:-([Cf])=?|--(directory|file|makefile)=)(.+)$/s.exec(text) ?? []
    const value = attached ?? (VALUED.test(text) && !/^-j$/.test(text) ? texts[++i] : undefined)
    if (/^-C|^--directory/.test(text) || letter === 'C' || long === 'directory') folders.push(value ?? '')
    else if (/^-f|^--(?:make)?file/.test(text)) files.push(value ?? '')
    else if (/^(?:-[a-zA-Z]*n[a-zA-Z]*|--dry-run|--just-print|--recon)$/.test(text)) isDry = true
    else if (text.startsWith('-')) continue
    else if (/^[\w.-]+\??:?=/.test(text)) variables.push(text)
    else if (!/^\d+$/.test(text) || texts[i - 1] !== '-j') goals.push(text)
  }
  return { folders, files: files.length > 0 ? files : NAMES, isDry, goals, variables }
}

export interface MakeScript {
  readonly name: string
  readonly text: string
  readonly folder: string
}

/** `textOf`: the text of a file, which the same script may write. */
export function makeScripts(call: Call, textOf: (path: string) => string | undefined): readonly MakeScript[] {
  const made = makeCall(call)
  if (made.isDry) return []
  for (const start of call.folders) {
    const folder = made.folders.reduce((from, step) => posix.resolve(from, step), start)
    for (const file of made.files) {
      const text = textOf(posix.resolve(folder, file))
      if (text === undefined) continue
      const recipes = recipesOf(withIncluded(text, folder, textOf), made)
      return recipes === '' ? [] : [{ name: file, text: recipes, folder }]
    }
  }
  return []
}

function withIncluded(text: string, folder: string, textOf: (path: string) => string | undefined): string {
  const names = [...text.matchAll(/^(?:-|s)?include[ \t]+([^$\n]+)$/gm)].flatMap(([, list = '']) =>
    list.trim().split(/\s+/),
  )
  const texts = names.slice(0, MOST_INCLUDED).map((name) => textOf(posix.resolve(folder, name)) ?? '')
  return [text, ...texts].join('\n')
}
