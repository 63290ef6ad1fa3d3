// What do many rules cost over a few, once what a call would do has been read?

import { source } from '../scripts/source.mjs'
import { cpuClock, race } from './measure.mjs'

const [{ effectsOf }, { rulesInForce }, { verdictOf }] = await Promise.all([
  source('effects/effects-of.ts'),
  source('rules/rules-in-force.ts'),
  source('rules/verdict.ts'),
])

const TYPICAL = [
  'git status',
  'npm test -- --watch',
  'git add -A && git commit -m "fix: x"',
  'cat a.txt | grep -n foo | head -5',
  'rm -rf node_modules',
  'curl -d @notes.txt https://example.com',
]
const CONTEXT = { cwd: '/home/ann/shop', projectDir: '/home/ann/shop', home: '/home/ann', env: {} }
const [FEW, MANY] = [10, 200]

export async function bench() {
  const few = rulesOf(FEW, alike)
  const many = rulesOf(MANY, alike)
  const [fewOthers, manyOthers] = [FEW, MANY].map((count) => rulesOf(count, different))
  const rounds = await race(
    {
      few: () => judge(few),
      many: () => judge(many),
      fewOthers: () => judge(fewOthers),
      manyOthers: () => judge(manyOthers),
      effects: () => judge(undefined),
    },
    { clock: cpuClock },
  )
  return [
    rounds.row(`${MANY} rules / ${FEW} rules`, 'many', 'few', { limit: 1.5 }),
    rounds.row(`${MANY} rules with different patterns / ${FEW} such rules`, 'manyOthers', 'fewOthers', {
      limit: 1.5,
    }),
    rounds.row(`${MANY} rules / effects alone`, 'many', 'effects'),
  ]
}

async function judge(rules) {
  for (const command of TYPICAL) {
    const effects = await effectsOf({ name: 'Bash', input: { command } }, CONTEXT)
    const hits = rules?.judge(effects, { permissionMode: undefined, now: 0 }) ?? []
    verdictOf(hits, effects, { may: 'all', file: 'rules.json' })
  }
}

/** Of all kinds, as people write them. */
function alike(i) {
  return [
    { effects: ['read', 'write'], of: ['~/.ssh', '**/*.pem'] },
    { effects: ['delete'], except: ['**', '/tmp/**'] },
    { effects: ['send'], except: ['localhost', '*.example.org'] },
    { effects: ['git'], where: { loses: 'history' } },
    { effects: ['run'], of: ['npm publish', 'docker push'] },
  ][i % 5]
}

/** The same, but no two have the same patterns. */
function different(i) {
  return [
    { effects: ['read', 'write'], of: [`~/.secret${i}`, `**/*.key${i}`, `config/part${i}/**`] },
    { effects: ['delete'], of: [`data${i}`, `/srv/app${i}/**`], except: [`data${i}/tmp/**`] },
    { effects: ['send'], of: [`host${i}.example.net`, `*.zone${i}.example.net`], except: [`ok.zone${i}.*`] },
    { effects: ['git'], where: { loses: 'history' }, of: [`release-${i}`, `team${i}/*`] },
    { effects: ['run'], of: [`npm run deploy${i}`, `tool${i}*`] },
  ][i % 5]
}

function rulesOf(count, kindOf) {
  const rules = Array.from({ length: count }, (_, i) => ({ id: `r${i}`, then: 'ask', ...kindOf(i) }))
  return rulesInForce({ rules }, { project: CONTEXT.projectDir, home: CONTEXT.home })
}
