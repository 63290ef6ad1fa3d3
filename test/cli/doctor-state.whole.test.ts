// What `carabiner doctor` finds beside files: decisions, plugins, history, its own folders, the environment.

import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { familyLines } from '../../src/cli/commands/doctor.js'
import { painter } from '../../src/cli/print/terminal.js'
import { loadConfig } from '../../src/config/load.js'
import { unitsOf } from '../../src/config/units.js'
import type { AuditedHook } from '../../src/core/session/audit-record.js'
import { dataHome, stateHome } from '../../src/files/homes.js'
import { SetupRecord } from '../../src/hosts/setup-record.js'
import { SwitchStore } from '../../src/plugins/switches.js'
import { noteDown } from '../../src/plugins/work-folder.js'
import { FileAuditLog } from '../../src/store/audit/file-audit.js'
import { auditFolder } from '../../src/store/audit/log-folder.js'
import { segmentPath } from '../../src/store/audit/segments.js'
import type { Entry } from '../../src/store/audit-log.js'
import { FileStore } from '../../src/store/sessions/file-store.js'
import { trustStore } from '../../src/trust/trust-store.js'
import { removeAll } from '../trust/hostile-project.js'
import { configured, SCRIPT, Scene } from './doctor-scene.js'

const scene = new Scene()

describe('trust', () => {
  async function trusted(): Promise<void> {
    const { specs } = await loadConfig({ projectDir: scene.folder, homeDir: scene.home })
    const store = trustStore()
    for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
  }

  it('untrusted is a decision, modified is broken', async () => {
    const file = scene.ofProject(['true'])
    expect(await scene.only('untrusted')).toMatchObject({
      severity: 'warning',
      file,
      fix: expect.stringMatching(/^carabiner trust project/),
    })
    await trusted()
    expect(await scene.codes()).toEqual([])
    scene.ofProject(['false'])
    expect(await scene.only('trust-kept')).toMatchObject({
      severity: 'broken',
      file,
      fix: expect.stringContaining('carabiner trust --mine'),
    })
  })

  it('what cannot be trusted as it is', async () => {
    scene.write('.amplifier/hooks/plug/hooks.json', configured(['true']))
    symlinkSync('/etc/hostname', join(scene.folder, '.amplifier/hooks/plug/link'))
    expect(await scene.only('untrusted')).toMatchObject({
      severity: 'broken',
      fix: expect.stringContaining('Fix that, then: carabiner'),
    })
  })

  it('what was trusted and is gone', async () => {
    const file = scene.write('.amplifier/hooks/plug/hooks.json', configured(['true']))
    await trusted()
    removeAll(dirname(file))
    expect(await scene.only('trust-kept')).toMatchObject({
      severity: 'broken',
      text: expect.stringContaining('is no longer in this project and still guards it.'),
      fix: 'To keep it, do nothing. To stop trusting it: carabiner untrust plug.',
    })
  })

  it('records that cannot be read', async () => {
    scene.ofProject(['true'])
    scene.write(join(dataHome(), 'trust'), '')
    expect(await scene.codes()).toEqual([
      'broken trust-unreadable',
      'broken untrusted',
      'broken folder-unusable',
    ])
  })

  it('hooks that a setting switches off: one finding', async () => {
    scene.ofUser(['true', 'false'])
    const file = scene.writeHome('.amplifier/settings.json', { hooks: { enabled: false } })
    expect(await scene.only('disabled')).toMatchObject({
      severity: 'note',
      file,
      line: 3,
      text: expect.stringContaining('2 hooks are switched off by "enabled": false'),
      fix: 'Remove "enabled": false at ~/.amplifier/settings.json:3.',
    })
  })

  it('what the user switched off, whatever else is wrong with it, and what is not there any more', async () => {
    scene.ofUser(['no-such-program-here'])
    const since = new Date().toISOString()
    const off = { from: 'user', since, by: 'me' } as const
    new SwitchStore().turnOff({ ...off, plugin: 'user' }, Date.now())
    new SwitchStore().turnOff({ ...off, plugin: 'gone' }, Date.now())
    new SwitchStore().turnOff({ ...off, plugin: 'user', project: '/elsewhere' }, Date.now())
    const found = await scene.findings()
    expect(found.map(({ code, fix }) => [code, fix])).toEqual([
      ['switched-off', 'carabiner enable user --user'],
      ['switch-stale', 'carabiner enable gone --user'],
    ])
  })
})

describe('plugins', () => {
  it('one that the lock file has and nobody else, and one that is not what was installed', async () => {
    const entry = {
      source: './x',
      kind: 'folder',
      integrity: `sha256-${'A'.repeat(43)}=`,
      installed: new Date().toISOString(),
    }
    scene.writeHome('.amplifier/hooks/changed/hooks.json', configured(['true']))
    scene.writeHome('.amplifier/hooks.lock.json', {
      carabiner: 1,
      plugins: { changed: entry, gone: entry },
    })
    expect(
      (await scene.findings()).map(({ severity, code, fix }) => [severity, code, fix.split('   ')[0]]),
    ).toEqual([
      ['broken', 'plugin-missing', 'carabiner update gone'],
      ['warning', 'plugin-modified', 'carabiner update changed --overwrite'],
    ])
  })

  it('work that was interrupted is told, and left as it is', async () => {
    const folder = join(scene.home, '.amplifier/hooks')
    const [begun, gone] = [noteDown(folder, 'staging', 'half'), noteDown(folder, 'gone', 'old')]
    scene.write(join(begun.path, 'half', 'hooks.json'), configured(['true']))
    scene.write(join(gone.path, 'old', 'hooks.json'), configured(['true']))
    const before = readdirSync(scene.base, { recursive: true }).sort()
    expect(
      (await scene.findings()).map(({ severity, code, file, fix }) => [severity, code, file, fix]),
    ).toEqual([
      ['broken', 'plugin-interrupted', begun.path, 'Run the same command again: it cleans this up first.'],
      ['broken', 'plugin-interrupted', gone.path, 'carabiner uninstall old   # finishes it'],
    ])
    expect(readdirSync(scene.base, { recursive: true }).sort()).toEqual(before)
  })

  it('interrupted work is called what it was, as far as the lock file tells', async () => {
    const folder = join(scene.home, '.amplifier/hooks')
    const entry = {
      source: './x',
      kind: 'folder',
      integrity: `sha256-${'A'.repeat(43)}=`,
      installed: new Date().toISOString(),
    }
    scene.writeHome('.amplifier/hooks.lock.json', {
      carabiner: 1,
      plugins: { there: entry, fresh: entry, aside: entry },
    })
    scene.writeHome('.amplifier/hooks/there/hooks.json', configured(['true']))
    for (const name of ['there', 'fresh', 'made', 'aside']) noteDown(folder, 'staging', name)
    noteDown(folder, 'old', 'aside')
    const found = (await scene.findings()).filter(({ code }) => code === 'plugin-interrupted')
    const said = found.map(({ text, fix }) => `${text.split(' was ')[0]}: ${fix}`)
    expect(said.sort()).toEqual([
      'an install of fresh: carabiner update fresh   # finishes it',
      'an install, new or migrate of made: Run the same command again: it cleans this up first.',
      'an update of aside: carabiner update aside   # finishes it',
      'an update of aside: carabiner update aside   # finishes it',
      'an update of there: carabiner update there   # finishes it',
    ])
  })

  it('folders of a project that look like such work are not obeyed', async () => {
    const path = join(scene.folder, '.amplifier/hooks/.gone-0123456789abcdef')
    scene.write(join(path, 'guard/hooks.json'), configured(['true']))
    expect(await scene.only('plugin-leftover')).toMatchObject({
      severity: 'note',
      file: path,
      fix: expect.stringContaining('rm -r '),
    })
  })

  it('a plugin that lies aside is read from there, and is not called gone', async () => {
    const leftover = async () => (await scene.findings()).find(({ code }) => code === 'plugin-leftover')
    const path = join(scene.folder, '.amplifier/hooks/.old-0123456789abcdef')
    scene.write(join(path, 'guard/hooks.json'), configured(['true']))
    expect(await leftover()).toMatchObject({
      severity: 'warning',
      text: 'guard is in this folder of interrupted work, and its hooks are read from here',
      fix: expect.stringMatching(/^mv \S+\.old-0123456789abcdef\/guard \S+hooks\/guard {3}# if it is yours/),
    })
    scene.write(join(scene.folder, '.amplifier/hooks/guard/hooks.json'), configured(['true']))
    expect(await leftover()).toMatchObject({ severity: 'note' })
  })

  it('a lock file that cannot be read', async () => {
    const file = scene.writeHome('.amplifier/hooks.lock.json', 'oops')
    expect(await scene.only('lock-unreadable')).toMatchObject({
      severity: 'broken',
      file,
      fix: expect.stringMatching(/^Restore .*hooks\.lock\.json from version control/),
    })
  })
})

describe('hooks that were migrated', () => {
  const settings = () => join(scene.folder, '.claude/settings.json')
  const engine = configured(['"/x/node" "/x/carabiner.js" fire PreToolUse --as claude-code'])

  /** As migrate --remove-source leaves it. */
  function migrated(): void {
    scene.write('.claude/settings.json', {})
    new SetupRecord(settings()).keep(JSON.stringify(configured(['cat  "-"'])))
    scene.ofProject(['cat -'])
  }

  const orphans = async () =>
    (await scene.findings()).flatMap(({ code, severity, text, fix, line }) =>
      code === 'nobody-runs' ? [[severity, line, text.replace(/^.*migrated, /, ''), fix]] : [],
    )

  it('are run by nobody while they are not trusted, or switched off, or Claude Code asks nobody', async () => {
    migrated()
    expect(await orphans()).toEqual([
      [
        'warning',
        7,
        'and here it is untrusted: nothing runs it',
        expect.stringMatching(/^carabiner trust project/),
      ],
    ])
    const { specs } = await loadConfig({ projectDir: scene.folder, homeDir: scene.home })
    const store = trustStore()
    for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
    expect(await orphans()).toEqual([
      [
        'warning',
        7,
        'and Claude Code does not run Carabiner: nothing runs it',
        'carabiner setup claude-code --engine',
      ],
    ])
    scene.write('.claude/settings.json', engine)
    expect(await orphans()).toEqual([])
    const since = new Date().toISOString()
    new SwitchStore().turnOff({ plugin: 'project', from: 'project', since, by: 'me' }, Date.now())
    expect(await orphans()).toEqual([
      [
        'warning',
        7,
        'and here it is disabled: nothing runs it',
        expect.stringMatching(/^carabiner enable project/),
      ],
    ])
  })

  it('are run twice where Claude Code has them still, and are told as that', async () => {
    migrated()
    scene.write('.claude/settings.json', configured(['cat -']))
    expect((await scene.findings()).map(({ code }) => code)).toEqual(['untrusted', 'runs-elsewhere'])
  })

  it('are not those that were never here', async () => {
    scene.write('.claude/settings.json', {})
    new SetupRecord(settings()).keep(JSON.stringify(configured(['cat -'], 'PostToolUse')))
    new SetupRecord(settings()).keep('{ not JSON')
    scene.ofProject(['cat -'])
    expect(await orphans()).toEqual([])
  })
})

describe('history', () => {
  const fire = (hook: Partial<AuditedHook>, diagnostics: readonly object[] = []) =>
    ({
      kind: 'fire',
      time: new Date().toISOString(),
      session: 's',
      event: 'PreToolUse',
      digest: '',
      action: 'continue',
      injections: [],
      diagnostics,
      ms: 1,
      hooks: [
        {
          name: 'user:PreToolUse#1',
          kind: 'command',
          source: 'user',
          role: 'intercept',
          status: 'ran',
          ms: 5,
          hash,
          ...hook,
        },
      ],
    }) as unknown as Entry

  const record = (...entries: readonly Entry[]) =>
    new FileAuditLog({ projectDir: scene.folder }).append(entries)

  let hash: string | undefined

  /** The hook that the records are about. */
  const of = async (command: string) => {
    scene.ofUser([command])
    hash = (await scene.facts()).hooks[0]?.hash
  }

  beforeEach(() => of('true'))

  it('a hook that failed when it last ran', async () => {
    record(fire({}), fire({ status: 'failed', detail: 'exit 127' }))
    expect(await scene.only('failing')).toMatchObject({
      severity: 'broken',
      hook: 'user:PreToolUse#1',
      line: 7,
      text: expect.stringContaining('exit 127; 1 of 2 runs failed'),
      fix: `echo '{"tool_name":"Bash","tool_input":{"command":"ls"}}' | carabiner fire PreToolUse --project ${scene.folder}   # tries it again: the next good run clears this; carabiner audit --hook 'user:PreToolUse#1' --decision failed --project ${scene.folder} lists what failed`,
    })
  })

  it('is not blamed for what another did in its place', async () => {
    record(fire({ status: 'failed', ms: 1500 }))
    scene.ofUser(['exit 0'])
    expect(await scene.codes()).toEqual([])
    record(fire({ hash: undefined, status: 'failed' }))
    expect(await scene.codes()).toEqual([])
  })

  it('is not broken once its script was changed since', async () => {
    const path = scene.write('check.sh', SCRIPT, 0o755)
    await of(path)
    record({ ...fire({ status: 'failed' }), time: '2026-01-31T12:00:00.000Z' } as Entry)
    expect(await scene.only('failing')).toMatchObject({
      severity: 'warning',
      text: expect.stringContaining('its script has changed since; 1 of 1 run failed'),
    })
    record({ ...fire({ status: 'failed' }), time: '2126-01-31T12:00:00.000Z' } as Entry)
    expect(await scene.codes()).toEqual(['broken failing'])
  })

  it('is told once where its script shows why', async () => {
    await of(scene.write('check.sh', SCRIPT, 0o644))
    record(fire({ status: 'failed', detail: 'permission denied' }))
    expect(await scene.codes()).toEqual(['broken not-executable'])
  })

  it('one that works again is a warning while it failed often, and nothing when it is long ago', async () => {
    record(fire({ status: 'failed' }), fire({}))
    expect(await scene.codes()).toEqual(['warning failing'])
    record(...Array.from({ length: 10 }, () => fire({})))
    expect(await scene.codes()).toEqual([])
  })

  it('a slow gate, and one that comes near its time-out', async () => {
    record(fire({ ms: 1500 }), fire({ ms: 1500 }))
    expect(await scene.only('slow')).toMatchObject({
      severity: 'warning',
      text: expect.stringContaining('every call'),
    })
    record(...Array.from({ length: 5 }, () => fire({ ms: 29_000 })))
    expect(await scene.only('slow')).toMatchObject({
      text: expect.stringContaining('of its timeout of 30 s'),
      fix: 'Make it faster, or write "timeout": 59 at ~/.amplifier/hooks/hooks.json:7, in seconds.',
    })
  })

  it('a decision that did not count, until the hook is mended', async () => {
    const said = {
      code: 'answer-misplaced',
      text: 'user:PreToolUse#1: "permissionDecision" at the top level does not count; print {…}',
      hook: 'user:PreToolUse#1',
      todo: 'Print {…}.',
    }
    const other = { code: 'answer-misplaced', text: 'user:PreToolUse#1: x', hook: 'somebody:Else#1' }
    record(fire({}, [said, other]))
    expect(await scene.only('answer-misplaced')).toMatchObject({
      severity: 'broken',
      hook: 'user:PreToolUse#1',
      text: expect.stringContaining('as written: "permissionDecision" at the top level'),
      fix: 'Print {…}.',
    })
    record(fire({}))
    expect(await scene.codes()).toEqual([])
  })

  it('what is of no hook any more is no news', async () => {
    record(fire({ name: 'gone:Stop#1', status: 'failed' }))
    expect(await scene.codes()).toEqual([])
  })

  it('a log that was changed', async () => {
    record(fire({}), fire({}))
    const log = segmentPath(auditFolder(scene.folder), 1)
    writeFileSync(log, readFileSync(log, 'utf8').replace('"ms":5', '"ms":6'))
    expect(await scene.only('audit-broken')).toMatchObject({ severity: 'broken', file: log, line: 1 })
  })

  it('of a long log the newest file', async () => {
    record(fire({}), fire({}), fire({}))
    const audit = auditFolder(scene.folder)
    const log = segmentPath(audit, 1)
    const whole = readFileSync(log, 'utf8')
    const newest = async () =>
      (await new FileAuditLog({ projectDir: scene.folder }).verify({ mostBytes: 1 })).problems[0]
    expect(await newest()).toBeUndefined()
    const [first = '', second = '', third = ''] = whole.split('\n')
    writeFileSync(log, `${first}\n${third}\n`)
    expect(await newest()).toMatchObject({ line: 2, what: expect.stringContaining('does not follow') })
    writeFileSync(log, `${first}\n${second}\n`)
    expect(await newest()).toMatchObject({
      what: expect.stringContaining('newest records are missing'),
    })
    writeFileSync(log, whole.replace('"ms":5', '"ms":6'))
    expect(await newest()).toMatchObject({ line: 1 })
  })
})

describe('folders', () => {
  it('that others can write', async () => {
    mkdirSync(dataHome(), { recursive: true })
    chmodSync(dataHome(), 0o777)
    expect(await scene.only('folder-open')).toMatchObject({
      severity: 'broken',
      fix: expect.stringContaining('chmod go-w'),
    })
  })

  it.each(['trust', 'copies', 'texts', 'sources', 'catalogs', 'audit', 'switches', 'grants'])(
    '%s, that others can write',
    async (name) => {
      const folder = join(dataHome(), name)
      mkdirSync(folder, { recursive: true })
      chmodSync(folder, 0o777)
      const found = (await scene.findings()).filter(({ code }) => code === 'folder-open')
      expect(found.map(({ file }) => file)).toEqual([folder])
    },
  )

  it.each(['sessions', 'approvals', 'plugins'])('%s of the state, that others can write', async (name) => {
    const folder = join(stateHome(), name)
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o777)
    const found = (await scene.findings()).filter(({ code }) => code === 'folder-open')
    expect(found.map(({ file }) => file)).toEqual([folder])
  })

  it('where something else is', async () => {
    scene.writeHome('.local/share/carabiner', '')
    expect(await scene.codes()).toContain('broken folder-unusable')
  })

  it('in the project', async () => {
    vi.stubEnv('CARABINER_HOME', join(scene.folder, 'own'))
    expect(await scene.codes()).toContain('broken folder-in-project')
  })
})

describe('environment', () => {
  it('everything is switched off', async () => {
    vi.stubEnv('CARABINER_OFF', '1')
    expect(await scene.only('bypassed')).toMatchObject({ severity: 'broken', fix: 'unset CARABINER_OFF' })
  })

  it('certificates that Node 20 reads at every start', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', scene.write(join(scene.base, 'ca.pem'), ''))
    const isEager = Number(process.versions.node.split('.')[0]) < 22
    expect(await scene.codes()).toEqual(isEager ? ['warning ca-certs'] : [])
    vi.stubEnv('NODE_EXTRA_CA_CERTS', join(scene.base, 'none.pem'))
    expect((await scene.only('ca-certs')).text).toContain('does not exist')
  })

  it('a project that sets variables for its user', async () => {
    const file = scene.write('.claude/settings.json', { env: { CARABINER_OFF: '1' } })
    expect(await scene.only('project-env')).toMatchObject({
      severity: 'broken',
      file,
      line: 2,
      text: expect.stringContaining('sets CARABINER_OFF for hooks'),
      fix: expect.stringMatching(/^Remove CARABINER_OFF from "env" at .*settings\.json:2\.$/),
    })
  })
})

describe('answers', () => {
  it('"allow always" for a hook that is gone, and for one that is there', async () => {
    scene.ofUser(['true'])
    const [hook] = (await scene.facts()).hooks
    const grant = {
      event: 'PreToolUse',
      tool: 'Bash',
      cwd: '',
      digest: '',
      created: new Date().toISOString(),
    }
    const store = new FileStore({ projectDir: scene.folder })
    store.addGrant({ ...grant, id: 'aaaaaaaa-1', hook: 'user:user:PreToolUse:0' })
    store.addGrant({ ...grant, id: 'bbbbbbbb-1', hook: hook?.id ?? '' })
    store.addGrant({ ...grant, id: 'cccccccc-1', hook: 'project:skill x:PreToolUse:0' })
    expect(await scene.only('grant-stale')).toMatchObject({
      severity: 'note',
      fix: 'carabiner approvals revoke aaaaaaaa',
    })
  })

  it('lists of them that cannot be read', async () => {
    for (const path of ['share/carabiner/grants', 'share/carabiner/switches', 'state/carabiner/approvals'])
      scene.writeHome(join('.local', path), '')
    const found = await scene.codes()
    for (const what of ['grants', 'switches', 'approvals'])
      expect(found).toContain(`broken ${what}-unreadable`)
  })
})

describe('what strangers wrote', () => {
  it('never becomes a command of its own in a fix', async () => {
    scene.write('.amplifier/hooks/$(touch x)/hooks.json', configured(['true']))
    const { specs } = await loadConfig({ projectDir: scene.folder, homeDir: scene.home })
    const store = trustStore()
    for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
    const folder = join(scene.folder, '.amplifier/hooks/$(touch x)')
    removeAll(folder)
    // In single quotes, where a shell takes it as it is.
    expect((await scene.only('trust-kept')).fix).toBe(
      `To keep it, do nothing. To stop trusting it: carabiner untrust '${folder}'.`,
    )
  })

  it('stands on one line, and controls no terminal', async () => {
    scene.ofUser(['no-such\u001b[31m-thing', 'true'], 'PreToolUse', 'bash')
    scene.writeHome('.amplifier/hooks/a\nfix rm -rf x/hooks.json', configured(['no-such-thing']))
    const families = await scene.families()
    const printed = familyLines(families, painter(1)).join('\n')
    expect(printed).not.toContain('\u001b')
    expect(printed).not.toMatch(/^\s*fix rm -rf x/m)
  })

  it('of hundreds of findings the first are shown', async () => {
    scene.ofUser(Array.from({ length: 300 }, (_, i) => `no-such-${i % 7} ${i}`))
    const families = await scene.families()
    const programs = families.find(({ name }) => name === 'programs')
    expect(programs?.findings).toHaveLength(300)
    const lines = familyLines(families, painter(1))
    expect(lines).toContain('  and 200 more; --json has all')
    expect(lines.length).toBeLessThan(300)
  })
})
