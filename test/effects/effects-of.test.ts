import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { effectsOf, type ToolUse } from '../../src/effects/effects-of.js'
import { CONTEXT } from './part-of.js'

const kinds = async (use: ToolUse, context = CONTEXT) =>
  (await effectsOf(use, context)).filter(({ kind }) => kind !== 'run')

const at = (path: string, more = {}) => ({ path: `/home/dev/app/${path}`, known: true, wild: false, ...more })

describe('the same deed has the same effect under every tool', () => {
  it.each<[string, ToolUse]>([
    ['Write', { name: 'Write', input: { file_path: 'a.txt', content: 'x' } }],
    ['Edit', { name: 'Edit', input: { file_path: 'a.txt', old_string: 'x', new_string: 'y' } }],
    ['MultiEdit', { name: 'MultiEdit', input: { file_path: 'a.txt', edits: [] } }],
    ['NotebookEdit', { name: 'NotebookEdit', input: { notebook_path: 'a.txt', new_source: 'x' } }],
    [
      'apply_patch',
      { name: 'apply_patch', input: { input: '*** Begin Patch\n*** Update File: a.txt\n*** End Patch' } },
    ],
    ['filesystem', { name: 'mcp__filesystem__write_file', input: { path: 'a.txt', content: 'x' } }],
    ['Bash', { name: 'Bash', input: { command: 'echo x > a.txt' } }],
    ['a list of words', { name: 'shell', input: { command: ['bash', '-lc', 'tee a.txt'] } }],
  ])('%s', async (_, use) => {
    expect(await kinds(use)).toContainEqual(
      expect.objectContaining({ kind: 'write', place: at('a.txt', { deep: false }) }),
    )
  })

  it.each<[string, ToolUse]>([
    ['Delete', { name: 'Delete', input: { path: 'a.txt' } }],
    ['Delete as a Write', { name: 'Write', hostName: 'Delete', input: { file_path: '/home/dev/app/a.txt' } }],
    ['delete_file as an Edit', { name: 'Edit', hostName: 'delete_file', input: { file_path: 'a.txt' } }],
    [
      'a part of a patch',
      { name: 'Edit', hostName: 'apply_patch', input: { file_path: 'a.txt', deleted: true } },
    ],
    [
      'apply_patch',
      { name: 'apply_patch', input: { input: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch' } },
    ],
    ['apply_patch by files', { name: 'apply_patch', input: { changes: { 'a.txt': { type: 'delete' } } } }],
    ['a diff', { name: 'apply_diff', input: { diff: '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n' } }],
    ['unlink', { name: 'mcp__x__unlink', input: { path: 'a.txt' } }],
    ['destroy', { name: 'mcp__x__destroy_file', input: { path: 'a.txt' } }],
    ['Bash', { name: 'Bash', input: { command: 'rm a.txt' } }],
  ])('a delete, by %s', async (_, use) => {
    expect(await kinds(use)).toContainEqual(
      expect.objectContaining({ kind: 'delete', place: expect.objectContaining(at('a.txt')) }),
    )
  })

  it.each<[string, ToolUse]>([
    [
      'apply_patch',
      { name: 'apply_patch', input: { input: '*** Update File: a.txt\n*** Move to: b.txt\n-x\n+y' } },
    ],
    ['a diff', { name: 'apply_diff', input: { diff: 'rename from a.txt\nrename to b.txt\n' } }],
    ['a part of a patch', { name: 'Edit', input: { file_path: 'a.txt', moved_to: 'b.txt' } }],
    ['move_file', { name: 'move_file', input: { source: 'a.txt', destination: 'b.txt' } }],
  ])('a move, by %s', async (_, use) => {
    expect(await kinds(use)).toContainEqual(
      expect.objectContaining({
        kind: 'move',
        place: expect.objectContaining(at('a.txt')),
        to: expect.objectContaining(at('b.txt')),
      }),
    )
  })

  it('a patch that only changes a file deletes and moves nothing', async () => {
    const input = { input: '*** Begin Patch\n*** Update File: a.txt\n--- x\n+++ y\n*** End Patch' }
    const found = await kinds({ name: 'apply_patch', input })
    expect(found.filter(({ kind }) => kind !== 'write')).toEqual([])
  })

  it.each<[string, ToolUse]>([
    ['filesystem', { name: 'mcp__filesystem__delete_file', input: { path: '.claude/settings.json' } }],
    ['Bash', { name: 'Bash', input: { command: 'rm .claude/settings.json' } }],
    ['Write', { name: 'Write', input: { file_path: '/home/dev/app/.claude/settings.json', content: '{}' } }],
  ])('a setting of an agent, by %s', async (_, use) => {
    expect(await kinds(use)).toContainEqual(
      expect.objectContaining({ kind: 'setting', owner: 'claude-code' }),
    )
  })
})

describe('a command that starts another in its own folder', () => {
  it.each([
    'env -C sub rm x',
    "env -C sub bash -c 'rm x'",
    "env -C sub sh -c 'cd . && rm x'",
    "sudo -D sub bash -c 'rm x'",
    "env -C sub env A=1 bash -c 'true; rm x'",
  ])('%s', async (command) => {
    expect(await kinds({ name: 'Bash', input: { command } })).toContainEqual(
      expect.objectContaining({ kind: 'delete', place: expect.objectContaining(at('sub/x')) }),
    )
  })

  it('also redirects there', async () => {
    expect(
      await kinds({ name: 'Bash', input: { command: "env -C sub bash -c 'echo y > x'" } }),
    ).toContainEqual(expect.objectContaining({ kind: 'write', place: expect.objectContaining(at('sub/x')) }))
  })
})

describe('a folder that only the shell knows', () => {
  it.each([
    'cd -; touch x',
    'cd "$D" && env -C dir touch x',
    "sh -c 'cd -; touch x'; env -C dir true",
    'cd "$D"; cd dir; touch x',
  ])('has places that nobody knows: %s', async (command) => {
    const effects = await kinds({ name: 'Bash', input: { command } })
    const places = effects.flatMap((one) => (one.kind === 'write' ? [one.place] : []))
    expect(places).toContainEqual(expect.objectContaining({ path: 'x', known: false }))
    expect(places.filter(({ path, known }) => known && !path.startsWith('/'))).toEqual([])
  })
})

describe('tools', () => {
  it('that read name what they read', async () => {
    expect(await kinds({ name: 'Read', input: { file_path: '~/.ssh/id_rsa' } })).toEqual([
      expect.objectContaining({
        kind: 'read',
        place: expect.objectContaining({ path: '/home/dev/.ssh/id_rsa' }),
      }),
    ])
    expect(await kinds({ name: 'Grep', input: { pattern: 'x', path: 'src' } })).toEqual([
      expect.objectContaining({ kind: 'read', place: at('src', { deep: true }) }),
    ])
  })

  it('of the web name the host', async () => {
    expect(await kinds({ name: 'WebFetch', input: { url: 'https://example.org/a', prompt: 'x' } })).toEqual([
      expect.objectContaining({ kind: 'fetch', host: 'example.org', runs: false }),
    ])
    expect(await kinds({ name: 'WebSearch', input: { query: 'x' } })).toMatchObject([{ kind: 'fetch' }])
  })

  it('of the conversation do nothing', async () => {
    expect(await effectsOf({ name: 'TodoWrite', input: { todos: [] } }, CONTEXT)).toEqual([])
  })

  it('of an unknown server are judged by their hints, and without hints are unknown', async () => {
    const use = { name: 'mcp__acme__frobnicate', input: {} }
    expect(await kinds(use)).toMatchObject([{ kind: 'unknown' }])
    expect(await kinds({ ...use, annotations: { readOnlyHint: true, openWorldHint: false } })).toEqual([])
    expect(await kinds({ ...use, annotations: { readOnlyHint: true } })).toMatchObject([{ kind: 'fetch' }])
    expect(
      await kinds({ ...use, annotations: { destructiveHint: true, openWorldHint: false } }),
    ).toMatchObject([{ kind: 'unknown', why: expect.stringContaining('destroy') }])
  })

  it('that name no file or command are unknown', async () => {
    expect(await kinds({ name: 'Write', input: { content: 'x' } })).toMatchObject([{ kind: 'unknown' }])
    expect(await kinds({ name: 'Bash', input: { timeout: 1 } })).toMatchObject([{ kind: 'unknown' }])
  })
})

describe('scripts on disk', () => {
  const project = mkdtempSync(join(tmpdir(), 'effects-'))
  afterAll(() => rmSync(project, { recursive: true, force: true }))
  const context = { ...CONTEXT, cwd: project, projectDir: project }
  const deleted = async (command: string) => {
    const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
    return effects.flatMap((one) => (one.kind === 'delete' ? [[one.place.path, one.by]] : []))
  }
  mkdirSync(join(project, 'bin'))
  writeFileSync(join(project, 'bin/wipe.sh'), '#!/bin/sh\nrm -rf /srv/data\n')
  writeFileSync(
    join(project, 'package.json'),
    '{"scripts":{"prewipe":"rm -r /srv/pre","wipe":"rm -r /srv/npm"}}',
  )

  it.each([
    'bash bin/wipe.sh',
    './bin/wipe.sh now',
    'sudo sh bin/wipe.sh',
    'source bin/wipe.sh',
    'cd bin && sh wipe.sh',
    'bash -e bin/wipe.sh',
    'bash -euo pipefail bin/wipe.sh',
    'sh < bin/wipe.sh',
    'cat bin/wipe.sh | sh',
    'BASH_ENV=bin/wipe.sh bash -c :',
    'bash --rcfile bin/wipe.sh -i',
  ])('%s', async (command) => {
    expect(await deleted(command)).toContainEqual(['/srv/data', expect.stringContaining('wipe.sh: rm -rf')])
  })

  it('without a first line that names a program are for a shell', async () => {
    writeFileSync(join(project, 'bare'), 'rm -r /srv/bare\n')
    writeFileSync(join(project, 'odd'), '#!/usr/bin/python3\nrm -r /srv/odd\n')
    expect(await deleted('./bare')).toContainEqual(['/srv/bare', expect.anything()])
    expect(await deleted('sh odd')).toContainEqual(['/srv/odd', expect.anything()])
  })

  const unknown = async (command: string) => {
    const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
    return effects.filter(({ kind, guess }) => kind === 'unknown' && !guess)
  }

  it.each([
    ['too big', `rm -r /srv\n${'#\n'.repeat(200_000)}`],
    ['too long to parse', `${'true\n'.repeat(2500)}rm -r /srv\n`],
    ['with a NUL', 'rm -r /srv\n\0'],
  ])('that are %s are unknown', async (name, text) => {
    const file = `${name.replaceAll(' ', '-')}.sh`
    writeFileSync(join(project, file), text)
    expect(await unknown(`sh ${file}`)).not.toEqual([])
    expect(await unknown(`./${file}`)).not.toEqual([])
    expect(await unknown(`sh < ${file}`)).not.toEqual([])
  })

  it('that are compiled programs only run', async () => {
    writeFileSync(join(project, 'app'), Buffer.from('7f454c46000102', 'hex'))
    expect(await unknown('./app')).toEqual([])
  })

  it('that run others in a long chain are unknown', async () => {
    for (let i = 0; i < 9; i++) writeFileSync(join(project, `c${i}.sh`), `sh c${i + 1}.sh\n`)
    writeFileSync(join(project, 'c9.sh'), 'rm -r /srv\n')
    expect(await unknown('sh c0.sh')).not.toEqual([])
    expect(await unknown('sh c8.sh')).toEqual([])
  })

  it.each([
    'echo "rm -r /srv/here" > w.sh; sh w.sh',
    "printf 'rm -r %s\\n' /srv/here > w.sh; sh w.sh",
    "printf '%s\\n' true 'rm -r /srv/here' > w.sh && bash w.sh",
    'tee w.sh <<< "rm -r /srv/here"; sh w.sh',
    'echo "rm -r /srv/here" | tee w.sh; sh w.sh',
    'echo true > v; echo "rm -r /srv/here" > w.sh; sh w.sh',
  ])('that the same command writes are read: %s', async (command) => {
    expect(await deleted(command)).toContainEqual(['/srv/here', expect.anything()])
    expect(await unknown(command)).toEqual([])
  })

  it.each([
    'base64 -d a.txt > w.sh; sh w.sh',
    'echo hi; base64 -d a.txt > w.sh; sh w.sh',
    'dd if=a of=w.sh; sh w.sh',
    "printf '\\x72m' > w.sh; sh w.sh",
    'echo "$X" > w.sh; sh w.sh',
    '{ echo a; base64 -d b; } > w.sh; bash w.sh',
  ])('that the same command writes are unknown if their text is: %s', async (command) => {
    expect(await unknown(command)).not.toEqual([])
  })

  it('of package.json run with the hooks around them', async () => {
    expect((await deleted('npm run wipe')).map(([path]) => path)).toEqual(['/srv/pre', '/srv/npm'])
    expect(await deleted('npm run other')).toEqual([])
  })

  it.each([
    'npm --silent run wipe',
    'npm --loglevel error run wipe',
    'pnpm -w app wipe',
    `npm --prefix ${project} run wipe`,
    `cd /tmp && pnpm -C ${project} run wipe`,
    `cd /tmp && yarn --cwd=${project} wipe`,
  ])('of package.json, behind options: %s', async (command) => {
    expect((await deleted(command)).map(([path]) => path)).toEqual(['/srv/pre', '/srv/npm'])
  })

  it('that the same command writes first', async () => {
    expect(await deleted("cat > x.sh <<'EOF'\nrm -r /srv/here\nEOF\nbash x.sh")).toContainEqual([
      '/srv/here',
      expect.anything(),
    ])
  })
})

describe('a text that only looks like a command', () => {
  it.each([
    "npx vitest run -t 'denies rm -rf /'",
    "mytool --note 'rm -rf /'",
    "npx mocha --grep 'git push --force'",
  ])('is a guess: %s', async (command) => {
    const effects = await kinds({ name: 'Bash', input: { command } })
    expect(effects.length).toBeGreaterThan(0)
    expect(effects.every(({ guess }) => guess)).toBe(true)
  })
})
