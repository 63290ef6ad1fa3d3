// Every relative link leads to a file that is there, and to a heading that is in it.

import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPages, ROOT } from './markdown.js'

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
