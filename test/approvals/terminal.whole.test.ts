// A person at a real terminal: what they see, what they type, and what becomes of both when something goes wrong.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { madeQuestion } from './made-question.js'
import { ownFolder } from './own-folder.js'
import { programFile, withProgram } from './programs.js'
import { atTerminal, hasPython } from './pty.js'

withProgram('asker')

const by = userInfo().username
const ASKED = 'until denied > '
const DENIED = { option: 'Deny', reason: 'the terminal went away', by: 'default' }
const question = madeQuestion()
const always = madeQuestion({
  answer: { approvalOptions: ['Allow', 'Allow always', 'Deny', 'Deny for good'] },
})

/** Types each line when it is asked for, and answers the reply. */
async function typed(lines: readonly string[], one = question) {
  const steps = lines.map((send) => ({ expect: ASKED, send }))
  const shown = await atTerminal({ questions: [one] }, steps)
  expect(shown.isRestored).toBe(true)
  return { ...shown, reply: shown.replies?.[0] }
}

describe.skipIf(!hasPython)('at a terminal', () => {
  it('everything about the call is shown', async () => {
    const asked = madeQuestion({ prompt: 'Really?', answer: { reason: 'it is Friday' } })
    const { screen } = await typed(['2\r'], asked)
    expect(screen.replaceAll('\r\n', '\n')).toContain(`
Approval needed
  │ event: PreToolUse
  │ session: s1
  │ in: /somewhere/project
Asked by
  │ guard:
  │   │ Really?
  │ because:
  │   │ it is Friday
The call
  │ tool: Bash
  │ command:
  │   │ make deploy
Answers
  1 allows  │ Allow
  2 denies  │ Deny
`)
    expect(screen).toMatch(/[45]:\d\d until denied > /)
    expect(screen).toMatch(/Answered: Deny\r\n$/)
  })

  it.each([
    ['allow\r', { option: 'Allow', by }],
    ['2 use the staging bucket\r', { option: 'Deny', reason: 'use the staging bucket', by }],
    ['1\u007fd größer 中\r', { option: 'Deny', reason: 'größer 中', by }],
  ])('%j is an answer', async (line, reply) => {
    expect((await typed([line])).reply).toEqual(reply)
  })

  it('what is no clear answer chooses nothing', async () => {
    const lines = [
      '\r',
      '   \r',
      '0\r',
      '5\r',
      'y\r',
      'yes\r',
      '1 no, wait\r',
      'allow it\r',
      'allow\r1\r',
      'x\r',
    ]
    const { reply, screen } = await typed([...lines, '2\r'])
    expect(reply).toEqual({ option: 'Deny', by })
    expect(screen).toContain('nothing can be added to that answer')
    expect(screen).toContain('that is not one of the answers')
    expect(screen).toContain('several lines cannot be one answer')
  })

  it('an ambiguous text chooses neither answer; an exact one chooses its own', async () => {
    const ambiguous = await typed(['a\r', 'allow a\r'], always)
    expect(ambiguous.screen).toContain('that fits several answers')
    expect(ambiguous.reply).toEqual({ option: 'Allow always', by })
    expect((await typed(['allow\r'], always)).reply).toEqual({ option: 'Allow', by })
    expect((await typed(['deny for now\r'], always)).reply).toEqual({ option: 'Deny', reason: 'for now', by })
  })

  it.each([
    ['a line', '1\r'],
    ['lines', '\r\r1\rallow\r'],
    ['a line without its end', 'allow'],
  ])('%s that was typed before it appeared is not an answer', async (_, ahead) => {
    const shown = await atTerminal(
      { questions: [question] },
      [
        { expect: ASKED, send: '\r' },
        { expect: ASKED, send: '2\r' },
      ],
      { ahead },
    )
    expect(shown.replies).toEqual([{ option: 'Deny', by }])
    expect(shown.isRestored).toBe(true)
  })

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
    ['Ctrl-C after an answer that was not entered', '1\u0003'],
  ])('%s denies', async (_, keys) => {
    const { reply, screen, code } = await typed([keys])
    expect(reply).toEqual({ option: 'Deny', reason: 'the person left', by })
    expect(screen).toMatch(/Denied: you left\.\r\n$/)
    expect(code).toBe(0)
  })

  it('questions come one after another, each with its own answer and its own time', async () => {
    const first = madeQuestion({ prompt: 'The first?' })
    const second = madeQuestion({ prompt: 'The second?', answer: { approvalTimeout: 60 } })
    const steps = [
      { expect: 'The first?' },
      { expect: ASKED, send: '1\r' },
      { expect: 'The second?' },
      { expect: ASKED, send: '2 not both\r' },
    ]
    const shown = await atTerminal({ questions: [first, second] }, steps)
    expect(shown.replies).toEqual([
      { option: 'Allow', by },
      { option: 'Deny', reason: 'not both', by },
    ])
    expect(shown.screen.split('The second?')[1]).toMatch(/\r(?:1:00|0:\d\d) until denied > /)
    expect(shown.isRestored).toBe(true)
  })

  it('what is typed for the first question does not answer the second', async () => {
    const questions = [madeQuestion({ prompt: 'The first?' }), madeQuestion({ prompt: 'The second?' })]
    const shown = await atTerminal({ questions }, [
      { expect: ASKED, send: '1\r' },
      { expect: 'Answered: Allow', send: '' },
      { expect: ASKED, send: '\r' },
      { expect: ASKED, send: '2\r' },
    ])
    expect(shown.replies?.map((reply) => (reply as { option: string }).option)).toEqual(['Allow', 'Deny'])
  })

  it('the time runs in place, and its end is told', async () => {
    const short = madeQuestion({ answer: { approvalTimeout: 3 } })
    const shown = await atTerminal({ questions: [short] }, [])
    const row = shown.screen.split('\n').at(-2) ?? ''
    const seen = row.split('\r').filter((text) => text.trim() !== '')
    expect(seen.pop()).toBe('Time is up: denied by default.')
    expect(new Set(seen).size).toBeGreaterThan(1)
    for (const text of seen) expect(text).toMatch(/^0:0[0-3] until denied > $/)
    expect(seen).toEqual([...seen].sort().reverse())
    expect(shown.replies).toEqual([{ unanswered: expect.stringContaining('did not answer in time') }])
    expect(shown.isRestored).toBe(true)
  })

  it('a default that allows is told', async () => {
    const short = madeQuestion({ answer: { approvalTimeout: 2, approvalDefault: 'allow' } })
    const { screen } = await atTerminal({ questions: [short] }, [])
    expect(screen).toMatch(/0:0\d until allowed > /)
    expect(screen).toMatch(/Time is up: allowed by default\.\r\n$/)
  })

  it('a question that is withdrawn goes, with a word why', async () => {
    const shown = await atTerminal({ questions: [question, question], onSignal: 'abort' }, [
      { expect: ASKED, send: 'allo' },
      { expect: 'allo', signal: 'SIGUSR2' },
    ])
    expect(shown.screen).toMatch(/No longer asked: nothing is waiting for the answer any more\.\r\n$/)
    expect(shown.screen.match(/Approval needed/g)).toHaveLength(1)
    expect(shown.replies).toEqual([
      { unanswered: expect.any(String) },
      { unanswered: expect.stringContaining('Nobody was asked') },
    ])
    expect(shown.isRestored).toBe(true)
  })

  it('no third-party or typed text reaches it unescaped', async () => {
    const hostile = '\u001b]52;c;cm0=\u0007\u001b]8;;https://evil.example\u001b\\x\u202e\u200b\u009b2J\rok'
    const asked = {
      ...madeQuestion({ call: { tool_name: hostile, tool_input: { [hostile]: hostile } } }),
      event: hostile,
      session: hostile,
      asks: [{ hook: hostile, prompt: hostile, reason: hostile }],
      options: [`Allow ${hostile}`, `Deny ${hostile}`],
    }
    const { screen, reply } = await typed(['2 a\u202eb\u200b\r'], asked)
    // Of controls only those that end and overwrite lines of ours.
    expect(screen.replace(/\r\n|\r/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(screen.match(/⟨U\+001B⟩\]52;c;cm0=⟨U\+0007⟩/g)?.length).toBeGreaterThanOrEqual(8)
    expect(screen).toContain('denies  │ Deny ⟨U+001B⟩')
    expect(reply).toEqual({ option: asked.options[1], reason: 'ab\u200b', by })
  })

  it('the question is shown again, folded to fit, when the window changes', async () => {
    const long = madeQuestion({ call: { tool_name: 'Bash', tool_input: { command: 'x'.repeat(150) } } })
    const shown = await atTerminal(
      { questions: [long] },
      [
        { expect: ASKED, resize: 40 },
        { expect: ASKED, resize: 120 },
        { expect: ASKED, send: '2\r' },
      ],
      { columns: 80 },
    )
    const widths = shown.screen
      .split('Approval needed')
      .slice(1)
      .map((part) =>
        Math.max(...part.split('\r\n').map((line) => (line.startsWith('  │') ? line.length : 0))),
      )
    // A mark of ours may take two columns.
    expect(widths).toEqual([78, 38, 118])
  })
})

describe.skipIf(!hasPython)('a terminal', () => {
  it('that goes away denies', async () => {
    const shown = await atTerminal({ questions: [question], survivesHangup: true }, [
      { expect: ASKED, send: '1' },
      { expect: '1', hangup: true },
    ])
    expect(shown.replies).toEqual([DENIED])
  })

  it('that goes away takes along who has not asked to live on', async () => {
    const shown = await atTerminal({ questions: [question] }, [{ expect: ASKED, hangup: true }])
    expect(shown.replies ?? [DENIED]).toEqual([DENIED])
    expect(shown.code).toBe(-1)
  })

  it('that is not its own and goes away denies', async () => {
    const shown = await atTerminal({ questions: [question] }, [{ expect: ASKED, hangup: true }], {
      uncontrolled: true,
    })
    expect(shown.replies).toEqual([DENIED])
  })

  it.each([
    ['ends', { onSignal: 'exit' }, 'SIGUSR2', 3],
    ['throws', { onSignal: 'throw' }, 'SIGUSR2', 1],
    ['is ended', {}, 'SIGTERM', -15],
    ['is hung up', {}, 'SIGHUP', -1],
  ] as const)('is left in order by a program that %s while it asks', async (_, plan, signal, code) => {
    const shown = await atTerminal({ questions: [question], ...plan }, [{ expect: ASKED, signal }])
    expect(shown).toMatchObject({ code, isRestored: true })
    expect(shown.replies ?? [DENIED]).toEqual([DENIED])
  })

  it.each([
    ['its own', {}, {}],
    ['one that controls nobody', {}, { uncontrolled: true }],
    ['one that was given', { isGiven: true }, {}],
  ])('is in order again while the program lives on: %s', async (_, plan, where) => {
    const shown = await atTerminal(
      { questions: [question], stays: true, ...plan },
      [
        { expect: ASKED, send: '2\r' },
        { expect: 'still here', signal: 'SIGKILL' },
      ],
      where,
    )
    expect(shown).toMatchObject({ code: -9, isRestored: true, replies: [{ option: 'Deny', by }] })
  })

  it('that takes nothing holds nobody up', async () => {
    const field = Array.from({ length: 6 }, () => 'x'.repeat(1900)).join('\n')
    const tool_input = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, field]))
    const large = madeQuestion({ call: { tool_name: 'Bash', tool_input }, answer: { approvalTimeout: 1 } })
    const shown = await atTerminal({ questions: [large] }, [], { deaf: true })
    expect(shown.replies).toEqual([{ unanswered: expect.any(String) }])
    expect(shown.code).toBe(0)
  })

  it('that is standard input and error is used where none controls the program', async () => {
    const shown = await atTerminal({ questions: [question] }, [{ expect: ASKED, send: '2\r' }], {
      uncontrolled: true,
    })
    expect(shown.replies).toEqual([{ option: 'Deny', by }])
    expect(shown.isRestored).toBe(true)
  })

  it('can be given', async () => {
    const shown = await atTerminal(
      { questions: [question, question], isGiven: true },
      [
        { expect: ASKED, send: '2 so\r' },
        { expect: ASKED, send: '1\r' },
      ],
      { ahead: '1\r' },
    )
    expect(shown.replies).toEqual([
      { option: 'Deny', reason: 'so', by },
      { option: 'Allow', by },
    ])
    expect(shown.isRestored).toBe(true)
  })

  it('is not touched from the background, where reading would stop the program', async () => {
    const shown = await atTerminal({ questions: [question] }, [], { background: true })
    expect(shown.replies).toEqual([{ unanswered: expect.stringContaining('no terminal to ask in') }])
    expect(shown.screen).not.toContain('Approval')
  })
})

it('without a terminal it says so at once', async () => {
  const folder = ownFolder()
  const replies = join(folder, 'replies.json')
  const planFile = join(folder, 'plan.json')
  for (const isGiven of [false, true]) {
    writeFileSync(planFile, JSON.stringify({ questions: [question], isGiven }))
    const child = spawn(process.execPath, [programFile('asker'), replies, planFile], {
      detached: true,
      stdio: 'ignore',
    })
    await new Promise((resolve) => child.once('close', resolve))
    expect(existsSync(replies)).toBe(true)
    expect(JSON.parse(readFileSync(replies, 'utf8'))).toEqual([
      { unanswered: expect.stringContaining('Run this in the foreground of a terminal') },
    ])
    rmSync(replies)
  }
})
