// The generated pages are what the generator would write now.

import { describe, expect, it } from 'vitest'
import { pages } from '../../scripts/docs.mjs'
import { readPage } from './markdown.js'

describe('npm run docs', () => {
  it.for(Object.entries(pages()))('would leave %s as it is', ([path, text]) => {
    expect(readPage(path).text, 'run npm run docs').toBe(text)
  })
})
