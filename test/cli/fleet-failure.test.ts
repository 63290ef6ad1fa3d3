// Which errors of a command of a fleet are the database's, which are about files, and which are bugs.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { refusing } from '../../src/cli/fleet/failure.js'
import { refusingPolicy } from '../../src/cli/fleet/policy/desk.js'
import { Refusal } from '../../src/cli/refusal.js'
import { Unready } from '../../src/fleet/database/connection.js'

const coded = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })

async function codeOf(error: unknown): Promise<string> {
  const refused = await refusing(() => refusingPolicy(() => Promise.reject(error))).catch(
    (one: unknown) => one,
  )
  return refused instanceof Refusal ? refused.code : String(refused)
}

it.each([
  coded('28P01', { severity: 'FATAL' }),
  coded('P0002'),
  coded('ECONNREFUSED', { syscall: 'connect' }),
  coded('EACCES', { syscall: 'connect' }),
  coded('ENOTFOUND', { syscall: 'getaddrinfo' }),
  coded('EAI_AGAIN', { syscall: 'getaddrinfo' }),
  coded('ECONNRESET', { syscall: 'read' }),
  coded('EPIPE', { syscall: 'write' }),
  coded('SELF_SIGNED_CERT_IN_CHAIN'),
  new AggregateError([new Error('x')]),
  new Unready('x', 'y'),
  new Error('Connection terminated unexpectedly'),
])('%s is the database’s', async (error) => {
  expect(await codeOf(error)).toBe('FLEET_DATABASE')
})

it.each([
  coded('EACCES', { syscall: 'open', path: '/x' }),
  coded('ENOSPC', { syscall: 'write' }),
  coded('E2BIG', { syscall: 'open' }),
])('%s is about a file', async (error) => {
  expect(await codeOf(error)).toBe('FLEET_UNUSABLE')
})

it('names the file', async () => {
  const refused = refusing(async () => readFileSync('/no/such/file'))
  await expect(refused).rejects.toMatchObject({
    ...{ code: 'FLEET_UNUSABLE', message: expect.stringContaining('/no/such/file') },
    hint: expect.stringContaining('its rights'),
  })
})

it.each([new TypeError('x is not a function'), new RangeError('x'), coded('ERR_INVALID_ARG_TYPE')])(
  '%s is a bug, or at least not the database’s',
  async (error) => {
    expect(await codeOf(error)).not.toBe('FLEET_DATABASE')
    await expect(refusing(() => Promise.reject(error))).rejects.toBe(error)
  },
)

it('what is wrong with a policy is a refusal', async () => {
  expect(await codeOf(new Error('its trust.json is older'))).toBe('FLEET_POLICY')
  await expect(refusingPolicy(() => Promise.reject(new TypeError('x')))).rejects.toThrow(TypeError)
})
