// Runs inside the throw-away root: reads commands as JSON from its input, predicts what each would do, lets bash run it in a
// world of its own, and compares the files.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Effect } from '../../../src/effects/effect.js'
import { effectsOf } from '../../../src/effects/effects-of.js'
import { CLOSED, compared, type Files, shownEffects } from './comparison.js'
import { type Deeds, deedsOf, STRACE } from './trace.js'

export interface Report {
  readonly ran: number
  /** Commands that changed a file. */
  readonly changed: number
  /** Commands of which something could not be known. */
  readonly unknown: number
  /** Commands that did something which is not among their effects. */
  readonly missed: readonly Miss[]
}

export interface Miss {
  readonly command: string
  /** `deleted app/a.txt`. */
  readonly seen: readonly string[]
  readonly predicted: readonly string[]
}

const [, , scratch = '', archives = ''] = process.argv
const BATCH = 250
const LONGEST_BATCH = 600_000
/** In seconds. A command may wait for a pipe that nobody opens. */
const LONGEST_COMMAND = 5
/** A folder that is copied into itself through a link goes deeper without end. */
const LONGEST_PATH = 400
/** No command goes up so far that it would leave its world. */
const DEPTH = 'a/b/c/d/e/f/g/h/i/j'
/** Fits `a.txt`. */
const CHANGE = '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-hi a.txt\n+ho a.txt\n'
const OLD = new Date('2020-01-01')
const MAKEFILE = `OUT = new.txt
all: new.txt
new.txt:
	echo hi > $@
clean:
	rm -rf dir empty
	-@rm -f b.txt
copy: a.txt
	cp $< $(OUT)
	@touch $(basename $<).done
out:
	touch $(OUT)
each:
	for f in *.txt; do cp "$$f" empty; done
nested:
	$(MAKE) clean
`
/** A repository in which nothing has changed, with a branch \`topic\`. git tells changes by time and size alone. */
const REPOSITORY = `set -e
git init -q -b main
git config user.name dev; git config user.email dev@example.org
git config core.checkStat minimal; git config core.trustctime false; git config gc.auto 0
git add a.txt; git commit -qm one
git add b.txt 'c d.txt' dir list change.diff; git commit -qm two
git checkout -q -b topic HEAD~1; echo topic > topic.txt; git add topic.txt; git commit -qm three
git checkout -q main
rm -rf .git/hooks .git/info .git/description`

/** git looks at no settings but those of the repository, and changes nothing when it only shows something. */
const ENVIRONMENT = {
  PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
  LC_ALL: 'C.UTF-8',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
}

const { commands } = JSON.parse(readFileSync(0, 'utf8')) as { readonly commands: readonly string[] }

interface World {
  readonly folder: string
  readonly command: string
  readonly effects: readonly Effect[]
  readonly before: Files
}

async function main(): Promise<Report> {
  makeRepository()
  const report = { ran: 0, changed: 0, unknown: 0, missed: [] as Miss[] }
  for (let at = 0; at < commands.length; at += BATCH) {
    const worlds: World[] = []
    for (const [i, text] of commands.slice(at, at + BATCH).entries()) worlds.push(await worldOf(i, text))
    const deeds = run(worlds)
    for (const [i, world] of worlds.entries()) judge(world, deeds[i] as Deeds, report)
    // Some commands take away the rights that are needed for this.
    spawnSync('chmod', ['-R', 'u+rwx', join(scratch, 'worlds')])
    spawnSync('rm', ['-rf', join(scratch, 'worlds')])
  }
  return report
}

/** `home/app` is the project. */
async function worldOf(i: number, text: string): Promise<World> {
  const folder = join(scratch, 'worlds', String(i))
  const home = join(folder, DEPTH, 'home')
  const app = join(home, 'app')
  furnish(home, app)
  if (/\bmake\b/.test(text)) put(join(app, 'Makefile'), MAKEFILE)
  if (/\bgit\b/.test(text)) cpSync(join(scratch, 'repository'), join(app, '.git'), { recursive: true })
  const command = text.replaceAll('@/', `${home}/`)
  const context = { cwd: app, projectDir: app, home, env: { HOME: home } }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  writeFileSync(join(folder, 'command'), command)
  return { folder, command, effects, before: filesIn(folder) }
}

function furnish(home: string, app: string): void {
  for (const each of ['dir/sub', 'empty']) mkdirSync(join(app, each), { recursive: true })
  mkdirSync(join(home, 'other'))
  for (const name of ['a.txt', 'b.txt', 'c d.txt', '.hidden', 'dir/x.txt', 'dir/sub/y.txt', '-odd'])
    put(join(app, name), `hi ${name}\n`)
  put(join(app, 'list'), 'a.txt\ndir/x.txt\n')
  put(join(app, 'change.diff'), CHANGE)
  put(join(home, 'h.txt'), 'home\n')
  put(join(home, 'out.txt'), 'out\n')
  put(join(home, 'other/o.txt'), 'other\n')
  for (const name of ['f.tar', 'f.zip', 'z.gz']) put(join(app, name), readFileSync(join(archives, name)))
  symlinkSync('dir', join(app, 'link'))
}

function makeRepository(): void {
  const home = join(scratch, 'first')
  const app = join(home, 'app')
  furnish(home, app)
  const made = spawnSync('bash', ['-c', REPOSITORY], { cwd: app, env: ENVIRONMENT })
  if (made.status !== 0) throw new Error(String(made.stderr))
  // A checkout writes some of the files again.
  for (const name of ['b.txt', 'c d.txt', 'dir/x.txt', 'dir/sub/y.txt', 'list', 'change.diff'])
    utimesSync(join(app, name), OLD, OLD)
  spawnSync('git', ['update-index', '-q', '--refresh'], { cwd: app, env: ENVIRONMENT })
  renameSync(join(app, '.git'), join(scratch, 'repository'))
}

function put(path: string, content: string | Buffer): void {
  writeFileSync(path, content)
  chmodSync(path, 0o644)
  utimesSync(path, OLD, OLD)
}

/** Many commands for one start of bash and strace, each in a shell of its own. */
function run(worlds: readonly World[]): readonly Deeds[] {
  const script = `for w in "$@"; do
  HOME="$w/${DEPTH}/home" OLDPWD="$w/${DEPTH}/home/other" timeout -s KILL ${LONGEST_COMMAND} bash --norc --noprofile -c '
    ulimit -t 3 -f 1000; cd "$HOME/app"; OLDPWD=$HOME/other; c=$(< "$1/command"); set --; eval "$c"
  ' bash "$w" < /dev/null > /dev/null 2>&1
done`
  const trace = join(scratch, 'trace')
  const folders = worlds.map(({ folder }) => folder)
  const [strace, ...options] = STRACE
  const ended = spawnSync(
    strace,
    [...options, '-o', trace, 'bash', '--norc', '--noprofile', '-c', script, 'bash', ...folders],
    {
      env: ENVIRONMENT,
      cwd: scratch,
      stdio: 'ignore',
      timeout: LONGEST_BATCH,
      killSignal: 'SIGKILL',
    },
  )
  if (ended.error) throw ended.error
  return deedsOf(readFileSync(trace, 'utf8'), worlds.length)
}

/** Everything below the folder, with what tells a change. The time of a folder changes with its content. */
function filesIn(folder: string): Map<string, string> {
  const found = new Map<string, string>()
  const look = (path: string) => {
    if (path.length > LONGEST_PATH) return
    const stats = lstatSync(path)
    if (stats.isDirectory()) {
      found.set(path, `folder ${stats.mode}`)
      try {
        for (const name of readdirSync(path)) look(join(path, name))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
        found.set(path, `folder ${stats.mode} ${CLOSED}`)
      }
    } else if (stats.isSymbolicLink()) found.set(path, `link ${readlinkSync(path)}`)
    else found.set(path, `file ${stats.mode} ${stats.size} ${stats.mtimeMs}`)
  }
  look(folder)
  return found
}

function judge(
  { folder, command, effects, before }: World,
  deeds: Deeds,
  report: { ran: number; changed: number; unknown: number; missed: Miss[] },
): void {
  const home = join(folder, DEPTH, 'home')
  const { changed, unknown, missed } = compared(effects, { home, before, after: filesIn(folder), deeds })
  report.ran++
  if (changed) report.changed++
  if (unknown) report.unknown++
  if (missed.length === 0) return
  report.missed.push({
    command: command.replaceAll(`${home}/`, '@/'),
    seen: missed,
    predicted: shownEffects(effects, home),
  })
}

const report = await main()
process.stdout.write(JSON.stringify(report))
