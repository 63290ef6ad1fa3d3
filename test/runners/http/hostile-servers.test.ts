// Servers that misbehave: whatever they send, or do not send, the call fails in words and in time, and nothing is left behind.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DENY, Station } from './station.js'

let station: Station

beforeEach(() => {
  station = new Station()
})

afterEach(async () => {
  await station.close()
})

/** Bytes as the answer to whatever is sent. */
const bytes = (text: string, then: 'end' | 'wait' | 'reset' = 'end') =>
  station.raw((socket) => {
    if (then === 'end') socket.end(text)
    else socket.write(text, () => then === 'reset' && socket.resetAndDestroy())
  })

describe('a server that', () => {
  test.for([
    [
      'speaks another protocol',
      'SSH-2.0-OpenSSH_9.6\r\n',
      /^HOOK_FAILED: 127.0.0.1:\d+: it does not speak HTTP/,
    ],
    ['sends nothing and closes', '', /^HOOK_FAILED: .*closed the connection before it answered/],
    ['breaks off in its headers', 'HTTP/1.1 200 OK\r\nContent-', /^HOOK_FAILED/],
    [
      'says that it sends more',
      'HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{}',
      /^HOOK_FAILED: its answer broke off/,
    ],
    ['dies after its headers', 'HTTP/1.1 200 OK\r\n\r\n', /^HOOK_FAILED: it sent headers and closed/],
    [
      'dies after its headers, which say that it will close',
      'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n',
      /^HOOK_FAILED: it sent headers and closed/,
    ],
    ['dies after a line end', 'HTTP/1.0 200 OK\r\n\r\n \n', /^HOOK_FAILED: it sent headers and closed/],
    [
      'breaks off before the first chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
      /^HOOK_FAILED: its answer broke off/,
    ],
    [
      'breaks off between chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
      /^HOOK_FAILED: its answer broke off/,
    ],
    [
      'gives two lengths',
      `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      /^HOOK_FAILED: .*does not speak HTTP/,
    ],
    [
      'gives a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      /^HOOK_FAILED: .*does not speak HTTP/,
    ],
    [
      'switches protocols',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      /^HOOK_FAILED/,
    ],
    [
      'has a status beyond all',
      `HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n`,
      /^HOOK_FAILED: .* status 999/,
    ],
    [
      'announces too much',
      `HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n{}`,
      /^HOOK_OUTPUT: its answer is larger than 1 MiB/,
    ],
    [
      'has headers without end',
      `HTTP/1.1 200 OK\r\n${`X-A: ${'a'.repeat(1000)}\r\n`.repeat(80)}\r\n{}`,
      /^HOOK_FAILED: .*larger than 64 KiB/,
    ],
    [
      'packs its answer',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}',
      /^HOOK_FAILED: its answer is compressed \(gzip\)/,
    ],
    [
      'packs its answer on the way',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      /^HOOK_FAILED: its answer is compressed \(gzip, chunked\)/,
    ],
  ] as const)('%s fails', async ([, text, words]) => {
    expect(await station.failure(await bytes(text))).toMatch(words)
    await station.noneOpen()
  })

  test.for([
    ['breaks off after a deny', `HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n${DENY}`],
    ['sends a deny and too much', `HTTP/1.0 200 OK\r\n\r\n${DENY}\n${'x'.repeat(1_100_000)}`],
    ['sends a deny among other lines', `HTTP/1.0 200 OK\r\n\r\nlog\n${DENY}\nlog`],
    ['sends a deny and another object', `HTTP/1.0 200 OK\r\n\r\n{"continue":true}\n${DENY}`],
  ] as const)('D1, D2: %s has refused', async ([, text]) => {
    expect(await station.ask(await bytes(text))).toMatchObject({ action: 'deny', reason: 'HD' })
    expect(station.notes.map(({ code }) => code)).toContain('answer-misplaced')
    await station.noneOpen()
  })

  test('D1: sends a deny and never ends had refused in time', async () => {
    const controller = new AbortController()
    const url = await station.raw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n${DENY}\n`)
      setTimeout(() => controller.abort(), 200)
    })
    await station.failure(url, { signal: controller.signal })
    expect(station.lastWords).toMatchObject([{ action: 'deny', reason: 'HD' }])
  })

  test('has headers of less than 64 KiB is read', async () => {
    const headers = `X-A: ${'a'.repeat(1000)}\r\n`.repeat(50)
    const url = await bytes(`HTTP/1.1 200 OK\r\n${headers}Content-Length: ${DENY.length}\r\n\r\n${DENY}`)
    expect(await station.ask(url)).toMatchObject({ action: 'deny' })
  })

  test.for([
    ['a length of 0', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
    ['no chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['status 204', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['status 205', 'HTTP/1.1 205 Reset Content\r\n\r\n'],
  ] as const)('says that it has nothing to say by %s has no objection', async ([, text]) => {
    expect(await station.ask(await bytes(text), { onFailure: 'block' })).toMatchObject({ action: 'continue' })
  })

  test('answers without a length, to the end of the connection, is read', async () => {
    expect(await station.ask(await bytes(`HTTP/1.0 200 OK\r\n\r\n${DENY}`))).toMatchObject({ action: 'deny' })
  })

  test('announces more before it answers is read', async () => {
    const url = await bytes(
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: ${DENY.length}\r\n\r\n${DENY}`,
    )
    expect(await station.ask(url)).toMatchObject({ action: 'deny' })
  })

  test('says that what it sends is as it is, is read', async () => {
    expect(
      await station.ask(await station.says(DENY, 200, { 'content-encoding': 'identity' })),
    ).toMatchObject({
      action: 'deny',
    })
  })

  test.for([
    ['at once', ''],
    ['in its headers', 'HTTP/1.1 200 OK\r\nX: '],
    ['in its answer', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{'],
  ])('resets the connection %s fails', async ([, text]) => {
    expect(await station.failure(await bytes(text as string, 'reset'))).toMatch(/^HOOK_FAILED/)
  })

  test('sends exactly 1 MiB is read', async () => {
    const frame = '{"systemMessage":""}'
    const body = `{"systemMessage":"${'x'.repeat(1024 * 1024 - frame.length)}"}`
    expect(await station.ask(await station.says(body))).toMatchObject({ action: 'continue' })
  })

  test('sends without end is cut off', async () => {
    let sent = 0
    const url = await station.serve((_, response) => {
      const more = () => {
        sent += 65_536
        response.write(' '.repeat(65_536), (error) => error || more())
      }
      more()
    })
    expect(await station.failure(url)).toMatch(/^HOOK_OUTPUT: its answer is larger than 1 MiB/)
    await station.noneOpen()
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })
})

describe('when the caller no longer waits, the connection is closed to a server that', () => {
  test.for([
    ['never answers', ''],
    ['stops in its headers', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n'],
    ['stops after its headers', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'],
    ['stops in its answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"decision"'],
    ['only ever announces', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('%s', async ([, text]) => {
    const abort = new AbortController()
    const url = await station.raw((socket) => {
      socket.write(text as string)
      setImmediate(() => abort.abort())
    })
    expect(await station.failure(url, { signal: abort.signal })).toMatch(/^ABORTED/)
    await station.noneOpen()
  })

  test('trickles', async () => {
    const abort = new AbortController()
    let trickled = 0
    const url = await station.raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const drops = setInterval(() => {
        socket.write('1\r\n \r\n')
        if (++trickled === 5) abort.abort()
      }, 1)
      socket.on('close', () => clearInterval(drops))
    })
    expect(await station.failure(url, { signal: abort.signal })).toMatch(/^ABORTED/)
    await station.noneOpen()
  })

  test('does not read', async () => {
    const abort = new AbortController()
    const url = await station.raw((socket) => {
      if (!abort.signal.aborted) socket.pause()
      abort.abort()
    })
    const data = { tool_name: 'Write', tool_input: { content: 'x'.repeat(32 * 1024 * 1024) } }
    expect(await station.failure(url, { signal: abort.signal, data })).toMatch(/^ABORTED/)
    await station.noneOpen()
  })
})

test('an answer that comes before all was read counts, and the rest is not sent', async () => {
  let answered = false
  const url = await station.raw((socket) => {
    if (answered) return
    answered = true
    socket.pause()
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${DENY.length}\r\n\r\n${DENY}`)
  })
  const data = { tool_name: 'Write', tool_input: { content: 'x'.repeat(32 * 1024 * 1024) } }
  expect(await station.ask(url, { data })).toMatchObject({ action: 'deny' })
  await station.noneOpen()
})

test('no server is listening', async () => {
  const url = await station.says('')
  await station.close()
  expect(await station.failure(url)).toMatch(
    /^HOOK_FAILED: 127.0.0.1:\d+: no server is listening there \(ECONNREFUSED\)/,
  )
})

test('a name that does not exist', async () => {
  expect(await station.failure('http://no-such-host.invalid/')).toMatch(
    /^HOOK_FAILED: no-such-host.invalid: its host name (?:was not found|could not be looked up)/,
  )
})
