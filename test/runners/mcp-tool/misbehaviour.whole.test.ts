// Servers that are not there, break off, hang, flood or ask back: the hook fails in words, and nothing is left of them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { afterEach, describe, expect, it } from 'vitest'
import { asCaller, serveCallers, serveNobody } from '../../callers.js'
import { type Asked, failureOf } from '../process/hall.js'
import { isThere, until } from '../until.js'
import { Lobby } from './lobby.js'

let lobby: Lobby
afterEach(() => lobby.close())

function hostile(fault: string, limits = {}): Asked {
  lobby = new Lobby(limits)
  lobby.hostile(fault)
  return lobby.ask('gate', { server: 'hostile' })
}

describe('a server that is not there', () => {
  it('is named, with the one that was meant', async () => {
    lobby = new Lobby()
    const failure = await failureOf(lobby.ask('say', { server: 'test' }))
    expect(failure.code).toBe('HOOK_NOT_STARTED')
    expect(failure.message).toBe(
      'There is no MCP server "test" in ~/.amplifier/settings.json; did you mean tests?',
    )
    expect(failure.hint).toMatch(/^Add it to "mcp_servers" under "hooks" there/)
  })

  it('is not found among what every object has', async () => {
    lobby = new Lobby()
    const failure = await failureOf(lobby.ask('say', { server: 'constructor' }))
    expect(failure.message).toContain('no MCP server "constructor"')
  })

  it('cannot be started', async () => {
    lobby = new Lobby()
    lobby.settings = { tests: { command: 'no-such-program-anywhere' } }
    const failure = await failureOf(lobby.ask('say'))
    expect(failure.code).toBe('HOOK_NOT_STARTED')
    expect(failure.message).toMatch(/"tests" could not be reached.*no such program on the PATH/)
    expect(failure.hint).toContain('See "mcp_servers.tests" under "hooks" in ~/.amplifier/settings.json.')
  })

  it('needs a variable that is not set', async () => {
    lobby = new Lobby()
    lobby.settings = { tests: { command: 'node', env: { TOKEN: '${NO_SUCH_VARIABLE_HERE}' } } }
    const failure = await failureOf(lobby.ask('say'))
    expect(failure.message).toMatch(/"env.TOKEN".*\$\{NO_SUCH_VARIABLE_HERE\}, which is not set/)
  })
})

describe('a tool that is not there', () => {
  it('is named, with the one that was meant and all there are', async () => {
    lobby = new Lobby()
    const failure = await failureOf(lobby.ask('ecko'))
    expect(failure.code).toBe('HOOK_FAILED')
    expect(failure.message).toMatch(/"tests" has no tool "ecko".*did you mean echo\?/)
    expect(failure.hint).toContain('ask-back')
  })

  it('may come later', async () => {
    lobby = new Lobby()
    expect((await failureOf(lobby.ask('grown'))).message).toContain('has no tool')
    await lobby.ask('grow').answer
    expect(await lobby.reason('grown')).toBe('grown')
  })

  it('may be gone later', async () => {
    lobby = new Lobby()
    await lobby.ask('grow').answer
    expect(await lobby.reason('grown')).toBe('grown')
    await lobby.ask('shrink').answer
    expect((await failureOf(lobby.ask('grown'))).message).toContain('"tests" has no tool "grown"')
  })

  it('is none of a server without tools', async () => {
    const failure = await failureOf(hostile('no-tools'))
    expect(failure).toMatchObject({
      message: expect.stringContaining('has no tool'),
      hint: expect.stringContaining('no tools at all'),
    })
  })

  it('is not looked for on pages without end', async () => {
    expect((await failureOf(hostile('endless-list'))).message).toContain('has no tool "gate"')
  })
})

describe('a hello', () => {
  it.each([
    ['old-version', /protocol version is not supported: 1999-01-01/],
    ['bad-hello', /handshake does not follow the protocol/],
    ['refuses-hello', /not today/],
    ['dies-in-hello', /exited with code 7; its last lines on stderr: Error: no licence/],
  ])('that goes wrong (%s) is told', async (fault, words) => {
    const failure = await failureOf(hostile(fault))
    expect(failure.code).toBe('HOOK_NOT_STARTED')
    expect(failure.message).toMatch(words)
    await lobby.workshop.noneRunning()
  })

  it('that never comes is not waited for forever', async () => {
    const failure = await failureOf(hostile('no-hello', { startMs: 500 }))
    expect(failure.code).toBe('HOOK_NOT_STARTED')
    expect(failure.message).toMatch(/did not answer the handshake \(initialize\) within 0.5 s/)
    await lobby.workshop.noneRunning()
  })

  it('that never comes does not hold up who gives up, nor who closes', async () => {
    lobby = new Lobby()
    lobby.hostile('no-hello')
    const abort = new AbortController()
    const asked = lobby.ask('gate', { server: 'hostile' }, {}, abort.signal)
    await until('it runs', () => lobby.workshop.running().length > 0)
    abort.abort()
    expect((await failureOf(asked)).code).toBe('HOOK_TIMEOUT')
    await lobby.servers.close()
    expect(lobby.workshop.running()).toEqual([])
  })
})

describe('an answer', () => {
  it.each([
    ['error', 'HOOK_FAILED', /did not run its tool "gate".*out of order/],
    ['no-result', 'ANSWER_INVALID', /not a tool result/],
    ['empty-result', 'ANSWER_INVALID', /not a tool result/],
    ['task-result', 'ANSWER_INVALID', /not a tool result/],
    ['old-result', 'ANSWER_INVALID', /not a tool result/],
    ['long-text', 'HOOK_OUTPUT', /more than 1048576 bytes/],
    ['deep-reply', 'ANSWER_INVALID', /nested deeper/],
    ['closes-output', 'HOOK_FAILED', /was lost during the call of its tool "gate": it closed its output/],
    ['flood-line', 'HOOK_FAILED', /more than 16777216 bytes/],
    ['flood-lines', 'HOOK_FAILED', /more than 16777216 bytes/],
  ])('that goes wrong (%s) is told', async (fault, code, words) => {
    const failure = await failureOf(hostile(fault))
    expect(failure.message).toMatch(words)
    expect(failure.code).toBe(code)
  })

  it('may be structured content alone', async () => {
    expect(await hostile('bare-structure').answer).toMatchObject({ action: 'deny', reason: 'heard' })
  })

  it('that is too long ends the call', async () => {
    const { code, message } = await failureOf(hostile('huge-reply'))
    expect({ code, message }).toEqual({
      code: 'HOOK_FAILED',
      message: expect.stringContaining('longer than'),
    })
  })

  it('may come among noise, which is noted', async () => {
    const asked = hostile('noise')
    expect(await asked.answer).toMatchObject({ action: 'deny', reason: 'heard' })
    expect(asked.notes).toMatchObject([{ code: 'rpc-noise', text: expect.stringContaining('starting up') }])
  })

  it('to another call is ignored and reported', async () => {
    lobby = new Lobby()
    lobby.hostile('other-id')
    const abort = new AbortController()
    const asked = lobby.ask('gate', { server: 'hostile' }, {}, abort.signal)
    await until('it is noted', () => asked.notes.length > 0)
    abort.abort()
    expect((await failureOf(asked)).code).toBe('HOOK_TIMEOUT')
    expect(asked.notes).toMatchObject([
      { code: 'rpc-noise', text: expect.stringContaining('there is no such call') },
    ])
  })

  it('does not come of what the server asks back', async () => {
    lobby = new Lobby()
    const asked = lobby.ask('ask-back')
    expect(await asked.answer).toMatchObject({ reason: '-32601 -32601 -32601' })
    expect(asked.notes.map(({ text }) => text)).toEqual([
      expect.stringContaining('sampling/createMessage'),
      expect.stringContaining('roots/list'),
      expect.stringContaining('elicitation/create'),
    ])
  })
})

describe('a server that dies in the call', () => {
  it('is reported with its last lines, and restarted for the next call', async () => {
    lobby = new Lobby()
    const asked = lobby.ask('die')
    const failure = await failureOf(asked)
    expect(failure.code).toBe('HOOK_FAILED')
    expect(failure.message).toMatch(
      /exited with code 3; its last lines on stderr: Error: it was too much for me/,
    )
    expect(asked.prints).toEqual([{ stderr: 'Error: it was too much for me' }])
    const next = lobby.ask('echo')
    expect(await next.answer).toMatchObject({ reason: '{}' })
    expect(next.notes).toMatchObject([{ code: 'process-restarted', text: expect.stringContaining('code 3') }])
  })

  it('interrupts the other calls in the service', async () => {
    lobby = new Lobby({ isWarm: true })
    await lobby.ask('echo').answer
    const other = failureOf(lobby.ask('hang'))
    const dying = failureOf(lobby.ask('die'))
    expect([(await other).code, (await dying).code]).toEqual(['HOOK_INTERRUPTED', 'HOOK_INTERRUPTED'])
  })

  it('interrupts the call of one caller if it had worked for another before, and fails it otherwise', async () => {
    lobby = new Lobby({ isWarm: true })
    const dies = () => asCaller({}, () => failureOf(lobby.ask('die')))
    serveCallers()
    try {
      await asCaller({}, () => lobby.ask('echo').answer)
      expect((await dies()).code).toBe('HOOK_INTERRUPTED')
      expect((await dies()).code).toBe('HOOK_FAILED')
    } finally {
      serveNobody()
    }
  })

  it('again and again is not started at once', async () => {
    lobby = new Lobby()
    await failureOf(lobby.ask('die'))
    await failureOf(lobby.ask('die'))
    const failure = await failureOf(lobby.ask('die'))
    expect(failure.code).toBe('HOOK_NOT_STARTED')
    expect(failure.message).toMatch(/is down: it exited with code 3.*may be restarted in \d/)
  })
})

describe('a call that is given up', () => {
  it('leaves a server alone that reacts', async () => {
    lobby = new Lobby()
    const pid = await lobby.reason('pid')
    const abort = new AbortController()
    const asked = lobby.ask('hang', {}, {}, abort.signal)
    setImmediate(() => abort.abort())
    expect((await failureOf(asked)).code).toBe('HOOK_TIMEOUT')
    expect(await lobby.reason('pid')).toBe(pid)
  })

  it('ends a server that does not', async () => {
    lobby = new Lobby({ reactMs: 200 })
    const pid = await lobby.reason('pid')
    const abort = new AbortController()
    const asked = lobby.ask('block', {}, {}, abort.signal)
    setImmediate(() => abort.abort())
    expect((await failureOf(asked)).code).toBe('HOOK_TIMEOUT')
    await until('it is gone', () => !isThere(Number(pid)))
    const next = lobby.ask('pid')
    expect((await next.answer)?.reason).not.toBe(pid)
    expect(next.notes).toMatchObject([
      { code: 'process-restarted', text: expect.stringContaining('did not react') },
    ])
  })
})
