import { symlinkSync, unlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scriptsChanged } from '../../src/trust/changes.js'
import { runPlace } from '../../src/trust/copies.js'
import type { UnitHook } from '../../src/trust/unit.js'
import { hook, later, type Project, project, trusted } from './hostile-project.js'

/** The files below the project that a hooks file with this command names. */
function named({ store, file, dir }: Project, command: string, more: Partial<UnitHook> = {}) {
  const { scripts, absent, notes, problems, programs, missing } = store.look(file([hook(command, more)]))
  const short = (path: string) => (path.startsWith(dir) ? path.slice(dir.length + 1) : path)
  return {
    scripts: scripts.map(({ path }) => short(path)),
    absent: absent.map(short),
    notes: notes.map(({ text }) => text),
    programs: [...Object.keys(programs), ...missing].sort(),
    problems,
  }
}

function withScripts(): Project {
  const place = project()
  for (const path of ['scripts/a.sh', 'scripts/b c.py', 'run', '.amplifier/beside.sh', 'sub/deep.sh']) {
    place.write(path, 'echo reviewed\n')
  }
  return place
}

it('a word with quotes in it is one word: nothing is looked for behind the quote', () => {
  const place = withScripts()
  for (const command of ['"$CLAUDE_PROJECT_DIR"/scripts/a.sh', 'sh "$CLAUDE_PROJECT_DIR"/scripts/a.sh']) {
    expect(named(place, command)).toMatchObject({ scripts: ['scripts/a.sh'], absent: [] })
  }
})

describe('files that a command names', () => {
  const D = '$CLAUDE_PROJECT_DIR'
  const commands: Readonly<Record<string, readonly string[]>> = {
    'scripts/a.sh': ['scripts/a.sh'],
    './scripts/a.sh --fast': ['scripts/a.sh'],
    'bash scripts/a.sh': ['scripts/a.sh'],
    'bash run': ['run'],
    [`"${D}"/scripts/a.sh`]: ['scripts/a.sh'],
    [`"${D}/scripts/a.sh"`]: ['scripts/a.sh'],
    [`${D}/scripts/a.sh`]: ['scripts/a.sh'],
    '"${CLAUDE_PROJECT_DIR}/scripts/a.sh" && sh "$AMPLIFIER_PROJECT_DIR/run"': ['run', 'scripts/a.sh'],
    '"${CLAUDE_PROJECT_DIR:-.}/scripts/a.sh"': ['scripts/a.sh'],
    '"$AMPLIFIER_HOOKS_DIR/beside.sh"': ['.amplifier/beside.sh'],
    "python3 'scripts/b c.py'": ['scripts/b c.py'],
    [`sudo env X=1 sh -c 'timeout 5 python3 "${D}/scripts/b c.py"'`]: ['scripts/b c.py'],
    'cd sub && ./deep.sh': ['sub/deep.sh'],
    [`cd "${D}/sub" && sh deep.sh`]: ['sub/deep.sh'],
    'sh < scripts/a.sh': ['scripts/a.sh'],
    'BASH_ENV=scripts/a.sh bash -c true': ['scripts/a.sh'],
    'node -e "require(\'./scripts/a.sh\')"': ['scripts/a.sh'],
    'node --require=./scripts/a.sh x': ['scripts/a.sh'],
    'if true; then . scripts/a.sh; fi': ['scripts/a.sh'],
    'echo $(sh scripts/a.sh)': ['scripts/a.sh'],
    'jq . >> run': [],
    'jq . > "scripts/a.sh" 2>&1': [],
    'jq . | tee -a run': [],
    'tee run <scripts/a.sh; sh run >scripts/a.sh': ['run', 'scripts/a.sh'],
    'exec 3<>scripts/a.sh': ['scripts/a.sh'],
    'cat scripts': [],
    'echo done': [],
    '/bin/sh -c true': [],
    'cat /proc/version /dev/null': [],
  }

  it.each(Object.entries(commands))('%s', (command, scripts) => {
    expect(named(withScripts(), command)).toMatchObject({ scripts, problems: [] })
  })

  it('in the exec form are the program and each argument', () => {
    const place = withScripts()
    expect(named(place, 'python3', { args: ['scripts/b c.py', '--x'] }).scripts).toEqual(['scripts/b c.py'])
    const spread = { args: ['-c', 'exec "$' + '{CLAUDE_PROJECT_DIR}/run"', `it's`] }
    expect(named(place, './scripts/a.sh', spread).scripts).toEqual(['scripts/a.sh'])
    expect(named(place, 'sh', spread).scripts).toEqual(['run'])
  })

  it('are remembered too where there is none yet', () => {
    const place = withScripts()
    expect(named(place, `sh "${D}/later.sh"; perl scripts/new.pl; bash build -x; echo hello`).absent).toEqual(
      [...['build', 'later.sh', 'scripts/new.pl']],
    )
  })

  it('are said to be unseen where only the shell knows them', () => {
    const place = withScripts()
    expect(named(place, 'bash "$SCRIPT"').notes.join()).toContain('$SCRIPT')
    expect(named(place, '$TOOL x').notes).toEqual([
      'Not everything it runs is visible: the command in $TOOL is only known at run time.',
    ])
    expect(named(place, 'python3 scripts/$NAME.py').notes).toEqual([
      'Only the shell knows which file "scripts/$NAME.py" is.',
    ])
    expect(named(place, 'Get-Item x', { shell: 'powershell' }).notes.join()).toContain('PowerShell')
    expect(named(place, `"${D}"/run && echo "$HOME" | jq -r .x`).notes).toEqual([])
  })

  it('in a plugin are in its copy where a variable leads there, and are not where the project does', () => {
    const { store, plugin, dir, write } = withScripts()
    write('plugins/other.sh', '')
    const commands = [
      ...[
        '"$CLAUDE_PLUGIN_ROOT"/check.sh',
        '$AMPLIFIER_HOOKS_DIR/guard/check.sh',
        'cd $CLAUDE_PLUGIN_ROOT && sh lib/rules.sh',
      ],
      ...['sh plugins/guard/lib/rules.sh', '$AMPLIFIER_HOOKS_DIR/other.sh'],
    ]
    const review = store.look(
      plugin(
        undefined,
        commands.map((command) => hook(command)),
      ),
    )
    expect(review.scripts.map(({ path }) => path)).toEqual([join(dir, 'plugins/guard/lib/rules.sh')])
    expect(review.notes.map(({ text }) => text)).toEqual([
      `It names "${dir}/plugins/guard/lib/rules.sh" in the project, so this file runs instead of its copy.`,
      `It names "${dir}/plugins/other.sh", which is outside the folder, so the copy will not find it.`,
    ])
  })

  it('of a skill are in its copy', () => {
    const { store, plugin } = withScripts()
    const unit = plugin(undefined, [hook('./check.sh'), hook('$CLAUDE_SKILL_DIR/lib/rules.sh')])
    expect(store.look({ ...unit, hooksDir: unit.path })).toMatchObject({ scripts: [], absent: [], notes: [] })
  })

  it('are no programs that PATH has to find', () => {
    expect(named(withScripts(), 'bash run; . lib.sh; sh -c jq').programs).toEqual(['bash', 'jq', 'sh'])
  })

  it('do not come from hooks that run no command', () => {
    expect(named(withScripts(), 'scripts/a.sh', { type: 'prompt' }).scripts).toEqual([])
  })

  it('may be in the home folder', () => {
    expect(named(project(), 'sh ~/no-such-script.sh').absent).toEqual([join(homedir(), 'no-such-script.sh')])
  })
})

describe('a file of hooks', () => {
  const attacks: Readonly<Record<string, readonly [(place: Project) => unknown, string]>> = {
    'its script was changed': [
      ({ write }) => write('scripts/a.sh', 'evil'),
      'scripts/a.sh" was changed since',
    ],
    'its script became executable': [
      ({ write }) => write('scripts/a.sh', 'echo reviewed\n', 0o755),
      'became executable',
    ],
    'its script became a link': [
      ({ dir, write }) => {
        write('evil.sh', 'evil')
        unlinkSync(join(dir, 'scripts/a.sh'))
        symlinkSync('../evil.sh', join(dir, 'scripts/a.sh'))
      },
      'scripts/a.sh" was changed since',
    ],
    'a script appeared': [({ write }) => write('later.sh', ''), 'later.sh" appeared since it was trusted'],
  }

  it.each(Object.entries(attacks))('is modified when %s', (_, [attack, why]) => {
    const place = withScripts()
    const { store, file } = place
    const unit = file([hook('sh scripts/a.sh; sh later.sh')])
    const record = later(() => trusted(store, unit))
    expect(later(() => store.standingOf(unit))).toEqual({ state: 'trusted', record, copy: undefined })
    expect(scriptsChanged(record)).toBeUndefined()
    attack(place)
    expect(store.standingOf(unit)).toMatchObject({ state: 'modified', why: expect.stringContaining(why) })
    expect(scriptsChanged(record)).toContain(why)
  })

  it('is not modified by other keys of the file', () => {
    const { store, file, write } = withScripts()
    const unit = file([hook('sh scripts/a.sh')])
    trusted(store, unit)
    write('.amplifier/hooks.json', '{"permissions": 1}')
    expect(store.standingOf(unit).state).toBe('trusted')
  })

  it('does not run a script of the same name in another folder', () => {
    const { store, file, write, dir } = withScripts()
    const record = trusted(store, file([hook('sh scripts/a.sh; sh later.sh')]))
    expect(scriptsChanged(record, join(dir, 'sub'))).toBeUndefined()
    write('sub/scripts/a.sh', 'echo reviewed\n')
    expect(scriptsChanged(record, join(dir, 'sub'))).toBeUndefined()
    write('sub/scripts/a.sh', 'evil')
    expect(scriptsChanged(record, join(dir, 'sub'))).toContain('"scripts/a.sh" means ')
    write('other/later.sh', 'evil')
    expect(scriptsChanged(record, join(dir, 'other'))).toContain('"later.sh" means ')
  })

  it('stays where it is', () => {
    const { store, file, dir } = withScripts()
    const unit = file([hook('sh run')])
    trusted(store, unit)
    const place = { projectDir: dir, hooksDir: join(dir, '.amplifier') }
    expect(runPlace(store.standingOf(unit), place)).toBe(place)
  })
})

describe('the place of a hook', () => {
  it('is in the copy', () => {
    const { store, plugin, dir, dataDir } = project()
    const unit = plugin()
    const { digest } = trusted(store, unit)
    const own = { name: 'guard', root: unit.path, dataDir: '/data' }
    const place = { projectDir: dir, hooksDir: join(dir, 'plugins'), plugin: own }
    const folder = join(dataDir, 'copies', digest)
    expect(runPlace(store.standingOf(unit), place)).toEqual({
      projectDir: dir,
      copy: join(folder, 'guard'),
      hooksDir: folder,
      plugin: { ...own, root: join(folder, 'guard') },
    })
    const skill = { projectDir: dir, hooksDir: unit.path, skillDir: unit.path }
    expect(runPlace(store.standingOf(unit), skill)).toEqual({
      projectDir: dir,
      copy: join(folder, 'guard'),
      hooksDir: join(folder, 'guard'),
      skillDir: join(folder, 'guard'),
    })
  })
})
