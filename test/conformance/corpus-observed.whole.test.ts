// Claude Code 2.1.325, probe by probe, through the whole engine: hooks stand in files, are found, matched and run, and
// what comes of it is held against what was observed. Every difference is in a table, with its reason.

import { describe, expect, it } from 'vitest'
import { sample } from '../property/runs.js'
import { corpusIsHere, readCorpus } from '../systems/claude-code/replay.js'
import { type Direction, type Played, type Probe, play } from './probe.js'
import { has, NO_HANG } from './shell-project.js'

const probes = corpusIsHere ? readCorpus<readonly Probe[]>('observed.json') : []

/** Programs that a probe needs. */
const NEEDS: Readonly<Record<string, string>> = {
  't2-ignores-term': 'python3',
  't2-setsid-gc': 'python3',
  't2-daemon-gc': 'python3',
  't2-bg-after-exit0': 'python3',
}

function isPlayable({ name, hooks }: Probe): boolean {
  if (hooks.some(({ script }) => script !== undefined) && !has('bash')) return false
  return NEEDS[name] === undefined || has(NEEDS[name])
}

// ---- what the record leaves out -----------------------------------------------------------------------------------

const context = (event: string, text: string) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })

const LONG_REASON = 'z'.repeat(12_000)
const MULTIBYTE = 'é'.repeat(9000)
/** A process of its own session, for a long time. */
const FAR_CHILD =
  'import os, time\nif os.fork() == 0:\n  os.setsid()\n  open("gcpid", "w").write(str(os.getpid()))\n  time.sleep(300)\n'
const CHILD = 'import time\ntime.sleep(300)\n'

const DIRECTIONS: Readonly<Record<string, Direction>> = {
  't-once': { events: ['PreToolUse', 'PreToolUse'] },
  't-async-exit2': { events: ['PreToolUse', 'PreToolUse'] },
  'x-contfalse-batch': { events: ['PreToolUse', 'PreToolUse'] },
  'x-two-tools-one-ctx': { events: ['PreToolUse', 'PreToolUse'] },
  'v-parallel-tools': { events: ['PreToolUse', 'PreToolUse', 'PostToolUse', 'PostToolUse'] },
  'two-prompts-payload': { events: ['UserPromptSubmit', 'Stop', 'UserPromptSubmit', 'Stop'] },
  // The host validates a call before it fires anything about it.
  'pf-unknown-tool': { events: ['PostToolBatch'] },
  'st-block': { events: ['Stop', 'Stop'] },
  'st-exit2': { events: ['Stop', 'Stop'] },
  'st-two-block': { events: ['Stop', 'Stop'] },
  'st-block-always': { events: Array.from({ length: 9 }, () => 'Stop') },
  'st-ctx-always': { events: Array.from({ length: 9 }, () => 'Stop') },
  'j-deny-12k-reason': {
    stdout: {
      A: JSON.stringify({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: LONG_REASON,
        },
      }),
    },
  },
  'x-ctx-9000-multibyte': { stdout: { A: context('UserPromptSubmit', MULTIBYTE) } },
  'x-two-6000': {
    stdout: {
      A: context('UserPromptSubmit', 'a'.repeat(6000)),
      B: context('UserPromptSubmit', 'b'.repeat(6000)),
    },
  },
  'r-ups-slow-default': { host: { default_timeout: 3 } },
  't2-ignores-term': {
    scripts: {
      'ig.py': 'import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(300)\n',
    },
  },
  't2-setsid-gc': { scripts: { 'gc.py': CHILD } },
  't2-daemon-gc': { scripts: { 'gc.py': FAR_CHILD } },
  't2-bg-after-exit0': { scripts: { 'gc.py': CHILD } },
  'pl-spaces-unquoted': { scripts: { 's.sh': '#!/bin/sh\necho started >> "$CLAUDE_PROJECT_DIR/okran"\n' } },
  'pl-spaces-quoted': { scripts: { 's.sh': '#!/bin/sh\necho started >> "$CLAUDE_PROJECT_DIR/okran"\n' } },
  'pl-spaces-args': {
    scripts: {
      's.sh':
        '#!/bin/sh\ntest "$1" = "$CLAUDE_PLUGIN_ROOT/x" && test "$2" = "$CLAUDE_PLUGIN_DATA" && echo "$#: $3" >> "$CLAUDE_PROJECT_DIR/okran"\n',
    },
  },
  'pl-path-default-dup': { manifest: { hooks: './hooks/hooks.json' } },
  'pl-disableAll': { settings: { disableAllHooks: true } },
  'pl-comments': {
    pluginFile:
      '{ // c\n"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo x >> {{PROJECT}}/okran"},]}]}}',
  },
  'pl-bad-flat': { flat: true },
  'cb-nohooks@PostToolUse': { hole: { matcher: 'Bash' } },
  ...both('c-group-nohooks', { hole: { matcher: 'Bash' } }),
  ...both('c-group-null', { hole: null }),
  ...both('c-empty-hooks', { hole: { matcher: 'Bash', hooks: [] } }),
  ...both('c-flat-handler', { flat: true }),
  ...both('c-event-object', { single: true }),
}

function both<T>(name: string, value: T): Readonly<Record<string, T>> {
  return { [`${name}@settings`]: value, [`${name}@project`]: value }
}

/** What Claude Code's hooks wrote (reference/claude-code-observed.md, H1, H4, H14); none where nothing is said. */
const WROTE: Readonly<Record<string, readonly string[]>> = {
  'c-dup-key@project': ['second'],
  'c-dup-key@settings': ['second'],
  'g-dup-same-group': ['ran'],
  'g-dup-across-groups': ['ran'],
  'g-dup-diff-if': ['ran', 'ran'],
  'g-dup-in-plugin': ['ran'],
  'pl-spaces-quoted': ['started'],
  'pl-spaces-args': ['3: $CLAUDE_PLUGIN_ROOT'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell leaves it as it is
  'pl-singlequoted': ['${CLAUDE_PLUGIN_ROOT}'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell leaves it as it is
  'r-projdir-singlequoted': ['${CLAUDE_PROJECT_DIR}'],
}

// ---- differences ----------------------------------------------------------------------------------------------------

const NAMED = 'a deny without a reason names the hook (§9)'
const FAILED = 'a failure has the words of the kernel: whose, and what happened (§6)'
const STEADY = 'among equals hook order counts, not who finished first or last (≠C, §3)'
const STOPPED =
  'continue: false on PreToolUse: the tool does not run, so that nothing else about the call counts (≠C, §9)'
const CLOSING = 'a deny or an ask counts wherever it stands, in any spelling (≠C, §9)'
const DEFERRED = 'defer is an ask (≠C, §9)'
const SCHEMA = 'the schema of a tool is the host’s, who refuses what does not fit'
const ENDED = 'ends the loop; that is what a deny of PostToolBatch means here (§1)'
const ESCAPED = 'what wraps an injection is the host’s, and escapes its own tags (§8)'
const NEIGHBOURS = 'a malformed entry drops that entry, never its neighbours (≠C, §9)'
const NO_RULE = 'an `if` that is no rule filters nothing, and that is said: more often, never less (≠C, §9)'
const SEEN_THROUGH = 'sudo, sh -c and absolute paths are seen through: more often, never less (≠C, §9)'

interface Difference extends Partial<Omit<Played, 'messages'>> {
  readonly why: string
}

const hook = (event: string) => `session-settings.json:${event}#1`
const crashed = (event: string, what: string) => `hook crashed (fail-safe deny): ${hook(event)}: ${what}`
const beside = ['OTHEREVENT', 'OTHERGROUP', 'SIB']

/** Every difference there is, with what we make of the probe and why. §: semantics.md. */
const DIFFERENT: Readonly<Record<string, Difference>> = {
  'e-0-two-json': { decision: 'deny', failed: false, why: CLOSING },
  'e-1-twojson': { decision: 'deny', failed: false, why: CLOSING },
  'j-top-decision-deny': { decision: 'deny', failed: false, why: CLOSING },
  'j-top-decision-ask': { decision: 'ask', failed: false, why: CLOSING },
  'j-top-permissionDecision': { decision: 'deny', why: CLOSING },
  'j-hso-noname': { decision: 'deny', failed: false, why: CLOSING },
  'j-hso-lowername': { decision: 'deny', failed: false, why: CLOSING },
  'j-hso-badpd': { decision: 'deny', failed: false, why: CLOSING },
  'j-hso-Deny-case': { decision: 'deny', failed: false, why: CLOSING },
  'j-hso-decision-block': { decision: 'deny', why: CLOSING },
  'j-async-json-deny': { decision: 'deny', why: CLOSING },
  'e-2-text-noerr': { reason: `Blocked by hook ${hook('PreToolUse')}`, why: NAMED },
  'e-2-nothing': { reason: `Blocked by hook ${hook('PreToolUse')}`, why: NAMED },
  'p-exit2-noerr': { reason: `Blocked by hook ${hook('PostToolUse')}`, why: NAMED },
  'u-block-noreason': { reason: `Blocked by hook ${hook('UserPromptSubmit')}`, why: NAMED },
  'pr-deny-nomsg-nohost': { reason: `Blocked by hook ${hook('PermissionRequest')}`, why: NAMED },
  'a-worktree': {
    reason: `Hook ${hook('WorktreeCreate')} succeeded but returned no worktree path`,
    why: NAMED,
  },
  'e-nul': { reason: 'ab', why: 'text for people loses control characters (§8)' },
  't-onFail-bogus': {
    ran: ['A'],
    decision: 'deny',
    why: 'a misspelt onFailure leaves the hook in place, and it fails closed (§6)',
  },
  'j-defer': { decision: 'ask', why: DEFERRED },
  'g-defer+allow': { decision: 'ask', why: DEFERRED },
  'g-defer+ask': { decision: 'ask', why: DEFERRED },
  'j-hso-reason-number': {
    decision: 'deny',
    failed: false,
    why: 'a deny in its right place stands though its reason is malformed (≠C, §9)',
  },
  'j-ui-partial': { decision: 'modify', reason: undefined, why: SCHEMA },
  'j-ui-empty': { decision: 'modify', reason: undefined, why: SCHEMA },
  'p-uto-partial': { decision: 'modify', why: SCHEMA },
  'j-cont-false-deny': {
    reason: 'SR',
    why: 'the stopReason is the reason of a stop (§9); Claude Code shows it to the user and the deny’s to the model',
  },
  'j-cont-false-allow': { permission: undefined, why: STOPPED },
  'r-contfalse-two-hooks': { permission: undefined, why: STOPPED },
  'r-contfalse-nobase': { decision: 'stop', why: STOPPED },
  'g-ask-late+ask': { reason: 'AS', why: STEADY },
  'r-ask-late+ask#2': { reason: 'AS', why: STEADY },
  'r-ask-late+ask#3': { reason: 'AS', why: STEADY },
  'g-deny+deny-late': { reason: 'DE', why: STEADY },
  'r-deny+deny-late#1': { reason: 'DE', why: STEADY },
  'r-deny+deny-late#2': { reason: 'DE', why: STEADY },
  'g-ui+ui': { updated: { command: 'touch ran.txt && echo BBB' }, why: STEADY },
  'g-ui-late+ui': { updated: { command: 'touch ran.txt && echo BBB' }, why: STEADY },
  'p-uto-two': { updated: 'R_B', why: STEADY },
  'p-two-block': { reason: 'B1\nB2', why: STEADY },
  'st-two-block': { reason: 'R1', why: STEADY },
  'x-ups-two-json': { context: 'C1\nC2', why: STEADY },
  'x-ups-two-plain': { context: 'C1\nC2', why: STEADY },
  'x-ss-two-json': { context: 'C1\nC2', why: STEADY },
  'x-ss-two-plain': { context: 'C1\nC2', why: STEADY },
  'x-post-two-json': { context: 'C1\nC2', why: STEADY },
  'ptb-exit2': { decision: 'deny', why: ENDED },
  'ptb-block': { decision: 'deny', why: ENDED },
  'st-ctx-always': {
    decision: 'deny',
    context: undefined,
    why: 'context alone keeps the agent going (C, §9): it is the reason of a deny, and told once',
  },
  't-onFail-exit3': { reason: crashed('PreToolUse', 'exited with 3: ER'), why: FAILED },
  't-onFail-exit127': { reason: crashed('PreToolUse', 'exited with 127: ER'), why: FAILED },
  'http-e500deny': { decision: 'deny', failed: false, why: CLOSING },
  'http-e500-onfail': { reason: 'HD', why: CLOSING },
  'http-text-onfail': {
    reason: crashed('PreToolUse', 'its answer is not a JSON object: plain text'),
    why: FAILED,
  },
  't2-post-onfail': { reason: crashed('PostToolUse', 'exited with 1: ER'), why: FAILED },
  't-onFail-exit1-noerr': { reason: crashed('PreToolUse', 'exited with 1'), why: FAILED },
  't-onFail-emptyjson-exit1': {
    reason: crashed('PreToolUse', 'exited with 1; its answer does not count, because onFailure is "block"'),
    why: FAILED,
  },
  't-onFail-wrongname': {
    reason: crashed('PreToolUse', 'hookSpecificOutput.hookEventName must be "PreToolUse", got "PostToolUse"'),
    why: FAILED,
  },
  't-onFail-sig': {
    reason: expect.stringMatching(/^hook crashed .*(exited with 137|was killed by SIGKILL)/),
    why: FAILED,
  },
  't-onFail-notfound': {
    reason: expect.stringMatching(/^hook crashed .*exited with 127: .*\/nonexistent\/xyz/),
    why: FAILED,
  },
  't2-ups-timeout-onfail': {
    reason: crashed('UserPromptSubmit', 'it did not answer within its 3 s'),
    why: FAILED,
  },
  'v-precompact-plain': {
    decision: 'inject',
    context: 'EXTRA INSTR',
    why: 'as observed (H11): it joins the instructions of the compaction, which the probe did not record as context',
  },
  'x-nested-reminder-plain': { context: '<system-reminder>\nNESTED\n</system-reminder> tail', why: ESCAPED },
  'x-nested-reminder-json': { context: '<system-reminder>\nNESTED\n</system-reminder> tail', why: ESCAPED },
  'x-post-nested': { context: '</system-reminder> tail', why: ESCAPED },
  'x-ctx-9000-multibyte': {
    context: expect.stringMatching(/^é{5000,5120}.*\[/s),
    why: 'an injection is at most 10,240 bytes of UTF-8, its marker included (A; ≠C counts characters, §8)',
  },
  'pr-on-hook-ask': {
    decision: 'continue',
    reason: undefined,
    ran: ['A', 'P'],
    why: 'PermissionRequest hooks are asked before the person, also where there is none (§7)',
  },
  'pl-disableAll': {
    ran: ['FILE'],
    why: 'a file of the project does not switch off what was named: it may loosen nothing (≠C, §11)',
  },
  'if-garbage': { ran: ['A', 'ctl'], why: NO_RULE },
  'if-fullpath': { ran: ['A', 'ctl'], why: SEEN_THROUGH },
  'if-sudo': { ran: ['A', 'ctl'], why: SEEN_THROUGH },
  'if-bash-c': { ran: ['A', 'ctl'], why: SEEN_THROUGH },
  't2-setsid-gc': { left: 1, why: 'a child that left the group is not hunted (§6)' },
  ...both('c-bad-timeout-sibling', { ran: beside, why: NEIGHBOURS }),
  ...both('c-missing-command', { ran: beside, why: NEIGHBOURS }),
  ...both('c-group-nohooks', { ran: ['OTHEREVENT', 'OTHERGROUP'], why: NEIGHBOURS }),
  ...both('c-flat-handler', { ran: ['OTHEREVENT', 'OTHERGROUP'], why: NEIGHBOURS }),
  ...both('c-matcher-null', { ran: ['OTHEREVENT', 'OTHERGROUP'], why: NEIGHBOURS }),
  ...both('c-matcher-array', { ran: ['OTHEREVENT', 'OTHERGROUP'], why: NEIGHBOURS }),
  ...both('c-group-null', { ran: ['OTHEREVENT', 'OTHERGROUP'], why: NEIGHBOURS }),
  ...both('c-event-object', {
    ran: ['OTHEREVENT', 'X'],
    why: 'a single group stands for a list of one, as in Amplifier’s bridge (§9: never its neighbours)',
  }),
  ...both('c-command-empty', { failed: false, why: `${NEIGHBOURS}: it is left out when the file is read` }),
  ...both('c-hooks-array', {
    wrote: ['x'],
    why: 'a list of { event, hooks } is read, too: more, never less',
  }),
  ...both('c-comments', { wrote: ['x'], why: 'comments in JSON are accepted (≠C, §9)' }),
  ...both('c-bad-other-key', { wrote: ['x'], why: 'keys of other programs are not ours to judge (≠C, §9)' }),
  'cb-matcher-obj@PostToolUse': {
    ran: ['OTHEREVENT', 'OTHERGROUP', 'X'],
    why: 'BeamAgent’s { tool_name } is accepted, and without a name it matches everything (§5)',
  },
  'cb-bad-in-PermReq': { ran: ['OTHEREVENT'], why: NEIGHBOURS },
  'cb-bad-in-project-ok-in-user': { ran: ['OTHERGROUP', 'SIB', 'USER'], why: NEIGHBOURS },
  'pl-bad-bad-timeout': { ran: beside, why: NEIGHBOURS },
  'pl-bad-unknown-type': { ran: beside, why: NEIGHBOURS },
  'pl-bad-flat': { ran: ['OTHEREVENT', 'OTHERGROUP'], why: NEIGHBOURS },
  'pl-comments': { wrote: ['x'], why: 'comments in JSON are accepted (≠C, §9)' },
}

/** Probes whose record was shortened, or that are about something else than one decision. */
const UNRECORDED: Readonly<Record<string, Partial<Probe['observed']>>> = {
  'j-deny-12k-reason': { reason: LONG_REASON },
  'x-two-6000': { context: `${'a'.repeat(6000)}\n${'b'.repeat(6000)}` },
}

/** Our value wherever it is another one than Claude Code's. What was not recorded is not compared. */
function differences(probe: Probe, ours: Played): object {
  const observed = { ...probe.observed, ...UNRECORDED[probe.name] }
  const { updated_output: output, updated_input: input } = observed
  // Of a replaced output the probe kept what the model saw of it.
  const text = ours.updated as { readonly stdout?: string } | undefined
  const pairs: Record<string, readonly [unknown, unknown]> = {
    ran: [ours.ran, [...(observed.hooks_run ?? [])].sort()],
    wrote: [ours.wrote, WROTE[probe.name] ?? []],
    left: [probe.name === 't2-daemon-gc' ? 0 : ours.left, 0], // whether a daemon gets away in time is luck
    ...(observed.no_verdict && { failed: [ours.failed, true] }),
    ...(input && { updated: [ours.updated, input] }),
    ...(output !== undefined && { updated: [text?.stdout ?? text, output] }),
    ...(probe.event !== '*' && {
      decision: [ours.decision, observed.decision],
      context: [ours.context, observed.context],
      ...(observed.reason && { reason: [ours.reason, observed.reason] }),
      ...(observed.permission && {
        permission: [ours.permission, observed.permission === 'allow' ? 'allow' : undefined],
      }),
    }),
  }
  const differing = Object.entries(pairs).filter(([, [a, b]]) => JSON.stringify(a) !== JSON.stringify(b))
  return Object.fromEntries(differing.map(([key, [value]]) => [key, value]))
}

describe.skipIf(!corpusIsHere)(
  '365 probes of Claude Code 2.1.325 (../shared/corpus/observed.json, absent in a bare checkout)',
  () => {
    const played = probes.map((probe) => [probe.name, probe] as const)

    it('are all here, and what the tables name is among them', () => {
      expect(probes).toHaveLength(365)
      const names = new Set(played.map(([name]) => name))
      const tables = [DIFFERENT, DIRECTIONS, WROTE, UNRECORDED, NEEDS]
      expect(tables.flatMap((table) => Object.keys(table)).filter((name) => !names.has(name))).toEqual([])
    })

    describe('played again', { concurrent: true, ...NO_HANG }, () => {
      it.for(sample(played))('%s', async ([name, probe], { expect, skip }) => {
        skip(!isPlayable(probe), 'needs bash, or python3')
        const ours = await play(probe, DIRECTIONS[name])
        const { why: _, ...expected } = DIFFERENT[name] ?? { why: '' }
        expect(differences(probe, ours)).toStrictEqual(expected)
        if (ours.failed) expect(ours.messages.join('\n')).toContain('failed; ')
        const { system_message: message } = probe.observed
        if (message) expect(message).toContain(ours.messages[0] ?? 'nothing')
      })

      it.for(['st-block-always', 'st-ctx-always'])(
        '%s: the ninth stop is allowed, loudly',
        async (name, { expect }) => {
          const [, probe] = played.find(([one]) => one === name) as (typeof played)[number]
          const ours = await play(probe, DIRECTIONS[name])
          expect([ours.decision, ours.last]).toEqual(['deny', 'continue'])
          expect(ours.messages).toEqual([expect.stringContaining('Stop was refused 8 times')])
        },
      )
    })
  },
)
