// Whatever marks a folder as a project, and from wherever the agent works, a call that a trusted gate refuses is refused.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { GUARD, Project, withProgram } from '../cli/program.js'
import { runs } from './runs.js'

withProgram()

let project: Project
beforeAll(async () => {
  project = new Project()
  await trusted()
  cpSync(project.folder, join(project.base, 'home/pristine'), { recursive: true })
})
afterAll(() => project.remove())
beforeEach(restore)

/** Puts everything but what is trusted back to how it was. */
function restore(): void {
  for (const name of readdirSync(project.base))
    if (name !== 'home') rmSync(join(project.base, name), { recursive: true })
  cpSync(join(project.base, 'home/pristine'), project.folder, { recursive: true })
  mkdirSync(join(project.base, 'elsewhere/deep'), { recursive: true })
  symlinkSync(project.path('sub'), join(project.base, 'link'))
}

const gate = (matcher: string) => ({
  hooks: { PreToolUse: [{ matcher, hooks: [{ type: 'command', command: GUARD }] }] },
})

/** Each tool has a gate of its own: of a plugin, of the project's file, of a file that is named, and of a skill. */
const GATES: Readonly<Record<string, string>> = {
  Bash: '.amplifier/hooks/guard/hooks.json',
  Write: '.amplifier/hooks/hooks.json',
  Edit: '.claude/settings.json',
  Read: '.claude/skills/careful/SKILL.md',
}
const TOOLS = Object.keys(GATES)
const CONFIG = () => ['--config', project.path('.claude/settings.json')]

async function trusted(): Promise<void> {
  mkdirSync(project.path('sub/deep'), { recursive: true })
  project.file('.git/HEAD', '')
  for (const [tool, file] of Object.entries(GATES)) project.file(file, tool === 'Read' ? '' : gate(tool))
  const skill = {
    hook_event_name: 'skill:loaded',
    session_id: 's',
    cwd: project.folder,
    skill_name: 'careful',
    skill_directory: project.path('.claude/skills/careful'),
    ...gate('Read'),
  }
  const payload = join(project.base, 'skill.json')
  writeFileSync(payload, JSON.stringify(skill))
  for (const args of [CONFIG(), ['--payload', payload]]) {
    const { code, stderr } = await project.call(['trust', '--yes', ...args])
    expect([code, stderr]).toEqual([0, ''])
  }
  expect((await project.call(['fire', 'skill:loaded'], { input: skill })).code).toBe(0)
}

interface Call {
  /** Relative to the folder that contains the project. */
  readonly cwd: string
  /** The folder that the hook is started in; default: `cwd`. */
  readonly from?: string
  /** The folder in CLAUDE_PROJECT_DIR. */
  readonly named?: string | undefined
  readonly tool: string
}

async function expectRefused({ cwd, from = cwd, named, tool }: Call, seen: unknown = ''): Promise<void> {
  const at = (path: string) => join(project.base, path)
  const { code, stdout, stderr } = await project.call(['fire', '--as', 'claude-code', ...CONFIG()], {
    cwd: at(from),
    env: named === undefined ? {} : { CLAUDE_PROJECT_DIR: at(named) },
    input: {
      hook_event_name: 'PreToolUse',
      session_id: 's',
      cwd: at(cwd),
      tool_name: tool,
      tool_input: { command: 'rm -rf /' },
    },
  })
  const what = JSON.stringify({ cwd, from, named, tool, seen, stdout, stderr })
  expect(code, what).toBe(2)
  expect(stdout, what).toMatch(
    /rm -rf is not allowed here|Everything it would judge is refused|fix the file|Every tool call is refused/,
  )
  if (tool !== 'Read' && !existsSync(project.path(GATES[tool] as string)))
    expect(stdout, what).toMatch(/carabiner untrust [\w.]+|fix the file|Every tool call is refused/)
}

const INSIDE = ['my project', 'my project/sub', 'my project/sub/deep', 'link', 'link/deep']

describe('a trusted gate guards every folder of its project', () => {
  const CHANGES: Readonly<Record<string, () => void>> = {
    'as it was trusted': () => undefined,
    'without .amplifier': () => rmSync(project.path('.amplifier'), { recursive: true }),
    'without any mark': () => {
      for (const name of ['.amplifier', '.claude', '.git']) rmSync(project.path(name), { recursive: true })
    },
    'with its repository moved up': () => {
      renameSync(project.path('.git'), join(project.base, '.git'))
      renameSync(project.path('.amplifier'), join(project.base, '.amplifier'))
    },
    'with a project in it': () => {
      project.file('sub/.git/HEAD', '')
      project.file('sub/.amplifier/hooks/hooks.json', { hooks: {} })
      project.file('sub/deep/.claude/settings.json', {})
    },
    'with a folder that is a link to elsewhere': () => {
      rmSync(project.path('sub'), { recursive: true })
      symlinkSync(join(project.base, 'elsewhere'), project.path('sub'))
      rmSync(join(project.base, 'link'))
      symlinkSync(project.path('.'), join(project.base, 'link'))
      mkdirSync(project.path('deep'))
    },
    'in another place, with a link to it': () => {
      renameSync(project.folder, join(project.base, 'moved'))
      symlinkSync(join(project.base, 'moved'), project.folder)
      // A link to a link would be another place, too.
      rmSync(join(project.base, 'link'))
      cpSync(join(project.base, 'elsewhere'), project.path('link'), { recursive: true })
    },
  }

  it.each(Object.keys(CHANGES))('%s', async (name) => {
    CHANGES[name]?.()
    for (const [i, one] of INSIDE.entries()) {
      const cwd = existsSync(join(project.base, one)) ? one : join('my project', one)
      await expectRefused(
        { cwd, tool: TOOLS[i % TOOLS.length] as string, named: i % 2 ? cwd : undefined },
        name,
      )
    }
  })

  it('also for an agent that has left it, but was started in it or says so', async () => {
    for (const tool of TOOLS) {
      await expectRefused({ cwd: 'elsewhere', from: 'my project/sub', tool })
      await expectRefused({ cwd: 'elsewhere', named: 'my project', tool })
      await expectRefused({ cwd: 'my project/sub', from: 'elsewhere', named: 'elsewhere', tool })
    }
  })
})

it('a gate is not switched off by a switch of the project that the agent went to', async () => {
  project.file('../elsewhere/.amplifier/hooks/guard/hooks.json', gate('Bash'))
  const cwd = join(project.base, 'elsewhere')
  expect((await project.call(['disable', 'guard'], { cwd })).code).toBe(0)
  await expectRefused({ cwd: 'elsewhere', from: 'my project/sub', tool: 'Bash' })
})

const MARKS = ['.git', '.amplifier', '.claude', '.amplifier/hooks', '.amplifier/settings.json']
const FOLDERS = ['.', 'my project', 'my project/sub', 'my project/sub/deep', 'elsewhere']
const folder = fc.constantFrom(...FOLDERS)
const mark = fc.constantFrom(...MARKS)
const change = fc.oneof(
  fc.record({ do: fc.constant('move' as const), mark, folder, to: folder }),
  fc.record({ do: fc.constant('remove' as const), mark, folder }),
  fc.record({ do: fc.constant('make' as const), mark, folder }),
  fc.record({ do: fc.constant('link' as const), mark, folder, to: folder }),
)
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** A change that is not possible is none. */
function attempt(one: Change): void {
  const at = join(project.base, one.folder, one.mark)
  try {
    mkdirSync(dirname(at), { recursive: true })
    if (one.do === 'move') renameSync(at, join(project.base, one.to, one.mark))
    if (one.do === 'remove') rmSync(at, { recursive: true })
    if (one.do === 'link') {
      rmSync(at, { recursive: true, force: true })
      symlinkSync(join(project.base, one.to, one.mark), at)
    }
    if (one.do !== 'make') return
    const isFile = one.mark.endsWith('.json')
    mkdirSync(isFile ? dirname(at) : at, { recursive: true })
    const inside = { '.git': 'HEAD', '.claude': 'settings.json' }[one.mark] ?? 'hooks.json'
    writeFileSync(isFile ? at : join(at, inside), '{}')
  } catch (error) {
    if (!('code' in (error as object))) throw error
  }
}

const call = fc.record({
  cwd: fc.constantFrom(...INSIDE),
  named: fc.constantFrom(undefined, ...INSIDE),
  tool: fc.constantFrom(...TOOLS),
})

it('and does so after any sequence of moved, removed, made and linked marks', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(change, call), { minLength: 1, maxLength: 5 }), async (steps) => {
      restore()
      for (const [i, [one, then]] of steps.entries()) {
        attempt(one)
        await expectRefused(
          then,
          steps.slice(0, i + 1).map(([done]) => done),
        )
      }
    }),
    { numRuns: runs(100) },
  )
})
