// Hook files of other agents that lie in a project and do not run: every overview says so, and how to run them.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const FOUND =
  /found \.cursor\/hooks\.json \(2 hooks of Cursor\): not run here; to run it:\s+carabiner migrate --from cursor --write/

function put(): void {
  project.file('.cursor/hooks.json', {
    version: 1,
    hooks: {
      beforeShellExecution: [{ command: './a.sh' }],
      stop: [{ command: './b.sh' }],
      afterAgentThought: [{ command: './never.sh' }],
    },
  })
}

describe('a hook file of Cursor', () => {
  it.each([[[]], [['list']], [['doctor']]])('is named by carabiner %j', async (args) => {
    put()
    expect((await project.call(args)).stdout).toMatch(FOUND)
    project.hooks({ PreToolUse: [['Bash', 'true']] })
    expect((await project.call(args)).stdout).toMatch(FOUND)
  })

  it('is not named once it runs', async () => {
    put()
    const { stdout } = await project.call(['list', '--config', '.cursor/hooks.json', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ notRun: [] })
    await project.call(['migrate', '--from', 'cursor', '--write'])
    const after = await project.call(['list', '--json'])
    expect(JSON.parse(after.stdout)).toMatchObject({
      notRun: [],
      hooks: [{ name: 'cursor:PreToolUse#1' }, { name: 'cursor:Stop#1' }],
    })
  })

  it('is not named if only setup wrote it, or if nobody can read it', async () => {
    const command = 'NODE_OPTIONS= NODE_PATH= "/node" "/x/carabiner.js" fire --as cursor PreToolUse'
    project.file('.cursor/hooks.json', { version: 1, hooks: { preToolUse: [{ command }] } })
    project.file('.windsurf/hooks.json', '{')
    const { stdout } = await project.call(['list', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ notRun: [] })
  })

  it('is said to run only where it is named, when it is trusted', async () => {
    put()
    const { stdout } = await project.call(['trust', '--config', '.cursor/hooks.json', '--yes'])
    expect(stdout).toContain('.cursor/hooks.json: runs only where it is named with --config')
  })
})
