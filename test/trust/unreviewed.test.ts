import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scriptsChanged } from '../../src/trust/changes.js'
import { hook, type Project, project, trusted } from './hostile-project.js'

interface Attack {
  readonly command: string
  /** Sets up what is there when the unit is trusted. */
  readonly before?: (place: Project) => unknown
  readonly attack: (place: Project) => unknown
  /** The folder below the project that the hook starts in. */
  readonly cwd?: string
}

const SH = 'echo evil\n'
const JS = 'console.log("evil")\n'
const PY = 'print("evil")\n'

function folderLink({ dir }: Project, to: string, link: string): void {
  mkdirSync(join(dir, to), { recursive: true })
  rmSync(join(dir, link), { force: true })
  symlinkSync(join(dir, to), join(dir, link))
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  'behind a link and ..': {
    command: 'sh sub/../check.sh',
    before: (place) => {
      folderLink(place, 'deep/inner', 'sub')
      place.write('check.sh', 'echo good\n')
      place.write('deep/check.sh', 'echo good\n')
    },
    attack: ({ write }) => write('deep/check.sh', SH),
  },
  'behind a link that leads elsewhere by then': {
    command: 'sh sub/../check.sh',
    before: (place) => {
      folderLink(place, 'deep/inner', 'sub')
      place.write('deep/check.sh', 'echo good\n')
    },
    attack: (place) => {
      folderLink(place, 'other/inner', 'sub')
      place.write('other/check.sh', SH)
    },
  },
  'behind a link and .., in another folder': {
    command: 'sh sub/../check.sh',
    before: ({ write }) => {
      write('check.sh', 'echo good\n')
      write('sub/x', '')
      write('work/check.sh', 'echo good\n')
    },
    attack: (place) => {
      place.write('work/deep/check.sh', SH)
      folderLink(place, 'work/deep/inner', 'work/sub')
    },
    cwd: 'work',
  },
  'behind cd, in another folder': {
    command: 'cd hooks && sh ./check.sh',
    before: ({ write }) => write('hooks/check.sh', 'echo good\n'),
    attack: ({ write }) => write('work/hooks/check.sh', SH),
    cwd: 'work',
  },
  'behind two cds': {
    command: 'cd a && cd b && ./x.sh',
    before: ({ write }) => write('a/b/x.sh', 'echo good\n', 0o755),
    attack: ({ write }) => write('a/b/x.sh', SH, 0o755),
  },
  'behind pushd': {
    command: 'pushd a >/dev/null; cd b; sh x.sh',
    before: ({ write }) => write('a/b/x.sh', 'echo good\n'),
    attack: ({ write }) => write('a/b/x.sh', SH),
  },
  'behind cd to a link and ..': {
    command: 'cd sub/.. && sh x.sh',
    before: (place) => {
      folderLink(place, 'deep/inner', 'sub')
      place.write('x.sh', 'echo good\n')
    },
    attack: ({ write }) => write('x.sh', SH),
  },
  'behind cd to the folder above where a link leads': {
    command: 'cd -P sub/.. && sh x.sh',
    before: (place) => folderLink(place, 'deep/inner', 'sub'),
    attack: ({ write }) => write('deep/x.sh', SH),
  },
  'behind cd to a link and .., in another folder': {
    command: 'cd sub/../lib && sh x.sh',
    before: (place) => {
      folderLink(place, 'deep/inner', 'sub')
      folderLink(place, 'work/deep/inner', 'work/sub')
    },
    attack: ({ write }) => write('work/lib/x.sh', SH),
    cwd: 'work',
  },
  'in a folder that was not there': {
    command: 'cd later && sh x.sh',
    attack: ({ write }) => write('later/x.sh', SH),
  },
  'that make is sent to': {
    command: 'make -s -C sub',
    before: ({ write }) => write('sub/Makefile', 'all:\n\t@echo good\n'),
    attack: ({ write }) => write('sub/GNUmakefile', 'all:\n\t@echo evil\n'),
  },
  'that node completes': {
    command: 'node ./check',
    before: ({ write }) => write('check.js', ''),
    attack: ({ write }) => write('check.js', JS),
  },
  'that node would rather have completed': {
    command: 'node ./check',
    before: ({ write }) => write('check/index.js', ''),
    attack: ({ write }) => write('check.js', JS),
  },
  'that node was not completing yet': {
    command: 'node ./check',
    attack: ({ write }) => write('check/index.js', JS),
  },
  'that a package.json names': {
    command: 'node ./tool',
    before: ({ write }) => {
      write('tool/package.json', '{"main": "lib/start"}')
      write('tool/lib/start.js', '')
    },
    attack: ({ write }) => write('tool/lib/start.js', JS),
  },
  'behind a package.json that names another': {
    command: 'node ./tool',
    before: ({ write }) => {
      write('tool/package.json', '{"main": "good.js"}')
      write('tool/good.js', '')
      write('tool/bad.js', JS)
    },
    attack: ({ write }) => write('tool/package.json', '{"main": "bad.js"}'),
  },
  'that code of node loads': {
    command: `node -e 'require("./x")'`,
    before: ({ write }) => write('x.js', ''),
    attack: ({ write }) => write('x.js', JS),
  },
  'in a package of python': {
    command: 'python3 pkg',
    before: ({ write }) => write('pkg/__main__.py', ''),
    attack: ({ write }) => write('pkg/__main__.py', PY),
  },
  'of a module of python': {
    command: 'python3 -m pkg.tool',
    before: ({ write }) => write('pkg/tool.py', ''),
    attack: ({ write }) => write('pkg/tool.py', PY),
  },
  'that stands before a module of the library': {
    command: `python3 -c 'import sys, colorsys as c'`,
    attack: ({ write }) => write('colorsys.py', PY),
  },
  'glued to an option': {
    command: 'awk -f./prog.awk </dev/null',
    before: ({ write }) => write('prog.awk', ''),
    attack: ({ write }) => write('prog.awk', 'BEGIN { print "evil" }'),
  },
  'glued to an option, not there yet': {
    command: 'awk -fprog </dev/null; true',
    attack: ({ write }) => write('prog', 'BEGIN { print "evil" }'),
  },
  'after a quoted >': {
    command: `sh -s '>' <./x.sh`,
    before: ({ write }) => write('x.sh', ''),
    attack: ({ write }) => write('x.sh', SH),
  },
  'in a folder called like an old mark of ours': {
    command: 'sh ./%carabiner3%/x.sh',
    before: ({ write }) => write('%carabiner3%/x.sh', ''),
    attack: ({ write }) => write('%carabiner3%/x.sh', SH),
  },
  'in a PATH of its own': {
    command: 'PATH=./tools:$PATH; jq .',
    before: ({ write }) => write('tools/jq', '#!/bin/sh\n', 0o755),
    attack: ({ write }) => write('tools/jq', `#!/bin/sh\n${SH}`, 0o755),
  },
  'in a PATH that is exported, not there yet': {
    command: 'export PATH="$PWD:tools:$PATH"; jq -n 1',
    attack: ({ write }) => write('tools/jq', `#!/bin/sh\n${SH}`, 0o755),
  },
  'that a first line names': {
    command: 'scripts/check',
    before: ({ write }) => {
      write('scripts/check', '#!./interp\n', 0o755)
      write('interp', '#!/bin/sh\n', 0o755)
    },
    attack: ({ write }) => write('interp', `#!/bin/sh\n${SH}`, 0o755),
  },
  'that a first line names by env': {
    command: 'scripts/check',
    before: ({ write }) => {
      write('scripts/check', '#!/usr/bin/env -S ./interp -x\n', 0o755)
      write('interp', '#!/bin/sh\n', 0o755)
    },
    attack: ({ write }) => write('interp', `#!/bin/sh\n${SH}`, 0o755),
  },
  'with brackets in its name': {
    command: `sh 'a[1].sh'`,
    before: ({ write }) => write('a[1].sh', ''),
    attack: ({ write }) => write('a[1].sh', SH),
  },
  'with brackets in its name, not there yet': {
    command: `sh 'a[1].sh' || true`,
    attack: ({ write }) => write('a[1].sh', SH),
  },
  'with a path like an address': {
    command: 'sh x://y.sh',
    before: ({ write }) => write('x:/y.sh', ''),
    attack: ({ write }) => write('x:/y.sh', SH),
  },
  'behind the folder of processes': {
    command: 'sh /proc/../"$CLAUDE_PROJECT_DIR"/x.sh',
    before: ({ write }) => write('x.sh', ''),
    attack: ({ write }) => write('x.sh', SH),
  },
  'behind ~+': {
    command: 'sh ~+/x.sh',
    before: ({ write }) => write('x.sh', ''),
    attack: ({ write }) => write('x.sh', SH),
  },
  'among data that is run': {
    command: 'cat x | sh',
    before: ({ write }) => write('x', ''),
    attack: ({ write }) => write('x', SH),
  },
}

function printed(command: string, cwd: string, projectDir: string): string {
  const env = { ...process.env, CLAUDE_PROJECT_DIR: projectDir }
  return execFileSync('bash', ['-c', command], { cwd, env, encoding: 'utf8' })
}

describe('a file that nobody reviewed does not run', () => {
  it.each(Object.entries(ATTACKS))('%s', (_, { command, before, attack, cwd = '.' }) => {
    const place = project()
    const start = join(place.dir, cwd)
    mkdirSync(start, { recursive: true })
    before?.(place)
    const unit = place.file([hook(command)])
    const record = trusted(place.store, unit)
    expect(scriptsChanged(record, start)).toBeUndefined()
    attack(place)
    // Without the check it would have run.
    expect(printed(command, start, place.dir)).toContain('evil')
    expect(scriptsChanged(record, start)).toMatch(
      /changed since|appeared since|which a command names|means "/,
    )
  })
})
