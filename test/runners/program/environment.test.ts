// What a command hook finds in its environment, and what becomes of placeholders.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { describe, expect, test, vi } from 'vitest'
import type { Place } from '../../../src/runners/hook-spec.js'
import {
  expandArgument,
  foreignPlaceholder,
  forPowerShell,
  hookEnvironment,
  type Inheritance,
} from '../../../src/runners/program/environment.js'

const ROOT_FILE: Place = { projectDir: '/project', hooksDir: '/project/.amplifier/hooks' }
const PLUGIN: Place = {
  projectDir: '/project',
  hooksDir: '/plugins',
  plugin: { name: 'guard', root: '/plugins/guard', dataDir: '/data/guard' },
}
const OURS = {
  AMPLIFIER_PROJECT_DIR: '/project',
  CLAUDE_PROJECT_DIR: '/project',
  AMPLIFIER_HOOKS_DIR: '/project/.amplifier/hooks',
  AMPLIFIER_SESSION_ID: 's1',
  CLAUDE_CODE_SESSION_ID: 's1',
}

const note = vi.fn()

function environment(parent: Record<string, string>, place = ROOT_FILE, more: Partial<Inheritance> = {}) {
  return hookEnvironment(
    { parent, minimal: false, ...more },
    { place, scope: 'project', sessionId: 's1', note },
  )
}

describe('the environment', () => {
  test('is what the parent has, and ours', () => {
    expect(environment({ PATH: '/bin', API_KEY: 'secret', CLAUDECODE: '1' })).toEqual({
      PATH: '/bin',
      API_KEY: 'secret',
      CLAUDECODE: '1',
      ...OURS,
    })
  })

  test('of a plugin has its folders', () => {
    expect(environment({}, PLUGIN)).toEqual({
      ...OURS,
      AMPLIFIER_HOOKS_DIR: '/plugins',
      CLAUDE_PLUGIN_ROOT: '/plugins/guard',
      PLUGIN_ROOT: '/plugins/guard',
      CLAUDE_PLUGIN_DATA: '/data/guard',
    })
  })

  const foreign = Object.fromEntries(
    [...Object.keys(environment({}, PLUGIN)), 'AMPLIFIER_ENV_FILE', 'CLAUDE_ENV_FILE'].map((name) => [
      name,
      'foreign',
    ]),
  )

  test('has no variables of an outer agent, which name the plugin, session or file of that agent', () => {
    expect(environment(foreign)).toEqual(OURS)
    expect(Object.values(environment(foreign, PLUGIN))).not.toContain('foreign')
    const names = Object.keys(foreign)
    expect(environment(foreign, ROOT_FILE, { minimal: true, passthrough: names })).toEqual(OURS)
  })

  test('without a session has no session', () => {
    const { AMPLIFIER_SESSION_ID: _, CLAUDE_CODE_SESSION_ID: __, ...rest } = OURS
    const env = hookEnvironment(
      { parent: foreign, minimal: false },
      { place: ROOT_FILE, scope: 'project', sessionId: undefined, note },
    )
    expect(env).toEqual(rest)
  })

  test.each([
    [{}, { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_CHILD_SESSION: '1' }],
    [
      { CLAUDECODE: '0', CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' },
      { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'sdk-cli', CLAUDE_CODE_CHILD_SESSION: '1' },
    ],
  ])("D10: of a hook in a file of Claude Code's looks like its own, under %o", (parent, expected) => {
    for (const minimal of [false, true]) {
      const situation = { place: ROOT_FILE, scope: 'user', format: 'claude', sessionId: 's1', note } as const
      expect(hookEnvironment({ parent, minimal }, situation)).toEqual({ ...OURS, ...expected })
    }
  })

  test.each(['user', 'named', 'host'] as const)(
    'of a hook of the %s has no code of the project, and that is said once',
    (scope) => {
      const place = { ...ROOT_FILE, projectDir: `/project-${scope}` }
      const parent = { BASH_ENV: `${place.projectDir}/x.sh`, PYTHONPATH: 'lib', KEPT: '1' }
      const told = vi.fn()
      const situation = { place, scope, sessionId: 's1', note: told }
      for (let i = 0; i < 2; i++) {
        const env = hookEnvironment({ parent, minimal: false }, situation)
        expect([env.BASH_ENV, env.PYTHONPATH, env.KEPT]).toEqual([undefined, undefined, '1'])
      }
      const text = expect.stringMatching(
        /^BASH_ENV, PYTHONPATH could make programs run code of the project .* restart your agent$/,
      )
      expect(told.mock.calls).toEqual([[{ code: 'variable-dropped', text }]])
    },
  )

  test('leaves the parent as it is', () => {
    const parent = Object.freeze({ PLUGIN_ROOT: 'foreign' })
    environment(parent)
    expect(parent).toEqual({ PLUGIN_ROOT: 'foreign' })
  })
})

describe('a minimal environment', () => {
  const needed = {
    PATH: 'p',
    HOME: 'h',
    USER: 'u',
    LOGNAME: 'l',
    SHELL: 's',
    LANG: 'C',
    LC_ALL: 'C',
    LC_TIME: 'C',
    TMPDIR: 't',
    TZ: 'UTC',
    TERM: 'dumb',
  }
  const secrets = { API_KEY: 'secret', MY_PATH: 'p', PATH_2: 'p', NODE_OPTIONS: '-r x', LANGUAGE: 'de' }

  test('is what programs need to start, and ours', () => {
    expect(environment({ ...needed, ...secrets }, ROOT_FILE, { minimal: true })).toEqual({
      ...needed,
      ...OURS,
    })
  })

  test('has what the hook asks for by its exact name, if it is there', () => {
    const passthrough = ['API_KEY', 'MISSING', 'NODE']
    const env = environment({ ...needed, ...secrets }, ROOT_FILE, { minimal: true, passthrough })
    expect(env).toEqual({ ...needed, API_KEY: 'secret', ...OURS })
  })
})

describe('an argument', () => {
  const env = environment({ HOME: '/home' }, PLUGIN)

  test('has our placeholders replaced, as often as they occur', () => {
    expect(
      expandArgument('${CLAUDE_PLUGIN_ROOT}/a:${AMPLIFIER_PROJECT_DIR}:${CLAUDE_PLUGIN_ROOT}', env),
    ).toBe('/plugins/guard/a:/project:/plugins/guard')
    expect(expandArgument('${AMPLIFIER_SESSION_ID} ${PLUGIN_ROOT} ${CLAUDE_PLUGIN_DATA}', env)).toBe(
      's1 /plugins/guard /data/guard',
    )
  })

  test.each([
    '$CLAUDE_PLUGIN_ROOT',
    '${HOME}',
    '${CLAUDE_PLUGIN_ROOT:-x}',
    '${claude_plugin_root}',
    '${ CLAUDE_PLUGIN_ROOT }',
    '${CLAUDE_PLUGIN_ROOT',
    '$(id)',
    '${user_config.key}',
  ])('%s stays as it stands', (argument) => {
    expect(expandArgument(argument, env)).toBe(argument)
  })

  test('takes a value as it is: nothing in it is special, nor replaced again', () => {
    const hostile = 'a b\'c"d$(id)`id`\n$&$1${CLAUDE_PROJECT_DIR}'
    expect(expandArgument('<${PLUGIN_ROOT}>', { ...env, PLUGIN_ROOT: hostile })).toBe(`<${hostile}>`)
  })

  test('of a placeholder without a value stays as it stands', () => {
    expect(expandArgument('${PLUGIN_ROOT}', environment({}))).toBe('${PLUGIN_ROOT}')
  })
})

test('PowerShell reads placeholders from the environment', () => {
  expect(forPowerShell('& "${CLAUDE_PLUGIN_ROOT}/x.ps1" ${HOME} $env:A')).toBe(
    '& "${env:CLAUDE_PLUGIN_ROOT}/x.ps1" ${HOME} $env:A',
  )
})

test('a placeholder of plugins is foreign to a hook without a plugin', () => {
  expect(foreignPlaceholder(['node', '${CLAUDE_PLUGIN_ROOT}/x'], ROOT_FILE)).toBe('CLAUDE_PLUGIN_ROOT')
  expect(foreignPlaceholder(['${CLAUDE_PLUGIN_DATA}'], ROOT_FILE)).toBe('CLAUDE_PLUGIN_DATA')
  expect(foreignPlaceholder(['${CLAUDE_PLUGIN_ROOT}/x'], PLUGIN)).toBeUndefined()
  expect(
    foreignPlaceholder(['${CLAUDE_PROJECT_DIR} ${CLAUDE_PLUGIN_ROOT:-x} $PLUGIN_ROOT'], ROOT_FILE),
  ).toBeUndefined()
})
