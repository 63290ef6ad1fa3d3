// What is sent until a signal ends it: tried again while something is away, and ended by what would never work.

import { describe, expect, it } from 'vitest'
import { persistently } from '../../src/cli/collector.js'
import { refusing } from '../../src/cli/fleet/failure.js'
import { Output } from '../../src/cli/output.js'
import { Refusal } from '../../src/cli/refusal.js'
import { Unready } from '../../src/fleet/database/connection.js'

const coded = (code: string, syscall?: string) =>
  Object.assign(new Error(code), { code, ...(syscall && { syscall }) })
const AWAY = {
  'a server that is away': coded('ECONNREFUSED', 'connect'),
  'a name that is not found': coded('EAI_AGAIN', 'getaddrinfo'),
  'all addresses': new AggregateError([coded('ECONNREFUSED', 'connect')]),
  'a socket that is gone while the server restarts': coded('ENOENT', 'connect'),
  'an answer that never comes': new Error('Query read timeout'),
  'a connection that is never made': new Error('timeout expired'),
  'a broken socket': coded('ECONNRESET', 'read'),
  'a lost connection': new Error('Connection terminated unexpectedly'),
  'a server that shuts down': coded('57P01'),
  'too many connections': coded('53300'),
  'a deadlock': coded('40P01'),
  'a copy that only reads': coded('25006'),
}
const FINAL = {
  'a bug': new TypeError('x is not a function'),
  'a query with a mistake': coded('42601'),
  'a column that is not there': coded('42703'),
  'a wrong role': coded('42501'),
  'a wrong password': coded('28P01'),
  'no password': new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
  'a server without TLS': new Error('The server does not support SSL connections'),
  'an expired certificate': coded('CERT_HAS_EXPIRED'),
  'a certificate of nobody known': coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
  'a certificate of another host': coded('ERR_TLS_CERT_ALTNAME_INVALID'),
  'another version of TLS': coded('EPROTO', 'write'),
  'an address that is none': coded('ERR_INVALID_URL'),
  'all addresses with a wrong certificate': new AggregateError([coded('CERT_HAS_EXPIRED')]),
  'a value that is none': coded('22P02'),
  'a database of another version': new Unready('it has version 1', 'carabiner fleet init'),
  'a file that cannot be written': Object.assign(coded('EROFS', 'open'), { path: '/x' }),
  'a note that cannot be written': new Refusal('FLEET_UNUSABLE', 'What was sent cannot be noted'),
}

describe('what is sent until a signal ends it', () => {
  async function sent(error: Error) {
    const said: string[] = []
    const output = new Output(false, (_, text) => void said.push(text))
    const over = new AbortController()
    let tries = 0
    const work = () =>
      refusing(async () => {
        tries++
        if (tries > 1) return
        // The pause before the next try ends with the signal.
        setImmediate(() => over.abort())
        throw error
      })
    const failure = await persistently(work, over.signal, output).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return { failure, said: said.join('') }
  }

  it.each(Object.entries(AWAY))('is tried again: %s', async (_, error) => {
    const { failure, said } = await sent(error)
    expect(failure).toBeUndefined()
    expect(said).toContain('trying again until it works')
  })

  it.each(Object.entries(FINAL))('ends: %s', async (_, error) => {
    const { failure, said } = await sent(error)
    expect(failure).toBeInstanceOf(Error)
    expect(said).toBe('')
  })
})
