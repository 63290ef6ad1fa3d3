// What real agents sent: every payload is read as the event it is of, or refused for the right reason.

import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type HookInput, type HostName, parseHookInput } from '../../src/author/index.js'
import { canonicalEvent } from '../../src/core/events/events.js'
import { corpusIsHere } from '../systems/claude-code/replay.js'

const CORPUS = fileURLToPath(new URL('../../../shared/corpus/', import.meta.url))
const ABSENT = '(../shared/corpus, absent in a bare checkout)'

function filesIn(folder: string): readonly string[] {
  if (!corpusIsHere) return []
  return readdirSync(`${CORPUS}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .map((file) => `${folder}/${file}`)
}

const read = (file: string) => readFileSync(`${CORPUS}${file}`, 'utf8')

/** By folder of the corpus. Two more have plugins, and start no hooks: test/hosts/contract.test.ts reads what they are told. */
const HOSTS: Readonly<Record<string, HostName>> = {
  claude: 'claude-code',
  cline: 'cline',
  clinesdk: 'cline-core',
  codex: 'codex',
  copilot: 'copilot',
  gemini: 'gemini',
  kimi: 'kimi',
  letta: 'letta',
  qwen: 'qwen',
}

/** Names that only their agent has. */
const NAMES: Readonly<Record<string, string>> = {
  AfterAgent: 'Stop',
  AfterModel: 'ModelResponse',
  BeforeAgent: 'UserPromptSubmit',
  BeforeModel: 'ModelRequest',
  PreCompress: 'PreCompact',
  TaskComplete: 'Stop',
  TaskStart: 'SessionStart',
  agentStop: 'Stop',
  userPromptSubmitted: 'UserPromptSubmit',
}

const NOT_KNOWN = ['BeforeToolSelection', 'TaskCancel', 'userPromptTransformed']

/** What an author needs of it. */
function complete(input: HookInput): void {
  if (input.event === 'PreToolUse' || input.event === 'PostToolUse' || input.event === 'PermissionRequest') {
    expect(input.toolName).not.toBe('')
    expect(input.toolInput).toBeTypeOf('object')
  }
  if (input.event === 'UserPromptSubmit') expect(input.userPrompt).toBeTypeOf('string')
}

describe.skipIf(!corpusIsHere)(`payloads of agents ${ABSENT}`, () => {
  const files = filesIn('hosts').filter((file) => basename(dirname(file)) in HOSTS)

  it('there are many', () => expect(files.length).toBeGreaterThan(100))

  it.each(files)('%s', (file) => {
    // case.Event.json, or case.Event.2.json
    const name = basename(file).split('.')[1] as string
    const input = parseHookInput(read(file), { event: name })
    expect(input.host).toBe(HOSTS[basename(dirname(file))])
    expect(input.event).toBe(NOT_KNOWN.includes(name) ? 'Unknown' : (NAMES[name] ?? canonicalEvent(name)))
    if (!file.includes('TaskComplete')) expect(input.cwd).toBe('/proj')
    complete(input)
  })
})

describe.skipIf(!corpusIsHere)(`payloads in the wild ${ABSENT}`, () => {
  it.each(filesIn('payloads'))('%s', (file) => {
    const name = basename(file, '.json').slice('000-'.length)
    const input = parseHookInput(read(file))
    expect(input.event).toBe(canonicalEvent(name))
    if (input.event !== 'UserPromptSubmit') complete(input)
  })
})
