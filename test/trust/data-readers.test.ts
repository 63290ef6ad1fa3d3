import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { namedBy } from '../../src/trust/named-files.js'
import { hook, project } from './hostile-project.js'

describe('data', () => {
  const scripts = (command: string) => {
    const place = project()
    for (const name of ['TODO.md', 'run', 'cat', 'check.sh']) place.write(name, '')
    chmodSync(join(place.dir, 'cat'), 0o755)
    const { files, absent } = namedBy(place.file([hook(command)]), [])
    return { files: files.map((path) => path.slice(place.dir.length + 1)), absent }
  }

  it.each([
    'cat TODO.md',
    '/bin/cat TODO.md other.md',
    'jq -r .x TODO.md package.json',
    'grep -q x < TODO.md && exit 2',
    'cat TODO.md | jq -Rs . | uniq >> log.txt',
    '[ -f TODO.md ] && cat TODO.md',
    '[[ -f TODO.md ]] && echo "$(cat TODO.md)"',
    'if test -e TODO.md; then wc -l TODO.md; fi',
    'cd "$CLAUDE_PROJECT_DIR" && head -n 3 TODO.md',
  ])('is what %s names', (command) => {
    expect(scripts(command)).toEqual({ files: [], absent: [] })
  })

  it.each([
    'sh check.sh --log logs/hook.log',
    './check.sh -o out.jsonl --state=state.json',
    'python3 check.sh state.json /tmp/none/x.db',
    './check.sh .cache/seen.json check.pid',
    'LOG=logs/hook.log sh check.sh',
    'LOG=logs/hook.log STATE=state.json ./check.sh --strict',
    'export LOG=a.log:b.log; sh check.sh',
  ])('is also what a script makes later: %s', (command) => {
    expect(scripts(command)).toEqual({ files: ['check.sh'], absent: [] })
  })

  it.each([
    ['sh x.log', 'x.log'],
    ['. ./x.log', 'x.log'],
    ['sh < x.log', 'x.log'],
    ['node -r ./x.log check.sh', 'x.log'],
    ['sh check.sh x.log; sh x.log', 'x.log'],
    ['X=x.log; sh "$X"', 'x.log'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
    ['X=x.log; sh check.sh; . ./${X}', 'x.log'],
    ['BASH_ENV=./x.log bash check.sh', 'x.log'],
    ['X=x.log unknown-tool', 'x.log'],
    ['RULES=lib/rules.sh sh check.sh', 'lib/rules.sh'],
    ['./check.sh lib/rules.sh', 'lib/rules.sh'],
    ['./check.sh package.json', 'package.json'],
    ['node check.sh --config x/.eslintrc.json', 'x/.eslintrc.json'],
  ])('is not what appears in the place of code: %s', (command, path) => {
    expect(scripts(command).absent).toContainEqual(expect.stringMatching(new RegExp(`/${path}$`)))
  })

  it('may be what runs, if the script is a link to a stream', () => {
    const place = project()
    place.write('run', '')
    symlinkSync('/dev/stdin', join(place.dir, 'in'))
    const { unseen } = namedBy(place.file([hook('cat run | python3 in')]), [])
    expect(unseen).toEqual([expect.stringContaining('"in" is not a regular file')])
  })

  it('is not what runs', () => {
    expect(scripts('cat TODO.md | ./check.sh')).toEqual({ files: ['check.sh'], absent: [] })
    expect(scripts('cat TODO.md | sh check.sh')).toEqual({ files: ['check.sh'], absent: [] })
    expect(scripts('cat TODO.md | python3 /dev/shm/none/check.py').files).toEqual([])
  })

  it.each([
    'cat run | sh',
    'cat run | python3',
    'cat run | python3 /dev/stdin',
    'cat run | node /dev/fd/0',
    'cat run | perl /proc/self/fd/0',
    'cat run | ruby //dev/stdin',
    'cat run | php /dev/stdin',
    'cat run | python3 /dev/shm/../tty',
    'cat run | node /dev/shm/x/../../tty',
    'cat run | python3 /./dev/stdin',
    'cat run | python3 /tmp/../dev/stdin',
    'cat run | unknown-tool',
    'sh -c "$(cat run)"',
    'eval "$(cat run)"',
    'node -e "$(cat run)"',
    'cat run > x; sh ./x',
    'cat run | tee x; ./x',
    'X=./x; cat run > "$X"; sh ./x',
    'sort run -o x; ./x',
    'uniq run x; ./x',
    'read PATH; cat run',
    'printf -v PATH .; cat run',
    'cat() { sh "$1"; }; cat run',
    'cat() { ./check.sh "$@"; }; cat run',
    'alias cat=sh; cat run',
    'PATH=.:$PATH cat run',
    './cat run',
    'jq -n -f run',
    'jq -nf --arg a b run',
    'gdb -x./run',
    'gdb -xrun',
    'sort --compress-program=x run',
    'awk -f run TODO.md',
    'cat run | xargs -I{} sh -c {}',
    'source <(cat run)',
    'python3 check.sh run',
  ])('is in doubt in %s', (command) => {
    expect(scripts(command).files).toContain('run')
  })
})
