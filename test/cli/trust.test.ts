// `carabiner trust` and `untrust`, and what the other commands say about trust.

import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLarge, sample } from '../property/runs.js'
import { BASH, Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const DENY = '#!/bin/sh\n# a rule\necho reviewed >&2\nexit 2\n'

/** A plugin of the project that denies in the words of its script. */
function guard(name = 'guard', script = DENY): string {
  project.file(`.amplifier/hooks/${name}/hooks.json`, {
    hooks: {
      PreToolUse: [
        { matcher: 'Bash', hooks: [{ type: 'command', command: '"$CLAUDE_PLUGIN_ROOT"/check.sh' }] },
      ],
    },
  })
  project.file(`.amplifier/hooks/${name}/check.sh`, script, 0o755)
  return project.path(`.amplifier/hooks/${name}`)
}

const carabiner = (...args: readonly string[]) => project.call(args)
const fire = async (...args: readonly string[]) => {
  const { code, stdout } = await project.call(['fire', 'PreToolUse', '--json', ...args], { input: BASH })
  const { reason, hooks, messages } = JSON.parse(stdout)
  return { code, reason, why: hooks.map((one: { why?: string }) => one.why), messages }
}
const shown = async (...args: readonly string[]) =>
  JSON.parse((await carabiner('trust', '--json', ...args)).stdout)

describe('carabiner trust', () => {
  it('shows what runs, files, programs and the digest, and needs --yes where nobody can be asked', async () => {
    guard()
    const { code, stdout, stderr } = await carabiner('trust', 'guard')
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^guard {2}untrusted\n {2}│ folder \.amplifier\/hooks\/guard\n {2}│ It is waiting for your review\.\n/,
    )
    expect(stdout).toContain(
      '  │ PreToolUse on Bash: guard:PreToolUse#1, line 7\n  │   │ "$CLAUDE_PLUGIN_ROOT"/check.sh\n',
    )
    expect(stdout).toContain('  │ check.sh, 4 lines, executable\n  │   │ #!/bin/sh\n  │   │ # a rule\n')
    expect(stdout).toMatch(/\n {2}guard: 1 hook, 2 files\n$/)
    expect(stdout).toMatch(/ {2}44 B {2}check\.sh, executable\n/)
    expect(stdout).toMatch(/\n {2}digest [0-9a-f]{64}\n/)
    expect(stderr).toContain('nothing was trusted: there is no terminal to ask at')
    expect(stderr).toContain('--yes')
    expect(await fire()).toMatchObject({ code: 0, why: ['untrusted'] })
  })

  it('with --yes trusts what it showed, and it runs', async () => {
    guard()
    expect(await carabiner('trust', '--yes')).toMatchObject({ code: 0, stderr: '' })
    expect(await fire()).toMatchObject({ code: 2, reason: 'reviewed' })
    expect((await carabiner('list')).stdout).toMatch(/ready {2}guard:PreToolUse#1/)
    const again = await carabiner('trust', '--yes')
    expect(again).toMatchObject({ code: 0, stdout: 'everything here is trusted already\n', stderr: '' })
  })

  it('asks on a terminal; only a yes is a yes', async () => {
    guard()
    for (const input of sample(['\n', 'n\n', 'yeah\n', 'Yy\n', '\u0004'])) {
      const { code, stdout } = await project.onTerminal(['trust', 'guard'], { input })
      expect([input, code]).toEqual([input, 1])
      expect(stdout).toContain('Trust this? [y/N] ')
      expect(stdout).toContain('guard was not trusted')
    }
    expect((await fire()).why).toEqual(['untrusted'])
    expect((await project.onTerminal(['trust', 'guard'], { input: 'y\n' })).code).toBe(0)
    expect(await fire()).toMatchObject({ code: 2 })
  })

  it.runIf(isLarge)('what was typed before it asks is no answer', async () => {
    guard()
    for (const ahead of ['y\n', 'y', 'y\ny\ny\ny']) {
      const { code, stdout } = await project.onTerminal(['trust', 'guard'], { ahead, input: '\n' })
      expect([ahead, code, stdout.includes('guard was not trusted')]).toEqual([ahead, 1, true])
    }
    expect((await fire()).why).toEqual(['untrusted'])
    expect((await project.onTerminal(['trust', 'guard'], { ahead: 'n\n', input: 'y\n' })).code).toBe(0)
  })

  it('asks about each; an answer is for one', async () => {
    guard('a')
    guard('b')
    const { code } = await project.onTerminal(['trust'], { input: 'y\nn\n' })
    expect(code).toBe(1)
    const { units } = await shown()
    expect(units.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([
      ['a', 'trusted'],
      ['b', 'untrusted'],
    ])
  })

  it('a terminal that only takes input is nobody who can see what is asked', async () => {
    guard()
    const script = `import os,pty,sys,subprocess
m,s=pty.openpty(); os.write(m,b'y\\n')
sys.exit(subprocess.run(sys.argv[1:],stdin=s,stdout=subprocess.PIPE).returncode)`
    const [file, ...args] = [process.execPath, (await import('./program.js')).programFile(), 'trust'] as const
    const { code, stderr } = await project.run('python3', ['-c', script, file, ...args])
    expect(code).toBe(1)
    expect(stderr).toContain('there is no terminal to ask at')
    expect((await fire()).why).toEqual(['untrusted'])
  })

  it('--show shows all, trusted or not, and the lines for --pre-trusted, and trusts nothing', async () => {
    guard()
    project.hooks({ Stop: [['', 'true']] })
    await carabiner('trust', 'guard', '--yes')
    const { code, stdout, stderr } = await carabiner('trust', '--show')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^project {2}untrusted\n {2}│ file /m)
    expect(stdout).toMatch(/^guard {2}trusted\n {2}│ folder /m)
    const lines = stdout.split('for --pre-trusted FILE:\n')[1]
    expect(lines).toMatch(/^[0-9a-f]{64} {2}# project\n[0-9a-f]{64} {2}# guard\n$/)
    project.file('../digests', lines ?? '')
    await carabiner('untrust', '--all')
    expect((await fire()).code).toBe(0)
    expect(await fire('--pre-trusted', '../digests')).toMatchObject({ code: 2, reason: 'reviewed' })
    const env = { CARABINER_PRE_TRUSTED: join(project.base, 'digests') }
    const byEnv = await project.call(['fire', 'PreToolUse'], { input: BASH, env })
    expect(byEnv.code).toBe(2)
    expect((await project.call(['list'], { env })).stdout).toContain('2 hooks: 2 ready')
  })

  it('a list of digests in the project, or one that is none, is refused', async () => {
    guard()
    project.file('digests', '')
    const inside = await fire('--pre-trusted', 'digests').catch(() => undefined)
    expect(inside).toBeUndefined()
    for (const command of [['list'], ['fire', 'Stop'], ['explain', 'Stop'], ['trust', '--show'], []]) {
      const { code, stderr } = await carabiner(...command, '--pre-trusted', 'digests')
      expect([command, code === 1 || code === 64]).toEqual([command, true])
      expect(stderr).toContain('is inside the project')
      expect(stderr).not.toContain('bug')
    }
    project.file('../digests', 'all\n')
    const { code, stderr } = await carabiner('list', '--pre-trusted', '../digests')
    expect([code, stderr.includes('digests:1 is not a SHA-256')]).toEqual([64, true])
  })

  it('G3: one changed byte: the trusted version runs, which is said, and the change is shown as a diff', async () => {
    guard()
    await carabiner('trust', '--yes')
    project.file('.amplifier/hooks/guard/check.sh', DENY.replace('reviewed', 'evil'), 0o755)
    const fired = await fire()
    expect(fired).toMatchObject({ code: 2, reason: 'reviewed' })
    expect(fired.messages[0].text).toContain('"check.sh" was changed since it was trusted. The version you')
    expect(fired.messages[0].text).toContain('carabiner trust --mine')
    const { stdout } = await carabiner('trust')
    expect(stdout).toContain(
      [
        '  │ "check.sh" was changed since it was trusted.',
        '  │   │ @@ -1,4 +1,4 @@',
        '  │   │  #!/bin/sh',
        '  │   │  # a rule',
        '  │   │ -echo reviewed >&2',
        '  │   │ +echo evil >&2',
        '  │   │  exit 2',
      ].join('\n'),
    )
    await carabiner('trust', '--yes')
    expect(await fire()).toMatchObject({ code: 2, reason: 'evil' })
  })

  it('shows a hook that was added, removed, and a mode that changed', async () => {
    guard()
    project.hooks({ Stop: [['', 'echo one']] })
    await carabiner('trust', '--yes')
    project.hooks({ Stop: [['', 'echo two']] })
    chmodSync(project.path('.amplifier/hooks/guard/check.sh'), 0o644)
    project.file('.amplifier/hooks/guard/more.sh', 'echo more\n')
    const { stdout } = await carabiner('trust')
    expect(stdout).toContain('+echo two')
    expect(stdout).toContain('-echo one')
    expect(stdout).toContain('"check.sh" became not executable since it was trusted.')
    expect(stdout).toContain(
      '  │ "more.sh" was added since it was trusted.\n  │   │ @@ -0,0 +1,1 @@\n  │   │ +echo more',
    )
  })

  it('a diff is bounded, and the rest is counted; a command never is', async () => {
    const long = `echo ${'x'.repeat(20_000)}`
    guard('guard', 'a\n'.repeat(3000))
    project.hooks({ Stop: [['', long]] })
    await carabiner('trust', '--yes')
    guard('guard', 'b\n'.repeat(3000))
    project.hooks({ Stop: [['', `${long}y`]] })
    const { stdout } = await carabiner('trust')
    expect(stdout).toMatch(/and 59\d\d more lines: --full shows all/)
    expect(stdout.replaceAll(/\n {2}│ {3}┆ /g, '')).toContain(`  │   │ ${long}y\n`)
    const full = (await carabiner('trust', '--full')).stdout
    expect(full.match(/^ {2}│ {3}│ [-+][ab]$/gm)).toHaveLength(6000)
  })

  it('the question says how many changed lines are hidden, and shows them', async () => {
    guard('guard', 'a\n'.repeat(300))
    await carabiner('trust', '--yes')
    guard('guard', 'b\n'.repeat(300))
    const env = { NO_COLOR: '1', PAGER: 'cat' }
    const { code, stdout } = await project.onTerminal(['trust'], { input: 'a\ny\n', env })
    expect(code).toBe(0)
    const [short = '', full = ''] = stdout.split('[y/N]')
    expect(short).toMatch(/^5\d\d changed lines are not shown; type a to see all\. Trust this\? $/m)
    expect(full.match(/│ {3}│ [-+][ab]\r?$/gm)).toHaveLength(600)
    expect(full).toMatch(/^Trust this\? $/m)
    expect(stdout).toContain('trusted guard')
  })

  it('as JSON: one document; without --yes it trusts nothing', async () => {
    const path = guard()
    const first = await carabiner('trust', '--json')
    // A script may rely on it: something waits.
    expect([first.code, first.stderr]).toEqual([1, ''])
    expect(JSON.parse(first.stdout)).toEqual({
      project: project.folder,
      units: [
        {
          name: 'guard',
          kind: 'folder',
          path,
          state: 'untrusted',
          why: 'It is waiting for your review.',
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          hooks: [expect.objectContaining({ event: 'PreToolUse', matcher: 'Bash' })],
          files: [
            expect.objectContaining({ path: 'check.sh', size: 44, executable: true }),
            expect.objectContaining({ path: 'hooks.json', executable: false }),
          ],
          scripts: [],
          absent: [],
          unchecked: null,
          programs: {},
          missing: [],
          problems: [],
          risks: [],
          differences: [],
        },
      ],
      trusted: [],
      expectations: [],
      diagnostics: [],
    })
    expect((await fire()).code).toBe(0)
    const second = await shown('--yes')
    expect(second).toMatchObject({
      units: [{ name: 'guard', state: 'trusted' }],
      trusted: [{ name: 'guard', path, digest: second.units[0].digest }],
    })
    expect((await fire()).code).toBe(2)
    expect((await carabiner('trust', '--json')).code).toBe(0)
    const full = await shown('--full')
    expect(full.units[0].files[0].text).toBe(DENY)
  })

  it('what cannot be trusted is said, and is not trusted', async () => {
    const folder = guard()
    project.file('../secret', 'x')
    const { symlinkSync } = await import('node:fs')
    symlinkSync(join(project.base, 'secret'), join(folder, 'link'))
    const { code, stdout, stderr } = await carabiner('trust', '--yes')
    expect(code).toBe(1)
    expect(stdout).toContain('cannot be trusted\n  │ "link" is a link to a place outside')
    expect(stderr).toContain('guard was not trusted: "link" is a link to a place outside')
    const asJson = await carabiner('trust', '--yes', '--json')
    expect(asJson.code).toBe(1)
    expect(JSON.parse(asJson.stdout)).toMatchObject({ trusted: [], diagnostics: [{ code: 'untrusted' }] })
    expect((await fire()).code).toBe(0)
  })

  it('a name that is not there: what there is, and what was meant', async () => {
    guard()
    const { code, stderr } = await carabiner('trust', 'gaurd')
    expect(code).toBe(1)
    expect(stderr).toContain('Nothing here is called gaurd; did you mean guard?')
    expect(stderr).toContain('Choose guard.')
  })

  it('a path of what is no part of the project: how to add it', async () => {
    renameSync(guard(), join(project.base, 'guard'))
    const { code, stderr } = await carabiner('trust', '../guard')
    expect([
      code,
      stderr.includes('If ../guard is a plugin, type: carabiner trust --plugin ../guard'),
    ]).toEqual([1, true])
    project.file('other.json', { hooks: {} })
    expect((await carabiner('trust', './other.json')).stderr).toContain(
      'carabiner trust --config ./other.json',
    )
  })

  it('says of a script that it cannot start, because it is not executable', async () => {
    project.file('.amplifier/hooks/gate/hooks.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: '"$CLAUDE_PLUGIN_ROOT/gate.sh"' }] }] },
    })
    project.file('.amplifier/hooks/gate/gate.sh', '#!/bin/sh\n', 0o644)
    const { stdout } = await project.call(['trust', 'gate', '--show'])
    expect(stdout).toContain('cannot-start: It cannot start: gate.sh is not executable. gate:Stop#1')
    project.file('.amplifier/hooks/gate/gate.sh', '#!/bin/sh\n', 0o755)
    expect((await project.call(['trust', 'gate', '--show'])).stdout).not.toContain('cannot-start')
  })

  it('says of what is trusted which hooks its file lost', async () => {
    project.hooks({ Stop: [['', 'echo one', 'echo two']] })
    await carabiner('trust', '--yes')
    project.hooks({ Stop: [['', 'echo one']] })
    const { stdout } = await carabiner('trust')
    expect(stdout).toMatch(/^ {2}│ The hook .* was removed or changed since it was trusted\.$/m)
    expect(stdout).toContain('  │   │ -echo two')
  })

  it('a hook that the shell cannot start says what to do, and nothing of where it may write', async () => {
    guard('guard', '#!/bin/sh\necho "sh: guard: Permission denied" >&2\nexit 126\n')
    await carabiner('trust', '--yes')
    const [{ text }] = (await fire()).messages
    expect(text).toMatch(/chmod \+x.* Then accept the change: carabiner trust --mine/)
    expect(text).not.toContain('CLAUDE_PLUGIN_DATA')
  })

  it('a hook that the shell cannot read stays closed, and says which file to mend', async () => {
    const folder = guard('guard', '#!/bin/sh\nif true; then\nfi\n')
    await carabiner('trust', '--yes')
    const { code, messages } = await fire()
    expect(code).toBe(2)
    expect(messages[0].text).toContain(`/guard is the trusted copy of ${folder})`)
    expect(messages[0].text).toMatch(/Fix the script .* Then accept the change: carabiner trust --mine/)
  })

  it('a hook that fails in its copy says which file to mend, and where it may write', async () => {
    const folder = guard(
      'guard',
      '#!/bin/sh\necho started >&2\necho "$0: cannot create $0.log: Permission denied" >&2\nexit 1\n',
    )
    await carabiner('trust', '--yes')
    const { code, messages } = await fire()
    expect(code).toBe(0)
    expect(messages[0].text).toContain(`/guard is the trusted copy of ${folder})`)
    expect(messages[0].text).toContain('Let it write to "$CLAUDE_PLUGIN_DATA"')
    guard('guard', '#!/bin/sh\necho bad luck >&2\nexit 1\n')
    await carabiner('trust', '--yes')
    const [other] = (await fire()).messages
    expect(other.text).toContain('bad luck')
    expect(other.text).not.toContain('copy')
  })

  it('a store in the project: nothing is trusted, and it says why', async () => {
    guard()
    const env = { CARABINER_HOME: project.path('.store') }
    const { code, stderr } = await project.call(['trust', '--yes'], { env })
    expect([code, project.has('.store')]).toEqual([1, false])
    expect(stderr).toContain('lies in the project')
    expect((await project.call(['list'], { env })).stdout).toContain('lies in the project')
  })

  it('takes a path, also through a link and of what is named with --plugin', async () => {
    guard()
    expect((await carabiner('trust', '.amplifier/hooks/guard/', '--yes')).code).toBe(0)
    renameSync(guard('other'), join(project.base, 'other'))
    const { code, stdout } = await carabiner('trust', 'other', '--plugin', '../other', '--yes')
    expect([code, stdout.includes('trusted other')]).toEqual([0, true])
  })

  it('--yes refuses a name that two plugins have', async () => {
    renameSync(guard('a'), join(project.base, 'guard'))
    guard()
    const { code, stderr } = await carabiner('trust', 'guard', '--plugin', '../guard', '--yes')
    expect(code).toBe(1)
    expect(stderr).toContain('2 units are called guard')
    expect((await carabiner('trust', '../guard', '--plugin', '../guard', '--yes')).code).toBe(0)
  })

  it('reviews the hooks of a skill by its event, and lets them run', async () => {
    const directory = project.path('skills/tidy')
    project.file('skills/tidy/SKILL.md', '# tidy\n')
    project.file('skills/tidy/check.sh', DENY, 0o755)
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: './check.sh' }] }] }
    const event = { session_id: 's', skill_name: 'tidy', skill_directory: directory, hooks }
    const load = () => project.call(['fire', 'skill:loaded', '--json'], { input: event })
    const call = () => project.call(['fire', 'PreToolUse', '--json'], { input: { ...BASH, session_id: 's' } })
    await load()
    const refused = JSON.parse((await call()).stdout)
    expect(refused.hooks[0].why).toBe('untrusted')
    expect(refused.messages[0].text).toContain('carabiner trust --payload FILE')
    const { code } = await project.call(['trust', '--payload', '-', '--yes'], { input: event })
    expect(code).toBe(0)
    expect((await call()).code).toBe(2)
  })
})

describe('carabiner untrust', () => {
  it('by name, by path, and when the folder is gone', async () => {
    for (const what of ['guard', '.amplifier/hooks/guard']) {
      guard()
      await carabiner('trust', '--yes')
      expect((await fire()).code).toBe(2)
      const { code, stdout } = await carabiner('untrust', what)
      expect([code, stdout]).toEqual([
        0,
        'untrusted guard  .amplifier/hooks/guard\nnext carabiner trust guard   # trusts it again, after a review\n',
      ])
      expect(await fire()).toMatchObject({ code: 0, why: ['untrusted'] })
    }
    await carabiner('trust', '--yes')
    rmSync(project.path('.amplifier'), { recursive: true })
    expect((await carabiner('untrust', 'guard', '--json')).stdout).toBe(
      `${JSON.stringify({ untrusted: [{ kind: 'folder', name: 'guard', path: project.path('.amplifier/hooks/guard') }] })}\n`,
    )
    expect((await carabiner('untrust', 'guard')).code).toBe(1)
  })

  it('--all is all of this project, and of no other; the copies are gone', async () => {
    guard()
    project.hooks({ Stop: [['', 'true']] })
    const other = project.file('../other/.amplifier/hooks/hooks.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
    })
    await carabiner('trust', '--yes')
    await carabiner('trust', '--yes', '--project', '../other')
    expect((await carabiner('untrust', '--all')).stdout.match(/^untrusted /gm)).toHaveLength(2)
    expect((await carabiner('untrust', '--all')).stdout).toBe('nothing in this project is trusted\n')
    expect((await carabiner('list', '--project', '../other')).stdout).toContain('1 hook: 1 ready')
    expect(existsSync(other)).toBe(true)
  })

  it('a name that is not trusted', async () => {
    guard()
    await carabiner('trust', '--yes')
    const { code, stderr } = await carabiner('untrust', 'gaurd')
    expect(code).toBe(1)
    expect(stderr).toContain('did you mean guard?')
  })
})

describe('the review screen', () => {
  it('shows names and texts for what they are: no control, no line of their own, no hidden text', async () => {
    const evil = 'x\n  digest 00\u001b[2J\u202e\u200b\u00a0⟨\t\r'
    project.file(`.amplifier/hooks/guard/${evil}`, `${evil}\n`)
    project.file('.amplifier/hooks/guard/hooks.json', {
      name: `gu\u001b]0;pwn\u0007ard\n\nTrust this? [y/N] y`,
      hooks: {
        PreToolUse: [{ matcher: `Bash\u001b[1A`, hooks: [{ type: 'command', command: `true ${evil}` }] }],
      },
    })
    for (const args of [['--show'], []]) {
      const { stdout } = await carabiner('trust', ...args)
      expect(stdout).not.toMatch(/(?![\n\t])\p{Cc}|\p{Cf}|\u00a0/u)
      expect(stdout.replaceAll(/\n {2}[│┆](?: {3}┆)? /g, '')).toContain(
        'x⟨U+000A⟩  digest 00⟨U+001B⟩[2J⟨U+202E⟩⟨U+200B⟩⟨U+00A0⟩⟨U+27E8⟩',
      )
      expect(stdout.match(/^ {2}digest /gm)).toHaveLength(1)
      expect(stdout).not.toMatch(/^Trust this/m)
      expect(stdout).toContain('look closely')
    }
    const { stdout } = await project.onTerminal(['trust'], {
      input: 'n\n',
      env: { NO_COLOR: '1', TERM: 'dumb' },
    })
    expect(stdout.replaceAll('\r\n', '\n')).not.toMatch(/(?![\n\t])\p{Cc}|\p{Cf}/u)
    expect(stdout.match(/Trust this\? \[y\/N\] /g)).toHaveLength(1)
  })

  it('names that look like options are never options, nor offered as such', async () => {
    for (const name of ['--yes', '-h', '--trust-all', '$(touch pwned)', "a'; touch pwned; '"]) guard(name)
    for (const args of [['list'], [], ['explain', 'PreToolUse', '--tool', 'Bash'], ['trust', '--show']]) {
      const { stdout } = await carabiner(...args)
      expect(stdout).not.toMatch(/carabiner trust (?:-|\$|"|')/)
    }
    const { messages } = await fire()
    for (const { text } of messages) expect(text).not.toMatch(/carabiner trust (?:-|\$|"|')/)
    // As a value it is a name; as an option it is one only where the user typed it as such.
    expect((await carabiner('trust', '--', '--yes')).stdout).toMatch(/^"?--yes"? {2}untrusted\n/)
    expect((await fire()).why.every((why: string) => why === 'untrusted')).toBe(true)
    expect((await carabiner('trust', '--yes', '--', '--trust-all')).code).toBe(0)
    const after = await fire()
    expect(after.why.filter((why?: string) => why === 'untrusted')).toHaveLength(4)
    expect(project.has('pwned')).toBe(false)
  })
})
