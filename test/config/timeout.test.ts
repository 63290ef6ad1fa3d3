// Time-outs by the format of the file: what it says, what a hook gets where it says nothing, and what caps it.

import { describe, expect, it } from 'vitest'
import { codesOf, command, hooksFile, load } from './temp-tree.js'

/** Files by the format that they are in. */
const FORMATS = {
  amplifier: [
    'project/.amplifier/hooks/hooks.json',
    'project/.amplifier/settings.json',
    'project/.amplifier/hooks/p/hooks.json',
  ],
  claude: ['project/.amplifier/hooks/p/hooks/hooks.json'],
} as const

/** Seconds of a command of Claude Code that says nothing; `migrate` writes them. */
const CLAUDE_USUAL = 600

interface Case {
  readonly says?: number
  readonly user?: object
  readonly project?: object
  readonly seconds: number
  readonly capped?: true
}

const CASES: Readonly<Record<keyof typeof FORMATS, readonly Case[]>> = {
  amplifier: [
    { seconds: 30 },
    { says: 120, seconds: 120 },
    { says: 900, seconds: 300, capped: true },
    { says: 345_600, seconds: 300, capped: true },
    { says: CLAUDE_USUAL, seconds: 300, capped: true },
    { says: 5000, seconds: 300, capped: true },
    { user: { default_timeout: 5 }, seconds: 5 },
    { user: { max_timeout: 10 }, seconds: 10, capped: true },
    { says: 900, user: { max_timeout: 1000 }, seconds: 900 },
    { says: 100, project: { max_timeout: 60 }, seconds: 60, capped: true },
  ],
  claude: [
    { seconds: 600 },
    { says: 120, seconds: 120 },
    { says: 900, seconds: 900 },
    { says: 345_600, seconds: 345_600 },
    { says: 1e12, seconds: (2 ** 31 - 1) / 1000, capped: true },
    { says: 1000, seconds: 600, capped: true },
    { says: 600_000, seconds: 600, capped: true },
    { says: 601_000, seconds: 601_000 },
    { says: 1001, seconds: 1001 },
    { user: { default_timeout: 5 }, seconds: 5 },
    { user: { max_timeout: 10 }, seconds: 10, capped: true },
    { says: 900, user: { max_timeout: 300 }, seconds: 300, capped: true },
    { says: 900, project: { max_timeout: 60 }, seconds: 900 },
  ],
}

const rows = Object.entries(CASES).flatMap(([format, cases]) =>
  FORMATS[format as keyof typeof FORMATS].flatMap((file) =>
    cases
      .filter(({ project }) => !project || !file.endsWith('settings.json'))
      .map((one) => ({ file, ...one })),
  ),
)

describe('D8: the time-out of a command', () => {
  it.each(rows)('in $file that says $says, with $user and $project, is $seconds', async (row) => {
    const { file, says, user = {}, project, seconds, capped = false } = row
    const hooks = hooksFile([command('x', says === undefined ? {} : { timeout: says })])
    const config = await load({
      'home/.amplifier/settings.json': { hooks: user },
      ...(project && { 'project/.amplifier/settings.json': { hooks: project } }),
      [file]: hooks,
    })
    const hook = config.specs[0]?.hook
    expect([hook && hook.timeoutMs / 1000, hook?.cappedBy !== undefined]).toEqual([seconds, capped])
    const isWanted = says !== undefined && says !== CLAUDE_USUAL
    expect(codesOf(config)).toEqual(capped && isWanted ? ['timeout-clamped'] : [])
  })

  it('is called milliseconds only where it may be some', async () => {
    const said = async (timeout: number) => {
      const files = { 'project/.amplifier/hooks/hooks.json': hooksFile([command('x', { timeout })]) }
      return (await load(files)).diagnostics[0]?.text
    }
    expect(await said(5000)).toContain('looks like milliseconds')
    expect(await said(345_600)).not.toContain('milliseconds')
  })

  it('of other types is 30 seconds in both formats, and 60 for an agent', async () => {
    const handlers = [
      { type: 'prompt', prompt: 'x' },
      { type: 'http', url: 'http://localhost/' },
      { type: 'mcp_tool', server: 's', tool: 't' },
      { type: 'agent', prompt: 'x' },
    ]
    const { specs } = await load({ 'project/.amplifier/hooks/p/hooks/hooks.json': hooksFile(handlers) })
    expect(specs.map(({ hook }) => hook.timeoutMs / 1000)).toEqual([30, 30, 30, 60])
  })
})
