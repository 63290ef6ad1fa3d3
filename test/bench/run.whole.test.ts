// The benches run and print what they promise; how fast anything is, is not for a test to say.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { cachedClaudeCode } from '../conformance/claude-code/install.mjs'

const hasPython = existsSync('/usr/bin/python3')
const hasCompiler = spawnSync('cc', ['--version']).status === 0

const hasClaudeCode = cachedClaudeCode() !== undefined

const run = (...args: string[]) =>
  execFileSync(process.execPath, ['--expose-gc', 'bench/run.mjs', '--quick', ...args], { encoding: 'utf8' })

it('prints every question as JSON', { timeout: 600_000 }, () => {
  const { benches } = JSON.parse(run('--json'))
  const names = benches.map((bench: { name: string }) => bench.name)
  // Those of SDKs are only there if their packages can be installed.
  expect(names.filter((name: string) => !name.endsWith('without hooks / bare'))).toEqual([
    'audit, batches of 100 / bare append',
    'audit, single records / bare append',
    'session.fire, a command hook, with audit / without',
    ...(hasCompiler && hasClaudeCode
      ? ['added to a tool call of Claude Code, guard through clip / a hook that is `true`']
      : []),
    'one command hook / bare spawn',
    'execa / bare spawn',
    '10 command hooks / 10 bare spawns at once',
    ...['that await', 'that answer at once'].flatMap((which) => [
      `emit, 10 async handlers ${which} / bare loop`,
      `emit, 10 async handlers ${which} / hookable`,
      `hookable callHook, ${which} / bare loop`,
      `tapable series, ${which} / bare loop`,
      `emittery emitSerial, ${which} / bare loop`,
    ]),
    'a hook on runHook, spawn to answer / node -e 0',
    'bash -c true / node -e 0',
    'HTTP hook / bare fetch',
    'emit, no handler / async function',
    'session.fire, no handler / async function',
    'if: Bash(git *) / bare parser',
    'if: Bash(git push *) / bare parser',
    'if that never matches / bare parser',
    '50 ifs / 50 parses',
    '50 ifs / one',
    "import 'carabiner' / node -e 0",
    "import 'carabiner/core' / node -e 0",
    "import 'carabiner/author' / node -e 0",
    'carabiner list / node -e 0',
    'carabiner explain / node -e 0',
    'load 200 plugins / read and parse their files',
    '10,000 hooks, 3 match / 3 hooks',
    'carabiner mcp, a small tool over stdio / the server itself',
    'carabiner mcp, 64 calls at once / the server itself',
    'carabiner mcp, memory after 1280 more calls / before',
    'carabiner hook pre-tool-use / node -e 0',
    'carabiner hook post-tool-use / node -e 0',
    'carabiner hook user-prompt-submit / node -e 0',
    'bash -c true / node -e 0',
    'resident Node hook / bare echo',
    'module hook / bare echo',
    'resident Node hook / vscode-jsonrpc',
    ...(hasPython ? ['resident Python hook / bare echo'] : []),
    '64 calls at once, rpc connection / bare echo',
    '64 calls at once, through the engine / bare echo',
    'the same hook as a shell command / resident',
    'serve --stdio, an event without a hook / bare line echo',
    'serve --stdio, a tool call without a hook / two bare line echoes',
    ...(hasCompiler
      ? [
          'fire through clip, one command hook / node -e 0',
          'guard through clip / sh -c true',
          'memory of the service, 200 plugins / 120 MB',
        ]
      : []),
    'update of a session / write and rename',
    'heap of a session, 10000 open',
    'trust of a plugin of 4 files / one command hook',
    'trust of 1000 unchanged files / lstat of the same',
  ])
  for (const bench of benches) {
    expect(Object.keys(bench).sort()).toEqual(['baseline', 'limit', 'name', 'ok', 'ratio', 'unit', 'value'])
    expect(bench.ratio).toBeCloseTo(bench.value / bench.baseline)
    expect(bench.ok).toBe(bench.limit === null || bench.ratio <= bench.limit)
  }
})

it('prints one question as a table', { timeout: 600_000 }, () => {
  const [header, ...rows] = run('idle').trimEnd().split('\n')
  expect(header).toMatch(/value +baseline +ratio +limit/)
  expect(rows).toHaveLength(2)
  expect(rows[0]).toMatch(
    /^emit, no handler \/ async function +[\d.]+ us +[\d.]+ us +[\d.]+x +<= 1.5x +(ok|OVER)$/,
  )
})
