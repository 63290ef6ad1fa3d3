// A server as a hook: what it is sent, and what becomes of its answer.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables are written like this

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { withoutSecrets } from '../../../src/core/base/secrets.js'
import { isLarge } from '../../property/runs.js'
import { DENY, FOREVER_MS, portOf, Station } from './station.js'

let station: Station

beforeEach(() => {
  station = new Station()
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await station.close()
})

describe('what is sent', () => {
  test('the payload that a command would read, as JSON', async () => {
    await station.ask(`${await station.says('')}/hooks/pre?x=1`)
    const [seen] = station.seen
    expect(seen).toMatchObject({ method: 'POST', path: '/hooks/pre?x=1' })
    expect(seen?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'carabiner',
      'accept-encoding': 'identity',
      'content-length': `${Buffer.byteLength(seen?.body ?? '')}`,
    })
    expect(JSON.parse(seen?.body ?? '')).toEqual({
      session_id: 's1',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    })
  })

  test('characters of more than one byte, whole', async () => {
    const data = { tool_name: 'Bash', tool_input: { command: 'echo "é漢🙂"' } }
    await station.ask(await station.says(''), { data })
    expect(JSON.parse(station.seen[0]?.body ?? '').tool_input).toEqual(data.tool_input)
  })

  test('a status message, to people', async () => {
    await station.ask(await station.says(''), { handler: { statusMessage: 'Asking the office' } })
    expect(station.shown).toEqual([{ text: 'Asking the office', level: 'info', source: 'guard' }])
  })
})

describe('headers', () => {
  const sent = async (headers: Record<string, string>, more: object = {}, terms: object = {}) => {
    await station.ask(await station.says(''), { handler: { headers, ...more }, terms })
    return station.seen[0]?.headers ?? {}
  }

  test('carry the variables that the hook lists', async () => {
    vi.stubEnv('HT_ONE', 'first-of-them-1')
    vi.stubEnv('HT_TWO', 'second-of-them-2')
    const headers = await sent(
      { 'X-A': 'a $HT_ONE b', 'X-B': '${HT_TWO}!$HT_ONE', 'X-C': 'costs $5 ${} $' },
      { allowedEnvVars: ['HT_ONE', 'HT_TWO'] },
    )
    expect(headers).toMatchObject({
      'x-a': 'a first-of-them-1 b',
      'x-b': 'second-of-them-2!first-of-them-1',
      'x-c': 'costs $5 ${} $',
    })
    expect(station.notes).toEqual([])
  })

  test('have nothing in place of a variable that is not listed, and say so', async () => {
    vi.stubEnv('HT_ONE', 'first-of-them-1')
    expect(await sent({ 'X-A': 'a${HT_ONE}b' })).toMatchObject({ 'x-a': 'ab' })
    expect(station.notes).toMatchObject([{ code: 'header-incomplete' }])
    expect(station.notes[0]?.text).toMatch(/"X-A".*\$HT_ONE.*allowedEnvVars/)
  })

  test('have nothing in place of a variable that the settings do not list, and say so', async () => {
    vi.stubEnv('HT_ONE', 'first-of-them-1')
    vi.stubEnv('HT_TWO', 'second-of-them-2')
    const both = { allowedEnvVars: ['HT_ONE', 'HT_TWO'] }
    const headers = await sent({ 'X-A': '[$HT_ONE][$HT_TWO]' }, both, { http_allowed_env_vars: ['HT_TWO'] })
    expect(headers).toMatchObject({ 'x-a': '[][second-of-them-2]' })
    expect(station.notes[0]?.text).toMatch(/http_allowed_env_vars/)
  })

  test('say that a variable is not set', async () => {
    expect(await sent({ 'X-A': '[$HT_NONE]' }, { allowedEnvVars: ['HT_NONE', 'toString'] })).toMatchObject({
      'x-a': '[]',
    })
    expect(station.notes[0]?.text).toMatch(/not set/)
  })

  test('do not expand what came out of a variable', async () => {
    vi.stubEnv('HT_ONE', '$HT_TWO')
    vi.stubEnv('HT_TWO', 'second-of-them-2')
    const headers = await sent({ 'X-A': '$HT_ONE' }, { allowedEnvVars: ['HT_ONE', 'HT_TWO'] })
    expect(headers).toMatchObject({ 'x-a': '$HT_TWO' })
  })

  test.for([
    ['a line break in the file', { 'X-A': 'a\r\nX-Evil: 1' }],
    ['a bare line feed', { 'X-A': 'a\nb' }],
    ['a NUL', { 'X-A': 'a\0b' }],
    ['a character beyond ASCII', { 'X-A': 'é' }],
    ['a line break in a variable', { 'X-A': '$HT_EVIL' }],
    ['a name with a line break', { 'X-A\r\nX-Evil': '1' }],
    ['a name with a colon', { 'X-A:': '1' }],
    ['an empty name', { '': '1' }],
  ] as const)('with %s are refused, and nothing is sent', async ([, headers]) => {
    vi.stubEnv('HT_EVIL', 'a-secret-99\r\nX-Evil: 1')
    const url = await station.says('')
    const failure = await station.failure(url, { handler: { headers, allowedEnvVars: ['HT_EVIL'] } })
    expect(failure).toMatch(/^HOOK_REFUSED: nothing was sent/)
    expect(failure).not.toContain('a-secret-99')
    expect(station.connections).toBe(0)
  })

  test('that frame the message cannot be replaced', async () => {
    const url = await station.says('')
    const given = {
      Host: 'evil.example',
      'Content-Length': '3',
      'TRANSFER-ENCODING': 'chunked',
      Connection: 'close, x-secret',
      'Accept-Encoding': 'gzip',
      Expect: '100-continue',
    }
    await station.ask(url, { handler: { headers: given } })
    const headers = station.seen[0]?.headers ?? {}
    expect(headers.host).toBe(`127.0.0.1:${portOf(url)}`)
    expect(headers['content-length']).toBe(`${Buffer.byteLength(station.seen[0]?.body ?? '')}`)
    expect(headers['accept-encoding']).toBe('identity')
    expect(headers).not.toHaveProperty('transfer-encoding')
    expect(headers).not.toHaveProperty('expect')
    expect(headers.connection).toBe('keep-alive')
    expect(station.notes.map(({ code }) => code)).toEqual(Object.keys(given).map(() => 'unknown-key'))
  })

  test('are secrets where they hold a variable, or are called like one', async () => {
    vi.stubEnv('HT_ONE', 'zq-value-of-variable-1')
    await sent(
      { 'X-A': '$HT_ONE', Authorization: 'Bearer zq-written-down-2', 'X-Plain': 'zq-not-a-secret-3' },
      { allowedEnvVars: ['HT_ONE'] },
    )
    expect(withoutSecrets('zq-value-of-variable-1 zq-written-down-2 zq-not-a-secret-3')).toBe(
      '[redacted] [redacted] zq-not-a-secret-3',
    )
  })
})

describe('credentials in the URL', () => {
  test('are sent as basic authorization, and never shown', async () => {
    const url = (await station.says('no', 500)).replace('http://', 'http://me:zq-pass%20word-4@')
    const failure = await station.failure(`${url}/path?token=zq-in-the-query-5`)
    const basic = Buffer.from('me:zq-pass word-4').toString('base64')
    expect(station.seen[0]?.headers.authorization).toBe(`Basic ${basic}`)
    expect(failure).toMatch(/^HOOK_FAILED: 127.0.0.1:\d+ answered with status 500/)
    expect(failure).not.toContain('zq-')
    expect(withoutSecrets(`${basic} zq-pass word-4 zq-pass%20word-4`)).toBe(
      '[redacted] [redacted] [redacted]',
    )
  })

  test('give way to a header of the hook', async () => {
    const url = (await station.says('')).replace('http://', 'http://me:pass@')
    await station.ask(url, { handler: { headers: { Authorization: 'Bearer mine' } } })
    expect(station.seen[0]?.headers.authorization).toBe('Bearer mine')
  })
})

describe('an answer', () => {
  test.for([
    ['a deny', DENY, { action: 'deny', reason: 'HD' }],
    ['nothing', '', { action: 'continue' }],
    ['white space', ' \r\n', { action: 'continue' }],
    ['an empty object', '{}', { action: 'continue' }],
    ['a byte-order mark before it', `\uFEFF${DENY}`, { action: 'deny' }],
    [
      'context',
      JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'HCTX' } }),
      { action: 'inject_context', contextInjection: 'HCTX' },
    ],
    ['a stop', '{"continue": false, "stopReason": "enough"}', { action: 'abort_turn', reason: 'enough' }],
    ['D2: two objects of which one closes', `{}${DENY}`, { action: 'deny', reason: 'HD' }],
    ['D4: another agent’s deny', '{"permission": "deny", "reason": "no"}', { action: 'deny', reason: 'no' }],
    [
      'D6: a HookResult',
      '{"action": "respond", "response": "cached", "user_message": "from cache"}',
      { action: 'respond', response: 'cached', userMessage: 'from cache' },
    ],
  ] as const)('of %s counts', async ([, body, result]) => {
    expect(await station.ask(await station.says(body))).toMatchObject(result)
  })

  test.for([201, 202, 299])('with status %i counts', async (status) => {
    expect(await station.ask(await station.says(DENY, status))).toMatchObject({ action: 'deny' })
  })

  test('without content (204) goes on', async () => {
    expect(await station.ask(await station.says('', 204))).toMatchObject({ action: 'continue' })
  })

  test('counts whatever its content-type says', async () => {
    expect(await station.ask(await station.says(DENY, 200, { 'content-type': 'text/html' }))).toMatchObject({
      action: 'deny',
    })
  })

  test('is kept for the trace, within bounds', async () => {
    await station.ask(await station.says(JSON.stringify({ systemMessage: 'x'.repeat(10_000) })))
    expect(station.printed[0]?.stdout).toHaveLength(4096 - 2) // the mark has three bytes
  })

  test('H1: that denies counts beside "async": true', async () => {
    const body = '{"async": true, "decision": "block", "reason": "no"}'
    expect(await station.ask(await station.says(body))).toMatchObject({ action: 'deny', reason: 'no' })
  })

  test('that it will come later is not awaited, and is a failure of a gate', async () => {
    const asked = station.ask(await station.says('{"async": true}'))
    await expect(asked).rejects.toMatchObject({ code: 'ANSWER_INVALID' })
    expect(station.notes).toMatchObject([{ code: 'async-verdict-ignored' }])
  })

  test.for([
    ['an array', '[]', 'not a JSON object: []'],
    ['text', 'plain text', 'not a JSON object: plain text'],
    [
      'text on an event where text of a command is context',
      'plain text',
      'not a JSON object',
      'UserPromptSubmit',
    ],
    ['a string', '"deny"', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['half an object', '{"decision": "block"', 'not valid JSON'],
    ['two objects', '{"continue":true}{}', 'not valid JSON'],
    ['an object and more', `${DENY} done`, 'not valid JSON'],
    ['a wrong type', '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": 5}}', ''],
    ['a page', '<html>{}</html>', 'not a JSON object'],
    ['nesting without end', `{"a": ${'['.repeat(200_000)}`, 'not valid JSON'],
  ] as const)('of %s is a failure', async ([, body, words, event = 'PreToolUse']) => {
    const failure = await station.failure(await station.says(body), { event })
    expect(failure).toMatch(/^ANSWER_INVALID: /)
    expect(failure).toContain(words)
    expect(failure.length).toBeLessThan(500)
  })

  test('counts beside "async": a server cannot answer later', async () => {
    const rest = '"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"pwd"}}'
    const asked = await station.ask(await station.says(`{"async":true,"asyncTimeout":5,${rest}}`))
    expect(asked).toMatchObject({ action: 'modify', data: { tool_input: { command: 'pwd' } } })
  })

  test.for(isLarge ? [100_000, 400_000] : [100_000])('nested %i deep does no harm', async (depth) => {
    const url = await station.says(`{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`)
    const came = await station.ask(url).catch((error: unknown) => error)
    expect(came).toSatisfy((one) => one instanceof Error || (one as { action: string }).action === 'continue')
  })

  test.for([302, 400, 401, 403, 404, 429, 500, 503])('with status %i counts if it closes', async (status) => {
    for (const [body, action] of [
      [DENY, 'deny'],
      ['{"decision": "block", "reason": "no"}', 'deny'],
      ['{"action": "ask_user", "approvalPrompt": "Sure?"}', 'ask_user'],
      ['{"continue": false}', 'abort_turn'],
      [`Forbidden\n${DENY}\n`, 'deny'],
    ] as const) {
      expect(await station.ask(await station.says(body, status)), body).toMatchObject({ action })
      expect(station.notes.at(-1)).toMatchObject({
        code: 'HOOK_FAILED',
        text: expect.stringMatching(new RegExp(`status ${status}.*; its ${action} counts$`)),
      })
    }
  })

  test.for([302, 400, 403, 500])('with status %i is a failure if it opens or changes', async (status) => {
    const rewrite = {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      updatedInput: { command: 'id' },
    }
    for (const body of [
      JSON.stringify({ hookSpecificOutput: rewrite }),
      '{"decision": "approve"}',
      '{"action": "modify", "data": {"tool_name": "Write"}}',
      '{"action": "respond", "response": "cached"}',
      '{"systemMessage": "hello"}',
      '{}',
      '',
      'deny',
    ]) {
      const failure = await station.failure(await station.says(body, status))
      expect(failure, body).toMatch(new RegExp(`^HOOK_FAILED: .*status ${status}`))
    }
  })

  test('with status 403 counts if its deny comes slowly, and is longer than an excerpt', async () => {
    const long = JSON.stringify({ decision: 'block', note: 'x'.repeat(10_000), reason: 'no' })
    const url = await station.serve((_, response) => {
      response.writeHead(403).flushHeaders()
      setTimeout(() => response.write(long.slice(0, 5000)), 400)
      setTimeout(() => response.end(long.slice(5000)), 800)
    })
    expect(await station.ask(url)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  test.for([
    [404, 'Check the path of the URL.'],
    [403, 'Check "headers" of the hook, and the variables that they name.'],
    [500, 'The server must answer with a status of 200 to 299, and a JSON object or an empty body.'],
  ] as const)('with status %i is told with what to do', async ([status, hint]) => {
    await expect(station.ask(await station.says('', status))).rejects.toMatchObject({ hint })
  })

  test('with status 500 is reported at once, even if the server does not end it', async () => {
    const url = await station.serve((_, response) => response.writeHead(500).write('half'))
    expect(await station.failure(url)).toMatch(/status 500, so its answer was ignored: half$/)
  })

  test('with status 500 that goes on without end is cut off', async () => {
    const url = await station.serve((_, response) => {
      response.writeHead(500)
      const more = () => response.write('x'.repeat(65_536), (error) => error || more())
      more()
    })
    expect(await station.failure(url)).toMatch(/status 500, so its answer was ignored: x{200}…$/)
    await station.noneOpen()
  })

  test.for([301, 302, 303, 307, 308])('that redirects (%i) is not followed', async (status) => {
    const other = await station.says(DENY)
    const location = `${other.replace('http://', 'http://u:zq-secret-6@')}/zq-path-7`
    const url = await station.says('', status, { location })
    const failure = await station.failure(url)
    expect(failure).toMatch(
      new RegExp(`^HOOK_FAILED: .* redirects to 127.0.0.1:${portOf(other)} \\(status ${status}\\)`),
    )
    expect(failure).not.toContain('zq-')
    expect(station.seen).toHaveLength(1)
  })

  test('that redirects nowhere is also a failure', async () => {
    expect(await station.failure(await station.says('', 302))).toMatch(/redirects \(status 302\)/)
    expect(await station.failure(await station.says('', 302, { location: 'http://[' }))).toMatch(
      /redirects \(/,
    )
  })
})

test('allowed_http_urls are asked about the URL at each call', async () => {
  const url = await station.says('')
  const terms: { allowed_http_urls: readonly string[] | null } = { allowed_http_urls: [] }
  const { run } = station.hook(`${url}/zq-secret-path-8`, { terms })
  const ask = async () => run(station.event({}), station.context())
  const refused = await ask().catch((error: { code: string; message: string }) => error)
  expect(refused).toMatchObject({ code: 'HOOK_REFUSED' })
  expect((refused as Error).message).toMatch(
    /^nothing was sent to 127.0.0.1:\d+: no pattern in allowed_http_urls/,
  )
  expect(refused).toMatchObject({
    hint: expect.stringContaining('under "hooks" in ~/.amplifier/settings.json'),
  })
  expect((refused as Error).message).not.toContain('zq-')
  expect(station.connections).toBe(0)
  terms.allowed_http_urls = [`${url}/*`]
  expect(await ask()).toMatchObject({ action: 'continue' })
})

test('a URL of another kind is refused', async () => {
  for (const url of ['file:///etc/passwd', 'ftp://example.com/', 'nonsense']) {
    expect(await station.failure(url)).toMatch(/^HOOK_REFUSED: .* is not an http or https URL/)
  }
})

test('a call that was aborted before it began sends nothing', async () => {
  const url = await station.says('')
  expect(await station.failure(url, { signal: AbortSignal.abort() })).toMatch(/^ABORTED/)
  expect(station.seen).toEqual([])
})

test('a call that is aborted while the server thinks is ended', async () => {
  const abort = new AbortController()
  const url = await station.serve((_, response) => {
    abort.abort()
    setTimeout(() => response.end(DENY), FOREVER_MS).unref()
  })
  expect(await station.failure(url, { signal: abort.signal })).toMatch(/^ABORTED/)
  await station.noneOpen()
})
