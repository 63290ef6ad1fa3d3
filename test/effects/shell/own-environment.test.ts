// The environment without what a project's files set, for any names and values.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { leadingInto, namesOf, ownTls, withoutProject } from '../../../src/effects/shell/own-environment.js'
import { isWithin } from '../../../src/files/within.js'
import { runs } from '../../property/runs.js'

let base: string
let home: string
let project: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-env-')))
  home = join(base, 'home')
  project = join(home, 'work', 'project')
  for (const folder of [join(home, '.claude'), join(project, '.claude'), join(project, 'bin')])
    mkdirSync(folder, { recursive: true })
  symlinkSync(join(project, 'bin'), join(home, 'linked'))
  vi.stubEnv('HOME', home)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(base, { recursive: true })
})

const settings = (folder: string, env: object, name = 'settings.json') =>
  writeFileSync(join(folder, '.claude', name), JSON.stringify({ env }))

const NAMES = ['PATH', 'BASH_ENV', 'PYTHONPATH', 'SHELLOPTS', 'LD_PRELOAD', 'GIT_SSH', 'TOKEN', '__proto__x']
const variables = fc.dictionary(
  fc.oneof(fc.constantFrom(...NAMES), fc.stringMatching(/^[A-Z_]{1,6}$/)),
  fc.stringMatching(/^[a-z/.:]{0,12}$/),
  { maxKeys: 6 },
)

describe('E1, E2: the environment of a hook that is not of the project', () => {
  it('has no value from a file of the project that the user did not have', () => {
    fc.assert(
      fc.property(variables, variables, variables, variables, (user, shell, shared, local) => {
        settings(home, user)
        settings(project, shared)
        settings(project, local, 'settings.local.json')
        const merged = { ...shell, ...user, ...shared, ...local, CLAUDE_PROJECT_DIR: project }
        const env = withoutProject(project, merged)
        const leading = namesOf(leadingInto(project, merged))
        for (const name of Object.keys(merged)) {
          if (name === 'PATH' || name === 'HOME' || name === 'CLAUDE_PROJECT_DIR') continue
          const isSet = name in shared || name in local
          // A list keeps its other folders.
          if (!isSet && leading.includes(name) && !(name in user)) continue
          expect([name, env[name]]).toEqual([
            name,
            isSet || leading.includes(name) ? user[name] : merged[name as keyof typeof merged],
          ])
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('has a PATH of absolute folders outside the project', () => {
    const entry = fc.constantFrom(
      ...['', '.', 'bin', './bin', '..', '/usr/bin', '/bin', '/opt/tool/bin'],
      ...['@/bin', '@', '@/node_modules/.bin', '@/../project/bin', '~/linked', '~/tools'],
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), fc.boolean(), (entries, isFromProject) => {
        const path = entries.map((one) => one.replace('@', project).replace('~', home)).join(delimiter)
        settings(project, isFromProject ? { PATH: path } : {})
        const { PATH = '' } = withoutProject(project, { PATH: path, CLAUDE_PROJECT_DIR: project })
        const folders = PATH.split(delimiter)
        expect(folders.filter((one) => !isAbsolute(one) || isWithin(one, project))).toEqual([])
        // No entry of the project's own choice is left, wherever it leads.
        if (isFromProject) expect(folders).not.toContain('/opt/tool/bin')
        else if (entries.includes('/opt/tool/bin')) expect(folders).toContain('/opt/tool/bin')
      }),
      { numRuns: runs(300) },
    )
  })

  it('loads no code of the project, though no file sets the variable any more', () => {
    writeFileSync(join(project, 'evil.sh'), '')
    mkdirSync(join(project, 'node_modules', 'evil'), { recursive: true })
    const shapes: Readonly<Record<string, readonly string[]>> = {
      BASH_ENV: ['@/evil.sh', './evil.sh', 'evil.sh', '$PWD/evil.sh', '~/linked/x', '@/../project/evil.sh'],
      ENV: ['@/evil.sh', 'evil.sh', '`pwd`/x'],
      NODE_OPTIONS: [
        ...['--require @/x.cjs', '-r ./x.cjs', '--import=file://@/x.mjs', '--require evil', '-r ../x'],
        ...['--re"quire"=@"/x.cjs"', '--require "@"/x.cjs', '--require /"."@/x.cjs', '-r @\\/x.cjs'],
        ...['--import data:text/javascript,0', '--max-old-space-size=99 --require=@/x.cjs'],
      ],
      PYTHONPATH: ['@/lib', 'lib', '.', '', '~/linked'],
      PYTHONSTARTUP: ['@/x.py', 'evil.sh'],
      LD_PRELOAD: ['@/x.so', '/lib/a.so @/x.so', '/lib/a.so:./x.so'],
      LD_LIBRARY_PATH: ['@', '@/lib'],
      PERL5OPT: ['-I@/lib -MEvil', '-Mlib=@/lib'],
      RUBYOPT: ['-r@/x.rb', '-r./x.rb'],
      JAVA_TOOL_OPTIONS: ['-javaagent:@/x.jar', '-javaagent:evil.sh'],
      GIT_SSH_COMMAND: ['sh @/x.sh', 'ssh -F ./config'],
      GIT_CONFIG_PARAMETERS: ["'core.fsmonitor'='@/x'"],
      PAGER: ['@/bin/less', './less'],
      SHELLOPTS: ['noexec', 'braceexpand:noexec'],
      BASHOPTS: ['expand_aliases'],
    }
    const values = Object.entries(shapes).flatMap(([name, some]) => some.map((one) => [name, one] as const))
    for (const [name, shape] of values) {
      const value = shape.replaceAll('@', project).replaceAll('~', home)
      if (value === '') continue
      const env = { [name]: value, OTHER: project }
      expect([name, shape, withoutProject(project, env)]).toEqual([name, shape, { OTHER: project }])
      expect(namesOf(leadingInto(project, env))).toEqual([name])
    }
  })

  it('leaves out shell functions silently, because many systems export some', () => {
    const env = { 'BASH_FUNC_grep%%': '() { return 1; }' }
    expect(withoutProject(project, env)).toEqual({})
    expect(namesOf(leadingInto(project, env))).toEqual([])
  })

  it('keeps what leads elsewhere', () => {
    mkdirSync(join(project, 'test'))
    mkdirSync(join(project, 'less'))
    const env = {
      ...{
        BASH_ENV: join(home, '.bashenv'),
        ENV: 'test',
        NODE_OPTIONS: '--max-old-space-size=4096 -r /opt/x.cjs',
      },
      ...{ PYTHONPATH: '/opt/lib', PAGER: 'less', EDITOR: 'vim -f', GIT_EDITOR: 'true', MAKEFLAGS: '-j4' },
      ...{
        LESSOPEN: '|/usr/bin/lesspipe %s',
        PS1: '\\u@\\h:\\w\\$ ',
        JAVA_TOOL_OPTIONS: '-Dfile.encoding=UTF8',
      },
      ...{ GIT_DIR: join(project, '.git'), npm_config_local_prefix: project, RUBYLIB: `${project}-2/lib` },
      ...{ npm_config_registry: 'https://registry.npmjs.org/', LD_LIBRARY_PATH: '/opt/a:/opt/b' },
    }
    expect(withoutProject(project, env)).toEqual(env)
    expect(namesOf(leadingInto(project, env))).toEqual([])
  })

  it('keeps the other folders of a list, and what the settings of the user say', () => {
    const PYTHONPATH = [join(project, 'lib'), '/opt/lib', '', 'x'].join(delimiter)
    expect(withoutProject(project, { PYTHONPATH })).toEqual({ PYTHONPATH: '/opt/lib' })
    const mine = { BASH_ENV: join(project, 'mine.sh'), PYTHONPATH: '/my/lib' }
    settings(home, mine)
    expect(withoutProject(project, { ...mine, PYTHONPATH })).toEqual(mine)
  })

  it('has no program of a workspace around the project', () => {
    mkdirSync(join(home, 'work', '.git'))
    const PATH = [join(home, 'work', 'node_modules', '.bin'), '/bin'].join(delimiter)
    expect(withoutProject(project, { PATH }).PATH).toBe('/bin')
  })

  it('keeps the programs of a user whose home is the project', () => {
    const PATH = ['.', join(home, 'tools')].join(delimiter)
    expect(withoutProject(home, { PATH }).PATH).toBe(join(home, 'tools'))
  })

  it('keeps what the user has in the shell, where no host put the value of the file in', () => {
    settings(project, { TOKEN: 'of-project', SAME: 'x' })
    expect(withoutProject(project, { TOKEN: 'mine', SAME: 'x' })).toEqual({ TOKEN: 'mine' })
  })

  it('is not fooled by a project that says that it is the home', () => {
    settings(project, { HOME: project, BASH_ENV: './x' })
    vi.stubEnv('HOME', project)
    const env = { HOME: project, BASH_ENV: './x', CLAUDE_PROJECT_DIR: project }
    const { HOME, BASH_ENV } = withoutProject(project, env)
    expect([HOME === project, BASH_ENV]).toEqual([false, undefined])
  })
})

describe('E3: a server that answers for a gate', () => {
  it('is not vouched for by authorities of a project', async () => {
    vi.stubEnv('CLAUDE_PROJECT_DIR', project)
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    vi.stubEnv('NODE_EXTRA_CA_CERTS', '/somewhere/ca.pem')
    expect(await ownTls()).toEqual({ rejectUnauthorized: true })
    settings(project, { NODE_EXTRA_CA_CERTS: '/somewhere/ca.pem' })
    const { rejectUnauthorized, secureContext, sessionIdContext } = await ownTls()
    expect([rejectUnauthorized, secureContext !== undefined]).toEqual([true, true])
    expect(sessionIdContext).toMatch(/^[0-9a-f]{32}$/)
  })
})
