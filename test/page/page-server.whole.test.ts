// The page as its own tab uses it: rows, details, the stream that resumes, and its end.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fieldsOf } from '../../src/page/row.js'
import { PageTrace } from '../../src/page/trace.js'
import { traceAnswers } from '../../src/page/trace-answers.js'
import type { VerifyOptions } from '../../src/store/audit-log.js'
import { fileAuditLog, fileCalls } from '../../src/store/file-stores.js'
import { Project, withProgram } from '../cli/program.js'
import { type Served, servePage } from './served-page.js'
import { fireBash, shopDay, shopHooks } from './shop.js'
import { enter, type Reply, readStream, visit } from './visitor.js'

withProgram()

let project: Project
let served: Served
beforeEach(() => {
  project = new Project()
  vi.stubEnv('HOME', project.home)
  shopHooks(project)
})
afterEach(async () => {
  await served.close()
  vi.unstubAllEnvs()
  project.remove()
  expect(served.problems).toEqual([])
})

type Ask = (path: string, sent?: { readonly method?: string; readonly body?: string }) => Promise<Reply>

async function asker(): Promise<{ ask: Ask; base: string; cookie: string }> {
  const { base, cookie } = await enter(served.port, served.link())
  const headers = { Cookie: cookie, Origin: served.origin, 'Content-Type': 'application/json' }
  return {
    base,
    cookie,
    ask: (path, sent) => visit(served.port, { path: `${base}${path}`, headers, ...sent }),
  }
}

let endless: PageTrace

/** The lines of JSON among the chunks of an answer. */
const partsIn = (text: string): readonly unknown[] =>
  text.split(/\r?\n/).flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))

describe('rows', () => {
  it('are what audit shows, the newest first, page by page', async () => {
    await shopDay(project)
    served = await servePage(project)
    const { ask } = await asker()
    const { rows, more } = JSON.parse((await ask('api/rows?limit=3')).body)
    expect(rows.map(({ seq, event, said }: never) => [seq, event, said])).toEqual([
      [9, 'Stop', 'went on'],
      [8, 'PreToolUse', 'waits for a person'],
      [7, 'PreToolUse', 'went on'],
    ])
    expect(more).toBe(true)
    const older = JSON.parse((await ask('api/rows?limit=9&before=7')).body)
    expect([older.rows[0].seq, older.rows.length, older.more]).toEqual([6, 6, false])
    expect(older.rows[0]).toMatchObject({ gist: 'rm -rf ~/*', verdict: 'deny', tone: 'bad', ran: 2, of: 3 })
    const denied = JSON.parse((await ask('api/rows?decision=deny&since=1d')).body)
    expect(denied.rows.map(({ seq }: { seq: number }) => seq)).toEqual([6])
  })

  it('say what is wrong with a filter', async () => {
    served = await servePage(project)
    const { ask } = await asker()
    expect(await ask('api/rows?decision=dney')).toMatchObject({
      status: 400,
      body: expect.stringContaining('did you mean deny'),
    })
    expect(await ask('api/rows?limit=many')).toMatchObject({ status: 400 })
    expect(await ask('api/entry?seq=99')).toMatchObject({ status: 404 })
  })

  it('tell what the model wrote from what the agent says of the call', () => {
    const call = {
      tool_name: 'Bash',
      tool_input: { tool_name: 'Read', agent_id: 'main', tool_input: { a: 1 } },
    }
    expect(fieldsOf(call)).toEqual([
      { name: 'tool_name', value: 'Bash' },
      { name: 'tool_input.tool_name', value: 'Read' },
      { name: 'tool_input.agent_id', value: 'main' },
      { name: 'tool_input.tool_input', value: '{"a":1}' },
    ])
  })

  it('show characters that nobody sees as their numbers', async () => {
    await fireBash(project, 'echo a\u00a0b\u2800')
    served = await servePage(project)
    const { ask } = await asker()
    const { rows } = JSON.parse((await ask('api/rows')).body)
    expect(rows[0].gist).toBe('echo a⟨U+00A0⟩b⟨U+2800⟩')
    const { call } = JSON.parse((await ask('api/entry?seq=1')).body)
    expect(call).toContainEqual({ name: 'tool_input.command', value: 'echo a⟨U+00A0⟩b⟨U+2800⟩' })
  })
})

describe('an entry', () => {
  it('has who ran, who did not and why, what changed and what was told', async () => {
    await shopDay(project)
    served = await servePage(project)
    const { ask } = await asker()
    const details = async (seq: number) => JSON.parse((await ask(`api/entry?seq=${seq}`)).body)
    expect(await details(6)).toMatchObject({
      ranHooks: [
        { name: 'bash-guard:PreToolUse#1', did: 'denied', tone: 'bad' },
        { name: 'deploy-gate:PreToolUse#1', did: 'let it pass' },
      ],
      notRun: [{ why: 'its matcher is about other calls', hooks: [{ name: 'formatter:PreToolUse#1' }] }],
    })
    expect((await details(5)).changes).toMatchObject([
      { hook: 'formatter:PreToolUse#1', before: 'const total = 1\n', after: 'const total = 1;\n' },
    ])
    expect((await details(1)).injections).toMatchObject([{ text: 'Prices are in cents.' }])
    expect((await details(4)).failures).toEqual([])
    expect((await details(4)).ranHooks).toMatchObject([{ did: 'failed', tone: 'bad' }])
  })
})

describe('an entry in full', () => {
  it('has the whole reason, line by line, and the reason of each hook that ran or did not', async () => {
    const reason = `first\n${'x'.repeat(2000)}\nlast`
    const common = { name: 'gate', kind: 'command', source: '/h', ms: 1 } as const
    const entry = {
      kind: 'fire' as const,
      time: new Date().toISOString(),
      session: 's',
      event: 'PreToolUse',
      digest: 'd',
      action: 'deny',
      reason,
      hooks: [
        { ...common, status: 'ran', action: 'deny', reason },
        { ...common, status: 'skipped', why: 'matcher', detail: 'matcher "Write" does not match' },
      ],
      injections: [],
      diagnostics: [],
      ms: 1,
    }
    await fileAuditLog({ projectDir: project.folder }).append([entry])
    served = await servePage(project)
    const { ask } = await asker()
    const { rows } = JSON.parse((await ask('api/rows')).body)
    expect(rows[0].reason.length).toBe(500)
    expect(JSON.parse((await ask('api/entry?seq=1')).body)).toMatchObject({
      reason,
      ranHooks: [{ reason }],
      notRun: [{ hooks: [{ name: 'gate', detail: 'matcher "Write" does not match' }] }],
    })
  })
})

describe('the record', () => {
  it('is whole, and says so', async () => {
    await shopDay(project)
    served = await servePage(project)
    const { ask } = await asker()
    expect(partsIn((await ask('api/verify')).body).at(-1)).toMatchObject({
      result: { ok: true, records: 9, last: { seq: 9 } },
    })
  })

  it('is checked while other questions are answered, and only as long as somebody waits', async () => {
    const left = new Promise<void>((resolve) => {
      const log = fileAuditLog({ projectDir: project.folder })
      // It tells how far it is, and never ends by itself.
      log.verify = ({ onProgress, signal }: VerifyOptions = {}) => {
        onProgress?.(0.25)
        return new Promise((_, reject) => {
          signal?.addEventListener('abort', () => {
            reject(signal.reason)
            resolve()
          })
        })
      }
      endless = new PageTrace(
        log,
        () => fileCalls({ projectDir: project.folder }),
        () => undefined,
      )
    })
    served = await servePage(project, { answers: traceAnswers(endless) })
    const { ask, base, cookie } = await asker()
    let others: Promise<Reply> | undefined
    const text = await readStream(served.port, `${base}api/verify`, { Cookie: cookie }, (part) => {
      others ??= ask('api/rows')
      return partsIn(part).length > 2
    })
    expect(partsIn(text)).toContainEqual({ part: 0.25 })
    expect(await others).toMatchObject({ status: 200 })
    await left
  })

  it('says why it cannot be checked', async () => {
    const log = fileAuditLog({ projectDir: project.folder })
    log.verify = () => Promise.reject(new Error('the log cannot be read'))
    const trace = new PageTrace(
      log,
      () => fileCalls({ projectDir: project.folder }),
      () => undefined,
    )
    served = await servePage(project, { answers: traceAnswers(trace) })
    const { ask } = await asker()
    expect(partsIn((await ask('api/verify')).body)).toEqual([{ problem: 'the log cannot be read' }])
  })

  it('has statistics of each hook over time', async () => {
    await shopDay(project)
    served = await servePage(project)
    const { ask } = await asker()
    const { hooks } = JSON.parse((await ask('api/history')).body)
    const guard = hooks.find(({ name }: { name: string }) => name === 'bash-guard:PreToolUse#1')
    expect(guard).toMatchObject({ runs: 4, denies: 1, failures: 0 })
    expect(guard.parts.length).toBe(24)
    const sum = (key: string) =>
      guard.parts.reduce((all: number, part: Record<string, number>) => all + (part[key] ?? 0), 0)
    expect([sum('runs'), sum('denies')]).toEqual([4, 1])
  })

  it('is exported as it is stored', async () => {
    await shopDay(project)
    served = await servePage(project)
    const { ask } = await asker()
    const { headers, body } = await ask('api/export?decision=deny')
    expect(headers['content-disposition']).toBe('attachment; filename="carabiner-audit.jsonl"')
    expect(body).toMatch(/"seq":6\b/)
    expect(body.match(/"kind":"fire"/g)?.length).toBe(1)
  })
})

describe('the stream', () => {
  it('brings a row with its call, and resumes after the last number that the browser saw', async () => {
    await fireBash(project, 'ls one')
    served = await servePage(project)
    const { base, cookie } = await asker()
    const headers = { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' }
    const first = readStream(served.port, `${base}api/stream?after=1`, headers, (text) =>
      text.includes('ls two'),
    )
    await fireBash(project, 'ls two')
    expect(await first).not.toContain('ls one')
    await fireBash(project, 'ls three')
    const resumed = await readStream(
      served.port,
      `${base}api/stream?after=0`,
      { ...headers, 'Last-Event-ID': '1' },
      (text) => text.includes('ls two') && text.includes('ls three'),
    )
    expect(resumed).not.toContain('ls one')
    expect(resumed).toMatch(/\bid: 3\n/)
  })

  it('is refused when too many tabs are open', async () => {
    served = await servePage(project)
    const { base, cookie, ask } = await asker()
    const tabs: Promise<string>[] = []
    for (let tab = 0; tab < 16; tab++)
      await new Promise<void>((there) => {
        const isThere = (text: string) => {
          if (text.includes(': here')) there()
          return false
        }
        tabs.push(readStream(served.port, `${base}api/stream`, { Cookie: cookie }, isThere))
      })
    expect(await ask('api/stream')).toMatchObject({ status: 503 })
    await served.close()
    await Promise.all(tabs)
  })
})

describe('the end', () => {
  it('is told to every tab', async () => {
    served = await servePage(project)
    const { base, cookie } = await asker()
    let closing: Promise<void> | undefined
    const text = await readStream(served.port, `${base}api/stream`, { Cookie: cookie }, (part) => {
      if (part.includes(': here')) closing ??= served.close()
      return false
    })
    expect(text).toContain('event: end\ndata: {}\n\n')
    await closing
  })

  it('comes when somebody at the page says so', async () => {
    served = await servePage(project)
    const { ask } = await asker()
    expect(await ask('api/stop', { method: 'POST', body: '{}' })).toMatchObject({ status: 200 })
    expect(await served.ended).toBe('stopped')
  })

  it('comes when nobody looks, however often strangers knock', async () => {
    served = await servePage(project, { idleMs: 300 })
    const knocking = setInterval(() => void visit(served.port, { path: '/' }).catch(() => undefined), 20)
    expect(await served.ended).toBe('idle')
    clearInterval(knocking)
  })

  it('waits for the next word of a hidden tab, which a browser lets ask once a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    served = await servePage(project, { idleMs: 1000 })
    const { ask } = await asker()
    let isEnded = false
    void served.ended.then(() => {
      isEnded = true
    })
    expect(await ask('api/about')).toMatchObject({ status: 200 })
    await vi.advanceTimersByTimeAsync(120_000)
    expect(isEnded).toBe(false)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(isEnded).toBe(true)
    vi.useRealTimers()
  })

  it('does not come while a tab is open', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    served = await servePage(project, { idleMs: 1000 })
    const { base, cookie } = await asker()
    await new Promise<void>((opened) => {
      const isLeft = (text: string) => {
        if (text.includes(': here')) opened()
        return false
      }
      void readStream(served.port, `${base}api/stream`, { Cookie: cookie }, isLeft)
    })
    let isEnded = false
    void served.ended.then(() => {
      isEnded = true
    })
    await vi.advanceTimersByTimeAsync(100_000)
    expect(isEnded).toBe(false)
    vi.useRealTimers()
  })
})
