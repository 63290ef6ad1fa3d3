// The written pages of the project, as data: blocks of code with the output that follows, links, headings.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Block {
  readonly language: string
  readonly text: string
  /** Of the first line of code, from 1. */
  readonly line: number
  /** What it prints: the text block that directly follows. */
  readonly output: string | undefined
}

export interface Page {
  /** From the root of the project. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
  /** Targets of links outside of code. */
  readonly links: readonly string[]
  /** What a link to a heading may name. */
  readonly anchors: ReadonlySet<string>
}

/** The pages at the root, and every page of docs/. */
export function allPages(): readonly Page[] {
  const docs = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
  const pages = docs.filter((name) => name.endsWith('.md')).sort()
  const atRoot = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
  return [...atRoot, ...pages.map((name) => `docs/${name}`)].map(readPage)
}

export function readPage(path: string): Page {
  const text = readFileSync(`${ROOT}${path}`, 'utf8')
  const prose = text.replace(FENCED, '')
  return {
    path,
    text,
    blocks: blocksOf(text),
    links: [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] as string),
    anchors: new Set([...prose.matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1] as string))),
  }
}

const FENCED = /^```(\w*)\n([\s\S]*?)^```$/gm

function blocksOf(text: string): readonly Block[] {
  const found = [...text.matchAll(FENCED)]
  return found.map((match, i) => {
    const next = found[i + 1]
    const follows = next !== undefined && text.slice(match.index + match[0].length, next.index).trim() === ''
    const printed = follows && (next[1] === 'text' || next[1] === 'console')
    return {
      language: match[1] as string,
      text: match[2] as string,
      line: text.slice(0, match.index).split('\n').length + 1,
      output: printed ? next[2] : undefined,
    }
  })
}

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
