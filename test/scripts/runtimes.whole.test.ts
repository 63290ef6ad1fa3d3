// The package in an empty project, as npm installs it, on each runtime that docs/reference/support.md has a row for.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { RUNTIMES, runtimeProgram } from '../../scripts/runtimes.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const base = mkdtempSync(join(tmpdir(), 'carabiner-runtimes-'))
const project = join(base, 'project')
mkdirSync(project)
afterAll(() => rmSync(base, { recursive: true, force: true }))

function attempted<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    console.log(`SKIPPED: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
}

function installed(): true {
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  const packed = npm(ROOT, 'pack', '--json', '--ignore-scripts', '--pack-destination', project)
  const [{ filename }] = JSON.parse(packed)
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  npm(project, 'install', '--no-audit', '--no-fund', '--fetch-retries=1', `./${filename}`)
  return true
}

const isInstalled = attempted(installed)
const programs = RUNTIMES.map((name) => ({
  name,
  program: isInstalled && attempted(() => runtimeProgram(name)),
}))

/** Both ways to load the three entries: each way has all names, and both have the same things. */
const LOAD = `
const names = ['carabiner', 'carabiner/core', 'carabiner/author']
const required = names.map((name) => require(name))
void Promise.all(names.map((name) => import(name))).then((imported) => {
  const exportsOf = (module) => Object.keys(module).filter((key) => key !== '__esModule' && key !== 'default')
  const differing = imported.flatMap((module, i) => exportsOf(module).filter((key) => module[key] !== required[i][key]))
  console.log(JSON.stringify({ exports: imported.map((module) => exportsOf(module).length > 10), differing }))
})
`

const HOOKS = {
  PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'echo no >&2; exit 2' }] }],
}

/** A function, a command, a process that answers many calls, and a server. */
const EMBED = `
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createHooks, deny } from 'carabiner'
const server = createServer((_, response) => response.end('{"decision": "block", "reason": "by http"}'))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = 'http://127.0.0.1:' + server.address().port
const asking = { PreToolUse: [{ matcher: 'Fetch', hooks: [{ type: 'http', url }] }] }
writeFileSync('http.json', JSON.stringify({ hooks: asking }))
mkdirSync(process.env.HOME + '/.amplifier', { recursive: true })
const settings = { hooks: { allowed_private_hosts: ['127.0.0.1'] } }
writeFileSync(process.env.HOME + '/.amplifier/settings.json', JSON.stringify(settings))
const plugins = ['node_modules/carabiner/examples/review-gate']
const configs = ['hooks.json', 'http.json']
const hooks = await createHooks({ projectDir: '.', configs, plugins, trust: 'all', watch: true })
hooks.register('PreToolUse', () => deny('by a function'), { matcher: 'Deploy' })
const session = hooks.session()
const fire = async (tool_name, tool_input) => (await session.fire('PreToolUse', { tool_name, tool_input })).reason
const reasons = [await fire('Deploy', {}), await fire('Bash', {}), await fire('Fetch', {})]
const written = await session.fire('PreToolUse', { tool_name: 'Write', tool_input: { file_path: '/etc/passwd' } })
await hooks.close()
server.close()
console.log(JSON.stringify({ reasons, resident: written.action }))
`

describe.each(programs)('$name', ({ name, program }) => {
  const isNode = name.startsWith('node@')
  const home = mkdtempSync(join(base, 'home-'))
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home }

  /** With no variables but these two: nothing of the shell that tests. */
  function run(args: readonly string[], input = '') {
    const before = name === 'deno' ? ['run', '--allow-all'] : []
    const options = { cwd: project, env, input, encoding: 'utf8' as const, timeout: 60_000 }
    const { stdout, stderr, status } = spawnSync(program ?? '', [...before, ...args], options)
    return { stdout, stderr, status }
  }

  function answer(file: string, code: string): unknown {
    writeFileSync(join(project, file), code)
    writeFileSync(join(project, 'hooks.json'), JSON.stringify({ hooks: HOOKS }))
    const { stdout, stderr, status } = run([file])
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    return JSON.parse(stdout)
  }

  /** As npm links it into a project. */
  const carabiner = (args: readonly string[], input?: string) =>
    run(['node_modules/.bin/carabiner', ...args], input)

  it.skipIf(!program)('loads the three entries by import and by require, without a warning', () => {
    expect(answer('load.cjs', LOAD)).toEqual({ exports: [true, true, true], differing: [] })
  })

  it.skipIf(!program)('runs a function, a command, a process and a server as hooks', () => {
    const reasons = ['by a function', 'no', 'by http']
    expect(answer('embed.mjs', EMBED)).toEqual({ reasons, resident: 'deny' })
  })

  it.skipIf(!program)('runs the command through the link that npm makes', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(carabiner(['--version'])).toEqual({ stdout: `${version}\n`, stderr: '', status: 0 })
    const call = JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'git commit --no-verify' } })
    const { stdout, status } = carabiner(['hook', 'pre-tool-use'], call)
    expect([JSON.parse(stdout).hookSpecificOutput.permissionDecision, status]).toEqual(['deny', 2])
  })

  it.skipIf(!program)('trusts a hook, denies with it, and still does when it is gone', () => {
    const folder = join(project, '.amplifier/hooks/no')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks: HOOKS }))
    const fire = () => carabiner(['fire', 'PreToolUse'], '{"tool_name": "Bash", "tool_input": {}}')
    expect(fire()).toMatchObject({ status: 0, stdout: expect.stringContaining('untrusted') })
    expect(carabiner(['trust', 'no', '--yes']).status).toBe(0)
    expect(fire()).toMatchObject({ status: 2, stdout: expect.stringContaining('denied: no') })
    rmSync(join(project, '.amplifier'), { recursive: true })
    expect(fire()).toMatchObject({ status: 2, stdout: expect.stringContaining('denied: no') })
    expect(carabiner(['audit', 'verify'])).toMatchObject({ status: 0, stderr: '' })
    expect(carabiner(['untrust', 'no']).status).toBe(0)
  })

  it.skipIf(!program || !isNode)('is found by npx', () => {
    const path = [dirname(program ?? ''), env.PATH].join(delimiter)
    const options = { cwd: project, env: { ...env, PATH: path }, encoding: 'utf8' as const }
    const { stdout, status } = spawnSync('npx', ['--no', 'carabiner', '--', '--help'], options)
    expect([stdout.includes('carabiner'), status]).toEqual([true, 0])
  })
})
