// What the screen Plugins asks: every plugin, its hooks and rules, how they stand, what is switched, and updates.

import { join } from 'node:path'
import { ConfigFiles } from '../../config/config-file.js'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import { Notes } from '../../config/notes.js'
import { rulesShape } from '../../config/rules-document.js'
import { isObject } from '../../core/base/json.js'
import { visible } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { userHome } from '../../files/homes.js'
import { under } from '../../files/json-text.js'
import { changesIn } from '../../pack/pre-tool-use/guard-rules.js'
import type { Answers } from '../../page/answers.js'
import { passkeysView } from '../../page/passkeys.js'
import { block, place, path as shownPath } from '../../page/shown-text.js'
import type {
  GroupView,
  PluginHookView,
  PluginsView,
  RuleView,
  SwitchedView,
  TargetView,
  UpdatesView,
} from '../../page/view/plugins.js'
import { listInstalled } from '../../plugins/installed.js'
import { projectKey, type Switch, SwitchStore, type SwitchTarget, undoing } from '../../plugins/switches.js'
import { GUARD, guardRules } from '../../rules/presets.js'
import { endOf, type Rule, type Rules } from '../../rules/rule.js'
import { rulesInForce } from '../../rules/rules-in-force.js'
import { aboutRule, thenOfRule } from '../../runners/rules/kind.js'
import type { Commands } from '../command.js'
import { switchState, switchTargets, switchTerms } from '../plugins/switch-target.js'
import { grouped } from '../print/lines.js'
import { openHooks, sourcesOf, specOf, specsIn } from '../sources.js'
import { type PackHook, packHooks } from '../why/first-steps.js'
import { isReplaced, type Startable, standingOf, withFaults } from '../why/standing.js'
import { tightensOn } from './switch-act.js'
import { updates } from './update-act.js'

/** `approversFile` defaults to the list of this machine. */
export function pluginAnswers(commands: Commands, project: string, approversFile?: string): Answers {
  return {
    'GET api/plugins': async (): Promise<PluginsView> => ({
      passkeys: passkeysView(approversFile),
      groups: await groupViews(project),
    }),
    // It fetches, so nothing but the page's own button may cause it.
    'POST api/updates': async (): Promise<UpdatesView> => ({
      passkeys: passkeysView(approversFile),
      plugins: await updates(commands, project),
    }),
  }
}

async function groupViews(project: string): Promise<readonly GroupView[]> {
  const around = await aroundOf(project)
  const bySource = grouped(around.hooks, ({ scope, source }) => `${scope}:${source}`)
  const own = [...bySource.values()].map((hooks) => groupView(hooks, around))
  return [...own, ...(await packViews(await packHooks(project), around))]
}

interface Around {
  readonly project: string
  readonly hooks: readonly Startable[]
  readonly specs: readonly ConfiguredHook[]
  readonly targets: readonly SwitchTarget[]
  readonly switches: readonly Switch[]
  readonly origins: ReadonlyMap<string, string>
  readonly now: number
}

async function aroundOf(project: string): Promise<Around> {
  const sources = sourcesOf(project)
  const opened = await openHooks(sources)
  const all = await withFaults(opened.list(), opened.settings, sources)
  await opened.close()
  const hooks = all.filter((hook) => !isReplaced(hook, all))
  const now = Date.now()
  const key = projectKey(project)
  const isHere = (one: Switch) => one.project === undefined || one.project === key
  return {
    project,
    hooks,
    specs: await specsIn(sources),
    targets: switchTargets(all),
    switches: new SwitchStore().inForce(now).filter(isHere),
    origins: originsIn(project),
    now,
  }
}

/** By scope and name. A lock file that cannot be read is a finding of doctor. */
function originsIn(project: string): ReadonlyMap<string, string> {
  const { plugins } = listInstalled({ projectDir: project, home: userHome() })
  return new Map(
    plugins.map(({ name, scope, source, ref, version, commit, state }) => [
      `${scope}:${name}`,
      [
        source === undefined ? 'put there by hand' : `from ${source}`,
        version ?? ref,
        commit?.slice(0, 12),
        state === 'modified' ? 'changed by hand' : undefined,
      ]
        .filter(Boolean)
        .join(', '),
    ]),
  )
}

/** Hooks and rules that belong to no plugin. */
const OWN: Readonly<Record<string, string>> = {
  user: 'your own hooks and rules',
  project: 'hooks and rules of this project',
}

function groupView(hooks: readonly Startable[], around: Around): GroupView {
  const { scope = '', source = '' } = hooks[0] ?? {}
  const target = around.targets.find((one) => !one.hook && one.plugin === source && one.from === scope)
  // The hooks of a process share one name and one switch.
  const byName = [...grouped(hooks, ({ name, file, line }) => `${name} ${file} ${line}`).values()]
  return {
    name: visible(source),
    from: visible(scope),
    origin: visible(around.origins.get(`${scope}:${source}`) ?? OWN[source] ?? ''),
    ...targetAnd(target, around),
    hooks: byName.map((ones) => hookView(ones, around)),
  }
}

function targetAnd(
  target: SwitchTarget | undefined,
  around: Around,
): { readonly target?: TargetView; readonly switched?: SwitchedView } {
  if (!target) return {}
  const { plugin, from, hook } = target
  const words = hook ? [`${from}:${plugin}`, '--hook', hook.name] : [`${from}:${plugin}`]
  const off = around.switches.find(
    (one) => one.plugin === plugin && one.from === from && one.hook?.name === hook?.name,
  )
  return {
    target: {
      plugin,
      from,
      ...(hook && { hook: hook.name }),
      words: words.map((word) => shellQuoted(visible(word))).join(' '),
    },
    ...(off && { switched: switchedView(off, around) }),
  }
}

function switchedView(off: Switch, { hooks, specs }: Around): SwitchedView {
  return {
    where: off.project === undefined ? 'user' : 'here',
    text: block(`${switchState(off).replace(/:$/, '')} by ${off.by} ${switchTerms(off)}`),
    undo: undoing(off),
    onlyTightens: tightensOn(off, hooks, specs),
  }
}

function hookView(ones: readonly Startable[], around: Around): PluginHookView {
  const [hook] = ones as readonly [Startable, ...Startable[]]
  const { id, name, matcher, file, line, source, why, cannotStart, command = '', mode, kept } = hook
  const events = ones.flatMap((one) => (one.events === 'all' ? ['every event'] : one.events))
  const standing = standingOf(hook)
  const target = around.targets.find((one) => one.hook?.ids.includes(id))
  const isRules = hook.kind === 'rules'
  return {
    name: visible(name),
    on: visible([[...new Set(events)].join(', '), matcher].filter(Boolean).join(' ')),
    command: isRules ? '' : block(command),
    place: file === undefined ? visible(source) : place(file, line),
    standing: mode === undefined ? standing : 'in shadow mode',
    tone: standing === 'ready' && mode === undefined ? 'good' : TONES.has(standing) ? 'bad' : 'open',
    why: block(
      [why, cannotStart, kept && 'It runs as you trusted it; its file is different now.']
        .filter(Boolean)
        .join(' '),
    ),
    ...targetAnd(target, around),
    rules: isRules ? ruleViews(hook, around) : [],
  }
}

const TONES: ReadonlySet<string> = new Set(['closed', 'cannot start', 'matches nothing'])

// ---- rules ----------------------------------------------------------------------------------------------------

function ruleViews(hook: Startable, { specs, project, now }: Around): readonly RuleView[] {
  const spec = specOf(specs, hook)
  if (spec?.type !== 'rules' || hook.file === undefined) return []
  const rules = spec.handler as unknown as Rules
  const placeOf = placesIn(hook.file, rules)
  const { all } = rulesInForce(rules, { project, home: userHome() })
  return [...unique(all), ...rules.rules.filter(({ off }) => off)].map((rule) =>
    ruleView(rule, { place: placeOf(rule.id), now, onlyDenies: hook.onlyDenies === true }),
  )
}

/** After a change of a preset's rule has ended, the preset's own follows it under the same id. */
function unique(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(({ id }, i) => rules.findIndex((one) => one.id === id) === i)
}

/** The line of each rule in its file, or the preset that it comes from. */
function placesIn(path: string, { preset }: Rules): (id: string) => string {
  const found = new ConfigFiles(new Map(), new Notes()).read(path, rulesShape)
  const list = typeof found === 'object' && isObject(found.value) ? found.value.rules : undefined
  const ids = Array.isArray(list) ? list.map((rule) => (isObject(rule) ? rule.id : undefined)) : []
  return (id) => {
    const at = ids.indexOf(id)
    if (at < 0 || typeof found !== 'object') return visible(`preset ${preset ?? ''}`.trim())
    return place(path, found.json.lineOf(under(under(null, 'rules'), at)))
  }
}

interface RuleTerms {
  /** As it is shown. */
  readonly place: string
  readonly now: number
  readonly onlyDenies: boolean
}

function ruleView(rule: Rule, { place: where, now, onlyDenies }: RuleTerms): RuleView {
  return {
    id: visible(rule.id),
    place: where,
    about: visible(aboutRule(rule)),
    follows: visible(thenOfRule(rule)),
    state: stateOf(rule, now, onlyDenies),
    until: visible(rule.until ?? ''),
  }
}

function stateOf({ off, until, mode }: Rule, now: number, onlyDenies: boolean): RuleView['state'] {
  if (off) return 'off'
  if (until !== undefined && (endOf(until) ?? 0) <= now) return 'ended'
  if (mode === 'shadow') return 'in shadow mode'
  return onlyDenies ? 'can only deny' : 'in force'
}

// ---- what agents run themselves -------------------------------------------------------------------------------

/** Nothing of these can be switched here: they are in the agents' own settings. */
async function packViews(pack: readonly PackHook[], around: Around): Promise<readonly GroupView[]> {
  const guard = pack.some(({ name }) => name === GUARD) ? await guardViews(around) : []
  let isShown = false
  return [...grouped(pack, ({ agent }) => agent)].map(([agent, hooks]) => ({
    name: 'standard pack',
    from: visible(agent),
    origin: `run by ${visible(agent)} itself; carabiner setup changes it`,
    hooks: hooks.map(({ name, event, file, line }) => {
      const rules = name === GUARD && !isShown ? guard : []
      isShown ||= name === GUARD
      return {
        name: visible(name),
        on: visible(event),
        command: '',
        place: place(file, line),
        standing: 'ready',
        tone: 'good' as const,
        why: '',
        rules,
      }
    }),
  }))
}

async function guardViews({ project, now }: Around): Promise<readonly RuleView[]> {
  const file = join(userHome(), '.amplifier', 'rules.json')
  const changes = await changesIn(file, now)
  const own = 'rules' in changes ? changes.rules : []
  const changed = new Set(own.map(({ id }) => id))
  const { all } = rulesInForce({ rules: own }, { project, home: userHome() }, guardRules())
  return [...unique(all), ...own.filter(({ off }) => off)].map((rule) =>
    ruleView(rule, { place: changed.has(rule.id) ? shownPath(file) : GUARD, now, onlyDenies: false }),
  )
}
