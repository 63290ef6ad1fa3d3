// Every agent: what setup writes for it can be read again, replaced and taken out, and leaves everything else as it was.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'smol-toml'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { engineEntries, isOurs, packEntries } from '../../src/hosts/entries.js'
import type { Entry, HostFile } from '../../src/hosts/host-setup.js'
import { ownCommand } from '../../src/hosts/own-command.js'
import { carryOut, type HostPlace, type Plan, planInstall, planRemove } from '../../src/hosts/setup.js'
import { SetupProblem } from '../../src/hosts/setup-problem.js'
import { allSetups, type KnownSetup, registeringOf } from '../../src/hosts/setups.js'
import { sample } from '../property/runs.js'
import { removeAll } from '../trust/hostile-project.js'

const PROGRAM = { node: '/opt/my node/bin/node', script: '/opt/carabiner/dist/bin/carabiner.js' }
const OLD = { node: '/old/node', script: '/old/carabiner.js' }
const SETUPS = await allSetups()

function entriesFor(known: KnownSetup, program = PROGRAM): readonly Entry[] {
  const registering = registeringOf(known)
  return [...packEntries(program, undefined, registering), ...engineEntries(program, registering)]
}

/** All files that setup can write for an agent: the user's, or those of a project where the user has none. */
function filesOf({ setup }: KnownSetup): readonly HostFile[] {
  return setup.files.length > 0 ? setup.files : (setup.project?.files ?? [])
}

function placesIn(known: KnownSetup, files = filesOf(known)): readonly HostPlace[] {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-setups-')))
  vi.stubEnv('CARABINER_HOME', join(root, 'carabiner'))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    removeAll(root)
  })
  return files.map(({ name, form, mode }) => ({
    path: join(root, 'agent', name),
    within: [root],
    form,
    ...(mode !== undefined && { mode }),
  }))
}

function planAll(places: readonly HostPlace[], entries: readonly Entry[]): readonly Plan[] {
  const earlier = new Map<string, string>()
  return places.map((place) => {
    const plan = planInstall(place, entries, earlier)
    earlier.set(place.path, plan.after ?? '')
    return plan
  })
}

async function written(plans: () => readonly Plan[]): Promise<boolean> {
  let isChanged = false
  for (const [i, plan] of [...plans().entries()].reverse()) {
    if (!plan.changes) continue
    isChanged = true
    expect(await carryOut(plan, () => plans()[i] as Plan)).toBeDefined()
  }
  return isChanged
}

const texts = (places: readonly HostPlace[]) =>
  places.map(({ path }) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined))

/** A text that somebody else wrote, for files that are not ours alone. */
function foreignText({ name, form }: HostFile, events: readonly string[]): string | undefined {
  if (name.endsWith('.toml')) return 'model = "x" # mine\n\n[[hooks]]\nevent = "Stop"\ncommand = "theirs"\n'
  const event = events[0] ?? ''
  const strict = `{\n  "hooks": {\n    "${event}": [\n      { "command": "theirs" }\n    ],\n    "Unknown": [1]\n  }\n}`
  const text = strict.replace('{\n', '{\n  // mine\n  "model": "x",\n')
  if (!name.endsWith('.json')) return undefined
  return [text, strict].find((one) => {
    try {
      form.put(one, [], { file: name, earlier: new Map() })
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(SetupProblem)
      return false
    }
  }) // undefined if the whole file is ours
}

describe.each(SETUPS.map((known) => [known.host.name, known] as const))('%s', (_, known) => {
  const entries = entriesFor(known)

  it('registers events by commands of ours that name the agent', () => {
    const { host, setup } = known
    expect(entries.length).toBeGreaterThan(0)
    for (const { event, command } of entries) {
      expect(isOurs({ command })).toBe(true)
      expect(ownCommand({ command })).toMatchObject({ host: setup.commandsAs ?? host.name })
      expect(Object.keys(setup.events)).toContain(event)
    }
  })

  it('tells the agent a time-out, and itself a shorter one', () => {
    for (const { command, timeout = 600 } of entries) {
      const own = / --timeout ([\d.]+)/.exec(command)?.[1]
      if (own === undefined) expect(known.host.name).toBe('claude-code')
      else expect(Number(own)).toBeLessThan(timeout)
    }
  })

  it('writes all of it, and reads it again', async () => {
    const places = placesIn(known)
    await written(() => planAll(places, entries))
    const found = places.flatMap((place, i) => place.form.commands(texts(places)[i] ?? ''))
    expect(new Set(found.map(({ command }) => command))).toEqual(
      new Set(entries.map(({ command }) => command)),
    )
    expect(await written(() => planAll(places, entries))).toBe(false)
    for (const { path, mode } of places)
      if (mode !== undefined) expect(statSync(path).mode & 0o100).toBe(0o100)
  })

  it('replaces what an older installation wrote', async () => {
    const places = placesIn(known)
    await written(() => planAll(places, entries))
    const fresh = texts(places)
    for (const { path } of places) removeAll(path)
    removeAll(process.env.CARABINER_HOME ?? '')
    await written(() => planAll(places, entriesFor(known, OLD)))
    removeAll(process.env.CARABINER_HOME ?? '')
    await written(() => planAll(places, entries))
    expect(texts(places)).toEqual(fresh)
  })

  it('leaves nothing behind', async () => {
    const places = placesIn(known)
    await written(() => planAll(places, entries))
    await written(() => places.map((place) => planRemove(place)))
    expect(texts(places)).toEqual(places.map(() => undefined))
  })

  it('takes out its own entries and nothing else, also without its record', async () => {
    const places = placesIn(known)
    const events = Object.values(known.setup.events).flat()
    const before = filesOf(known).map((file) => foreignText(file, events))
    for (const [i, text] of before.entries()) {
      if (text === undefined) continue
      mkdirSync(dirname(places[i]?.path ?? ''), { recursive: true })
      writeFileSync(places[i]?.path ?? '', text)
    }
    await written(() => planAll(places, entries))
    removeAll(process.env.CARABINER_HOME ?? '')
    await written(() => places.map((place) => planRemove(place)))
    for (const [i, text] of texts(places).entries()) expect(text).toBe(before[i])
  })
})

/** What somebody else writes into a file that has our entries. */
function editedText({ name }: HostFile, text: string): string {
  if (name.endsWith('.toml')) return `${text}\n# mine\n[mine]\na = 1\n`
  if (!name.endsWith('.json')) return `${text}\n// mine\n`
  return text.replace('{', '{\n  "mine": 1,')
}

describe.each(SETUPS.map((known) => [known.host.name, known] as const))('%s, edited since', (_, known) => {
  const entries = entriesFor(known)

  it.each([true, false])(
    'keeps what others wrote, or says why nothing was removed (record: %s)',
    async (hasRecord) => {
      const places = placesIn(known)
      await written(() => planAll(places, entries))
      const [file] = filesOf(known)
      const [place] = places
      if (!file || !place) throw new Error('no file')
      const text = editedText(file, readFileSync(place.path, 'utf8'))
      writeFileSync(place.path, place.form.isWhole && !hasRecord ? `// mine\n${text}` : text)
      if (!hasRecord) removeAll(process.env.CARABINER_HOME ?? '')
      if (place.form.isWhole) {
        const before = texts(places)
        expect(() => planRemove(place)).toThrow(/somebody has changed the file since setup wrote it/)
        expect(() => planInstall(place, entries)).toThrow(SetupProblem)
        expect(texts(places)).toEqual(before)
        return
      }
      expect(place.form.commands(text).length).toBeGreaterThan(0)
      await written(() => [planRemove(place)])
      const [after] = texts(places)
      expect(place.form.commands(after ?? '')).toEqual([])
      expect(after).toContain('mine')
    },
  )
})

describe.each(SETUPS.map((known) => [known.host.name, known] as const))(
  '%s, with a file that',
  (_, known) => {
    const entries = entriesFor(known)

    /** The first file of the agent, with our entries in it. */
    async function registered(): Promise<HostPlace> {
      const places = placesIn(known)
      await written(() => planAll(places, entries))
      return places[0] as HostPlace
    }

    it('is read-only, is left alone', async () => {
      const place = await registered()
      const before = readFileSync(place.path, 'utf8')
      chmodSync(place.path, 0o444)
      expect(() => planInstall(place, entries)).toThrow(/is read-only/)
      expect(() => planRemove(place)).toThrow(/is read-only/)
      expect(readFileSync(place.path, 'utf8')).toBe(before)
    })

    it('is a link inside the home, stays a link', async () => {
      const place = await registered()
      const target = `${place.path}.target`
      renameSync(place.path, target)
      symlinkSync(target, place.path)
      removeAll(process.env.CARABINER_HOME ?? '')
      await written(() => [planRemove(place)])
      expect(lstatSync(place.path).isSymbolicLink()).toBe(true)
      const left = existsSync(target) ? readFileSync(target, 'utf8') : ''
      expect(place.form.commands(left)).toEqual([])
    })

    it('links to a place outside, is left alone', async () => {
      const place = await registered()
      const inside = { ...place, within: [dirname(place.path)] }
      const target = join(dirname(place.within[0] ?? ''), `outside-${process.pid}`)
      onTestFinished(() => removeAll(target))
      renameSync(place.path, target)
      symlinkSync(target, place.path)
      const before = readFileSync(target, 'utf8')
      expect(() => planRemove(inside)).toThrow(/which is outside/)
      expect(readFileSync(target, 'utf8')).toBe(before)
    })

    it('is huge, is left alone', async () => {
      const place = await registered()
      truncateSync(place.path, 5 * 1024 * 1024)
      expect(() => planInstall(place, entries)).toThrow(SetupProblem)
      expect(() => planRemove(place)).toThrow(SetupProblem)
      expect(statSync(place.path).size).toBe(5 * 1024 * 1024)
    })

    it('another program writes at the same time, is planned again', async () => {
      const place = await registered()
      const plan = planRemove(place)
      writeFileSync(place.path, '')
      expect(await carryOut(plan, () => planRemove(place))).toBeUndefined()
      expect(readFileSync(place.path, 'utf8')).toBe('')
    })
  },
)

/** As 0.1.0 and later versions wrote commands, and as people write them by hand. */
const OLDER: Readonly<Record<string, (words: string) => string>> = {
  'without a check of its files': (words) =>
    `NODE_OPTIONS= NODE_PATH= "/old/node" "/old/carabiner.js" ${words}`,
  'with clip': (words) => `NODE_OPTIONS= NODE_PATH= "/old/clip" "/old/node" "/old/carabiner.js" ${words}`,
  'without variables': (words) => `"/old/node" "/old/carabiner.js" ${words}`,
  'by hand': (words) => `npx --yes carabiner@1 ${words}`,
}

describe.each(SETUPS.map((known) => [known.host.name, known] as const))('%s, set up before', (_, known) => {
  const entries = entriesFor(known)

  it.each(sample(Object.keys(OLDER)))('%s: one setup replaces all of it', async (shape) => {
    const places = placesIn(known)
    await written(() => planAll(places, entries))
    const fresh = texts(places)
    for (const { path } of places) removeAll(path)
    removeAll(process.env.CARABINER_HOME ?? '')
    const before = entries.map((entry) => {
      const { call = '', name = '', host = '' } = ownCommand(entry) ?? {}
      const words = call === 'fire' ? `fire ${name} --as ${host}` : `hook ${name} --as ${host}`
      return { ...entry, command: OLDER[shape]?.(words) ?? '' }
    })
    await written(() => planAll(places, before))
    removeAll(process.env.CARABINER_HOME ?? '')
    await written(() => planAll(places, entries))
    expect(texts(places)).toEqual(fresh)
  })

  it('by another user: the files of each are their own', async () => {
    const [mine, theirs] = [placesIn(known), placesIn(known)]
    await written(() => planAll(mine, entries))
    const before = texts(mine)
    await written(() => planAll(theirs, entries))
    await written(() => theirs.map((place) => planRemove(place)))
    expect(texts(mine)).toEqual(before)
    expect(texts(theirs)).toEqual(theirs.map(() => undefined))
  })
})

const IN_PROJECTS = SETUPS.filter(({ setup }) => setup.project !== undefined)

describe.each(IN_PROJECTS.map((known) => [known.host.name, known] as const))(
  '%s, in a project',
  (_, known) => {
    it('writes all of it, reads it again, and leaves nothing behind', async () => {
      const places = placesIn(known, known.setup.project?.files)
      const entries = entriesFor(known)
      await written(() => planAll(places, entries))
      const found = places.flatMap((place, i) => place.form.commands(texts(places)[i] ?? ''))
      expect(new Set(found.map(({ command }) => command))).toEqual(
        new Set(entries.map(({ command }) => command)),
      )
      expect(await written(() => planAll(places, entries))).toBe(false)
      await written(() => places.map((place) => planRemove(place)))
      expect(texts(places)).toEqual(places.map(() => undefined))
    })
  },
)

describe('VS Code and Copilot CLI', () => {
  const [copilot, vscode] = ['copilot', 'vscode'].map(
    (name) => SETUPS.find(({ host }) => host.name === name) as KnownSetup,
  ) as [KnownSetup, KnownSetup]

  it.each([
    [copilot, vscode],
    [vscode, copilot],
  ])('have one file, whoever came first', async (first, second) => {
    const places = placesIn(first)
    await written(() => planAll(places, entriesFor(first)))
    expect(second.setup.files).toEqual(first.setup.files)
    expect(await written(() => planAll(places, entriesFor(second)))).toBe(false)
    await written(() => places.map((place) => planRemove(place)))
    expect(texts(places)).toEqual([undefined])
  })

  it('have an entry for each of their events, once', async () => {
    const [place] = placesIn(copilot) as [HostPlace]
    await written(() => planAll([place], engineEntries(PROGRAM, registeringOf(copilot))))
    const keys = Object.keys(JSON.parse(readFileSync(place.path, 'utf8')).hooks)
    expect(new Set(keys.map((key) => key.toLowerCase())).size).toBe(keys.length)
    // The names that VS Code knows, in its own spelling or Copilot CLI's.
    const known = 'sessionStart userPromptSubmitted preToolUse postToolUse agentStop subagentStop'.split(' ')
    expect(keys).toEqual(expect.arrayContaining([...known, 'SubagentStart', 'PreCompact']))
  })
})

describe('Kiro', () => {
  const kiro = SETUPS.find(({ host }) => host.name === 'kiro') as KnownSetup

  it('keeps the hooks that somebody added to the file', async () => {
    const [place] = placesIn(kiro) as [HostPlace]
    const entries = entriesFor(kiro)
    await written(() => planAll([place], entries))
    const own = JSON.parse(readFileSync(place.path, 'utf8'))
    const mine = { name: 'mine', trigger: 'Stop', action: { type: 'command', command: 'theirs' } }
    writeFileSync(place.path, JSON.stringify({ ...own, hooks: [mine, ...own.hooks] }, null, 2))
    expect(await written(() => planAll([place], entriesFor(kiro, OLD)))).toBe(true)
    expect(place.form.commands(readFileSync(place.path, 'utf8')).length).toBe(entries.length + 1)
    await written(() => [planRemove(place)])
    expect(JSON.parse(readFileSync(place.path, 'utf8'))).toEqual({ version: 'v1', hooks: [mine] })
  })
})

describe('an agent whose file has a form that cannot be added to', () => {
  const kimi = SETUPS.find(({ host }) => host.name === 'kimi') as KnownSetup
  const [file] = kimi.setup.files
  const put = (text: string) =>
    file?.form.put(text, entriesFor(kimi), { file: '/h/config.toml', earlier: new Map() }) ?? ''

  it.each([
    ['hooks = [1', /config\.toml:1 is not valid TOML/],
    ['hooks = 3\n', /in a form that setup cannot add to/],
    ['[hooks]\na = 1\n', /in a form that setup cannot add to/],
  ])('%j is left alone', (text, why) => {
    expect(() => put(text)).toThrow(why)
  })

  it.each([
    'a = """\n[[hooks]]\n"""\n',
    "a = '''\n[[hooks]]\ncommand = 'carabiner hook stop'\n'''\n# [[hooks]]\n",
    'a = 1',
    '# [[hooks]]\r\na = 1\r\n',
    'a = 1\n\n\n',
    '',
  ])('%j stays, with tables after it', (text) => {
    const after = put(text)
    expect(after.startsWith(text)).toBe(true)
    expect((parse(after).hooks as unknown[]).length).toBe(entriesFor(kimi).length)
    // A missing end of line is not remembered.
    const isEnded = text === '' || text.endsWith('\n')
    expect(file?.form.take(after, 'f', isOurs)).toBe(isEnded ? text : `${text}\n`)
  })

  it.each([
    'notes = """see issue #5"""\n',
    "path = '''C:\\'''\n",
    'a = """x"""""\nb = """""" # c\n',
    'a = "# \\"\\"\\"" # \'\'\'\n',
    'id = 9223372036854775807\n',
  ])('%j hides nothing that follows', (text) => {
    const after = `${put(text)}\n[ui]\ntheme = "dark"\n`
    expect(file?.form.commands(after)).toHaveLength(entriesFor(kimi).length)
    expect(file?.form.take(after, 'f', isOurs)).toBe(`${text}\n[ui]\ntheme = "dark"\n`)
  })

  it('comments of the user stay, after our tables and before them', () => {
    const text = '[providers.x]\ntype = "openai"\n'
    const notes = '# my own notes\n# [mcp.disabled]\n# command = "x"\n'
    expect(file?.form.take(`${put(text)}\n${notes}`, 'f', isOurs)).toBe(`${text}\n${notes}`)
    expect(file?.form.take(`${put('')}\n${notes}`, 'f', isOurs)).toBe(notes)
    const beside = put(text).replace('# Written', '# mine\n# Written')
    expect(file?.form.take(beside, 'f', isOurs)).toBe(`${text}\n# mine\n`)
  })

  it('hooks of ours that cannot be taken out are told', () => {
    const [entry] = entriesFor(kimi)
    const inline = `hooks = [{ event = "Stop", command = ${JSON.stringify(entry?.command)} }]\n`
    expect(() => file?.form.take(inline, 'f', isOurs)).toThrow(/in a form that setup cannot remove/)
  })
})
