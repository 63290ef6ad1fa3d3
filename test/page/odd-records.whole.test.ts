// Records that another program wrote: whatever is in them, the page shows them and everything around them.

import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { fileAuditLog } from '../../src/store/file-stores.js'
import { Project, withProgram } from '../cli/program.js'
import { sample } from '../property/runs.js'
import { type Served, servePage } from './served-page.js'
import { type Ask, enter, readStream, tabOf } from './visitor.js'

withProgram()

const time = new Date().toISOString()
const hook = { name: 'gate', kind: 'command', source: '/h', status: 'ran', ms: 1, action: 'deny' }
const fire = {
  kind: 'fire',
  time,
  session: 's1',
  turn: 't1',
  event: 'PreToolUse',
  tool: 'Bash',
  call: 'c1',
  digest: 'd',
  action: 'deny',
  reason: 'because',
  hooks: [hook],
  injections: [{ source: 'gate', bytes: 1 }],
  diagnostics: [{ code: 'shadow', hook: 'gate', text: 'would deny' }],
  unguarded: [{ hook: 'gate', why: 'failed' }],
  approval: {
    question: { asks: [{ hook: 'gate', prompt: 'May it?' }] },
    answer: { decision: 'deny', by: 'a' },
  },
  ms: 1,
}
const approval = {
  kind: 'approval',
  time,
  session: 's1',
  event: 'PreToolUse',
  tool: 'Bash',
  id: 'k7f3-9qxd',
  digest: 'd',
  decision: 'deny',
  by: 'ann',
  through: 'page',
  reason: 'no',
}
const revoked = {
  kind: 'revoked',
  time,
  by: 'ann',
  id: 'g',
  hook: 'gate',
  event: 'E',
  tool: 'Bash',
  about: '{}',
}
const change = { kind: 'change', time, change: 'trusted', hook: 'gate', by: 'ann', until: time, digest: 'd' }
const plain = [
  fire,
  { ...fire, kind: 'late' },
  approval,
  revoked,
  change,
  { kind: 'bypass', time, event: 'PreToolUse' },
  { kind: 'gap', time, records: 1, why: 'full' },
]

const ODD: readonly unknown[] = [
  null,
  5,
  '',
  'x\u202e\n\u0000',
  true,
  [],
  {},
  [null],
  [5],
  ['x'],
  [{}],
  { asks: [null] },
]

/** Every entry with every field replaced by everything odd, and without it. */
const odd = plain.flatMap((entry) =>
  Object.keys(entry)
    .filter((key) => key !== 'kind')
    .flatMap((key) => [
      Object.fromEntries(Object.entries(entry).filter(([name]) => name !== key)),
      ...ODD.map((value) => ({ ...entry, [key]: value })),
    ]),
)
const nested = ODD.flatMap((value) => [
  ...Object.keys(hook).map((key) => ({ ...fire, hooks: [{ ...hook, [key]: value }] })),
  { ...fire, approval: { question: { asks: [value] }, answer: value } },
  { ...fire, approval: { question: value } },
  { ...fire, approval: { question: { asks: value }, answer: { decision: value, by: value, option: value } } },
  { ...fire, diagnostics: [{ code: 'shadow', hook: value, text: value }] },
  { ...fire, injections: [value, { source: value, bytes: value }] },
  { kind: value, time },
])
/** The log itself takes nothing without a kind and a time. */
const isTaken = ({ kind, time: at }: { kind?: unknown; time?: unknown }) =>
  typeof kind === 'string' && typeof at === 'string'
const all = [...plain, ...odd.filter(isTaken), ...nested.filter(isTaken), ...plain]

let project: Project
let served: Served
let ask: Ask
beforeAll(async () => {
  project = new Project()
  vi.stubEnv('HOME', project.home)
  await fileAuditLog({ projectDir: project.folder }).append(all as never)
  served = await servePage(project)
  ask = await tabOf(served)
})
afterAll(async () => {
  await served.close()
  vi.unstubAllEnvs()
  project.remove()
})

it('are all among the rows, and each can be opened', async () => {
  const { status, answer } = await ask('GET', 'api/rows?limit=2000')
  expect(status).toBe(200)
  const { rows } = answer as { rows: readonly { seq: number }[] }
  expect(rows.length).toBe(all.length)
  for (const { seq } of sample(rows))
    expect([seq, (await ask('GET', `api/entry?seq=${seq}`)).status]).toEqual([seq, 200])
})

it.each([
  'api/answers',
  'api/shadows',
  'api/history',
  'api/rows?unguarded=yes',
  'api/rows?decision=deny',
  'api/rows?decision=failed',
  'api/rows?decision=modify',
  'api/rows?hook=gate',
  'api/rows?tool=Bash&since=1d',
  'api/rows?kind=approval',
])('do not keep %s from an answer', async (path) => {
  expect(await ask('GET', path)).toMatchObject({ status: 200 })
})

it('hide no answer and no shadow result of the others', async () => {
  const { answers } = (await ask('GET', 'api/answers')).answer as { answers: readonly { seq: number }[] }
  const seqs = new Set(answers.map(({ seq }) => seq))
  for (const [i, { kind }] of plain.entries())
    if (kind === 'approval' || kind === 'revoked') {
      expect(seqs).toContain(i + 1)
      expect(seqs).toContain(all.length - plain.length + i + 1)
    }
  const { results } = (await ask('GET', 'api/shadows')).answer as { results: readonly { name: string }[] }
  expect(results.map(({ name }) => name)).toContain('gate')
})

it('come through the stream', async () => {
  const { base, cookie } = await enter(served.port, served.link())
  const text = await readStream(served.port, `${base}api/stream?after=0`, { Cookie: cookie }, (part) =>
    part.includes(`"seq":${all.length},`),
  )
  expect(text).toContain('"seq":1,')
})
