// Each agent that setup knows, set up alone: what the commands say about it names this agent, and is true.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HOSTS } from '../../src/hosts/hosts.js'
import { askingName } from '../../src/hosts/registrations.js'
import { allSetups, type KnownSetup } from '../../src/hosts/setups.js'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const call = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  project.call(args, { env: { CARABINER_SERVICE: 'off', PATH: '/nonexistent', ...env } })

const SETUPS = await allSetups()
const TITLES = HOSTS.map(({ title }) => title)

/** Titles of other agents in a text. `Cline` is also the start of `Cline 3`, and two agents may have one file. */
function othersIn(text: string, title: string): readonly string[] {
  return TITLES.filter((one) => !title.includes(one) && new RegExp(`\\b${one}\\b`).test(text))
}

async function setUp({ host, setup }: KnownSetup, env: Readonly<Record<string, string>> = {}) {
  const place = setup.files.length === 0 ? ['--project'] : []
  expect(await call(['setup', host.name, '--yes', ...place], env)).toMatchObject({ code: 0 })
}

async function checkAll(title: string, env: Readonly<Record<string, string>> = {}) {
  const bare = await call([], env)
  expect(bare.stdout).toContain(`  ${title} runs `)
  expect(bare.stdout).not.toContain('Nothing is set up')
  expect(othersIn(bare.stdout, title)).toEqual([])

  const audit = await call(['audit'], env)
  expect(audit.stdout).toContain(`${title} runs `)
  expect(othersIn(audit.stdout, title)).toEqual([])

  const doctor = await call(['doctor'], env)
  expect(doctor.code).toBe(0)
  if (title !== 'Claude Code') expect(doctor.stdout).toContain(`${title} asks Carabiner`)
  expect(doctor.stdout).toContain(`${title} runs `)
  expect(doctor.stdout).not.toContain('nothing is set up')
  expect(othersIn(doctor.stdout, title)).toEqual([])

  const list = await call(['list', '--json'], env)
  const { packHooks } = JSON.parse(list.stdout) as { packHooks: { agent: string; line: number }[] }
  expect(new Set(packHooks.map(({ agent }) => agent))).toEqual(new Set([title]))

  const removal = await call(['remove', '--dry-run'], env)
  expect(removal.stdout).toMatch(/hooks? of Carabiner/)

  // None of their programs is in PATH.
  expect(await call(['setup', '--all', '--remove'], env)).toMatchObject({ code: 0 })
  expect((await call([], env)).stdout).toContain('Nothing is set up here yet')
}

describe('alone', () => {
  it.each(SETUPS.map((known) => [known.host.title, known] as const))('%s', async (_, known) => {
    await setUp(known)
    const first =
      known.setup.sharesWith === 'copilot' ? SETUPS.find(({ host }) => host.name === 'copilot') : known
    await checkAll(askingName(first ?? known))
  })

  const MOVED = SETUPS.filter(({ setup }) => setup.variable !== undefined)
  it.each(MOVED.map((known) => [known.host.title, known.setup.variable ?? '', known] as const))(
    '%s in the folder that %s names',
    async (title, variable, known) => {
      const env = { [variable]: `${project.home}/elsewhere` }
      await setUp(known, env)
      const { folder, isVariableHome } = known.setup
      expect(existsSync(join(project.home, folder))).toBe(false)
      expect(existsSync(join(project.home, 'elsewhere', isVariableHome ? folder : ''))).toBe(true)
      await checkAll(title === 'Copilot CLI' ? askingName(known) : title, env)
      await setUp(known, env)
      const removal = await call(['remove', '--yes'], env)
      const script = readFileSync(/restore sh (\S+)/.exec(removal.stdout)?.[1] ?? '', 'utf8')
      expect(script.replaceAll("'", '')).toContain(`${variable}=${project.home}/elsewhere `)
    },
  )
})

describe('together', () => {
  it('agents with the same hooks share a line', async () => {
    await call(['setup', 'claude-code', 'codex', '--only', 'guard'])
    expect((await call([])).stdout).toContain('  Claude Code and Codex run the guard of the standard pack\n')
  })

  it('an agent that does not trust its hooks is not said to run them', async () => {
    await call(['setup', 'codex', '--only', 'guard'])
    writeFileSync(`${project.home}/.codex/config.toml`, '')
    const { stdout } = await call([])
    expect(stdout).not.toContain('Codex runs')
    expect(stdout).toContain('Codex')
  })
})
