// The page on Claude Code says exactly what the recorded table shows.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface Table {
  readonly claude_code: string
  readonly differences: readonly { readonly rule: string }[]
  readonly events: { readonly provoked: readonly string[]; readonly not_provoked: object }
  readonly cases: readonly { readonly differs?: object }[]
}

const page = readFileSync('docs/reference/claude-code.md', 'utf8')
const table = JSON.parse(readFileSync('test/conformance/claude-code.json', 'utf8')) as Table

describe('docs/reference/claude-code.md', () => {
  it('lists every difference of the table, and no other', () => {
    const rows = [...page.matchAll(/^\| ([^|-][^|]*) \|/gm)].map(([, name]) => name)
    const rules = table.differences.map(({ rule }) => rule.replace('≠C ', ''))
    expect(rows.sort()).toEqual(rules.sort())
  })

  it('has the figures of the table', () => {
    const same = table.cases.filter(({ differs }) => differs === undefined).length
    expect(page).toContain(
      `${table.cases.length} cases were put to the real Claude Code ${table.claude_code}`,
    )
    expect(page).toContain(`${same} come out the same`)
    expect(page).toContain(`${table.events.provoked.length} of them were provoked`)
    for (const event of Object.keys(table.events.not_provoked)) expect(page).toContain(event)
  })
})
