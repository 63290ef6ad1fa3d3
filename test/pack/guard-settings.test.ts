import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { preToolUse } from '../../src/pack/pre-tool-use/pre-tool-use.js'
import { Workplace } from './workplace.js'

const call = (place: Workplace, toolName: string, toolInput: object) =>
  place.run(preToolUse, { toolName, toolInput, cwd: place.project })
const verdict = async (place: Workplace, toolName: string, toolInput: object) =>
  (await call(place, toolName, toolInput))?.action ?? 'none'

const WRITE = (path: string) => ['Write', { file_path: path, content: '' }] as const
const BASH = (command: string) => ['Bash', { command }] as const

describe('a guard whose rules cannot be read', () => {
  const broken = () => {
    const place = new Workplace()
    place.userSettings('{\n  "bash": { "deny": ["npm publish"] }\n  "protect": []\n}')
    return place
  }

  it('asks about every command and file, and says what is to be corrected', async () => {
    const place = broken()
    for (const [tool, input] of [BASH('npm publish'), BASH('ls'), WRITE('a.txt')]) {
      const result = await call(place, tool, input)
      expect(result?.action).toBe('ask_user')
      expect(JSON.stringify(result)).toMatch(/pack\.json: the file is not valid JSON \(line 3\)/)
    }
  })

  it('still denies what is denied, and lets other tools be', async () => {
    const place = broken()
    expect(await verdict(place, ...BASH('git commit --no-verify -m x'))).toBe('deny')
    expect(await verdict(place, 'TodoWrite', { todos: [] })).toBe('none')
  })

  it('also asks if one list is lost, and stops asking once it is fixed', async () => {
    const place = new Workplace()
    place.userSettings({ bash: { deny: 'npm publish' } })
    expect(await verdict(place, ...BASH('ls'))).toBe('ask_user')
    place.userSettings({ bash: { deny: ['npm publish'] } })
    expect(await verdict(place, ...BASH('ls'))).toBe('none')
    expect(await verdict(place, ...BASH('npm publish'))).toBe('deny')
  })
})

describe('paths that the settings protect', () => {
  it('stay so where self-protection is switched off, and no others do', async () => {
    const place = new Workplace()
    place.userSettings({ selfProtection: false, protect: ['~/notes', 'kept'], bash: { denyList: false } })
    const notes = join(place.home, 'notes/a.md')
    for (const path of [notes, 'kept/a']) {
      expect(await verdict(place, ...WRITE(path))).toBe('deny')
      expect(await verdict(place, ...BASH(`echo x > '${path}'`))).toBe('deny')
      expect(await verdict(place, ...BASH(`rm '${path}'`))).toBe('deny')
    }
    for (const path of ['.claude/settings.json', '.git/hooks/pre-commit', 'a.txt']) {
      expect(await verdict(place, ...WRITE(path))).toBe('none')
      expect(await verdict(place, ...BASH(`echo x > ${path}`))).toBe('none')
    }
  })

  it('are none where neither is set', async () => {
    const place = new Workplace()
    place.userSettings({ selfProtection: false })
    expect(await verdict(place, ...WRITE('.claude/settings.json'))).toBe('none')
  })
})
