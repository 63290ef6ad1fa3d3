import { spawn } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ended, Project, programFile, type RunOptions, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const explain = (args: readonly string[], options?: RunOptions) => project.call(['explain', ...args], options)

/** The answer for people, line by line, without indentation. */
const lines = async (args: readonly string[], options?: RunOptions) => {
  const { code, stdout } = await explain(args, options)
  expect(code).toBe(0)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim())
}

describe('who would run', () => {
  it('in which order, from where, and what; who would not, and why', async () => {
    for (const name of ['a.sh', 'b.sh']) project.file(name, '#!/bin/sh\n', 0o755)
    project.hooks({
      PreToolUse: [
        ['Bash', './a.sh', './b.sh'],
        ['Write', './c.sh'],
      ],
    })
    const { code, stdout, stderr } = await explain(['PreToolUse', '--tool', 'Bash', '--trust-all'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe(`PreToolUse  tool_name "Bash"
would run, hooks with the same number at once
  1  project:PreToolUse#1  .amplifier/hooks/hooks.json:7
      ./a.sh
      --trust-all, for Bash, 30 s, if it fails: go on
  1  project:PreToolUse#2  .amplifier/hooks/hooks.json:11
      ./b.sh
      --trust-all, for Bash, 30 s, if it fails: go on
would not run
  matcher  project:PreToolUse#3  .amplifier/hooks/hooks.json:20
      matcher "Write" does not match tool_name "Bash"
what could happen
  deny    the tool does not run; the reason goes to the model
  failure of any hook is reported, and the event goes on ("onFailure": "block" would deny instead)
  change  project:PreToolUse#1, project:PreToolUse#2 could change tool_input; within one step, the last in this order wins
  ask     if a hook asks: a person (through the agent or carabiner approvals)
  at most 30 s; context: 10240 bytes each, 10000 tokens a turn
`)
  })

  it('hooks of a sequential group one after another', async () => {
    const hooks = ['a', 'b'].map((command) => ({ type: 'command', command }))
    project.file('.amplifier/hooks/hooks.json', { hooks: { Stop: [{ sequential: true, hooks }] } })
    const told = await lines(['Stop', '--trust-all'])
    expect(told).toContainEqual(expect.stringMatching(/^1 +project:Stop#1/))
    expect(told).toContainEqual(expect.stringMatching(/^then +project:Stop#2/))
  })

  it('not one that cannot start: it would fail', async () => {
    project.hooks({ Stop: [['', './gone.sh', 'true']] })
    const told = await lines(['Stop', '--trust-all'])
    const at = (line: RegExp) => told.findIndex((one) => line.test(one))
    expect(at(/^would run/)).toBeLessThan(at(/project:Stop#2/))
    expect(at(/project:Stop#2/)).toBeLessThan(at(/^would fail$/))
    expect(at(/^would fail$/)).toBe(at(/project:Stop#1/) - 1)
  })

  it('says that Claude Code also asks the guard, and how to ask it', async () => {
    await project.call(['setup', 'claude-code', '--only', 'guard'])
    const { stdout } = await explain(['PreToolUse', '--tool', 'Bash', '--input', '{"command":"ls -l"}'])
    expect(stdout).toContain(`
Claude Code also asks the guard, which is not asked here. Ask it: carabiner hook pre-tool-use
next echo '{"tool_name":"Bash","tool_input":{"command":"ls -l"}}' | carabiner hook pre-tool-use
nothing else would run: there are no hooks here; `)
    const asJson = await explain(['PreToolUse', '--tool', 'Bash', '--json'])
    expect(JSON.parse(asJson.stdout)).toMatchObject({ packHooks: [{ name: 'guard', hook: 'pre-tool-use' }] })
    expect((await explain(['Stop'])).stdout).not.toContain('Claude Code')
  })

  it('runs nothing', async () => {
    project.hooks({ PreToolUse: [['Bash', 'touch ran']] })
    await explain(['PreToolUse', '--tool', 'Bash', '--trust-all'])
    expect(project.has('ran')).toBe(false)
  })

  it('takes the input of the call, and a payload', async () => {
    project.hooks({ PreToolUse: [['Bash', 'true']], SessionStart: [['resume', 'true']] })
    const bash = await lines(['tool:pre', '--tool', 'Bash', '--input', '{"command":"ls"}', '--trust-all'])
    expect(bash).toContain('would run')
    const input = { hook_event_name: 'SessionStart', source: 'resume' }
    expect(await lines(['--payload', '-', '--trust-all'], { input })).toContain('would run')
  })

  it('does not wait for a standard input that nobody asked for', async () => {
    project.hooks({ Stop: [['', 'a']] })
    const child = spawn(process.execPath, [programFile(), 'explain', 'Stop'], {
      cwd: project.folder,
      env: project.env(),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const { code } = await ended(child)
    expect(code).toBe(0)
  })

  it('as JSON: the plan and the diagnostics', async () => {
    project.hooks({ PreToolUse: [['Bash', 'a']] })
    const { stdout } = await explain(['PreToolUse', '--tool', 'Bash', '--trust-all', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      event: 'PreToolUse',
      steps: [{ priority: 20, lanes: [['project:PreToolUse#1']] }],
      candidates: [
        {
          name: 'project:PreToolUse#1',
          matched: true,
          state: 'ready',
          standing: '--trust-all',
          matcher: 'Bash',
          timeout: 30,
          onFailure: 'continue',
          closes: false,
          async: false,
          command: 'a',
        },
      ],
      payload: { tool_name: 'Bash' },
      forecast: { deny: expect.any(String), longest: 30, caps: [expect.any(String)] },
      diagnostics: [],
    })
  })
})

describe('what could happen', () => {
  const user = (hooks: object) => project.file('../home/.amplifier/hooks/hooks.json', { hooks })
  const handlers = (...hooks: readonly object[]) => [
    { hooks: hooks.map((one) => ({ type: 'command', ...one })) },
  ]
  const forecast = async (args: readonly string[]) =>
    JSON.parse((await explain([...args, '--json'])).stdout).forecast

  it('who closes the gate by failing, and whose deny comes too late', async () => {
    user({
      PreToolUse: handlers(
        { command: 'a', onFailure: 'block', timeout: 10 },
        { command: 'b', timeout: 7 },
        { command: 'c', async: true, timeout: 60 },
      ),
    })
    const { deny, failure, change, longest } = await forecast(['PreToolUse', '--tool', 'Bash'])
    expect(deny).toContain('a deny from user:PreToolUse#3 comes too late (async)')
    expect(failure).toBe(
      'of user:PreToolUse#1 counts as a deny; a failure of the others is reported, and the event goes on',
    )
    expect(change).toContain('user:PreToolUse#1, user:PreToolUse#2 could change tool_input')
    expect(longest).toBe(10)
    const told = await lines(['PreToolUse', '--tool', 'Bash'])
    expect(told).toContain('yours, 10 s, if it fails: deny')
    expect(told).toContain('yours, async, 60 s')
  })

  it('one after another it takes the sum', async () => {
    const hooks = ['a', 'b'].map((command) => ({ type: 'command', command, timeout: 4 }))
    user({ Stop: [{ sequential: true, hooks }] })
    const { longest, caps, ask, deny } = await forecast(['Stop'])
    expect(longest).toBe(8)
    expect(caps[0]).toContain('Stop can be refused 8 times')
    expect(ask).toContain('a hook cannot ask on this event')
    expect(deny).toContain('the agent goes on')
  })

  it('an event that cannot be denied, and cannot be changed', async () => {
    user({ SessionEnd: handlers({ command: 'a' }) })
    const { deny, change } = await forecast(['SessionEnd', '--example'])
    expect([deny, change]).toEqual([
      'has no effect: nothing can be denied on SessionEnd; the deny is reported',
      'no hook could change it',
    ])
  })

  it('who is asked before a person', async () => {
    user({ PreToolUse: handlers({ command: 'a' }), PermissionRequest: handlers({ command: 'b' }) })
    const { ask } = await forecast(['PreToolUse', '--tool', 'Bash'])
    expect(ask).toContain('1 PermissionRequest hook first, then a person')
  })

  it('which of two that are the same runs', async () => {
    user({ Stop: handlers({ command: 'a' }, { command: 'a' }) })
    const told = await lines(['Stop'])
    expect(told).toContain('yours, 30 s, if it fails: go on, the same as user:Stop#2')
    expect(told).toContainEqual(expect.stringMatching(/^duplicate +user:Stop#2/))
  })

  it('--example fills in what was not given', async () => {
    user({ PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'a', if: 'Bash(ls)' }] }] })
    expect(await lines(['PreToolUse', '--example'])).toContain(
      'yours, for Bash, if Bash(ls), 30 s, if it fails: go on',
    )
  })
})

describe('why did my hook not run', () => {
  const answer = async (args: readonly string[], options?: RunOptions) => {
    const told = await lines(args, options)
    const at = told.findIndex((line) => line.startsWith('it would '))
    expect(at).toBeGreaterThanOrEqual(0)
    return { text: told[at], rest: told.slice(at + 1) }
  }
  /** What was said to be typed next. */
  const again = (next = '') => {
    const typed = next.replace('next ', '').replace('carabiner', '"$0" "$1"')
    return project.run('sh', ['-c', typed, process.execPath, programFile()])
  }

  it('nobody trusted it', async () => {
    project.hooks({ PreToolUse: [['Bash', 'cat']] })
    const { text, rest } = await answer(['PreToolUse', '--tool', 'Bash', '--hook', 'PreToolUse#1'])
    expect(text).toContain('it would not run: it came with the project, and you have not trusted it')
    expect(rest).toEqual(['next carabiner trust project'])
  })

  it('it is for another event; that event by itself', async () => {
    project.hooks({ Stop: [['', 'true']] })
    const { text, rest } = await answer(['PreToolUse', '--hook', 'project:Stop#1', '--trust-all'])
    expect(text).toBe('it would not run: it listens to Stop, not to PreToolUse')
    expect(rest).toEqual([`next carabiner explain Stop --hook 'project:Stop#1' --trust-all`])
    expect((await answer(['--hook', 'project:Stop#1', '--trust-all'])).text).toBe(
      'it would run, in step 1 of 1',
    )
  })

  it('its matcher, its tool', async () => {
    project.hooks({ PreToolUse: [['Wirte', 'true']] })
    const given = await answer(['PreToolUse', '--tool', 'Write', '--hook', 'PreToolUse#1', '--trust-all'])
    expect(given.text).toContain('it has Wirte, not Write')
    expect(given.rest).toEqual(['next Correct the matcher at .amplifier/hooks/hooks.json:5'])
    const none = await answer(['--hook', 'PreToolUse#1', '--trust-all'])
    expect(none.rest).toEqual([
      `next carabiner explain PreToolUse --tool Wirte --hook 'project:PreToolUse#1' --trust-all`,
    ])
  })

  it.each([
    ['Write', 'Write'],
    ['^(Edit|Write)$', 'Edit'],
    ['mcp__.*__write', 'mcp__x__write'],
  ])('it is for other tools, %s: the same about one of them', async (matcher, tool) => {
    project.hooks({ PreToolUse: [[matcher, 'true']] })
    const { text, rest } = await answer([
      'PreToolUse',
      '--tool',
      'Bash',
      '--hook',
      'PreToolUse#1',
      '--trust-all',
    ])
    expect(text).toBe(`it would not run: matcher ${JSON.stringify(matcher)} does not match tool_name "Bash"`)
    expect(rest).toEqual([
      `next carabiner explain PreToolUse --tool ${tool} --hook 'project:PreToolUse#1' --trust-all`,
      'next Change the matcher at .amplifier/hooks/hooks.json:5, if it should match Bash too',
    ])
    expect((await again(rest[0])).stdout).toContain('it would run')
  })

  it('it is for another start of a session', async () => {
    project.hooks({ SessionStart: [['resume', 'true']] })
    const { rest } = await answer(['SessionStart', '--hook', 'SessionStart#1', '--trust-all'])
    expect(rest[0]).toBe(
      `next echo '{"source":"resume"}' | carabiner explain SessionStart --payload - --hook 'project:SessionStart#1' --trust-all`,
    )
    expect((await again(rest[0])).stdout).toContain('it would run')
  })

  it.each([
    ['Bash(git push:*)', 'Bash', '{"command":"git push"}', { command: 'ls' }],
    ['WebFetch(domain:example.com)', 'WebFetch', '{"url":"https://example.com/"}', { url: 'http://b.c/' }],
  ])('its rule %s is for other calls: the same about one of them', async (rule, tool, input, other) => {
    const handler = { type: 'command', command: 'true', if: rule }
    project.file('.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [{ hooks: [handler] }] } })
    const asked = ['PreToolUse', '--tool', tool, '--hook', 'PreToolUse#1', '--trust-all']
    const next = `next carabiner explain PreToolUse --tool ${tool} --input '${input}' --hook 'project:PreToolUse#1' --trust-all`
    const unsaid = await answer(asked)
    expect(unsaid.text).toBe(
      `it would run, in step 1 of 1, but only if the call fits "if": "${rule}"; no --input was given`,
    )
    expect(unsaid.rest).toEqual([next])
    const no = await answer([...asked, '--input', JSON.stringify(other)])
    expect(no.text).toBe(`it would not run: "if": "${rule}" is not for this call of ${tool}`)
    expect(no.rest).toEqual([
      next,
      'next Change "if" at .amplifier/hooks/hooks.json:6, if it should cover this call too',
    ])
    expect((await again(next)).stdout).toContain('it would run, in step 1 of 1\n')
  })

  it('its rule is for every call of its tool', async () => {
    const handler = { type: 'command', command: 'true', if: 'Bash' }
    project.file('.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [{ hooks: [handler] }] } })
    const asked = ['--hook', 'PreToolUse#1', '--trust-all', '--tool']
    expect((await answer([...asked, 'Bash'])).text).toBe('it would run, in step 1 of 1')
    expect((await answer([...asked, 'Write'])).rest).toEqual([
      'next Change "if" at .amplifier/hooks/hooks.json:6, if it should cover this call too',
    ])
  })

  it('it has a rule where none can hold', async () => {
    const handler = { type: 'command', command: 'true', if: 'Bash(ls)' }
    project.file('.amplifier/hooks/hooks.json', { hooks: { Stop: [{ hooks: [handler] }] } })
    const { text, rest } = await answer(['--hook', 'Stop#1', '--trust-all'])
    expect(text).toContain('"if" is for tool events')
    expect(rest).toEqual(['next Take "if" out of the hook at .amplifier/hooks/hooks.json:6'])
  })

  it('it listens to another event: one that can be asked about', async () => {
    project.file('.amplifier/hooks/hooks.json', {
      processes: { spy: { command: ['true'], observe: ['turn_end'] } },
    })
    const { text, rest } = await answer(['PreToolUse', '--hook', 'spy', '--trust-all'])
    expect(text).toContain('it listens to turn_end,')
    expect((await again(rest[0])).stdout).toContain('it would run, as an observer')
  })

  it('a setting; a switch', async () => {
    project.hooks({ Stop: [['', 'true']] })
    const file = project.file('../home/.amplifier/settings.json', { hooks: { enabled: false } })
    const { text, rest } = await answer(['--hook', 'Stop#1', '--trust-all'])
    expect(text).toContain(`"enabled": false in ${file}:3`)
    expect(rest).toEqual([
      'next Remove "enabled": false from ~/.amplifier/settings.json:3 if you want the hook',
    ])
  })

  it('another that is the same runs', async () => {
    project.hooks({ Stop: [['', 'true', 'true']] })
    const { text, rest } = await answer(['--hook', 'Stop#2', '--trust-all'])
    expect(text).toBe(
      'it would not run: project:Stop#1 runs the same command for this event, and it runs only once',
    )
    expect(rest).toEqual(['next carabiner doctor --trust-all'])
  })

  it('it would fail: what to put right', async () => {
    project.hooks({ Stop: [['', '"$CLAUDE_PROJECT_DIR"/guard.sh']] })
    project.file('guard.sh', '#!/bin/sh\n')
    const { text, rest } = await answer(['--hook', 'Stop#1', '--trust-all'])
    expect(text).toBe('it would be started, in step 1 of 1, and fail: guard.sh is not executable')
    expect(rest).toEqual(['next chmod +x guard.sh   # then, if you trusted it: carabiner trust --mine'])
  })

  it('it waits for trust, whatever tool is meant', async () => {
    project.hooks({ PreToolUse: [['Bash', 'true']] })
    const { text, rest } = await answer(['--hook', 'PreToolUse#1'])
    expect(text).toMatch(/^it would not run: it came with the project, and you have not trusted it/)
    expect(rest).toEqual(['next carabiner trust project'])
  })

  it('everything is bypassed', async () => {
    project.hooks({ Stop: [['', 'true']] })
    const { rest } = await answer(['--hook', 'Stop#1', '--trust-all'], { env: { CARABINER_OFF: '1' } })
    expect(rest).toEqual(['next unset CARABINER_OFF'])
  })

  it('what is on record, and what to type to see it run', async () => {
    project.hooks({ PreToolUse: [['Bash', 'cat > /dev/null; exit 2']] })
    await project.call(['fire', 'PreToolUse', '--trust-all'], {
      input: { tool_name: 'Bash', tool_input: { command: 'ls' } },
    })
    const { text, rest } = await answer(['--hook', 'PreToolUse#1', '--tool', 'Bash', '--trust-all'])
    expect(text).toBe('it would run, in step 1 of 1')
    expect(rest[0]).toMatch(/^last on record: 2\S+ \S+ PreToolUse, ran, deny \(entry 1\)$/)
    expect((await again(rest[1])).code).toBe(2)
  })

  it.each([
    ['project:Stap#1', 'There is no hook project:Stap#1; did you mean project:Stop#1?'],
    ['Stap#1', 'There is no hook Stap#1; did you mean Stop#1?'],
    ['nothing-like-it', 'There is no hook nothing-like-it'],
    ['project', '2 hooks are called project'],
  ])('%s', async (name, expected) => {
    project.hooks({ Stop: [['', 'a', 'b']] })
    const { code, stderr } = await explain(['--hook', name])
    expect(code).toBe(1)
    expect(stderr).toContain(expected)
  })

  it('as JSON', async () => {
    project.hooks({ Stop: [['', 'true']] })
    const { stdout } = await explain(['--hook', 'Stop#1', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      event: 'Stop',
      hook: { hook: 'project:Stop#1', runs: false, next: ['carabiner trust project'] },
    })
  })
})

describe('why nothing would run', () => {
  const why = async (args: readonly string[], options?: RunOptions) => {
    const told = await lines(args, options)
    const at = told.findIndex((line) => line.startsWith('nothing would run: '))
    expect(at).toBeGreaterThanOrEqual(0)
    return { reason: told[at]?.slice('nothing would run: '.length), next: told.slice(at + 1) }
  }

  it('nobody trusted it: what it runs, and what to type', async () => {
    project.hooks({ PreToolUse: [['Bash', './guard.sh']] })
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toBe('1 hook would run, but came with the project, and you have not trusted it')
    expect(next).toEqual([
      'next carabiner trust project   # shows what it runs, and asks; or, just for this call:',
      'next carabiner explain PreToolUse --tool Bash --trust-all',
    ])
    expect(await lines(['PreToolUse', '--tool', 'Bash'])).toContain('./guard.sh')
  })

  it.each([
    ['Bash', 'bash', 'case matters; write Bash|bash, or name the tool Bash if the agent is yours'],
    ['Bash', 'run_shell_command', "run_shell_command may be the agent's name for Bash; write Bash|run_shell"],
    ['Edit', 'MultiEdit', 'write Edit|MultiEdit, or the pattern .*Edit.*'],
    ['mcp__files', 'mcp__files__write', 'the pattern mcp__files__.*'],
    ['Wirte|Read', 'Write', 'it has Wirte, not Write'],
  ])('the matcher %s nearly takes %s', async (matcher, tool, expected) => {
    project.hooks({ PreToolUse: [[matcher, 'a']] })
    const { reason, next } = await why(['PreToolUse', '--tool', tool])
    expect(reason).toContain('project:PreToolUse#1 nearly matches')
    expect(reason).toContain(expected)
    expect(next).toEqual(['next Correct the matcher at .amplifier/hooks/hooks.json:5'])
  })

  it('no matcher takes the tool', async () => {
    project.hooks({ PreToolUse: [['Write|Edit', 'a']] })
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toBe('no matcher matches tool_name "Bash"; the matchers are "Write|Edit"')
    expect(next).toEqual(['next carabiner explain PreToolUse --tool Write'])
  })

  it('no tool was given', async () => {
    project.hooks({ PreToolUse: [['Bash', 'a']] })
    const { reason, next } = await why(['PreToolUse'])
    expect(reason).toContain('which hooks run depends on tool_name, and none was given')
    expect(next).toEqual(['next carabiner explain PreToolUse --tool Bash'])
  })

  it('it is switched off', async () => {
    project.hooks({ Stop: [['', 'a']] })
    project.file('../home/.amplifier/settings.json', { hooks: { allow_project_hooks: false } })
    const { reason, next } = await why(['Stop'])
    expect(reason).toContain('"allow_project_hooks": false')
    expect(reason).toContain('settings.json:3')
    expect(next).toEqual([
      'next Remove "allow_project_hooks": false from ~/.amplifier/settings.json:3 if you want the hook',
    ])
  })

  it('it is switched off, for a reason that names other commands', async () => {
    project.file('../home/.amplifier/hooks/hooks.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'a' }] }] },
    })
    const because = '; to undo it, run carabiner enable other "enabled": false in /etc/passwd:1'
    await project.call(['disable', 'user', '--reason', because])
    expect((await why(['Stop'])).next).toEqual(['next carabiner enable user --here'])
    const { stdout } = await project.call(['explain', 'Stop', '--hook', 'user:Stop#1', '--json'])
    expect(JSON.parse(stdout).hook.next).toEqual(['carabiner enable user --here'])
  })

  it('there is no such event', async () => {
    const { reason, next } = await why(['PreToolUes'])
    expect(reason).toContain('there is no event "PreToolUes"')
    expect(next).toEqual(['next carabiner explain PreToolUse'])
  })

  it('the event is misspelt in the file', async () => {
    project.hooks({ PreTooluse: [['Bash', 'a']] })
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toContain('there is no event "PreTooluse"')
    expect(next).toEqual(['next Correct .amplifier/hooks/hooks.json:3'])
  })

  it('the file is broken', async () => {
    project.file('.amplifier/hooks/hooks.json', '{\n"hooks": oops\n}')
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toContain('is not valid JSON')
    expect(next).toEqual(['next Correct .amplifier/hooks/hooks.json:2'])
  })

  it('the hooks are for other events', async () => {
    project.hooks({ Stop: [['', 'a', 'b']] })
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toBe('none of the 2 hooks listens to PreToolUse; they listen to Stop (2)')
    expect(next).toEqual(['next carabiner explain Stop'])
  })

  it('nothing was found: where it was looked for', async () => {
    const { reason } = await why(['PreToolUse'])
    expect(reason).toContain(
      '.amplifier/hooks/hooks.json, .amplifier/hooks/*/hooks.json, .amplifier/settings.json',
    )
    expect(reason).toContain('~/.amplifier/hooks/hooks.json')
  })

  it('the project around the repository has hooks: they count, and what is said trusts them', async () => {
    project.hooks({ Stop: [['', 'true']] })
    project.file('inner/.git/HEAD', '')
    const inside = { cwd: project.path('inner') }
    const { next, reason } = await why(['Stop'], inside)
    expect(reason).toContain('1 hook would run, but came with the project')
    expect(next[0]).toMatch(/^next carabiner trust project {3}#/)
    expect((await project.call(['trust', 'project', '--yes'], inside)).code).toBe(0)
    expect((await lines(['Stop'], inside)).slice(1, 3)).toEqual([
      expect.stringContaining('would run'),
      expect.stringMatching(/^1 +project:Stop#1/),
    ])
  })

  it('everything is bypassed', async () => {
    project.hooks({ Stop: [['', 'a']] })
    const { reason, next } = await why(['Stop', '--trust-all'], { env: { CARABINER_OFF: '1' } })
    expect(reason).toContain('CARABINER_OFF=1 is set')
    expect(next).toEqual(['next unset CARABINER_OFF'])
  })

  it('what to type carries over where to look', async () => {
    project.file("it's/hooks.json", { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } })
    const { next } = await why(['Stop', '--config', "it's/hooks.json"])
    expect(next[1]).toBe(`next carabiner explain Stop --config 'it'\\''s/hooks.json' --trust-all`)
    const typed = (next[1] ?? '').replace('next carabiner', '"$0" "$1"')
    const again = await project.run('sh', ['-c', typed, process.execPath, programFile()])
    expect(again.stdout).toContain('would run')
  })

  it('as JSON, too', async () => {
    const { stdout } = await explain(['Stop', '--json'])
    expect(JSON.parse(stdout).advice).toMatchObject({
      reason: expect.stringContaining('there are no hooks here'),
    })
  })
})

describe('what is refused', () => {
  it.each([
    ['no event', [], 'Which event?'],
    ['an input that is no JSON', ['PreToolUse', '--input', 'ls'], '--input must be a JSON object'],
    ['an input that is no object', ['PreToolUse', '--input', '[]'], '--input must be a JSON object'],
  ])('%s', async (_, args, expected) => {
    const { code, stdout, stderr } = await explain(args)
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toContain(expected)
  })

  it('a payload with a field of the wrong type', async () => {
    const { code, stderr } = await explain(['Stop', '--payload', '-'], { input: { cwd: 7 } })
    expect(code).toBe(1)
    expect(stderr).toContain('cwd must be a string')
  })
})
