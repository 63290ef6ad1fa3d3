import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLarge } from '../property/runs.js'
import { Project, withProgram } from './program.js'
import { allScripts, isInstalled, matches, parseScript, runScript } from './script.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

describe('the reader of scripts', () => {
  it('reads commands, what they print, and how they end', () => {
    const text = `# Shows something.
# needs python3

$ cat > a <<'EOF'
> one
>
> EOF

$ carabiner list
  first

last
exit 3
`
    expect(parseScript(text, '/x/shows.txt')).toEqual({
      name: 'shows',
      needs: ['python3'],
      steps: [
        { command: "cat > a <<'EOF'\none\n\nEOF", line: 4, output: '', exit: 0 },
        { command: 'carabiner list', line: 9, output: 'first\n\nlast', exit: 3 },
      ],
    })
  })

  it('refuses what would never be checked', () => {
    expect(() => parseScript('1 hook\n$ ls\n', 'a.txt')).toThrow('a.txt:1 is under no command: 1 hook')
    expect(() => parseScript('# nothing\n', 'a.txt')).toThrow('has no command')
  })

  it.each([
    ['a … c', 'a b c', true],
    ['a … c', 'a b\nb c', false],
    ['a\n…\nc', 'a\nc', true],
    ['a\n…\nc', 'a\nb\nb\nc', true],
    ['…\nc', 'a\nc', true],
    ['a\n…', 'a\nb', true],
    ['a', 'a\nb', false],
    ['a.c', 'abc', false],
    ['', '', true],
    ['', 'a', false],
    ['…', 'anything\nat all', true],
  ])('%j matches %j: %s', (expected, received, is) => {
    expect(matches(expected, received)).toBe(is)
  })

  it('tells what is not as the script says', async () => {
    const file = project.file('../shows.txt', '$ echo a\na\n$ echo b >&2; exit 2\nc\nexit 2\n')
    const script = { ...parseScript('$ echo a\na\n$ echo b >&2; exit 2\nc\nexit 2\n', file), file }
    expect(await runScript(script, project)).toEqual({
      place: `${file}:3`,
      command: 'echo b >&2; exit 2',
      expected: 'c\nexit 2',
      received: 'b\nexit 2',
    })
  })
})

describe('every command', () => {
  it('has a script that shows its use and a mistake', async () => {
    const { stdout } = await project.carabiner(['help', '--json'])
    const { commands } = JSON.parse(stdout) as { commands: readonly { name: string }[] }
    const scripts = new Map(allScripts().map((script) => [script.name, script.steps]))
    for (const name of ['', ...commands.map((one) => one.name)]) {
      const called = name === '' ? /\bcarabiner(?: -|$)/m : new RegExp(`\\bcarabiner ${name}(?: |$)`, 'm')
      const exits = (scripts.get(name === '' ? 'bare' : name) ?? [])
        .filter(({ command }) => called.test(command))
        .map(({ exit }) => exit)
      expect({ name, use: exits.includes(0), mistake: exits.some((exit) => exit > 0) }).toEqual({
        name,
        use: true,
        mistake: true,
      })
    }
  })
})

/** Each starts dozens of programs. */
const FEW = ['explain', 'list']

describe('the script', { timeout: 120_000 }, () => {
  it.for(allScripts().filter(({ name }) => isLarge || FEW.includes(name)))(
    '$name',
    async (script, { skip }) => {
      const missing = script.needs.filter((program) => !isInstalled(program))
      skip(missing.length > 0, `needs ${missing.join(', ')}`)
      const surprise = await runScript(script, project)
      expect(surprise?.received, `${surprise?.place} $ ${surprise?.command}`).toBe(surprise?.expected)
    },
  )
})
