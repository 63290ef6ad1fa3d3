// A shell at a terminal with our completion in it: lines are typed, Tab is pressed, and what each has become is read back.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Project } from './program.js'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type CompletingShell = (typeof SHELLS)[number]

/** Ctrl-X Ctrl-B tells the line as it is, Ctrl-U clears it. */
const SETUP: Readonly<Record<CompletingShell, string>> = {
  bash: `
PS1='@ready@ '
bind 'set bell-style none'
bind 'set page-completions off'
bind 'set completion-query-items 0'
source <(carabiner completion bash)
tell() { printf '%s' "$READLINE_LINE" > "$LINE_FILE"; echo '@told@'; }
bind -x '"\\C-x\\C-b": tell'
`,
  zsh: `
PS1='@ready@ '
unsetopt beep list_beep
autoload -Uz compinit && compinit -u -D
source <(carabiner completion zsh)
tell() { print -rn -- $BUFFER > $LINE_FILE; print -n '@told@' }
zle -N tell
bindkey '^X^B' tell
bindkey '^U' kill-whole-line
`,
  fish: `
function fish_prompt; echo -n '@ready@ '; end
function fish_greeting; end
carabiner completion fish | source
function tell; printf '%s' (commandline) > $LINE_FILE; printf '@told@'; end
bind \\cx\\cb tell
bind \\cu 'commandline ""'
`,
}

const PERSON = `
import json, os, pty, select, signal, sys
plan = json.loads(sys.argv[1])
pid, master = pty.fork()
if pid == 0:
    os.execvp(plan['argv'][0], plan['argv'])
screen = b''
def wait_for(mark):
    global screen
    while mark not in screen:
        if not select.select([master], [], [], 60)[0]:
            os.kill(pid, signal.SIGKILL)
            sys.exit('waited in vain for %r: %r' % (mark, screen))
        screen += os.read(master, 65536)
    screen = screen.split(mark, 1)[1]
wait_for(b'@ready@')
lines = []
for line in plan['lines']:
    os.write(master, line.encode() + b'\\t\\x18\\x02')
    wait_for(b'@told@')
    with open(os.environ['LINE_FILE']) as file:
        lines.append(file.read())
    os.write(master, b'\\x15')
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
print(json.dumps(lines))
`

/** What each line has become. `bin` has the program. */
export async function tabbed(
  shell: CompletingShell,
  lines: readonly string[],
  project: Project,
  bin: string,
): Promise<readonly string[]> {
  const folder = join(project.base, shell)
  mkdirSync(folder, { recursive: true })
  // Where zsh looks by itself; the others are told.
  const file = join(folder, '.zshrc')
  writeFileSync(file, SETUP[shell])
  const argv = {
    bash: ['bash', '--noprofile', '--rcfile', file, '-i'],
    zsh: ['zsh', '-d', '-i'],
    fish: ['fish', '--no-config', '-i', '-C', `source '${file}'`],
  }[shell]
  const { code, stdout, stderr } = await project.run(
    'python3',
    ['-c', PERSON, JSON.stringify({ argv, lines })],
    {
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        TERM: 'xterm',
        LANG: 'C.UTF-8',
        ZDOTDIR: folder,
        LINE_FILE: join(folder, 'line'),
      },
    },
  )
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as string[]
}
