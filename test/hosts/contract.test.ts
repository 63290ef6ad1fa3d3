// One contract for all agents: what they sent in, as events; what they obey out; and nothing that an odd payload could open.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type InputOf, isTool, parseHookInput } from '../../src/author/index.js'
import { type Data, isObject } from '../../src/core/base/json.js'
import { CATALOGUE } from '../../src/core/events/catalogue.js'
import { openPayload, resolveEvent } from '../../src/core/events/events.js'
import { askUser, deny, inject, modify } from '../../src/core/events/result.js'
import { type AgentEvent, answerFor, eventFrom } from '../../src/hosts/agent-event.js'
import type { HostAnswer } from '../../src/hosts/host.js'
import { HOST_NAMES, HOSTS, type HostName } from '../../src/hosts/hosts.js'
import { InvalidHookInput, readHostPayload } from '../../src/hosts/payload.js'
import { corpusIsHere } from '../systems/claude-code/replay.js'

// ---- what they sent -------------------------------------------------------------------------------------------

const CORPUS = fileURLToPath(new URL('../../../shared/corpus/hosts/', import.meta.url))

/** The agent behind each folder of the corpus, and its names of events that only it has. No event: it has no counterpart. */
const FOLDERS: Readonly<Record<string, readonly [HostName, Readonly<Record<string, string | undefined>>]>> = {
  claude: ['claude-code', {}],
  cline: ['cline', { TaskStart: 'SessionStart', TaskComplete: 'Stop', TaskCancel: undefined }],
  clinesdk: ['cline-core', { TaskStart: 'SessionStart', TaskComplete: 'Stop' }],
  codex: ['codex', {}],
  copilot: [
    'copilot',
    {
      agentStop: 'Stop',
      permissionRequest: 'PermissionRequest',
      postToolUse: 'PostToolUse',
      preToolUse: 'PreToolUse',
      sessionEnd: 'SessionEnd',
      sessionStart: 'SessionStart',
      userPromptSubmitted: 'UserPromptSubmit',
      userPromptTransformed: undefined,
    },
  ],
  gemini: [
    'gemini',
    {
      AfterAgent: 'Stop',
      AfterModel: 'ModelResponse',
      AfterTool: 'PostToolUse',
      BeforeAgent: 'UserPromptSubmit',
      BeforeModel: 'ModelRequest',
      BeforeTool: 'PreToolUse',
      BeforeToolSelection: undefined,
      PreCompress: 'PreCompact',
    },
  ],
  kimi: ['kimi', {}],
  letta: ['letta', {}],
  opencode: [
    'opencode',
    {
      'chat.message': 'UserPromptSubmit',
      'chat.params': undefined,
      'shell.env': undefined,
      'system.transform': undefined,
      'tool.execute.after': 'PostToolUse',
      'tool.execute.before': 'PreToolUse',
    },
  ],
  pi: [
    'pi',
    {
      after_provider_response: undefined,
      agent_end: 'Stop',
      agent_start: undefined,
      before_agent_start: 'UserPromptSubmit',
      before_provider_request: undefined,
      context: undefined,
      input: 'UserPromptSubmit',
      message_end: undefined,
      session_shutdown: 'SessionEnd',
      session_start: 'SessionStart',
      tool_call: 'PreToolUse',
      tool_execution_end: undefined,
      tool_execution_start: undefined,
      tool_result: 'PostToolUse',
      turn_end: undefined,
      turn_start: undefined,
    },
  ],
  qwen: ['qwen', {}],
}

interface Sent {
  readonly file: string
  readonly agent: HostName
  /** In the name of the file: case.Event.json, or case.Event.2.json. */
  readonly sentAs: string
  readonly event: string | undefined
  readonly text: string
  readonly payload: Data
}

function sentBy(folder: string): readonly Sent[] {
  const [agent, names] = FOLDERS[folder] as (typeof FOLDERS)[string]
  return readdirSync(`${CORPUS}${folder}`).map((file) => {
    const [, sentAs = ''] = /^[^.]+\.(.+?)(?:\.\d+)?\.json$/.exec(file) ?? []
    const event = sentAs in names ? names[sentAs] : sentAs
    const text = readFileSync(`${CORPUS}${folder}/${file}`, 'utf8')
    return { file: `${folder}/${file}`, agent, sentAs, event, text, payload: JSON.parse(text) }
  })
}

const SENT = corpusIsHere ? readdirSync(CORPUS).flatMap(sentBy) : []
const onTool = SENT.filter(({ event }) => /ToolUse$|^PermissionRequest$/.test(event ?? ''))

describe.skipIf(!corpusIsHere)(
  'payloads of eleven agents (../shared/corpus, absent in a bare checkout)',
  () => {
    it('all of them', () => expect([Object.keys(FOLDERS).length, SENT.length]).toEqual([11, 206]))

    it.each(SENT)('$file is read as the event it is', ({ agent, sentAs, event, payload }) => {
      const read = eventFrom(agent, payload, sentAs)
      expect(read.name).toBe(event ?? read.name)
      expect(Object.hasOwn(CATALOGUE, read.name)).toBe(event !== undefined)
    })

    it.each(SENT)('$file passes the checks of its event', ({ agent, sentAs, event, payload }) => {
      if (event === undefined) return
      const { parts } = eventFrom(agent, payload, sentAs)
      const kind = resolveEvent(event)
      for (const data of parts) openPayload(kind, {}, data, { timestamp: 'now' })
    })

    const guarded: readonly [string, string, Data][] = [
      ['touch /case/ran', 'Bash', { command: 'touch /case/ran' }],
      ['/proj/a.txt', 'Write', { file_path: '/proj/a.txt' }],
    ]
    it.each(onTool)('$file: a guard on `command` or `file_path` sees what the call does', (sent) => {
      const { parts } = eventFrom(sent.agent, sent.payload, sent.sentAs)
      for (const [mark, tool, input] of guarded) {
        // A task for a subagent only talks about it.
        if (!sent.text.includes(mark) || /"(?:task|agent)"/i.test(sent.text)) continue
        const asked = parts.filter(({ tool_name: name }) => name === tool)
        expect(asked.length, mark).toBeGreaterThan(0)
        expect(asked[0]?.tool_input).toMatchObject(input)
      }
    })

    it.each(onTool)('$file: a hook of an author knows the tool by Claude Code’s name', (sent) => {
      const input = parseHookInput(sent.text, { host: sent.agent, event: sent.sentAs })
      const [part] = eventFrom(sent.agent, sent.payload, sent.sentAs).parts
      expect(isTool(input as InputOf<'PreToolUse'>, String(part?.tool_name))).toBe(true)
      expect(isTool(input as InputOf<'PreToolUse'>, 'Nothing')).toBe(false)
    })

    it.each(onTool.filter(({ agent }) => agent !== 'copilot'))('$file: the call has an id', (sent) => {
      const sentId = /"(?:tool_use_id|tool_call_id|toolCallId|callID|id)": ?"([^"]+)"/.exec(sent.text)
      if (!sentId) return
      expect(eventFrom(sent.agent, sent.payload, sent.sentAs).data.tool_use_id).toBeTypeOf('string')
    })

    it.each(SENT.filter(({ event }) => event === 'SessionStart'))(
      '$file: how it began, in Claude Code’s words',
      (sent) => {
        const { source } = eventFrom(sent.agent, sent.payload, sent.sentAs).data
        expect([undefined, 'startup']).toContain(source)
      },
    )

    it.each(SENT)('$file: only a subagent has an id', (sent) => {
      const { agent_id: id } = eventFrom(sent.agent, sent.payload, sent.sentAs).data
      if (id !== undefined) expect(sent.file).toContain('subagent')
    })

    // Extensions hand over the bare event, and name the agent.
    it.each(SENT.filter(({ agent }) => agent !== 'pi'))(
      '$file is recognized without the agent’s name',
      (sent) => {
        expect(readHostPayload(sent.payload, { event: sent.sentAs }).host.name).toBe(sent.agent)
      },
    )

    it.each(SENT.filter(({ event }) => event !== undefined && resolveEvent(event).deny === 'block'))(
      '$file: a deny is told in a form that is obeyed',
      ({ agent, sentAs, payload }) => {
        const event = eventFrom(agent, payload, sentAs)
        expectRefusal(agent, event, answerFor(agent, event, deny('not so')), 'not so')
      },
    )
  },
)

// ---- what they obey -------------------------------------------------------------------------------------------

/** As the agents were seen to obey it. */
function expectRefusal(
  agent: HostName,
  { name }: Pick<AgentEvent, 'name'>,
  answer: HostAnswer,
  reason: string,
): void {
  const { stdout, stderr = '', exit } = answer
  expect([0, 2]).toContain(exit)
  expect(exit === 2 ? stderr : stdout, `${agent} ${name}`).toContain(reason)
  if (exit === 2) return
  const said = JSON.parse(stdout) as Data
  const decided = JSON.stringify([
    ...[said.decision, said.permission, said.permissionDecision, said.cancel, said.deny !== undefined],
    ...[said.continue === false, said.behavior, isObject(said.hookSpecificOutput) && said.hookSpecificOutput],
  ])
  expect(decided, `${agent} ${name}`).toMatch(/"deny"|"block"|true/)
}

const call = (more: Data = {}): Data => ({
  hook_event_name: 'PreToolUse',
  session_id: 's',
  cwd: '/proj',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  ...more,
})

describe.each(HOSTS)('$name', ({ name: agent, tools = {}, title }) => {
  const asked = eventFrom(agent, call())
  const said = ({ stdout, stderr = '' }: HostAnswer) => `${stdout}${stderr}`

  it('never lets a changed call run as it was', () => {
    const answer = answerFor(agent, asked, modify({ tool_input: { command: 'safe' } }))
    expect(said(answer)).toContain('safe')
    const applies = /"(?:updatedInput|updated_input|modifiedArgs|overrideInput|tool_input|input)":/.test(
      answer.stdout,
    )
    if (!applies) expectRefusal(agent, asked, answer, `${title} cannot apply the change`)
  })

  it('asks a person, or refuses', () => {
    const answer = answerFor(agent, asked, askUser('really?'))
    expect(said(answer)).toContain('really?')
    if (!/"(?:force_)?ask"/.test(answer.stdout)) expectRefusal(agent, asked, answer, 'really?')
  })

  it('is told of context, or that it is not told', () => {
    for (const event of ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop']) {
      const answer = answerFor(agent, { ...asked, name: event, sentAs: event }, inject('remember'))
      expect(said(answer), event).toMatch(/remember|cannot add context/)
    }
  })

  it.each(Object.keys(tools))('%s under another spelling is the same tool', (tool) => {
    const input = {
      command: 'ls',
      path: '/a',
      commands: ['ls'],
      paths: ['/a'],
      TargetFile: '/a',
      ReplacementChunks: [{}],
    }
    const patch = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch'
    const toolsOf = (name: string) => {
      const given = /patch/i.test(name) ? { patch } : input
      return eventFrom(agent, call({ tool_name: name, tool_input: given })).parts.map(
        (part) => part.tool_name,
      )
    }
    expect(toolsOf(tool.toUpperCase())).toEqual(toolsOf(tool))
  })

  it('is asked about each part of a call, and one of them refuses all', () => {
    for (const [tool, { parts }] of Object.entries(tools)) {
      if (!parts || !/patch/i.test(tool)) continue
      const patch = '*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch'
      const event = eventFrom(agent, call({ tool_name: tool, tool_input: { patch } }))
      expect(event.parts.map(({ tool_input: input }) => (input as Data).file_path)).toEqual([
        '/proj/a',
        '/proj/b',
      ])
      expectRefusal(agent, event, answerFor(agent, event, { action: 'continue' }), 'Only 1 of 2 parts')
      expectRefusal(agent, event, answerFor(agent, event, deny('not b')), 'not b')
    }
  })
})

// ---- odd payloads ---------------------------------------------------------------------------------------------

/** Of a newer version, of a broken one, or of somebody who tries. */
const ODD: Readonly<Record<string, Data>> = {
  'no ids': { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } },
  'a tool that is null': call({ tool_name: null }),
  'an input that is null': call({ tool_input: null }),
  'an input that is a list': call({ tool_input: ['ls'] }),
  'an input that is JSON in a string': call({ tool_input: '{"command":"ls"}' }),
  'an input that is broken JSON': call({ tool_input: '{"command"' }),
  'an id that is a number': call({ tool_use_id: 5, session_id: 7 }),
  'a name in another case': call({ hook_event_name: 'PRE_TOOL_USE', tool_name: 'BASH' }),
  'an event of tomorrow': call({ hook_event_name: 'PreToolThought' }),
  'no event': { session_id: 's' },
  'an event that is an object': call({ hook_event_name: {} }),
  'an event that is blank': call({ hook_event_name: ' ' }),
  'names of Object': call({ hook_event_name: 'constructor', tool_name: '__proto__' }),
  'two tools': call({ toolName: 'Read' }),
  'two inputs': call({ toolInput: { command: 'rm' } }),
  'model and folders that are objects': call({ model: { provider: 'p' }, workspaceRoots: {}, cwd: null }),
  'a call in another agent’s shape': {
    clineVersion: '9',
    hookName: 'tool_call',
    tool_call: { id: null, name: null, input: null },
  },
  'a plugin’s payload without its insides': { hook: 'tool.execute.before', input: null, output: null },
  'an extension’s event that is empty': { event: {} },
}

describe.each(HOST_NAMES)('%s with a payload that is odd', (agent) => {
  it.each(Object.keys(ODD))('%s: an event, or a clear error', (what) => {
    const payload = ODD[what] as Data
    let event: AgentEvent
    try {
      event = eventFrom(agent, payload)
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidHookInput)
      expect((error as Error).message).toMatch(/hook_event_name|tool_|call of/)
      return
    }
    expect(event.parts.length).toBeGreaterThan(0)
    const answer = answerFor(agent, event, deny('not so'))
    if (resolveEvent(event.name).deny === 'block') expectRefusal(agent, event, answer, 'not so')
    else expect(`${answer.stdout}${answer.stderr}`).toContain('not so')
  })

  it('that could not be read is refused in a form that is obeyed', () => {
    const answer = answerFor(agent, 'PreToolUse', deny('cannot be read'))
    expectRefusal(agent, { name: 'PreToolUse' }, answer, 'cannot be read')
  })

  it('takes one name in any case for the event it is', () => {
    const { name, parts } = eventFrom(agent, ODD['a name in another case'] as Data)
    expect([name, parts[0]?.tool_name]).toEqual(['PreToolUse', 'Bash'])
  })
})

it('there is no such agent', () => {
  expect(() => eventFrom('nope' as HostName, {})).toThrow(
    'There is no agent "nope"; the agents are amazon-q, ',
  )
})

describe('a command for Copilot CLI that VS Code runs, because it reads the same file', () => {
  const sent = {
    timestamp: '2026-02-09T10:30:00.000Z',
    cwd: '/p',
    session_id: 's',
    transcript_path: '/t.json',
  }

  it.each([
    [
      'create_file',
      { filePath: '/p/a', content: 'x' },
      { tool_name: 'Write', tool_input: { file_path: '/p/a' } },
    ],
    [
      'run_in_terminal',
      { command: 'ls', isBackground: false },
      { tool_name: 'Bash', tool_input: { command: 'ls' } },
    ],
  ])('knows the tool %s', (tool, input, expected) => {
    const payload = {
      ...sent,
      hook_event_name: 'PreToolUse',
      tool_name: tool,
      tool_input: input,
      tool_use_id: 't',
    }
    const event = eventFrom('copilot', payload)
    expect(event.parts).toMatchObject([expected])
    for (const result of [deny('no'), askUser('sure?'), inject('c')])
      expect(answerFor('copilot', event, result)).toEqual(
        answerFor('vscode', eventFrom('vscode', payload), result),
      )
  })

  it.each(['UserPromptSubmit', 'Stop', 'SessionStart'])('answers %s as VS Code wants it', (name) => {
    const payload = { ...sent, hook_event_name: name, prompt: 'p' }
    const [here, there] = (['copilot', 'vscode'] as const).map((agent) =>
      [deny('no'), inject('c')].map((result) => answerFor(agent, eventFrom(agent, payload), result)),
    )
    expect(JSON.stringify(here).replaceAll('Copilot CLI', 'VS Code')).toBe(JSON.stringify(there))
  })
})
