// The playground: a payload is checked at the place, and fired in a copy that leaves nothing behind.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventHelpView, PlayedView } from '../../src/page/view/playground.js'
import { Project, withProgram } from '../cli/program.js'
import { type Served, servePage } from './served-page.js'
import { shopHooks } from './shop.js'
import { type Ask, tabOf } from './visitor.js'

withProgram()

let project: Project
let served: Served
let ask: Ask
beforeEach(async () => {
  project = new Project()
  vi.stubEnv('HOME', project.home)
  mkdirSync(join(project.base, 'tmp'))
  vi.stubEnv('TMPDIR', join(project.base, 'tmp'))
  shopHooks(project)
  served = await servePage(project)
  ask = await tabOf(served)
})
afterEach(async () => {
  await served.close()
  vi.unstubAllEnvs()
  project.remove()
  expect(served.problems).toEqual([])
})

/** Every file below the folder, with its content. */
function filesIn(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile())
  return Object.fromEntries(
    files.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  )
}
const copies = () => readdirSync(join(project.base, 'tmp'))
const play = async (event: string, payload: object | string) =>
  ask('POST', 'api/playground', {
    event,
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  })
const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })

describe('an event fired in a copy', () => {
  it('shows the verdict, who ran and who did not and why, and changes as they are', async () => {
    const { status, answer } = await play('PreToolUse', bash('rm -rf ~/*'))
    expect(status).toBe(200)
    const { details } = answer as PlayedView
    expect(details).toMatchObject({
      said: 'denied',
      reason: expect.stringContaining('deletes a home folder'),
    })
    expect(details.ranHooks.map(({ name }) => name)).toContain('bash-guard:PreToolUse#1')
    expect(details.notRun.flatMap(({ hooks }) => hooks.map(({ name }) => name))).toContain(
      'formatter:PreToolUse#1',
    )
    const write = {
      tool_name: 'Write',
      tool_input: { file_path: 'src/checkout.ts', content: 'const total = 1\n' },
    }
    const changed = (await play('PreToolUse', write)).answer as PlayedView
    expect(changed.details.changes).toMatchObject([
      { hook: 'formatter:PreToolUse#1', before: 'const total = 1\n', after: 'const total = 1;\n' },
    ])
  })

  it('changes nothing of the project, its sessions, counters, audit and approvals', async () => {
    project.file('notes.txt', 'mine\n')
    project.hooks({ PreToolUse: [['Bash', 'echo changed > notes.txt; echo new > made.txt']] })
    await project.call(['trust', '--yes'])
    await play('PreToolUse', bash('ls'))
    const before = [filesIn(project.folder), filesIn(project.home)]
    const asked = await play('PreToolUse', { ...bash('deploy production'), session_id: 's-1' })
    expect((asked.answer as PlayedView).details.said).toBe('waits for a person')
    expect((asked.answer as PlayedView).details.ranHooks.map(({ name }) => name)).toContain(
      'project:PreToolUse#1',
    )
    expect([filesIn(project.folder), filesIn(project.home)]).toEqual(before)
    expect(copies()).toEqual([])
    expect((await ask('GET', 'api/questions')).answer).toMatchObject({ questions: [] })
    expect((await ask('GET', 'api/rows')).answer).toMatchObject({ rows: [] })
  })

  it('never runs what is not trusted, also not after a change', async () => {
    const mark = join(project.base, 'ran')
    project.hooks({ PreToolUse: [['Bash', `touch '${mark}'`]] })
    const first = (await play('PreToolUse', bash('ls'))).answer as PlayedView
    expect(first.details.notRun).toMatchObject([
      expect.objectContaining({ why: 'not trusted yet' }),
      ...first.details.notRun.slice(1),
    ])
    await project.call(['trust', '--yes'])
    project.hooks({ PreToolUse: [['Bash', `touch '${mark}' # changed`]] })
    const second = (await play('PreToolUse', bash('ls'))).answer as PlayedView
    expect(second.notes.join()).toContain('was changed after you trusted it')
    expect(readdirSync(project.base)).not.toContain('ran')
  })

  it('keeps switches, and leaves out links that lead out of the project', async () => {
    await project.call(['disable', 'bash-guard'])
    symlinkSync(project.home, project.path('out'))
    mkdirSync(project.path('a/b'), { recursive: true })
    symlinkSync('../..', project.path('a/b/c'))
    symlinkSync('c/../home', project.path('a/b/out'))
    symlinkSync(`${'../'.repeat(30)}${project.folder.slice(1)}/a`, project.path('a/back'))
    const { details, notes } = (await play('PreToolUse', bash('rm -rf ~/*'))).answer as PlayedView
    expect(details.said).toBe('went on')
    expect(details.notRun.find(({ why }) => why === 'switched off')?.hooks).toMatchObject([
      { name: 'bash-guard:PreToolUse#1' },
    ])
    expect(notes.join()).toContain('3 links that')
  })
})

describe('the help', () => {
  it('has the fields of an event with types, and an example for each tool', async () => {
    const help = (await ask('GET', 'api/playground?event=PreToolUse&tool=Write')).answer as EventHelpView
    expect(help.fields).toEqual(
      expect.arrayContaining([{ name: 'tool_name', type: 'string', isRequired: true, values: [] }]),
    )
    expect(JSON.parse(help.example)).toMatchObject({ tool_name: 'Write', tool_input: { content: 'Hello' } })
    expect(help.tools).toContain('Bash')
    for (const event of ['', 'Nothing', '__proto__', '--json'])
      expect((await ask('GET', `api/playground?event=${event}`)).status).toBe(400)
  })

  it('says what is wrong with a payload, and on which line', async () => {
    const check = async (payload: string) =>
      (
        (await ask('POST', 'api/playground/check', { event: 'PreToolUse', payload })).answer as {
          problems: { line: number; text: string }[]
        }
      ).problems
    expect(await check('{"tool_name": "Bash", "tool_input": {}}')).toEqual([])
    expect(await check('{\n  "tool_name": 1,\n  "tool_input": []\n}')).toMatchObject([
      { line: 2, text: expect.stringContaining('tool_name must be a string') },
      { line: 3, text: expect.stringContaining('tool_input must be an object') },
    ])
    expect(await check('{\n  "tool_name": "Bash",\n  oops\n}')).toMatchObject([{ line: 3 }])
    expect(await check('{"tool_name": "Bash"}')).toMatchObject([
      { text: expect.stringContaining('tool_input is missing') },
    ])
    expect((await check('[]')).length).toBe(1)
    expect((await check('{"tool_name": "Bash", "tool_input": {},}')).length).toBe(1)
  })

  it('is refused for anything else', async () => {
    for (const [event, payload] of [
      ['PreToolUse', '{'],
      ['PreToolUse', '{}'],
      ['Nothing', '{}'],
    ] as const)
      expect((await play(event, payload)).status).toBe(400)
    expect((await ask('POST', 'api/playground', { event: 'Stop', payload: {} })).status).toBe(400)
    expect((await ask('POST', 'api/playground', { event: 1, payload: '{}' })).status).toBe(400)
    expect((await play('Stop', `{"x": "${'x'.repeat(50_000)}"}`)).status).toBe(400)
    expect((await play('Stop', 'x'.repeat(70_000))).status).toBe(413)
  })
})
