// A program that does not start says why, and what to do is in the message.

import { mkdirSync } from 'node:fs'
import { HookError } from 'carabiner'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Program, Programs } from '../../../src/runners/command/programs.js'
import { notStarted } from '../../../src/runners/program/start-failure.js'
import { Workshop } from '../command/workshop.js'

let workshop: Workshop
let programs: Programs

beforeEach(() => {
  workshop = new Workshop()
  programs = new Programs()
})

afterEach(() => {
  vi.unstubAllGlobals()
  workshop.close()
})

const run = (program: Program) => programs.run(program, new AbortController().signal)

/** The message of the failure. */
async function failure(program: Program): Promise<string> {
  const error = await run(program).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(HookError)
  expect(error).toMatchObject({ code: 'HOOK_NOT_STARTED' })
  await programs.idle()
  return (error as HookError).message
}

describe('a program that', () => {
  test('is not there', async () => {
    const file = workshop.path('missing')
    expect(await failure(workshop.program(file, []))).toBe(`Could not start "${file}": there is no such file`)
  })

  test('is not on the PATH', async () => {
    expect(await failure(workshop.program('no-such-program', []))).toBe(
      'Could not start "no-such-program": there is no such program on the PATH',
    )
  })

  test('is not executable', async () => {
    const file = workshop.file('hook.sh', '#!/bin/sh\n', 0o644)
    expect(await failure(workshop.program(file, []))).toContain('it is not executable (chmod +x)')
    expect(await failure(workshop.program('./hook.sh', []))).toContain('it is not executable (chmod +x)')
  })

  test('is a folder', async () => {
    expect(await failure(workshop.program(workshop.folder, []))).toContain('it is a folder')
  })

  test('is below a file', async () => {
    const file = workshop.file('file', '')
    expect(await failure(workshop.program(`${file}/hook.sh`, []))).toContain(
      'a part of its path is not a folder',
    )
  })

  test('has Windows line ends', async () => {
    const file = workshop.file('hook.sh', '#!/bin/sh\r\nexit 0\r\n', 0o755)
    const text =
      'its first line asks for "/bin/sh\\r", which does not exist: the file has Windows line endings (CRLF)'
    expect(await failure(workshop.program(file, []))).toContain(text)
    const onPath = { env: { ...workshop.env, PATH: `/usr/bin:/bin:${workshop.folder}` } }
    expect(await failure(workshop.program('hook.sh', [], onPath))).toContain(text)
  })

  test('asks for an interpreter that is not there', async () => {
    const file = workshop.file('hook', '#! /no/such/python3 -u\n', 0o755)
    expect(await failure(workshop.program(file, []))).toContain(
      'its first line asks for "/no/such/python3", which does not exist',
    )
  })

  test('has no first line with an interpreter runs in a shell, or the system says so', async () => {
    const file = workshop.file('hook', 'echo ran\n', 0o755)
    const exec = await run(workshop.program(file, [])).catch((error: HookError) => error)
    // the C library of Linux falls back to /bin/sh, others refuse
    expect('stdout' in exec ? exec.stdout : exec.message).toMatch(/^ran\n$|nor a script with a first line/)
    expect((await run(workshop.script('./hook'))).stdout).toBe('ran\n')
  })

  test('has arguments with a NUL', async () => {
    expect(await failure(workshop.program('/bin/echo', ['a\0b']))).toContain('contains a NUL character')
    expect(await failure(workshop.program('/bin/ec\0ho', []))).toContain('contains a NUL character')
    expect(await failure(workshop.script('true', { env: { A: 'a\0b' } }))).toContain(
      'contains a NUL character',
    )
    expect(await failure(workshop.program('', []))).toContain('its command is empty')
  })

  test('has arguments that are too large', async () => {
    expect(await failure(workshop.script(`: ${'x'.repeat(4_000_000)}`))).toContain(
      'larger than the system accepts',
    )
  })
})

describe('a working directory that', () => {
  test('is gone', async () => {
    const cwd = workshop.path('gone')
    expect(await failure(workshop.script('true', { cwd }))).toBe(
      `Could not start "/bin/sh": its working directory "${cwd}" does not exist`,
    )
  })

  test('is a file', async () => {
    const cwd = workshop.file('file', '')
    expect(await failure(workshop.script('true', { cwd }))).toContain(`"${cwd}" is not a folder`)
  })

  test.skipIf(process.getuid?.() === 0)('may not be entered', async () => {
    const cwd = workshop.path('closed')
    mkdirSync(cwd, { mode: 0 })
    expect(await failure(workshop.script('true', { cwd }))).toContain(
      `permission to enter its working directory "${cwd}"`,
    )
  })
})

test('on Windows nothing is started, and the error says why', async () => {
  vi.stubGlobal('process', Object.create(process, { platform: { value: 'win32' } }))
  expect(await failure(workshop.script('true'))).toBe(
    'Could not start "/bin/sh": command hooks only run on Linux and macOS',
  )
})

test.each([
  ['ENOEXEC', 'neither a program for this system'],
  ['EMFILE', 'too many open files'],
  ['EAGAIN', 'no more processes'],
  ['ENOMEM', 'no memory'],
  ['EPERM', 'does not permit'],
  ['EOTHER', 'the words of the system'],
])('%s in words', (code, words) => {
  const cause = Object.assign(new Error('the words of the system'), { code })
  const error = notStarted({ file: 'hook', cwd: '/', env: {} }, cause)
  expect(error).toMatchObject({ code: 'HOOK_NOT_STARTED', cause })
  expect(error.message).toContain(words)
})
