// `carabiner setup`: registers hooks with agents, and takes them out again. Says what each hook does, and asks which.

import { didYouMean, visible } from '../../core/base/text.js'
import { userHome } from '../../files/homes.js'
import { ALL_CHOICES } from '../../hosts/entries.js'
import { hostNamed } from '../../hosts/hosts.js'
import { partsOf } from '../../hosts/late-parts.js'
import { writtenPlaces } from '../../hosts/registrations.js'
import { type HostPlace, userPlaces } from '../../hosts/setup.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { allSetups, type KnownSetup, SETUP_HOSTS, setupOf } from '../../hosts/setups.js'
import { type Command, choiceOf, type Options } from '../command.js'
import { agrees, canAsk } from '../confirm.js'
import type { Output } from '../output.js'
import { checkPerson, isAgentShell } from '../person.js'
import { abilityBlock, abilityLines } from '../print/ability-lines.js'
import { fitted } from '../print/fit.js'
import { columns, counted, labelled, nextLines, shortPath } from '../print/lines.js'
import { type Paint, painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { CHOICE_OPTIONS, choiceLines, hasEngine, namesChoices, pickedFrom } from '../setup/choice.js'
import { foreignHome } from '../setup/foreign-home.js'
import { installedAgents, registeredAgents } from '../setup/installed.js'
import {
  askedPreset,
  hasRules,
  leftRules,
  PRESET_OPTION,
  presetCalled,
  rulesLines,
  type StartedRules,
  startRules,
} from '../setup/preset.js'
import {
  carriedOut,
  type Done,
  dataOf,
  linesOf,
  nextLinesOf,
  type Picking,
  placesInProject,
  shortLinesOf,
  wishFor,
} from '../setup/register.js'
import { startText } from '../setup/start.js'

const NAMES = SETUP_HOSTS.map(({ name }) => name)

const OPTIONS = {
  ...CHOICE_OPTIONS,
  ...PRESET_OPTION,
  all: { type: 'boolean', help: 'All agents that are found on this machine.' },
  yes: { type: 'boolean', help: 'Do not ask: use the default hooks, or those already there.' },
  user: { type: 'boolean', help: 'In your own settings, for all projects: the default.' },
  project: { type: 'boolean', help: "In the project's own settings, for all its users." },
  engine: { type: 'boolean', help: "Also run the project's own hooks." },
  'no-service': { type: 'boolean', help: 'Start Node for every event, without clip and the service.' },
  'dry-run': { type: 'boolean', help: 'Show what would change, and change nothing.' },
  diff: { type: 'boolean', help: 'Show every line that changes in the files.' },
  remove: { type: 'boolean', help: 'Remove everything that setup added.' },
  mcp: { type: 'boolean', help: 'Put MCP servers behind carabiner mcp, if agents lack hooks.' },
  prune: { type: 'boolean', help: 'Remove hooks of the pack whose program is gone.', hidden: true },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'setup',
  summary: 'Register hooks with your agents.',
  positionals: ['[AGENT…]'],
  completes: [NAMES],
  about:
    `Registers hooks with agents: ${NAMES.join(', ')}. Without a name, it finds those on this machine, shows what it ` +
    'would write, asks, and proves that they obey hooks. With one name, it lists the hooks of the standard pack at a terminal and asks which. ' +
    `NAMES are ${ALL_CHOICES.join(', ')} or all, separated by commas. With --engine, agents also run the hooks of the ` +
    'project you are in, and your rules count. --preset writes ~/.amplifier/rules.json if there is none, and includes --engine; ' +
    'at a terminal, setup asks which preset you want. Only --only, --without and --remove take hooks out. All other settings stay as they are. If it ' +
    'can, it makes clip, a small C program: hooks then ask a service that stays ready, instead of starting Node. Run it ' +
    'again to add or remove hooks, and after Node or Carabiner has moved: it repairs its own entries.',
  options: OPTIONS,
  exits: [
    [0, 'done, or nothing to do'],
    [1, 'some settings were left alone; the message says why'],
  ],
  examples: [
    { does: 'Which agents are there? What would be registered?', line: 'carabiner setup --dry-run' },
    { does: 'Only the guard, and lock mode.', line: 'carabiner setup claude-code --only guard,stop' },
    { does: 'Remember sessions, too.', line: 'carabiner setup claude-code --with memory' },
    { does: 'Run the hooks of any project you are in.', line: 'carabiner setup codex gemini --engine' },
    {
      does: 'Start with rules that ask before lasting harm.',
      line: 'carabiner setup --preset relaxed --yes',
    },
    { does: 'Guard the MCP servers of agents without hooks.', line: 'carabiner setup --mcp --dry-run' },
    { does: 'Remove all of it again.', line: 'carabiner setup --all --remove' },
  ],
  async run({ options, positionals }, output, context) {
    checkOptions(options, positionals)
    if (options.remove && !options['dry-run']) checkPerson('Removing the guard')
    if (!options['dry-run'] && !options.project) checkOwner()
    if (options.mcp) return (await import('../setup/mcp.js')).setUpMcp(positionals, options, output)
    const [only, ...more] = await Promise.all([...new Set(positionals)].map(namedSetup))
    try {
      if (!only) return await setUpFound(options, output, context.signal)
      if (more.length > 0) return await setUpMany([only, ...more], withPreset(options), output)
      return await setUpOne(only, await presetChosen(options, isAsking(options, output), output), output)
    } catch (error) {
      if (!(error instanceof SetupProblem)) throw error
      throw refusalOf(error)
    }
  },
}

type Given = Options<typeof OPTIONS> & { readonly everywhere?: boolean }

function checkOptions(options: Given, names: readonly string[]): void {
  const { user, project, engine, remove, prune, all } = options
  if (options.mcp) checkMcp(options)
  if (all && names.length > 0) throw usage('Give --all or names of agents, not both')
  if (user && project) throw usage('Give --user or --project, not both')
  if (remove && engine) throw usage('--remove takes everything out; leave out --engine')
  if (prune && (remove || engine)) throw usage('Give --prune without --remove or --engine')
  if (namesChoices(options) && (remove || prune))
    throw usage('--only, --with and --without choose from the standard pack; leave out the other options')
  if (options['no-service'] && (remove || prune))
    throw usage('--no-service is for hooks that are registered; leave out the other options')
  if (options.only !== undefined && engine)
    throw usage('Give --only or --engine, not both', 'Use --engine --with NAMES.')
  checkPreset(options)
}

function checkPreset({ preset, project, remove, prune, only }: Given): void {
  if (preset === undefined) return
  if (remove || prune) throw usage('--preset adds rules; leave out the other options')
  if (project) throw usage('--preset is for your own rules; leave out --project')
  if (presetCalled(preset) !== undefined && only !== undefined)
    throw usage('Give --only or --preset, not both', 'Use --preset NAME --with NAMES.')
}

// ---- rules ----------------------------------------------------------------------------------------------------

/** Asks a person who has no rules yet. */
async function presetChosen(options: Given, isAsked: boolean, output: Output): Promise<Given> {
  if (!isAsked || options.preset !== undefined || options.project || hasRules()) return withPreset(options)
  return withPreset({ ...options, preset: await askedPreset(output) })
}

/** Agents ask about rules only through the engine. */
function withPreset(options: Given): Given {
  return presetCalled(options.preset) === undefined ? options : { ...options, engine: true }
}

function startedRules({ preset, 'dry-run': isDry }: Given): StartedRules | undefined {
  const named = presetCalled(preset)
  return named && startRules(named, isDry)
}

function rulesLinesOf(
  rules: StartedRules | undefined,
  { remove }: Given,
  results: readonly Result[],
  paint: Paint,
): readonly string[] {
  const guarded = results.some((result) => 'done' in result && result.done.chosen.includes('guard'))
  if (rules)
    return [...rulesLines(rules, paint), ...(guarded ? [] : labelled('note', NO_GUARD, paint.yellow))]
  const left = remove ? leftRules() : undefined
  return left === undefined ? [] : labelled('stays', visible(left), paint.yellow)
}

/** Both would ask about the same calls twice. */
const NO_GUARD =
  'the guard is not registered: the rules of the preset judge calls in its place. To have both, add --with guard'

/** Everything else is about hooks that agents run. */
function checkMcp({ mcp: _, remove: __, yes: ___, 'dry-run': ____, ...others }: Given): void {
  const [other] = Object.entries(others).find(([, value]) => value !== undefined && value !== false) ?? []
  if (other !== undefined) throw usage(`Give --mcp without --${other}`)
}

async function namedSetup(name: string): Promise<KnownSetup> {
  const host = hostNamed(name)
  if (host && partsOf(host).setup) return { host, setup: await setupOf(host) }
  throw usage(`There is no agent ${JSON.stringify(name)}${didYouMean(name, NAMES)}`, choiceOf(NAMES))
}

/** With sudo, files in the home of somebody else would become root's, and the agent could not read them. */
function checkOwner(): void {
  const why = foreignHome(userHome(), process.getuid?.())
  if (why !== undefined) throw refusalOf(new SetupProblem(why, 'Run it as that user, without sudo.'))
}

function refusalOf({ message, hint }: SetupProblem): Refusal {
  return new Refusal('SETTINGS_UNUSABLE', message, hint === undefined ? {} : { hint })
}

// ---- one agent ------------------------------------------------------------------------------------------------

async function setUpOne(agent: KnownSetup, options: Given, output: Output): Promise<number> {
  const pick = isAsking(options, output)
    ? (begin: Parameters<typeof pickedFrom>[0], { host, file, mayBeEmpty }: Picking) =>
        pickedFrom(begin, { title: `Hooks for ${host}, in ${visible(shortPath(file))}`, mayBeEmpty }, output)
    : undefined
  const done = await carriedOut(await wishFor(agent, options, output, pick))
  const rules = startedRules(options)
  return output.result({ ...dataOf(done), ...(rules && { rules }) }, (paint) => [
    ...linesOf(done),
    ...rulesLinesOf(rules, options, [{ agent, done }], paint),
    ...(done.remove ? [] : abilityBlock(done.host, paint)),
    ...nextLinesOf(done, paint),
  ])
}

/** Asks a person who said nothing about hooks. */
function isAsking(options: Given, output: Output): boolean {
  const isSaid = options.engine || options.yes || options['dry-run'] || namesChoices(options)
  return !isSaid && !options.remove && !options.prune && canAsk(output) && !isAgentShell()
}

// ---- several --------------------------------------------------------------------------------------------------

async function setUpMany(agents: readonly KnownSetup[], options: Given, output: Output): Promise<number> {
  const results = await resultsOf(agents, options, output)
  return tell(results, options, nextAfter(results, options), output)
}

/** Nobody named them: a person sees all of it first, is asked once, and then sees what the agents really do. */
async function setUpFound(given: Given, output: Output, signal: AbortSignal | undefined): Promise<number> {
  const isTaken = given.remove || given.prune
  const agents = await (isTaken ? registeredAgents(given.project) : installedAgents())
  if (agents.length === 0) return noAgent(given, output)
  const placesOf = given.project ? placesInProject : isTaken ? writtenPlaces : placesOfUser
  if (!output.json) await output.print(foundLines(agents, placesOf, painter(1)))
  const isSaid = given.all || given.yes || given['dry-run']
  const isAsked = !isSaid && canAsk(output) && !isAgentShell()
  const options = {
    ...(await presetChosen(given, isAsked && !isTaken && given.only === undefined, output)),
    everywhere: isTaken && !given.project,
  }
  if (isSaid) return setUpMany(agents, options, output)
  const dry = { ...options, 'dry-run': true }
  const preview = await resultsOf(agents, dry, output)
  const changes = preview.some((result) => 'done' in result && result.done.changes)
  const isLeft = !isAsked && (changes || startedRules(dry)?.state === 'would be written')
  const exit = await tell(preview, dry, isLeft ? [writeCommand(given)] : [], output, isLeft ? [LEFT] : [])
  if (!isAsked || !changes) return exit
  if (!options.remove && agents.length > 1)
    await output.print(fitted([`To choose, say no and name some: carabiner setup ${agents[0]?.host.name}`]))
  if (!(await agrees(options.remove ? REMOVE : REGISTER, output))) {
    await output.print(['nothing was written'])
    return EXIT.failed
  }
  if (options.remove) return setUpMany(agents, options, output)
  const results = await resultsOf(agents, options, output)
  await output.print([
    ...results.flatMap((result) => whatBecameOf(result, painter(1))),
    ...rulesLinesOf(startedRules(options), options, results, painter(1)),
  ])
  const proof = await proved(results, output, signal)
  await output.print(nextLines(AFTER_PROOF, painter(1)))
  return Math.max(exitOf(results), proof)
}

/** Only commands and files: all other facts take minutes. */
async function proved(
  results: readonly Result[],
  output: Output,
  signal: AbortSignal | undefined,
): Promise<number> {
  const hosts = results.flatMap((result) =>
    'done' in result && partsOf(result.agent.host).proof ? [result.agent.host] : [],
  )
  const { agentsOf } = await import('../../verify/agents.js')
  const agents = (await agentsOf(hosts)).filter(({ program }) => program !== undefined)
  if (agents.length === 0) return EXIT.ok
  const { proveAgents } = await import('../prove.js')
  return proveAgents(agents, { quick: true }, output, signal)
}

async function tell(
  results: readonly Result[],
  options: Given,
  next: readonly string[],
  output: Output,
  last: readonly string[] = [],
): Promise<number> {
  const paint = painter(1)
  const rules = startedRules(options)
  if (output.json) await output.document({ agents: results.map(resultData), ...(rules && { rules }) })
  else
    await output.print([
      ...resultLines(results, paint),
      ...rulesLinesOf(rules, options, results, paint),
      ...last.flatMap((text) => fitted([text])),
      ...nextLines(next, paint),
    ])
  return exitOf(results)
}

function exitOf(results: readonly Result[]): number {
  return results.some((result) => 'problem' in result) ? EXIT.failed : EXIT.ok
}

async function resultsOf(
  agents: readonly KnownSetup[],
  options: Given,
  output: Output,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const agent of agents) results.push(await resultOf(agent, options, output))
  return results
}

const LEFT = 'Nothing was written, because nobody could be asked here.'
const REGISTER = 'Register hooks with all of these?'
const REMOVE = 'Remove the hooks from all of these?'

type Result = { readonly agent: KnownSetup } & ({ readonly done: Done } | { readonly problem: SetupProblem })

/** One agent with broken settings does not keep the others from being set up. */
async function resultOf(agent: KnownSetup, options: Given, output: Output): Promise<Result> {
  try {
    return { agent, done: await carriedOut(await wishFor(agent, options, output)) }
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    return { agent, problem: error }
  }
}

function resultLines(results: readonly Result[], paint: Paint): readonly string[] {
  const done = results.flatMap((result) => ('done' in result ? [result.done] : []))
  const started = done.find((one) => one.start)
  const chosen = ALL_CHOICES.filter((choice) => done.some((one) => one.chosen.includes(choice)))
  const isEngineOn = done.some(({ entries }) => hasEngine(entries))
  return [
    ...(chosen.length > 0 || isEngineOn ? ['hooks', ...choiceLines(chosen, isEngineOn, paint)] : []),
    ...results.flatMap((result) => whatBecameOf(result, paint, abilitiesOf(result, paint))),
    ...(started?.start ? labelled('service', visible(startText(started.start, started.dry)), paint.dim) : []),
  ]
}

function whatBecameOf(result: Result, paint: Paint, abilities: readonly string[] = []): readonly string[] {
  const lines = 'done' in result ? shortLinesOf(result.done, paint) : problemLines(result.problem, paint)
  return [paint.bold(result.agent.host.title), ...abilities, ...lines.map((line) => `  ${line}`)]
}

function abilitiesOf(result: Result, paint: Paint): readonly string[] {
  return 'done' in result && result.done.remove ? [] : abilityLines(result.agent.host, paint)
}

function resultData(result: Result): object {
  if ('done' in result) return dataOf(result.done)
  const { message, hint = null } = problemOf(result.problem)
  return { agent: result.agent.host.name, error: { code: 'SETTINGS_UNUSABLE', message, hint } }
}

function problemOf({ message, hint }: SetupProblem): { readonly message: string; readonly hint?: string } {
  return { message, ...(hint !== undefined && { hint }) }
}

function problemLines(problem: SetupProblem, paint: Paint): readonly string[] {
  const { message, hint } = problemOf(problem)
  return [
    `${paint.red('left alone')} ${visible(message)}`,
    ...(hint === undefined ? [] : [`  ${visible(hint)}`]),
  ]
}

async function noAgent({ remove, prune, project, preset }: Given, output: Output): Promise<number> {
  const where = project ? ' in this project' : ''
  if (remove || prune)
    return output.result({ agents: [] }, () => [`No agent has hooks of Carabiner${where}.`])
  const names = (await allSetups()).map(({ host }) => host.name)
  return output.result({ agents: [] }, () => [
    'No agent was found on this machine.',
    ...fitted([`To register hooks anyway, name one: ${names.join(', ')}.`]),
    ...(preset === undefined ? [] : ['No rules were written, because no agent would ask about them.']),
  ])
}

function placesOfUser({ setup }: KnownSetup): readonly HostPlace[] {
  return userPlaces(setup)
}

function foundLines(
  agents: readonly KnownSetup[],
  placesOf: (known: KnownSetup) => readonly HostPlace[],
  paint: Paint,
): readonly string[] {
  const rows = columns(
    agents.map(({ host, setup }) => [
      `  ${host.title}`,
      host.name,
      placesOf({ host, setup })
        .map(({ path }) => visible(shortPath(path)))
        .join(', '),
      partsOf(host).proof ? '' : 'documented, not proven',
    ]),
  )
  return [
    `found ${counted(agents.length, 'agent')}`,
    ...fitted(
      rows.map(([title, name = '', files, standing]) =>
        `${title}  ${paint.cyan(name)}  ${files}  ${standing}`.trimEnd(),
      ),
    ),
  ]
}

const RESTART_ALL = 'Restart the agents'
const DOCTOR = 'carabiner doctor   # check that all of it works'
const AFTER_PROOF = [
  RESTART_ALL,
  'carabiner verify   # prove the rest: changed commands, context, questions',
  DOCTOR,
]

function nextAfter(results: readonly Result[], options: Given): readonly string[] {
  const changes = results.some((result) => 'done' in result && result.done.changes)
  if (options['dry-run']) return changes ? ['Leave out --dry-run to write it'] : []
  if (options.remove) return ['Restart the agents: they run these hooks until then']
  return [RESTART_ALL, 'carabiner verify   # prove that they obey hooks', DOCTOR]
}

/** With everything that was given now. */
function writeCommand(options: Given): string {
  const given = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === false || name === 'yes' || !Object.hasOwn(OPTIONS, name)) return []
    return value === true ? [`--${name}`] : [`--${name}`, String(value)]
  })
  return ['carabiner setup --yes', ...given].join(' ').concat('   # write it')
}
