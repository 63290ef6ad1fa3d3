// The table of hosts: every row is complete, and names only what there is.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CATALOGUE } from '../../src/core/events/catalogue.js'
import { HOST_NAMES, HOSTS, hostNamed } from '../../src/hosts/hosts.js'

const EVENTS = Object.keys(CATALOGUE)

it('has every host once', () => {
  expect(new Set(HOST_NAMES).size).toBe(HOST_NAMES.length)
  expect(HOST_NAMES.map((name) => hostNamed(name)?.name)).toEqual(HOST_NAMES)
  expect(hostNamed('constructor')).toBeUndefined()
})

describe.each(HOSTS)('$name', ({ title, events = {}, tools = {}, can, timeout, timeouts = {} }) => {
  it('is in the documentation', () => {
    expect(readFileSync('docs/write-a-hook.md', 'utf8')).toContain(title)
  })

  it('names events of the catalogue', () => {
    const honoured = typeof can === 'function' ? [] : Object.keys(can)
    const named = [...Object.values(events), ...honoured, ...Object.keys(timeouts)]
    expect(named.filter((name) => !EVENTS.includes(name))).toEqual([])
  })

  it("has Claude Code's names for tools", () => {
    expect(Object.values(tools).flat()).toEqual(
      Object.values(tools)
        .flat()
        .filter((name) => /^(?:Bash|Read|Write|Edit)$/.test(name)),
    )
  })

  it('waits for some time', () => {
    for (const seconds of [timeout, ...Object.values(timeouts)]) expect(seconds).toBeGreaterThan(0)
  })
})
