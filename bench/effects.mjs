// What does reading the effects of a command cost over the bare parser on the same command?

import { parse } from 'unbash'
import { source } from '../scripts/source.mjs'
import { cpuClock, quick, race } from './measure.mjs'

const { effectsOf } = await source('effects/effects-of.ts')
const { settingFiles } = await source('hosts/setting-files.ts')

/** What agents type. */
const TYPICAL = [
  'git status',
  'npm test -- --watch',
  'git add -A && git commit -m "fix: x"',
  'cat a.txt | grep -n foo | head -5',
  'cd src && ls -la',
  'rm -rf node_modules',
  'FOO=1 make build 2>&1 | tee log',
]
/** To answer about the others, somebody has to look for a package.json, or for settings below a folder. */
const WITHOUT_DISK = TYPICAL.filter((command) => !/^(?:npm|rm) /.test(command))

/** The compiler takes this long to settle on so much code. The parser is done much earlier. */
const WARM_UP_CALLS = quick ? 1 : 2000

const env = { HOME: '/home/nobody' }
const CONTEXT = {
  cwd: '/project',
  projectDir: '/project',
  home: '/home/nobody',
  env,
  settings: settingFiles(env),
}

export async function bench() {
  const contestants = {
    parse: parsing(TYPICAL),
    effects: reading(TYPICAL),
    parsePlain: parsing(WITHOUT_DISK),
    plain: reading(WITHOUT_DISK),
  }
  for (let i = 0; i < WARM_UP_CALLS; i++) await contestants.effects()
  const rounds = await race(contestants, { clock: cpuClock })
  return [
    rounds.row('effects of a typical command / bare parser', 'effects', 'parse', { limit: 3 }),
    rounds.row('effects of a command that needs no look at the disk / bare parser', 'plain', 'parsePlain'),
  ]
}

/** @param {readonly string[]} commands */
function parsing(commands) {
  return () => {
    for (const command of commands) parse(command)
  }
}

/** @param {readonly string[]} commands */
function reading(commands) {
  const uses = commands.map((command) => ({ name: 'Bash', input: { command } }))
  return async () => {
    for (const use of uses) await effectsOf(use, CONTEXT)
  }
}
