// What does reading the effects of a command cost over the bare parser on the same command?

import { parse } from 'unbash'
import { source } from '../scripts/source.mjs'
import { cpuClock, race } from './measure.mjs'

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

const env = { HOME: '/home/nobody' }
const CONTEXT = {
  cwd: '/project',
  projectDir: '/project',
  home: '/home/nobody',
  env,
  settings: settingFiles(env),
}

export async function bench() {
  const uses = TYPICAL.map((command) => ({ name: 'Bash', input: { command } }))
  const contestants = {
    parse: () => {
      for (const command of TYPICAL) parse(command)
    },
    effects: async () => {
      for (const use of uses) await effectsOf(use, CONTEXT)
    },
  }
  const rounds = await race(contestants, { clock: cpuClock })
  return [rounds.row('effects of a typical command / bare parser', 'effects', 'parse', { limit: 3 })]
}
