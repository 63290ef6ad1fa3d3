// Every relative link leads to a file that is there, and to a heading that is in it.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isLarge } from '../property/runs.js'
import { allPages, ROOT, readPage } from './markdown.js'

const pages = allPages()

describe('links of', () => {
  it.for(pages)('$path', ({ path, links }) => {
    for (const link of links.filter((one) => !/^[a-z]+:/.test(one))) {
      const [file, anchor] = link.split('#')
      const target = file ? posix.join(posix.dirname(path), file) : path
      expect(existsSync(`${ROOT}${target}`), link).toBe(true)
      if (anchor === undefined) continue
      expect([...(pages.find((page) => page.path === target)?.anchors ?? [])], link).toContain(anchor)
    }
  })

  it('the index reach every page of docs/', () => {
    const index = pages.find(({ path }) => path === 'docs/README.md')
    const reached = index?.links.map((link) => `docs/${link.split('#')[0]}`)
    const shelved = pages.map(({ path }) => path).filter((path) => /^docs\/.+\//.test(path))
    expect(shelved.filter((path) => !reached?.includes(path))).toEqual([])
  })
})

/** The files of the package. npm takes seconds to list them. */
function packed(): readonly string[] {
  const [{ files }] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  return files.map(({ path }: { readonly path: string }) => path)
}

describe.runIf(isLarge)('C6: in the package', () => {
  const shipped = isLarge ? packed() : []
  const isShipped = (path: string) => shipped.some((file) => file === path || file.startsWith(`${path}/`))

  it.for(shipped.filter((path) => path.endsWith('.md')))('%s links only to what is there', (path) => {
    const targets = readPage(path)
      .links.filter((link) => !/^[a-z]+:|^#/.test(link))
      .map((link) => posix.join(posix.dirname(path), link.split('#')[0] ?? ''))
    expect(targets.filter((target) => !isShipped(target))).toEqual([])
  })

  it('are the files that messages name', () => {
    const sources = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' })
    const named = sources
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [
        ...readFileSync(`${ROOT}src/${path}`, 'utf8').matchAll(
          /(?<![\w./])(?:docs|examples|schema)\/[\w./-]*\w/g,
        ),
      ])
      .map(([path]) => path)
    expect(named).toContain('docs/README.md')
    expect(named.filter((path) => !isShipped(path))).toEqual([])
  })

  it('are nothing that only this repository needs', () => {
    const folders = new Set(shipped.map((path) => path.split('/')[0]))
    expect([...folders].sort()).toEqual([
      ...[
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'LICENSE',
        'README.md',
        'SECURITY.md',
        'clients',
        'dist',
        'docs',
        'examples',
      ],
      ...['package.json', 'schema'],
    ])
    expect(
      shipped.filter((path) =>
        /\.(?:cache|tmp)$|build\.json$|^examples\/play|^clients\/.*conformance/.test(path),
      ),
    ).toEqual([])
  })
})
