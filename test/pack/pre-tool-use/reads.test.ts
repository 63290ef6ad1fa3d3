// Tools that only read are judged like commands that read, in every agent's names for them.

import { afterAll, describe, expect, it } from 'vitest'
import type { Data, Json } from '../../../src/core/base/json.js'
import { eventFrom } from '../../../src/hosts/agent-event.js'
import type { Host } from '../../../src/hosts/host.js'
import { HOST_NAMES, hostNamed, type KnownHost } from '../../../src/hosts/hosts.js'
import { GuardedProject, type Verdict, verdictOf, type Ways } from './guarded-project.js'

const project = new GuardedProject()
afterAll(() => project.remove())

async function verdict(tool: string, input: Json, ways: Ways = {}): Promise<Verdict> {
  return verdictOf(await project.tool(tool, input, ways))
}

const SECRETS = [
  '.env',
  './config/.env.local',
  '~/.ssh/id_rsa',
  '~/.aws/credentials',
  'server.pem',
  '%2eenv',
  ' .env ',
]

describe('a secret', () => {
  it.each(SECRETS)('%s needs approval', async (path) => {
    expect(await verdict('Read', { file_path: path })).toBe('ask')
    expect(await verdict('Read', JSON.stringify({ file_path: path }))).toBe('ask')
    expect(await verdict('Grep', { pattern: 'KEY', path })).toBe('ask')
  })

  it.each([
    ['read_file', { absolute_path: '.env' }],
    ['read_many_files', { paths: ['README.md', '.env'] }],
    ['read_many_files', { include: ['src/**', '.env'] }],
    ['view', { path: '.env' }],
    ['view_file', { AbsolutePath: '.env' }],
    ['fs_read', { operations: [{ mode: 'Line', path: '.env' }] }],
    ['fsRead', { path: '.env' }],
    ['NotebookRead', { notebook_path: '.env' }],
    ['open_file', { file: '.env' }],
    ['get_file_contents', { path: '.env' }],
    ['str_replace_based_edit_tool', { command: 'view', path: '.env' }],
    ['ReadMcpResource', { uri: 'file:///proc/self/environ' }],
    ['search_file_content', { pattern: 'KEY', include: '.env*' }],
    ['Grep', { pattern: 'KEY', glob: '**/.env' }],
    ['Grep', { pattern: 'KEY', glob: '*.{pem,key}' }],
    ['Grep', { pattern: 'KEY', path: '~' }],
    ['codebase_search', { query: 'key', target_directories: ['~/.ssh'] }],
    ['Glob', { pattern: '~/.ssh/*' }],
    ['LS', { path: '~/.ssh' }],
  ])('needs approval for %s %j', async (tool, input: Data) => {
    expect(await verdict(tool, input)).toBe('ask')
  })

  it.each(HOST_NAMES)('needs approval in every tool of %s that reads', async (name) => {
    const { tools = {} }: Host = hostNamed(name) as KnownHost
    for (const [own, { names, fields = {}, parts }] of Object.entries(tools)) {
      if (!names.includes('Read') || parts) continue
      const field = Object.keys(fields).findLast((key) => fields[key] === 'file_path') ?? 'file_path'
      expect(await verdict(own, { [field]: '.env' }), own).toBe('ask')
      const payload = { hook_event_name: 'PreToolUse', tool_name: own, tool_input: { [field]: '.env' } }
      for (const part of eventFrom(name, payload, 'PreToolUse').parts)
        expect(
          await verdict(String(part.tool_name), part.tool_input as Data),
          `${own} as ${part.tool_name}`,
        ).toBe('ask')
    }
  })

  it('is left alone if the deny-list is off', async () => {
    const settings = { bash: { denyList: false } }
    expect(await verdict('Read', { file_path: '.env' }, { settings })).toBe('none')
  })
})

describe('ordinary reading', () => {
  it.each([
    ['Read', { file_path: 'src/app.ts' }],
    ['Read', { file_path: 'package.json', offset: 1, limit: 20 }],
    ['Read', { file_path: '.env.example' }],
    ['Read', { file_path: '/usr/include/stdio.h' }],
    ['Read', { file_path: '/tmp/log.txt' }],
    ['Read', { file_path: '~/.claude/CLAUDE.md' }],
    ['Read', { file_path: '~/.ssh/known_hosts' }],
    ['Read', { file_path: 'docs/environment.md' }],
    ['Grep', { pattern: 'TODO' }],
    ['Grep', { pattern: 'process.env', path: 'src', glob: '*.ts' }],
    ['Grep', { pattern: 'x', glob: 'src/*' }],
    ['Grep', { pattern: 'x', glob: '**/*' }],
    ['Grep', { pattern: 'x', glob: '!*.pem' }],
    ['Grep', { pattern: 'x', glob: '*.{ts,tsx,json}' }],
    ['Grep', { pattern: '.env' }],
    ['Glob', { pattern: '**/*.ts' }],
    ['Glob', { pattern: '**/.env*' }],
    ['Glob', { pattern: '*', path: '~' }],
    ['LS', { path: '.' }],
    ['LS', { path: '~' }],
    ['list_dir', { path: 'src' }],
    ['read_many_files', { include: ['src/**/*.ts'] }],
    ['codebase_search', { query: 'where is the .env read?' }],
    ['WebSearch', { query: '.env' }],
    ['TodoWrite', { todos: [] }],
  ])('is not asked about: %s %j', async (tool, input: Data) => {
    expect(await verdict(tool, input)).toBe('none')
  })
})
