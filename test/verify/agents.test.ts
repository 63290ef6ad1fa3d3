import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hostNamed, type KnownHost } from '../../src/hosts/hosts.js'
import { agentsOf, fittingAgents } from '../../src/verify/agents.js'
import type { Enclosure } from '../../src/verify/enclosure.js'

const AROUND: Enclosure = { network: 'open', ownLoopback: false, around: (command) => command, env: {} }
const CLINES = ['cline', 'cline-core'].map((name) => hostNamed(name) as KnownHost)

/** Folders in PATH, each with a program that prints this version. */
function inPath(...programs: readonly (readonly [name: string, version: string])[]): void {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-agents-')))
  const folders = programs.map(([name, version], i) => {
    const folder = join(root, String(i))
    mkdirSync(folder)
    writeFileSync(join(folder, name), `#!/bin/sh\necho ${version}\n`)
    chmodSync(join(folder, name), 0o755)
    return folder
  })
  vi.stubEnv('PATH', [...folders, '/usr/bin', '/bin'].join(delimiter))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(root, { recursive: true, force: true })
  })
}

async function found(): Promise<readonly string[]> {
  const agents = (await agentsOf(CLINES)).filter(({ program }) => program !== undefined)
  return fittingAgents(agents, AROUND).map(({ host, proof }) => `${host.name} ${proof.program}`)
}

describe('Cline 2 and 3 have a program of the same name', () => {
  it.each([
    ['2.18.0', ['cline cline']],
    ['3.0.65', ['cline-core cline']],
    ['4.0.0', ['cline cline', 'cline-core cline']],
  ])('only the one that is there is proven: %s', async (version, agents) => {
    inPath(['cline', version])
    expect(await found()).toEqual(agents)
  })

  it('starts the core if it comes first in PATH, and says so', async () => {
    inPath(['cline-core', '0.0.86'], ['cline', '2.18.0'])
    expect(await found()).toEqual(['cline cline', 'cline-core cline-core'])
    const [, core] = await agentsOf(CLINES)
    expect(core?.proof.part).toMatchObject({ title: 'Cline 3 core' })
  })
})
