// A real terminal for a program: Python plays the person, step by step, and reports what the screen got and in which mode it was left.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reply, Unanswered } from '../../src/core/verdict/approval.js'
import type { Plan } from './asker.js'
import { ownFolder } from './own-folder.js'
import { programFile } from './programs.js'

export const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0

/** When the screen has this after what was seen before, then do that. */
export interface Step {
  readonly expect: string
  readonly send?: string
  readonly resize?: number
  /** The terminal goes away. */
  readonly hangup?: boolean
  readonly signal?: 'SIGUSR2' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL'
}

export interface Place {
  /** Typed before the program has begun. */
  readonly ahead?: string
  readonly columns?: number
  /** Through a shell that puts it into the background. */
  readonly background?: boolean
  /** The terminal is its standard input and error, but controls nobody. */
  readonly uncontrolled?: boolean
  /** Nobody looks at the screen until the program has ended. */
  readonly deaf?: boolean
}

export interface Shown {
  readonly screen: string
  readonly replies: readonly (Reply | Unanswered)[] | undefined
  /** Negative for a signal. */
  readonly code: number
  /** Whether the terminal was in another mode while somebody was asked, and is as it was before; of one who stays, before it was ended. */
  readonly isRestored: boolean
}

const PERSON = `
import fcntl, json, os, pty, select, signal, struct, sys, termios
plan = json.loads(sys.argv[1])
place, steps = plan['place'], plan['steps']
argv = sys.argv[2:]
if place.get('background'):
    argv = ['/bin/sh', '-mc', '"$@" & wait $!', 'sh'] + argv
ready, go = os.pipe()
if place.get('uncontrolled'):
    master, slave = pty.openpty()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        for fd in (0, 2):
            os.dup2(slave, fd)
        os.read(ready, 1)
        os.execv(argv[0], argv)
    os.close(slave)
else:
    pid, master = pty.fork()
    if pid == 0:
        os.read(ready, 1)
        os.execv(argv[0], argv)
def resize(columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
def modes():
    return termios.tcgetattr(master)[:4]
resize(place.get('columns', 80))
before = modes()
after, is_raw = None, False
os.write(master, place.get('ahead', '').encode())
os.write(go, b'x')
screen, seen, is_open = b'', 0, True
if place.get('deaf'):
    signal.alarm(120)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    signal.alarm(0)
while True:
    while steps and steps[0]['expect'].encode() in screen[seen:]:
        step = steps.pop(0)
        seen = screen.index(step['expect'].encode(), seen) + len(step['expect'].encode())
        if 'send' in step:
            os.write(master, step['send'].encode())
        if 'resize' in step:
            resize(step['resize'])
        if 'signal' in step:
            after = modes()
            os.kill(pid, getattr(signal, step['signal']))
        if step.get('hangup'):
            os.close(master)
            is_open = False
            break
    if not is_open:
        break
    if not select.select([master], [], [], 120)[0]:
        os.kill(pid, signal.SIGKILL)
        break
    try:
        data = os.read(master, 65536)
    except OSError:
        break
    if not data:
        break
    screen += data
    is_raw = is_raw or not modes()[3] & termios.ICANON
if is_open and not plan['early']:
    after = modes()
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps({'screen': screen.decode(errors='replace'), 'code': code, 'isRestored': is_raw and after == before, 'left': len(steps)}))
`

/** The program with a person before it. */
export async function atTerminal(plan: Plan, steps: readonly Step[], place: Place = {}): Promise<Shown> {
  const own = ownFolder()
  const replies = join(own, 'replies.json')
  const planFile = join(own, 'plan.json')
  writeFileSync(planFile, JSON.stringify(plan))
  const program = [process.execPath, programFile('asker'), replies, planFile]
  const child = spawn(
    'python3',
    ['-c', PERSON, JSON.stringify({ place, steps, early: plan.stays === true }), ...program],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  const { left, ...shown } = JSON.parse(printed)
  if (left > 0) throw new Error(`the person waited in vain, ${left} steps were left: ${shown.screen}`)
  return { ...shown, replies: existsSync(replies) ? JSON.parse(readFileSync(replies, 'utf8')) : undefined }
}
