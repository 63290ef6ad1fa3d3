// A trusted script loads what it loaded when it was reviewed, also where its interpreter picks files by itself.

import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scriptsChanged } from '../../src/trust/changes.js'
import { withKeptScripts } from '../../src/trust/kept-scripts.js'
import type { UnitHook } from '../../src/trust/unit.js'
import { hook, project, trusted } from './hostile-project.js'

const PYTHON = 'import json, sys\nfrom helper import rules\nsys.exit(2)\n'
const COMMONJS =
  "const { readFileSync } = require('fs')\nrequire('./lib')\nrequire('left-pad')\nprocess.exit(2)\n"
const MODULE = "import { readFileSync } from 'node:fs'\nprocess.exit(2)\n"
const SHELL =
  '[ -f "$(dirname "$0")/own.sh" ] && . "$(dirname "$0")/own.sh"\n. ./env.sh\njq . state.json\nexit 2\n'

interface Setting {
  readonly command: string
  readonly files?: Readonly<Record<string, string>>
  /** Each counts as a change. */
  readonly changes: Readonly<Record<string, string>>
  /** What people do every day. */
  readonly harmless: Readonly<Record<string, string>>
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  python: {
    command: 'python3 scripts/gate.py',
    files: { 'scripts/gate.py': PYTHON },
    changes: {
      'scripts/json.py': '',
      'scripts/re.py': '',
      'scripts/helper.py': '',
      'scripts/email/__init__.py': '',
      'scripts/types.pyc': '',
      'scripts/_struct.cpython-311-x86_64-linux-gnu.so': '',
    },
    harmless: {
      'scripts/other.py': '',
      'scripts/json.txt': '',
      'scripts/json/data.txt': '',
      'scripts/__pycache__/json.cpython-311.pyc': '',
      'json.py': '',
      'logs/gate.log': '',
    },
  },
  'python by its first line': {
    command: './scripts/gate',
    files: { 'scripts/gate': `#!/usr/bin/env python3\n${PYTHON}` },
    changes: { 'scripts/json.py': '' },
    harmless: {},
  },
  'python without an extension': {
    command: 'python3 scripts/gate',
    files: { 'scripts/gate': PYTHON },
    changes: { 'scripts/json.py': '' },
    harmless: {},
  },
  'python with neighbours': {
    command: 'python3 scripts/gate.py',
    files: { 'scripts/gate.py': PYTHON, 'scripts/types.py': '', 'scripts/helper.py': '' },
    changes: { 'scripts/json.py': '' },
    harmless: { 'scripts/helper.py': 'x = 1', 'scripts/types.py': 'x = 1' },
  },
  'python in the command': {
    command: 'python3 -c "import json, sys; sys.exit(2)"',
    changes: { 'json.py': '', 're.py': '' },
    harmless: { 'test/__init__.py': '', 'setup.py': '', 'logging/app.log': '' },
  },
  'python in a shell script': {
    command: 'sh scripts/gate.sh',
    files: { 'scripts/gate.sh': 'python3 -c "import json" && exit 2\n' },
    changes: { 'json.py': '' },
    harmless: { 'scripts/json.py': '' },
  },
  node: {
    command: 'node scripts/gate.js',
    files: { 'scripts/gate.js': COMMONJS, 'scripts/lib/index.js': '', 'node_modules/left-pad/index.js': '' },
    changes: {
      'scripts/package.json': '',
      'package.json': '{"type":"module"}',
      'scripts/lib.js': '',
      'scripts/lib/package.json': '{"main":"other.js"}',
      'scripts/node_modules/left-pad/index.js': '',
    },
    harmless: {
      'scripts/other.js': '',
      'scripts/state.json': '{}',
      'package.json': '{"name":"x","type":"commonjs","scripts":{}}',
      'node_modules/other/index.js': '',
    },
  },
  'node with a package.json': {
    command: 'node scripts/gate.js',
    files: { 'scripts/gate.js': COMMONJS, 'package.json': '{"name":"x"}' },
    changes: { 'package.json': '{"name":', 'scripts/package.json': '{"imports":{"#x":"./x.js"}}' },
    harmless: { 'package.json': '{"name":"x","dependencies":{"a":"1"}}' },
  },
  'node with modules': {
    command: 'node scripts/gate.js',
    files: { 'scripts/gate.js': MODULE, 'package.json': '{"type":"module"}' },
    changes: { 'package.json': '{"name":"x"}', 'scripts/package.json': '{}' },
    harmless: { 'package.json': '{"type":"module","version":"2.0.0"}' },
  },
  'node with modules that it detects': {
    command: 'node scripts/gate.js',
    files: { 'scripts/gate.js': MODULE },
    changes: { 'package.json': '{"type":"commonjs"}' },
    harmless: { 'package.json': '{"name":"x"}' },
  },
  shell: {
    command: 'sh scripts/gate.sh',
    files: { 'scripts/gate.sh': SHELL },
    changes: { 'scripts/own.sh': 'exit 0', 'env.sh': 'exit 0' },
    harmless: { 'state.json': '{}', 'scripts/other.sh': '' },
  },
}

function reviewed(name: string) {
  const { command, files = {}, ...rest } = SETTINGS[name] as Setting
  const place = project()
  for (const [file, content] of Object.entries(files)) place.write(file, content, 0o755)
  const unit = place.file([hook(command)])
  return { ...rest, files, place, unit, record: trusted(place.store, unit) }
}

describe('a file that an interpreter picks by itself', () => {
  it.each(Object.keys(SETTINGS))('%s: counts as a change if it is new', (name) => {
    const { place, unit, record, files, changes, harmless } = reviewed(name)
    for (const [path, text] of Object.entries(harmless)) place.write(path, text)
    expect(scriptsChanged(record)).toBeUndefined()
    expect(place.newStore().standingOf(unit).state).toBe('trusted')
    for (const [path, text] of Object.entries(changes)) {
      const at = place.write(path, text)
      const why = scriptsChanged(record)
      expect(why).toContain(at.replace(/\/__init__\.py$/, ''))
      expect(place.newStore().standingOf(unit)).toMatchObject({ state: 'modified', why })
      const before = files[path] ?? harmless[path]
      if (before === undefined) rmSync(at)
      else place.write(path, before)
    }
    expect(scriptsChanged(record)).toBeUndefined()
  })

  it('is not beside the kept copy of a script, which runs in its place', () => {
    const { record, place } = reviewed('python')
    place.write('scripts/json.py', '')
    const line = withKeptScripts(record, record.hooks[0] as UnitHook, place.dir, (script) =>
      place.store.placeScript(record, script),
    )
    expect(line?.command).toMatch(/^python3 '.*\/data\/copies\/.*\/gate\.py'$/)
  })

  it('closes a command that has the program in itself', () => {
    const { record, place } = reviewed('python in the command')
    place.write('json.py', '')
    expect(withKeptScripts(record, record.hooks[0] as UnitHook, place.dir, () => undefined)).toBeUndefined()
  })

  it('counts beside the file that a script is a link to', () => {
    const place = project()
    const target = place.write('tools/gate.py', PYTHON)
    place.write('scripts/x', '')
    symlinkSync(target, join(place.dir, 'scripts/gate.py'))
    const record = trusted(place.store, place.file([hook('python3 scripts/gate.py')]))
    place.write('tools/json.py', '')
    expect(scriptsChanged(record)).toContain('tools/json.py')
  })
})
