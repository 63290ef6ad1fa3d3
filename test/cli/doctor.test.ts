// What `carabiner doctor` finds in files: each mistake by itself, and what looks like one and is none.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { finding } from '../../src/cli/doctor/configuration.js'
import { examine } from '../../src/cli/doctor/examine.js'
import { FINDING_CODES, type Finding } from '../../src/cli/doctor/finding.js'
import { loadConfig } from '../../src/config/load.js'
import { dataHome, stateHome } from '../../src/files/homes.js'
import { configured, SCRIPT, Scene } from './doctor-scene.js'

const scene = new Scene()

describe('a healthy project', () => {
  it('has no finding, and says what was looked at', async () => {
    scene.write('guard.sh', SCRIPT, 0o755)
    scene.ofUser([`"$CLAUDE_PROJECT_DIR"/guard.sh`, 'cat > /dev/null'])
    const families = await scene.families()
    expect(families.flatMap((family) => family.findings)).toEqual([])
    expect(Object.fromEntries(families.map(({ name, what }) => [name, what]))).toMatchObject({
      configuration: '1 file, 2 hooks',
      trust: '2 of 2 hooks may run',
      programs: '1 program',
      scripts: '1 script',
      history: '0 events on record',
    })
  })

  it('runs none of them, and writes nothing', async () => {
    scene.ofUser([`touch ${join(scene.base, 'ran')}`])
    await scene.findings()
    expect(() => readFileSync(join(scene.base, 'ran'))).toThrow('ENOENT')
    for (const own of [dataHome(), stateHome()]) expect(() => readFileSync(own)).toThrow('ENOENT')
  })
})

/** What doctor says about the files alone. */
async function loaded(): Promise<readonly Finding[]> {
  return (await loadConfig({ homeDir: scene.home })).diagnostics.map(finding)
}

describe('configuration', () => {
  it.each([
    ['{ "hooks": oops }', 'broken config-invalid'],
    [{ hooks: { PreTooluse: [{ hooks: [] }] } }, 'broken unknown-event'],
    [{ hooks: { PreToolUse: [{ hooks: [{ type: 'command' }] }] } }, 'broken entry-invalid'],
    [configured([{ type: 'command', command: 'true', retries: 2 }]), 'warning unknown-key'],
    [configured(['true'], 'PreToolUse', 'Bash(git *)'), 'broken matcher-invalid'],
  ])('%j is %s', async (content, expected) => {
    scene.writeHome('.amplifier/hooks/hooks.json', content)
    expect(await scene.codes()).toEqual([expected])
  })

  it.each([
    [{ type: 'comand', command: 'true' }, 'Write command.'],
    [{ type: 'x', command: 'true' }, /^Write one of "command", .* in place of "x"\.$/],
    [{ command: 'true' }, /^Add "type": "command" to it, or another of "command", /],
    [{ type: 'command' }, 'Add "command": "…" to the hook.'],
    [{ type: 'command', command: 5 }, 'Change "command" from 5 to a non-empty string.'],
    [{ type: 'command', command: 'true', timeout: '5' }, 'Change "timeout" from "5" to 5.'],
    [
      { type: 'command', command: 'true', onFailure: 'blok' },
      'Change "onFailure" from "blok" to "block" or "continue".',
    ],
    [{ type: 'http', url: 'x' }, 'Change "url" from "x" to a URL that begins with http:// or https://.'],
    [7, 'Write {"type": "command", "command": "…"} in place of 7, or remove it.'],
    [
      { type: 'command', command: 'true', on_failure: 'block' },
      'Write "onFailure" in place of "on_failure".',
    ],
    [{ type: 'command', command: 'true', timeoutSec: 5 }, /^Write "timeout", in seconds, in place of/],
    [{ type: 'command', command: 'true', matcher: 'X' }, 'Move "matcher" to the group around the hook.'],
    [{ type: 'command', command: 'true', url: 'http://x' }, 'Remove "url".'],
    [{ type: 'command', command: 'true', retries: 2 }, 'Remove "retries".'],
    [{ type: 'command', command: 'true', once: true }, 'Remove "once".'],
    [
      { type: 'command', command: 'true', if: '?' },
      /^Change "if" from "\?" to a rule such as "Bash\(git \*\)"/,
    ],
    [
      { type: 'command', command: 'true', timeout: 5000 },
      'Write 5 in place of 5000, because timeouts are in seconds.',
    ],
    [
      { type: 'command', command: 'true', timeout: 900 },
      'Write 300 in place of 900, or "max_timeout": 900 under "hooks" in ~/.amplifier/settings.json.',
    ],
  ])('says what to do about the handler %j', async (handler, fix) => {
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [handler] }] }
    const file = scene.writeHome('.amplifier/hooks/hooks.json', { hooks })
    const [found] = await loaded()
    expect(found).toMatchObject({ file, line: expect.any(Number) })
    expect(found?.fix).toMatch(fix)
  })

  it.each([
    ['{ "hooks": {', /^Close what is open at the end of the file/],
    ['{ "hooks": } ', /^Look for a comma or bracket/],
    ['[]', /^Write \{"hooks": \{ … \}\}, with events in it/],
    ['{ "hooks": 5 }', /^Write \{"hooks": \{ … \}\}, with events in it/],
    [Buffer.from('{"a": "\xff"}', 'latin1'), 'Save the file as UTF-8.'],
    ['{ "hooks": [5] }', /^Write \{"event": "PreToolUse", "matcher": "Bash", .* in place of 5, or remove it/],
    ['{ "hooks": { "Stop": 5 } }', /^Write \[\{"hooks": \[/],
    ['{ "hooks": { "Stop": [5] } }', /^Write \{"matcher": "Bash", "hooks": \[.*in place of 5, or remove it/],
    ['{ "hooks": { "Stop": [{}] } }', /^Add "hooks": \[\{"type": "command"/],
    ['{ "hooks": { "Stop": [{ "hooks": 5 }] } }', /^Change "hooks" from 5 to a list/],
    [
      '{ "hooks": { "Stop": [{ "type": "command", "command": "x" }] } }',
      /^Write \{"hooks": \[ … \]\} around it/,
    ],
    ['{ "hooks": { "PreTooluse": [{ "hooks": [] }] } }', 'Write PreToolUse.'],
    ['{ "hooks": { "BeforeTool": [{ "hooks": [] }] } }', 'Write PreToolUse in place of BeforeTool.'],
    ['{ "hooks": { "Whatever": [{ "hooks": [] }] } }', /^Write the name of an event, such as/],
    ['{ "hooks": { "Stop": [], "stop": [] } }', 'Move its hooks to Stop, or remove them.'],
    ['{ "hooks": {\n"Stop": [],\n"Stpo": [] } }', 'Move its hooks into Stop of line 2.'],
    ['{ "hooks": {}, "Stop": [{ "hooks": [] }] }', /^Move "Stop" into "hooks": /],
    ['{ "hooks": {}, "hooks": {} }', /^Move the content of "hooks" into the later one/],
    ['{ "Hook": {} }', 'Write "hooks" in place of "Hook".'],
    ['{ "whatever": {} }', 'Remove "whatever".'],
    ['{ "hooks": {}, "priority": 5 }', 'Remove "priority".'],
    ['{ "hooks": {}, "matching": 5 }', 'Change "matching" from 5 to "search" or "fullmatch".'],
    ['{ "hooks": {}, "env": 5 }', 'Change "env" from 5 to an object of strings.'],
    ['{ "hooks": {}, "env": { "A": [] } }', 'Change "A" from [] to a string.'],
    ['{ "hooks": {}, "trusted": true }', 'Remove "trusted".'],
    ['{ "hooks": {}, "enabled": true }', 'Move "enabled" to settings.json, under "hooks".'],
    ['{ "hooks": { "max_timeout": 5 } }', 'Move "max_timeout" to settings.json, under "hooks".'],
    ['{ "hooks": { "Stop": [{ "timeout": 5, "hooks": [] }] } }', /^Move "timeout" to the handler/],
    [
      '{ "hooks": { "Stop": [{ "sequential": 5, "hooks": [] }] } }',
      'Change "sequential" from 5 to true or false.',
    ],
    ['{ "hooks": { "Stop": [{ "parallel": true, "hooks": [] }] } }', 'Remove "parallel".'],
    [
      '{ "hooks": { "PreToolUse": [{ "matcher": "Bash(", "hooks": [{"type":"command","command":"true"}] }] } }',
      'Change "matcher" from "Bash(" to "Bash".',
    ],
    [
      '{ "hooks": { "PreToolUse": [{ "matcher": "(a)\\\\1", "hooks": [{"type":"command","command":"true"}] }] } }',
      /^Change "matcher" from .* to a list of names such as "Write\|Edit", or a simpler pattern without/,
    ],
    [
      '{ "hooks": { "PreToolUse": [{ "matcher": "Bash(git *)", "hooks": [{"type":"command","command":"true"}] }] } }',
      'Write "matcher": "Bash", and on the hook "if": "Bash(git *)".',
    ],
    [
      '{ "hooks": { "PreToolUse": [{ "matcher": 5, "hooks": [] }] } }',
      /^Change "matcher" from 5 to a string such as "Write\|Edit"/,
    ],
    ['{ "processes": 5 }', 'Change "processes" from 5 to an object of processes.'],
    ['{ "Processes": {} }', 'Write "processes" in place of "Processes".'],
    ['{ "processes": { "a": 5 } }', /^Write \{"command": \["python3", "hook.py"\]\} in place of 5/],
    ['{ "processes": { "a": {} } }', 'Add "command": ["python3", "hook.py"] to it.'],
    ['{ "processes": { "a": { "comand": ["x"] } } }', 'Write "command" in place of "comand".'],
    [
      '{ "processes": { "a": { "command": ["x"], "intercept": ["before_tol"] } } }',
      'Write "before_tool" in place of "before_tol".',
    ],
    [
      '{ "processes": { "a": { "command": ["x"], "intercept": ["before_tool"], "cwd": "y" } } }',
      'Write "dir" in place of "cwd".',
    ],
  ])('says what to do about %s', async (text, fix) => {
    const file = join(scene.home, '.amplifier/hooks/hooks.json')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    expect((await loaded())[0]?.fix).toMatch(fix)
  })

  it('says what to write in settings, and where else', async () => {
    const hooks = { on_failure: 'explode', bogus: 1, max_timout: 5, allowed_http_urls: 5 }
    scene.writeHome('.amplifier/settings.json', { hooks, max_timeout: 5, mcpServers: {} })
    scene.write('.amplifier/settings.json', { hooks: { max_timeout: 9999, audit: 'off', enabled: true } })
    expect((await scene.findings()).map(({ fix }) => fix)).toEqual([
      'Remove "bogus".',
      'Write max_timeout in place of "max_timout".',
      'Change "on_failure" from "explode" to "continue" or "block".',
      expect.stringMatching(/^Change "allowed_http_urls" from 5 to a list of URLs/),
      'Move "max_timeout" into "hooks": {"hooks": {"max_timeout": …}}.',
      'Move "mcpServers" into "hooks": {"hooks": {"mcp_servers": …}}.',
      'Remove it; if you want it, write "max_timeout": 9999 under "hooks" in ~/.amplifier/settings.json.',
      'Move "audit" to "hooks" in ~/.amplifier/settings.json, if you want it.',
    ])
  })

  it('also where the settings allow so many seconds', async () => {
    scene.writeHome('.amplifier/settings.json', { hooks: { max_timeout: 10_000 } })
    scene.ofUser([{ type: 'command', command: 'true', timeout: 3000 }])
    expect(await scene.only('timeout-unit')).toMatchObject({
      severity: 'warning',
      fix: 'Write "timeout": 3, in seconds.',
    })
  })
})

describe('programs', () => {
  it('one that no scene.folder of PATH has', async () => {
    const file = scene.ofUser(['no-such-program-here --x'])
    expect(await scene.only('program-missing')).toMatchObject({
      severity: 'broken',
      file,
      line: 7,
      hook: 'user:PreToolUse#1',
    })
  })

  it('one that goes by another name', async () => {
    const bin = join(scene.base, 'bin')
    scene.write(join(bin, 'nopy3'), SCRIPT, 0o755)
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
    scene.ofUser(['nopy x'])
    expect((await scene.only('program-missing')).fix).toBe(
      'Write nopy3, which is installed, instead of nopy.',
    )
  })

  it('a project brings none of its own: its folder in PATH does not count, nor for hooks of the user', async () => {
    scene.write('bin/own-tool', SCRIPT, 0o755)
    vi.stubEnv('PATH', `${join(scene.folder, 'bin')}:${process.env.PATH}`)
    scene.ofProject(['own-tool'])
    expect(await scene.codes()).toEqual(['broken program-missing', 'warning untrusted'])
    scene.ofUser(['own-tool'])
    scene.ofProject(['true'])
    expect(await scene.codes()).toEqual(['broken program-missing', 'warning untrusted'])
  })

  it.each([
    ['command -v no-such-tool || exit 0; no-such-tool', []],
    ['no-such-tool . || true', ['warning program-missing']],
    ['check() { true; }; check', []],
    ['npx prettier --check .', ['warning launcher']],
    ['curl -s https://x.example/a | sh', ['warning launcher']],
    ['$TOOL x', []],
  ])('%s: %j', async (command, expected) => {
    scene.ofUser([command])
    const found = await scene.codes()
    // Whether the machine has npx and curl is another question.
    const isOther = (one: string) => /npx|curl/.test(command) && one === 'broken program-missing'
    expect(found.filter((one) => !isOther(one))).toEqual(expected)
  })

  it('words that no shell takes apart', async () => {
    scene.ofUser([{ type: 'command', command: 'node hook.js', args: ['--x'] }])
    expect((await scene.only('program-missing')).fix).toBe(
      'Write "command": "node", "args": ["hook.js","--x"].',
    )
  })

  it('a placeholder of plugins in a file', async () => {
    scene.ofUser([`"\${CLAUDE_PLUGIN_ROOT}"/a.sh`])
    expect((await scene.findings())[0]).toMatchObject({ severity: 'broken', code: 'placeholder-foreign' })
  })

  it.each([
    [{ type: 'prompt', prompt: 'ok?' }, 'model-missing'],
    [{ type: 'mcp_tool', server: 'files', tool: 'check' }, 'server-missing'],
  ])('%j has nobody to ask', async (handler, code) => {
    scene.ofUser([handler])
    expect(await scene.codes()).toEqual([`broken ${code}`])
  })
})

describe('scripts', () => {
  it('a module that is missing', async () => {
    scene.ofUser([{ type: 'module', module: './gone.mjs' }])
    expect((await scene.only('script-missing')).text).toMatch(/it imports .*\/\.amplifier\/hooks\/gone\.mjs/)
    scene.writeHome('.amplifier/hooks/gone.mjs', 'export default () => {}')
    expect(await scene.codes()).toEqual([])
  })

  it.each([
    [
      'missing',
      `"$CLAUDE_PROJECT_DIR"/gone.sh`,
      'script-missing',
      '/gone.sh, or write the path of one that exists at ~/.amplifier/hooks/hooks.json:7',
    ],
    [
      'missing, behind an interpreter',
      `sh "$CLAUDE_PROJECT_DIR"/gone.sh`,
      'script-missing',
      '/gone.sh, or write the path of one that exists at ~/.amplifier/hooks/hooks.json:7',
    ],
    [
      'a folder',
      '"$CLAUDE_PROJECT_DIR"/sub',
      'script-missing',
      '/sub/NAME, the file in it to run, at ~/.amplifier/hooks/hooks.json:7',
    ],
    ['not executable', '"$CLAUDE_PROJECT_DIR"/plain.sh', 'not-executable', 'chmod +x '],
    ['CRLF in its first line', '"$CLAUDE_PROJECT_DIR"/crlf.sh', 'crlf', "perl -pi -e 's/\\r$//' "],
    ['CRLF in what a shell reads', 'bash "$CLAUDE_PROJECT_DIR"/lines.sh', 'crlf', 'perl -pi -e '],
    [
      'an interpreter that is not there',
      '"$CLAUDE_PROJECT_DIR"/lisp.sh',
      'interpreter-missing',
      'Install lisp-9',
    ],
    [
      'one that PATH does not have',
      '"$CLAUDE_PROJECT_DIR"/env.sh',
      'interpreter-missing',
      'Install no-such-lisp',
    ],
  ])('%s', async (_, command, code, fix) => {
    scene.write('sub/x', '')
    scene.write('plain.sh', SCRIPT)
    scene.write('crlf.sh', '#!/bin/sh\r\nexit 0\r\n', 0o755)
    scene.write('lines.sh', 'exit 0\r\n')
    scene.write('lisp.sh', '#!/opt/none/lisp-9\n', 0o755)
    scene.write('env.sh', '#!/usr/bin/env no-such-lisp\n', 0o755)
    scene.ofUser([command])
    expect(await scene.only(code)).toMatchObject({ severity: 'broken', fix: expect.stringContaining(fix) })
  })

  it('in the home: what to type begins with ~, which no quote holds', async () => {
    scene.writeHome('my hooks/plain.sh', SCRIPT)
    scene.ofUser(['"$HOME/my hooks/plain.sh"'])
    expect(await scene.only('not-executable')).toMatchObject({ fix: "chmod +x ~/'my hooks/plain.sh'" })
  })

  it.each([
    ['python3 "$CLAUDE_PROJECT_DIR"/lines.py'],
    ['node "$CLAUDE_PROJECT_DIR"/tool'],
    ['sh -c "exit 0"'],
    ['sh "$CLAUDE_PROJECT_DIR"/plain.sh'],
    ['"$CLAUDE_PROJECT_DIR"/$NAME.sh'],
    ['cd "$CLAUDE_PROJECT_DIR"/sub && ./in.sh'],
    ['/bin/sh -c true'],
  ])('%s is fine', async (command) => {
    scene.write('lines.py', 'exit(0)\r\n')
    scene.write('tool.js', '')
    scene.write('plain.sh', SCRIPT)
    scene.write('sub/in.sh', SCRIPT, 0o755)
    scene.ofUser([command])
    expect((await scene.codes()).filter((one) => !one.endsWith('program-missing'))).toEqual([])
  })

  it('one that is looked for first, and may be missing', async () => {
    scene.ofUser(['[ -f "$CLAUDE_PROJECT_DIR"/gone.sh ] && sh "$CLAUDE_PROJECT_DIR"/gone.sh'])
    expect(await scene.codes()).toEqual(['warning script-missing'])
  })

  it('one that lies beside the file that names it', async () => {
    scene.writeHome('.amplifier/hooks/near.sh', SCRIPT, 0o755)
    scene.ofUser(['./near.sh'])
    expect((await scene.only('script-missing')).fix).toBe(
      'Write \\"$AMPLIFIER_HOOKS_DIR\\"/near.sh in place of ./near.sh at ~/.amplifier/hooks/hooks.json:7.',
    )
  })

  it('one of a plugin, named from the project', async () => {
    scene.writeHome('.amplifier/hooks/plug/near.sh', SCRIPT, 0o755)
    scene.writeHome('.amplifier/hooks/plug/hooks.json', configured(['./near.sh']))
    expect((await scene.only('script-missing')).fix).toBe(
      `Write \\"\${CLAUDE_PLUGIN_ROOT}\\"/near.sh in place of ./near.sh at ~/.amplifier/hooks/plug/hooks.json:7.`,
    )
  })

  it('one that is found only from the scene.folder of the project', async () => {
    scene.write('tools/a.sh', SCRIPT, 0o755)
    scene.ofUser(['./tools/a.sh'])
    expect(await scene.only('relative-path')).toMatchObject({
      severity: 'warning',
      fix: 'Write \\"$CLAUDE_PROJECT_DIR\\"/tools/a.sh in place of ./tools/a.sh at ~/.amplifier/hooks/hooks.json:7.',
    })
  })

  it('what is to be written is quoted, and shown as it is', async () => {
    scene.write('tools/a;touch x.sh', SCRIPT, 0o755)
    scene.ofUser(["'tools/a;touch x.sh'"])
    expect((await scene.only('relative-path')).fix).toBe(
      `Write \\"$CLAUDE_PROJECT_DIR\\"/'tools/a;touch x.sh' in place of tools/a;touch x.sh at ~/.amplifier/hooks/hooks.json:7.`,
    )
    scene.write('a\nb.sh', SCRIPT)
    scene.ofUser([`"$CLAUDE_PROJECT_DIR"/'a\nb.sh'`])
    expect((await scene.only('not-executable')).text).toMatch(/a⟨U\+000A⟩b\.sh is not executable$/)
  })

  it('no first line where no shell guesses it', async () => {
    scene.write('bare', 'exit 0\n', 0o755)
    scene.ofUser([{ type: 'command', command: `\${CLAUDE_PROJECT_DIR}/bare`, args: [] }])
    expect((await scene.only('interpreter-missing')).fix).toMatch(
      /^Add a first line to .*\/bare: #!\/bin\/sh\.$/,
    )
    scene.ofUser([`"$CLAUDE_PROJECT_DIR"/bare`])
    expect(await scene.codes()).toEqual([])
  })

  it('a carriage return in the command', async () => {
    scene.ofUser(['true\r'])
    expect(await scene.codes()).toContain('broken crlf')
  })

  it('of a process, too', async () => {
    const processes = { gate: { command: ['./gone'], intercept: ['before_tool'] } }
    scene.writeHome('.amplifier/settings.json', { hooks: { processes } })
    expect(await scene.codes()).toContain('broken script-missing')
  })
})

describe('paths with blanks', () => {
  beforeEach(() => {
    scene.folder = join(scene.base, 'my project')
    mkdirSync(scene.folder)
    scene.write('guard.sh', SCRIPT, 0o755)
  })

  it.each([
    ['$CLAUDE_PROJECT_DIR/guard.sh'],
    [`sh \${CLAUDE_PROJECT_DIR}/guard.sh "x"`],
    ['echo \\" $CLAUDE_PROJECT_DIR'],
  ])('%s: a variable without quotes', async (command) => {
    scene.ofUser([command])
    expect(await scene.only('unquoted-path')).toMatchObject({
      severity: 'broken',
      fix: expect.stringContaining('\\"$CLAUDE'),
    })
  })

  it.each([
    ['"$CLAUDE_PROJECT_DIR"/guard.sh'],
    [`"\${CLAUDE_PROJECT_DIR}/guard.sh"`],
    [`DIR=$CLAUDE_PROJECT_DIR; "$DIR"/guard.sh`],
    [`echo '$CLAUDE_PROJECT_DIR'`],
    ['echo "in $CLAUDE_PROJECT_DIR"'],
  ])('%s is fine', async (command) => {
    scene.ofUser([command])
    expect(await scene.codes()).not.toContain('broken unquoted-path')
  })

  it('a path as it is', async () => {
    scene.ofUser([`sh ${scene.folder}/guard.sh`])
    expect((await scene.only('unquoted-path')).text).toContain(JSON.stringify(join(scene.folder, 'guard.sh')))
  })
})

describe('syntax', () => {
  it.each([
    ['sh "$CLAUDE_PROJECT_DIR"/guard.sh', 'if true; then\nfi\n', 'sh cannot read'],
    ['bash "$CLAUDE_PROJECT_DIR"/guard.sh', '[[ x ]]\nif true; then\nfi\n', 'bash cannot read'],
    ['"$CLAUDE_PROJECT_DIR"/guard.sh', '#!/usr/bin/env bash\necho "open\n', 'bash cannot read'],
    ['if true; then', '', 'sh cannot read its command: line 1: '],
  ])('%s: %j', async (command, text, said) => {
    scene.write('guard.sh', text, 0o755)
    scene.ofUser([command])
    const found = await scene.only('script-syntax')
    expect(found).toMatchObject({ severity: 'broken', text: expect.stringContaining(said) })
    expect(found.text).toMatch(/: line \d+: /)
  })

  it('runs nothing, and reads only what is trusted', async () => {
    const ran = join(scene.base, 'ran')
    vi.stubEnv('BASH_ENV', scene.write('env.sh', `touch ${ran}\n`))
    vi.stubEnv('ENV', join(scene.folder, 'env.sh'))
    scene.write('guard.sh', `touch ${ran}\nshopt -s extglob\necho !(a|b) $(touch ${ran})\n`)
    scene.ofUser(['bash "$CLAUDE_PROJECT_DIR"/guard.sh', `sh -c 'touch ${ran}'; touch ${ran}`])
    expect((await scene.findings()).filter(({ code }) => code === 'script-syntax')).toEqual([])
    expect(() => readFileSync(ran)).toThrow('ENOENT')
    scene.write('other.sh', 'if\n')
    scene.ofProject(['sh "$CLAUDE_PROJECT_DIR"/other.sh'])
    expect((await scene.findings()).filter(({ code }) => code === 'script-syntax')).toEqual([])
  })
})

describe('P9: bash syntax that sh runs', () => {
  it('in a command', async () => {
    scene.ofUser(['[[ -f x ]] && exit 2; exit 0'])
    expect(await scene.only('bash-syntax')).toMatchObject({
      text: expect.stringContaining('its command uses [[ … ]], which is bash syntax, but sh runs it'),
      fix: expect.stringMatching(
        /^Add "shell": "bash" to the hook at ~\/\.amplifier\/hooks\/hooks\.json:\d+\.$/,
      ),
    })
  })

  it.each([
    ['', 'in place of sh', 'sh "$CLAUDE_PROJECT_DIR"/guard.sh'],
    ['#!/bin/sh\n', '#!/usr/bin/env bash', '"$CLAUDE_PROJECT_DIR"/guard.sh'],
  ])('in a script', async (first, fix, command) => {
    scene.write('guard.sh', `${first}set -o pipefail\n`, 0o755)
    scene.ofUser([command])
    expect(await scene.only('bash-syntax')).toMatchObject({
      text: expect.stringContaining('guard.sh uses set … pipefail, which is bash'),
      fix: expect.stringContaining(fix),
    })
  })

  it('not where bash runs it', async () => {
    const text = '[[ -f x ]] && exit 2; exit 0'
    scene.write('guard.sh', `#!/usr/bin/env bash\n${text}\n`, 0o755)
    scene.writeHome('.amplifier/hooks/hooks.json', {
      hooks: {
        PreToolUse: [
          {
            hooks: [
              { type: 'command', command: text, shell: 'bash' },
              { type: 'command', command: '"$CLAUDE_PROJECT_DIR"/guard.sh' },
              { type: 'command', command: 'bash "$CLAUDE_PROJECT_DIR"/guard.sh' },
              { type: 'command', command: `bash -c '${text}'` },
            ],
          },
        ],
      },
    })
    expect(await scene.codes()).toEqual([])
  })
})

describe('matchers', () => {
  it.each([
    ['bash', 'warning', 'Write Bash.'],
    ['Wirte|Read', 'warning', 'Write Write|Read.'],
    ['MultiEdit|Edit|edit', 'warning', 'Write MultiEdit|Edit|Edit.'],
    ['mcp__files', 'broken', 'Write mcp__files__.*.'],
    ['^Nothing$', 'warning', 'Write a list such as'],
    ['Skill(prp-execute)', 'warning', 'Write "matcher": "Skill"'],
  ])('%s never matches', async (matcher, severity, fix) => {
    scene.ofUser(['true', 'false'], 'PreToolUse', matcher)
    expect(await scene.only('matcher-never')).toMatchObject({
      severity,
      text: expect.stringContaining('and 1 hook more'),
      fix: expect.stringContaining(fix),
    })
  })

  it('every name of a list is put right at once', async () => {
    scene.ofUser(['true'], 'PreToolUse', 'Wirte|bash')
    expect(await scene.only('matcher-never')).toMatchObject({
      text: expect.stringMatching(/ is called "Wirte" or "bash"; did you mean Write and Bash\?$/),
      fix: 'Write Write|Bash.',
      line: 5,
    })
  })

  it.each([['Bash'], ['Task'], ['.*Edit'], ['mcp__files__.*'], ['mcp__files__read'], ['MyOwnTool'], ['*']])(
    '%s may',
    async (matcher) => {
      scene.ofUser(['true'], 'PreToolUse', matcher)
      expect(await scene.codes()).toEqual([])
    },
  )

  it.each([
    ['SessionStart', 'Startup', 'Write startup.'],
    ['SessionStart', 'new', 'Write a list such as startup|resume|clear|compact|fork'],
    ['PreCompact', 'automatic', 'Write a list such as manual|auto'],
  ])('%s has no %s', async (event, matcher, fix) => {
    scene.ofUser(['true'], event, matcher)
    expect((await scene.only('matcher-never')).fix).toContain(fix)
  })

  it('where there is nothing to match', async () => {
    scene.ofUser(['true'], 'Stop', 'Bash')
    expect(await scene.only('matcher-ignored')).toMatchObject({
      severity: 'note',
      fix: expect.stringContaining('Remove "matcher": "Bash" at ~/.amplifier/hooks/hooks.json:'),
    })
  })
})

describe('duplicates', () => {
  const twice = (a: object, b: object) => {
    scene.writeHome('.amplifier/hooks/hooks.json', a)
    return scene.writeHome('.amplifier/hooks/plug/hooks.json', b)
  }

  it('the same command on the same event, in two files', async () => {
    const file = twice(configured(['cat  -']), configured(['cat -'], 'PreToolUse', 'Bash|Write'))
    expect(await scene.only('duplicate')).toMatchObject({
      severity: 'warning',
      file,
      text: expect.stringContaining('runs twice'),
    })
  })

  it('once where the engine knows that they are the same', async () => {
    scene.writeHome('.amplifier/hooks/hooks.json', configured(['cat -']))
    scene.writeHome('.amplifier/settings.json', configured(['cat -']))
    expect(await scene.only('duplicate')).toMatchObject({
      severity: 'note',
      text: expect.stringContaining('runs once'),
    })
  })

  it.each([
    ['other events', configured(['cat -']), configured(['cat -'], 'PostToolUse')],
    ['other tools', configured(['cat -']), configured(['cat -'], 'PreToolUse', 'Write')],
    [
      'other rules',
      configured([{ type: 'command', command: 'cat -', if: 'Bash(ls)' }]),
      configured(['cat -']),
    ],
  ])('%s: no duplicate', async (_, a, b) => {
    twice(a, b)
    expect(await scene.codes()).toEqual([])
  })

  it('scripts of two plugins that are called alike', async () => {
    for (const name of ['one', 'two']) {
      scene.writeHome(`.amplifier/hooks/${name}/a.sh`, SCRIPT, 0o755)
      scene.writeHome(`.amplifier/hooks/${name}/hooks.json`, configured([`"\${CLAUDE_PLUGIN_ROOT}"/a.sh`]))
    }
    expect(await scene.codes()).toEqual([])
  })

  it.each([
    ['.claude/settings.json', 'Claude Code', 'PreToolUse'],
    ['.claude/settings.local.json', 'Claude Code', 'PreToolUse'],
    ['.codex/hooks.json', 'Codex', 'PreToolUse'],
    ['.gemini/settings.json', 'Gemini CLI', 'BeforeTool'],
    ['.github/hooks/x.json', 'Copilot CLI', 'preToolUse'],
  ])('%s runs it as well', async (file, agent, event) => {
    scene.ofUser(['cat -'])
    scene.write(file, configured(['cat -'], event))
    expect(await scene.only('runs-elsewhere')).toMatchObject({
      severity: 'warning',
      text: expect.stringContaining(`${agent} runs the same command itself`),
    })
  })

  it.each([
    [
      '.claude/settings.json',
      configured(['cat -'], 'PreTooluse'),
      'unknown-event',
      'did you mean PreToolUse?',
    ],
    ['.claude/settings.json', '{ "hooks": { "PreToolUse": [', 'config-invalid', 'Claude Code runs none'],
    ['.gemini/settings.json', '{ "hooks": { "BeforeTool": [', 'config-invalid', 'Gemini CLI runs none'],
  ])('%s has hooks that never run', async (file, text, code, said) => {
    scene.write(file, text)
    expect(await scene.findings()).toMatchObject([
      { severity: 'broken', code, line: expect.any(Number), text: expect.stringContaining(said) },
    ])
  })

  it('not on another event, and not where that file is the one that is looked at', async () => {
    scene.ofUser(['cat -'])
    const file = scene.write('.claude/settings.json', configured(['cat -'], 'PostToolUse'))
    expect(await scene.codes()).toEqual([])
    scene.writeHome('.amplifier/hooks/hooks.json', {})
    const found = await scene.findings({ config: [file] as never[], 'trust-all': true })
    expect(found).toEqual([])
  })

  it('what setup registered in Claude Code, and is gone', async () => {
    const command = `"/opt/none/node" "/opt/none/dist/bin/carabiner.js" hook pre-tool-use`
    scene.writeHome('.claude/settings.json', configured([command]))
    const found = await scene.findings()
    expect(found.map(({ code }) => code)).toContain('registration')
    expect(found.find(({ text }) => text.includes('does not exist'))).toMatchObject({
      severity: 'broken',
      fix: expect.stringContaining('carabiner setup claude-code'),
    })
  })
})

describe('Carabiner in an agent', () => {
  it('an agent that fires MCP calls itself, and has its servers behind the proxy', async () => {
    const script = scene.writeHome('bin/carabiner.js', '')
    const command = `"${process.execPath}" "${script}" fire PreToolUse --as claude-code`
    scene.write('.claude/settings.json', configured([command], 'PreToolUse', '*'))
    const args = [script, 'mcp', '--name', 'files', '--', 'npx', 'files']
    const file = scene.write('.mcp.json', { mcpServers: { files: { command: process.execPath, args } } })
    expect(await scene.only('judged-twice')).toMatchObject({
      severity: 'warning',
      file,
      fix: 'carabiner setup --mcp claude-code --remove',
    })
    // A program of the project only looks like ours.
    const fake = { command: './bin/carabiner', args: args.slice(1) }
    scene.write('.mcp.json', { mcpServers: { files: fake } })
    expect((await scene.findings()).map(({ code }) => code)).not.toContain('judged-twice')
  })

  it('is told if it is only in front of MCP servers', async () => {
    const script = scene.writeHome('bin/carabiner.js', '')
    const args = [script, 'mcp', '--name=files', '--', 'npx', 'files']
    scene.writeHome('.lmstudio/mcp.json', { mcpServers: { files: { command: process.execPath, args } } })
    const agents = (await scene.families()).find(({ name }) => name === 'agents')
    expect(agents?.what).toBe(
      'no other agent asks Carabiner; 1 MCP server of LM Studio is behind carabiner mcp',
    )
  })

  it('the same in a file of TOML', async () => {
    const script = scene.writeHome('bin/carabiner.js', '')
    const command = `"${process.execPath}" "${script}" fire PreToolUse --as codex`
    scene.writeHome('.codex/hooks.json', configured([command], 'PreToolUse', '*'))
    const words = [script, 'mcp', '--name', 'files', '--', 'npx']
    const file = scene.writeHome(
      '.codex/config.toml',
      `[mcp_servers.files]\ncommand = "node"\nargs = ${JSON.stringify(words)}\n`,
    )
    const found = await scene.findings()
    expect(found.filter(({ code }) => code === 'judged-twice')).toMatchObject([
      { severity: 'warning', file, fix: 'carabiner setup --mcp codex --remove' },
    ])
  })

  it('in two files for the same event', async () => {
    const script = scene.write('bin/carabiner.js', '')
    const fire = configured(
      [`"${process.execPath}" "${script}" fire PreToolUse --as claude-code`],
      'PreToolUse',
      '*',
    )
    scene.writeHome('.claude/settings.json', fire)
    const file = scene.write('.claude/settings.json', fire)
    expect(await scene.only('registration')).toMatchObject({
      severity: 'note',
      file,
      line: 9,
      text: expect.stringContaining('it runs equal commands once'),
    })
    const other = `"${process.execPath}" "${script}" fire PreToolUse --as claude-code --timeout 5`
    scene.write('.claude/settings.json', configured([other], 'PreToolUse', '*'))
    expect(await scene.only('registration')).toMatchObject({
      severity: 'warning',
      text: expect.stringContaining('every hook runs twice'),
    })
    scene.write(
      '.claude/settings.json',
      configured([`"${process.execPath}" "${script}" fire Stop --as claude-code`], 'Stop', '*'),
    )
    expect(await scene.codes()).toEqual([])
  })
})

describe('Claude Code', () => {
  const guard = (
    more: object = {},
    command = `"${process.execPath}" "${scene.write('bin/carabiner.js', '')}"`,
  ) => ({
    type: 'command',
    command: `${command} hook pre-tool-use`,
    onFailure: 'block',
    ...more,
  })
  const withGuard = (settings: object = {}) => ({ ...settings, ...configured([guard()], 'PreToolUse', '*') })
  const told = async () =>
    (await scene.findings()).flatMap(({ severity, code, file, line, text }) =>
      text.includes('another copy') ? [] : [{ severity, code, file, line, text }],
    )

  it.each([
    ['.claude/settings.json', 'at all'],
    ['../project/.claude/settings.json', 'in this project'],
    ['../project/.claude/settings.local.json', 'in this project'],
  ])('disableAllHooks in %s is broken, with its line and a fix', async (name, where) => {
    scene.writeHome('.claude/settings.json', withGuard())
    const isHome = name.startsWith('.claude')
    const file = scene.writeHome(
      name,
      isHome ? withGuard({ disableAllHooks: true }) : { disableAllHooks: true },
    )
    expect(await scene.findings()).toMatchObject([
      {
        severity: 'broken',
        code: 'hooks-off',
        file,
        line: 2,
        text: expect.stringContaining(`runs no hook ${where}`),
        fix: expect.stringContaining('Remove "disableAllHooks"'),
      },
    ])
  })

  it('the file nearest to the project decides about disableAllHooks', async () => {
    scene.writeHome('.claude/settings.json', withGuard({ disableAllHooks: true }))
    scene.write('.claude/settings.local.json', { disableAllHooks: false })
    expect(await told()).toEqual([])
    scene.write('.claude/settings.local.json', '{ "disableAllHooks": false, }')
    expect((await told()).map(({ code }) => code)).toContain('hooks-off')
  })

  it('is only noted while there is no hook to run', async () => {
    scene.writeHome('.claude/settings.json', { disableAllHooks: true })
    expect(await scene.only('hooks-off')).toMatchObject({ severity: 'note' })
  })

  it.each([
    ['a matcher of its own', { matcher: 'Bash' }, {}, 'warning', 'guard does not see other calls'],
    ['a matcher that takes nothing', { matcher: 'bash' }, {}, 'broken', 'guard never runs'],
    ['async', {}, { async: true }, 'broken', 'does not wait for its answer'],
    ['a rule', {}, { if: 'Bash(git *)' }, 'warning', 'does not see other calls'],
    ['no onFailure', {}, { onFailure: 'continue' }, 'warning', 'calls go through if it cannot start'],
  ])('a registration that was edited: %s', async (_, group, handler, severity, text) => {
    const settings = { hooks: { PreToolUse: [{ ...group, hooks: [guard(handler)] }] } }
    const file = scene.writeHome('.claude/settings.json', settings)
    expect(await told()).toMatchObject([
      { severity, code: 'registration', file, line: expect.any(Number), text: expect.stringContaining(text) },
    ])
  })

  it('a registration for another event', async () => {
    scene.writeHome('.claude/settings.json', configured([guard()], 'PostToolUse', '*'))
    expect(await told()).toMatchObject([
      { severity: 'broken', text: 'guard is for PreToolUse, but is registered for PostToolUse' },
    ])
  })

  it.each([
    ['"/x/gone/carabiner.js"', 'it names "/x/gone/carabiner.js", which does not exist'],
    ['"/x/gone/other.js"', 'it was edited and names "/x/gone/other.js", which does not exist'],
  ])('a program that is gone blocks every call: %s', async (script, text) => {
    scene.writeHome(
      '.claude/settings.json',
      configured([guard({}, `"${process.execPath}" ${script}`)], 'PreToolUse', '*'),
    )
    const [first] = await told()
    expect(first).toMatchObject({ severity: 'broken', code: 'registration', line: 9 })
    expect(first?.text).toBe(`${text}, so Claude Code blocks every tool call until it is fixed`)
  })

  it('other hooks in its settings that can never run', async () => {
    const file = scene.write('.claude/settings.json', {
      hooks: {
        PreToolUse: [{ matcher: 'bash', hooks: [{ type: 'command', command: 'true' }] }],
        Stop: [{ hooks: [{ type: 'command', command: '"$CLAUDE_PROJECT_DIR"/stop.sh' }] }],
        PostToolUse: [{ hooks: [{ type: 'command', command: 'no-such-program --now' }] }],
      },
    })
    scene.write('stop.sh', SCRIPT)
    const found = await scene.findings()
    expect(found.map(({ severity, code }) => `${severity} ${code}`).toSorted()).toEqual([
      'broken matcher-never',
      'broken not-executable',
      'broken program-missing',
    ])
    expect(found.every((one) => one.file === file && one.line !== undefined)).toBe(true)
  })

  it.each([
    [{ PreToolUse: [{ hooks: [{ type: 'command', command: 'true', timeout: '5' }] }] }, 'the whole file'],
    [{ Stop: [{ hooks: [{ type: 'command', command: 'true', timeout: 0 }] }] }, 'this entry'],
    [{ PreToolUse: [{ matcher: null, hooks: [] }] }, 'the whole file'],
    [{ PermissionRequest: [{ hooks: [{ command: 'true' }] }] }, 'the whole file'],
  ])('entries that it does not accept: %j', async (hooks, what) => {
    scene.write('.claude/settings.json', { hooks })
    expect(await told()).toMatchObject([
      {
        severity: 'broken',
        code: 'entry-invalid',
        text: expect.stringMatching(`Claude Code ignores ${what}$`),
      },
    ])
  })

  it('comments, which it does not accept', async () => {
    scene.write('.claude/settings.json', '{ // mine\n "hooks": {} }')
    expect((await scene.only('config-invalid')).text).toContain('Claude Code ignores the whole file')
  })

  it('says what is registered, in a family of its own', async () => {
    scene.writeHome('.claude/settings.json', withGuard())
    const family = (await scene.families()).find(({ name }) => name === 'claude-code')
    expect(family?.what).toBe('guard registered in ~/.claude/settings.json')
  })
})

it('every code has its row on the page', () => {
  const page = readFileSync(new URL('../../docs/use/doctor.md', import.meta.url), 'utf8')
  expect(FINDING_CODES.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([])
})

it('a check that fails takes no other down', async () => {
  const facts = await scene.facts()
  const families = await examine({ ...facts, specs: undefined as never })
  const failed = families.filter(({ findings: some }) => some.some(({ code }) => code === 'check-failed'))
  expect(failed.map(({ name }) => name)).toContain('programs')
  expect(families.map(({ name }) => name)).toContain('environment')
})
