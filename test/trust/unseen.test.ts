import { describe, expect, it, vi } from 'vitest'
import { scriptsChanged } from '../../src/trust/changes.js'
import { namedBy } from '../../src/trust/named-files.js'
import { hook, type Project, project, trusted } from './hostile-project.js'

function unseen({ file }: Project, command: string): readonly string[] {
  return namedBy(file([hook(command, { name: 'guard' })]), []).unseen
}

describe('what cannot be followed is said', () => {
  const commands: Readonly<Record<string, string>> = {
    'cd "$X" && ./a.sh': 'it goes to "$X", a folder that only the shell knows',
    'CDPATH=/srv cd hooks; ./a.sh': 'it goes to "hooks", and CDPATH may lead elsewhere',
    'while cd sub; do sh a.sh; done': 'it goes to "sub", perhaps more than once',
    'find . -name x -execdir ./a.sh ;': 'find starts commands in the folders it finds',
    'npm run check': 'npm and files of the project decide',
    'npx lint': 'npx and files of the project decide',
    'make check': 'make and files of the project decide',
    'git lint': 'git runs hooks and aliases',
    'git -c alias.x=!sh x': 'git runs what its settings say',
    'python3 -c "import json"': 'python looks for modules in the folder where it starts',
    'python3 -mjson.tool': 'python looks for modules',
    'cat x | python3 -': 'python looks for modules',
    'node -e "require(`x`)"': 'node looks for packages',
    'node -r dotenv/config a.js': 'node looks for packages',
    'ruby -e "load \'a\'"': 'ruby decides which other files',
    'node -e "const r = require; r(x)"': 'node looks for packages',
    'node -e "import(x)"': 'node looks for packages',
    'PATH=/srv/bin jq .': 'it changes PATH',
    'export PATH=/srv/bin; jq .': 'it changes PATH',
    'env PATH=/srv/bin jq .': 'it changes PATH',
    'LD_PRELOAD=./a.so true': 'programs load other files because of LD_PRELOAD',
    'HOME=/srv; sh ~/a.sh': 'it points HOME at another folder',
    "sh '$CLAUDE_PROJECT_DIR/a.sh'": '"\'$CLAUDE_PROJECT_DIR/a.sh\'" is quoted',
    'sh /proc/self/cwd/a.sh': '"/proc/self/cwd/a.sh" is a different file each time',
  }

  it.each(Object.entries(commands))('%s', (command, what) => {
    expect(unseen(project(), command)).toContainEqual(
      expect.stringContaining(`The hook "guard" may run files that are not part of what is trusted: ${what}`),
    )
  })

  it.each([
    'cd sub && ./a.sh',
    'git status --short',
    'git -C sub rev-parse HEAD',
    'python3 -I -c "import json"',
    'python3 a.py -c x',
    `node -e 'require("node:fs"); require("path")'`,
    `node --input-type=module -e 'import fs from "node:fs"; Array.from([])'`,
    'jq -r .x',
    '"$CLAUDE_PROJECT_DIR"/a.sh',
    'X=1 ./a.sh',
  ])('but not of %s', (command) => {
    vi.stubEnv('CDPATH', '')
    expect(unseen(project(), command)).toEqual([])
  })

  it('of a first line in the copy of a plugin, and the file that it means is hashed', () => {
    const { store, plugin, write, dir } = project()
    const unit = plugin({ 'check.sh': '#!./interp\n' })
    const interp = write('interp', '')
    expect(store.look(unit).scripts.map(({ path }) => path)).toEqual([interp])
    expect(namedBy(unit, []).unseen.join()).toContain(
      'begins with "#!" and "./interp", which is looked up where',
    )
    const record = trusted(store, unit)
    write('interp', 'evil')
    expect(scriptsChanged(record, dir)).toContain('interp" was changed since')
  })

  const many = (length: number, word: string) => Array.from({ length }, (_, i) => word + i).join(' ')

  it('of more folders than are looked at', () => {
    const cds = Array.from({ length: 50 }, (_, i) => `cd a${i}`).join(';')
    const { file, write } = project()
    write('last', '')
    const { unseen: found, files } = namedBy(file([hook(`${cds}; x ${many(1000, 'w')} last`)]), [])
    expect(files).toEqual([])
    expect(found.join()).toContain('it may use more folders than can be checked')
    expect(found.join()).toContain('it names more files, in more folders, than can be checked')
  })

  it('of more files than are looked for each time before a hook runs', () => {
    const { file } = project()
    const { unseen: found, absent } = namedBy(file([hook(`sh ${many(1200, './w')}`)]), [])
    expect(absent).toHaveLength(1000)
    expect(found.join()).toContain('it names more files, in more folders, than can be checked')
  })

  it('of more words than are looked at', () => {
    const { file, write } = project()
    write('last', '')
    const { unseen: found, files } = namedBy(file([hook(`x ${many(2050, '')} last`)]), [])
    expect(files).toEqual([])
    expect(found.join()).toContain('it has more words than can be checked')
  })
})

describe('where a command goes first of all', () => {
  const named = (command: string) => {
    const place = project()
    place.write('package.json', '{}')
    const { files, absent, words } = namedBy(place.plugin(undefined, [hook(command)]), [])
    return { files: files.map((path) => path.slice(place.dir.length + 1)), absent, words }
  }

  it('it looks for files, and not where it starts', () => {
    const nothing = { files: [], absent: [], words: [] }
    expect(named('cd "$CLAUDE_PLUGIN_ROOT" && npm test && node package')).toEqual(nothing)
    expect(named('cd "$CLAUDE_PROJECT_DIR" && npm test')).toEqual({ ...nothing, files: ['package.json'] })
  })

  it.each([
    'cd "$CLAUDE_PLUGIN_ROOT"; npm test',
    'cd "$CLAUDE_PLUGIN_ROOT" && true || npm test',
    'cd "$CLAUDE_PLUGIN_ROOT" && true; npm test',
    'cd "$CLAUDE_PLUGIN_ROOT" | true && npm test',
    'cd "$CLAUDE_PLUGIN_ROOT" & npm test',
    '(cd "$CLAUDE_PLUGIN_ROOT") && npm test',
    'true && cd "$CLAUDE_PLUGIN_ROOT" && npm test',
  ])('it may not get with %s', (command) => {
    expect(named(command)).toMatchObject({ files: ['package.json'], words: ['package.json'] })
  })
})
