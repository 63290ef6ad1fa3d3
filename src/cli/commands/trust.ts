// `carabiner trust`: shows what a project would run, and trusts exactly what was shown. Runs nothing.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { didYouMean, visible, visibleName } from '../../core/base/text.js'
import { isFolder } from '../../files/folder.js'
import { isWithin, realOf } from '../../files/within.js'
import { isCalled } from '../../plugins/plugin-name.js'
import { diagnosticOf, type Expectation } from '../../trust/expectation.js'
import { isExecutable, type Unit } from '../../trust/unit.js'
import { unseenCode } from '../../trust/unseen-code.js'
import { type Command, choiceOf, type Options } from '../command.js'
import { agrees, canAsk, type LeftOut } from '../confirm.js'
import { readPayload } from '../fire/payload.js'
import { type Output, plainData } from '../output.js'
import { checkPerson } from '../person.js'
import { changeScreen, reviewScreen, type Screen, type Shown } from '../plugins/print-review.js'
import { findUnits, hooksData, pageScreen, show, type Units } from '../plugins/review.js'
import { canShowChange, differenceData } from '../plugins/review-changes.js'
import { counted, nextLines, noticeLines, placeOf, projectLine } from '../print/lines.js'
import { typed, typedTrust } from '../print/next-command.js'
import { withProgress } from '../print/progress.js'
import { severityOf } from '../print/severity.js'
import { painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, type Places, projectFolder, projectOf } from '../sources.js'
import { setupStep } from '../why/first-steps.js'
import { exitOf, type Unmet, unmetIn } from '../why/unmet.js'

const OPTIONS = {
  yes: { type: 'boolean', help: 'Do not ask: trust what is shown.' },
  show: { type: 'boolean', help: 'Only show, including what is already trusted.' },
  mine: { type: 'boolean', help: 'Accept your own changes; show only what changed.' },
  full: { type: 'boolean', help: 'Show the whole text of every file, and every remark.' },
  payload: {
    type: 'string',
    value: 'FILE',
    help: 'A skill:loaded event: also review its hooks.',
  },
  ...PLACE_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'trust',
  summary: 'Review what a project would run, and allow it.',
  positionals: ['[WHAT…]'],
  completes: ['plugins'],
  about:
    'WHAT is the name or path of a plugin or hook file; default: everything that waits. Shows what would run on which ' +
    'events, what to look at closely, what changed since you last trusted it, the files that run and the names of the ' +
    'others; then asks. Exactly what was shown is trusted: a plugin is copied, and the copy runs. Runs nothing. If it ' +
    'changes, the version you trusted keeps running until you review the new one, or use `carabiner untrust`.',
  options: OPTIONS,
  exits: [
    [0, 'trusted, or nothing to do'],
    [1, 'something is untrusted or missing; with --json also if only shown'],
  ],
  examples: [
    { does: 'Show everything, with the digests for --pre-trusted.', line: 'carabiner trust --show' },
    { does: 'Look at everything that waits, and decide.', line: 'carabiner trust' },
    { does: 'You changed your own hook: see the change, and accept it.', line: 'carabiner trust --mine' },
    { does: 'For a program: shows, and trusts nothing.', line: 'carabiner trust --json' },
  ],
  mayRun({ options }) {
    if (options.yes) checkPerson('Trusting')
  },
  async run({ options, positionals: whats }, output, { stdin }) {
    if (options.yes && options.show) throw usage('--show only shows, and --yes trusts: use one or the other')
    const loaded =
      options.payload === undefined ? undefined : (await readPayload(options.payload, { stdin })).payload
    const { found, unmet } = await withProgress('reading', output, async () => {
      const found = await findUnits(options, loaded)
      return { found, unmet: await unmetIn(options, await found.expectations()) }
    })
    const units = [...found.units.keys()]
    const named = whats.flatMap((what) => {
      const called = unitsCalled(what, units, unmet, options)
      if (options.yes) checkOne(what, called)
      return called
    })
    const asked = whats.length === 0 ? units : [...new Set(named)]
    // A program is told everything, a person only what is to be decided.
    const all = await withProgress('reading', output, async () => asked.map((unit) => show(found, unit)))
    const shown = all.filter((one) => !options.mine || isMine(one))
    if (output.json) return document({ shown, unmet }, found, options, output)
    const where = projectLine(options, painter(1))
    if (where.length > 0) await output.print(where)
    if (found.diagnostics.length > 0)
      await output.complain(noticeLines(plainData(found.diagnostics), painter(2)))
    const missing = unmet.expectations.filter(({ state }) => state !== 'modified')
    await printed(noticeLines(missing.flatMap(diagnosticOf), painter(1)), output)
    if (options.show && shown.length > 0) return showAll(shown, options, output)
    const waiting = shown.filter(({ state }) => state !== 'trusted')
    const mistakes = units.length === 0 ? mistakesIn(found, options) : []
    const code =
      waiting.length === 0
        ? await nothingToDo({ shown, whats, mistakes, missing }, options, output)
        : await decide(waiting, found, options, output)
    if (options.mine) await printed(firstReviews(all, options), output)
    return code
  },
}

type How = Options<typeof OPTIONS>

// ---- which ----------------------------------------------------------------------------------------------------

/** Nothing else would say that an agent does not run it. */
function onlyNamed({ config }: How): readonly string[] {
  if (config.length === 0) return []
  return [`${config.map(visible).join(', ')}: runs only where it is named with --config`]
}

function unitsCalled(
  what: string,
  units: readonly Unit[],
  { expectations }: Unmet,
  given: Places,
): readonly Unit[] {
  const paths = new Set([realOf(resolve(what)), realOf(resolve(projectOf(given), what))])
  const isMeant = (unit: Expectation['unit']) => isNamed(unit, what) || paths.has(realOf(unit.path))
  const called = units.filter(isMeant)
  if (called.length > 0) return called
  const gone = expectations.find(({ unit }) => isMeant(unit))
  if (gone) throw new Refusal('UNKNOWN_UNIT', gone.why.replace(/\.$/, ''), { hint: gone.repair })
  const names = [...new Set(units.map(({ name }) => name))]
  const places =
    otherPlace(what, given) ?? 'Name a plugin elsewhere with --plugin DIR, a file with --config FILE.'
  throw new Refusal('UNKNOWN_UNIT', `Nothing here is called ${visibleName(what)}${didYouMean(what, names)}`, {
    hint:
      names.length === 0
        ? `This project has nothing to trust. ${places}`
        : `${choiceOf(names.map(visibleName))} ${places}`,
  })
}

function isNamed({ kind, name, path }: Expectation['unit'], what: string): boolean {
  return isCalled(what, name, kind === 'folder' ? path : undefined)
}

/** How to add a folder or file that is not part of this project. */
function otherPlace(what: string, given: Places): string | undefined {
  if (!existsSync(what)) return undefined
  const [kind, more] = isFolder(what)
    ? ['a plugin', { plugin: [...given.plugin, what] }]
    : ['a file of hooks', { config: [...given.config, what] }]
  return `If ${visibleName(what)} is ${kind}, type: ${visible(typed(['trust'], { ...given, ...more }))}`
}

/** A second plugin of the same name must not be trusted unseen. */
function checkOne(what: string, units: readonly Unit[]): void {
  if (units.length < 2 || units.every(({ kind }) => kind === 'file')) return
  throw new Refusal('AMBIGUOUS_UNIT', `${counted(units.length, 'unit')} are called ${visibleName(what)}`, {
    hint: `Give the path of the one you mean: ${units.map(({ path }) => visibleName(path)).join(' or ')}`,
  })
}

// ---- for people -----------------------------------------------------------------------------------------------

/** No line at all if there is nothing to say. */
async function printed(lines: readonly string[], output: Output): Promise<void> {
  if (lines.length > 0) await output.print(lines)
}

/** The user trusts an older version of it. */
function isMine({ state, review }: Shown): boolean {
  return state === 'modified' || (state !== 'trusted' && review?.record !== undefined)
}

/** `--mine` leaves what was never trusted. */
function firstReviews(all: readonly Shown[], how: How): readonly string[] {
  const names = all.filter((one) => one.state !== 'trusted' && !isMine(one)).map(({ unit }) => unit.name)
  if (names.length === 0) return []
  const wait = names.length === 1 ? 'waits' : 'wait'
  return [`${names.length} ${wait} for a first review: ${visible(typedTrust(names, how))}`]
}

/** Mistakes in files of hooks that are reviewed here. They may be the reason why there is nothing to trust. */
function mistakesIn({ diagnostics }: Units, given: Places): readonly Diagnostic[] {
  const places = [projectOf(given), ...given.config, ...given.plugin].map((path) => resolve(path))
  return diagnostics.filter(
    ({ code, file }) =>
      severityOf(code) === 'broken' && file !== undefined && places.some((place) => isWithin(file, place)),
  )
}

/** For your own change the change is enough, if it can be shown. */
function screenOf(shown: Shown, { mine, full }: How): Screen {
  return mine && !full && canShowChange(shown.review) ? changeScreen(shown) : reviewScreen(shown, full)
}

async function showAll(shown: readonly Shown[], how: How, output: Output): Promise<number> {
  const lines = shown.flatMap((one) => [...screenOf(one, how).lines, ''])
  const digests = shown.flatMap(({ unit, review, problems }) =>
    review && problems.length === 0 ? [`${review.digest}  # ${visible(unit.name)}`] : [],
  )
  await output.page([...lines, ...(digests.length > 0 ? ['for --pre-trusted FILE:', ...digests] : [])])
  return EXIT.ok
}

const NOTHING_CAME = 'this project has nothing to trust'
const NOT_CHANGED = 'nothing that you trust here has changed'

interface Idle {
  readonly shown: readonly Shown[]
  readonly whats: readonly string[]
  readonly mistakes: readonly Diagnostic[]
  /** They were told already. */
  readonly missing: readonly Expectation[]
}

async function nothingToDo(idle: Idle, how: How, output: Output): Promise<number> {
  const { shown, mistakes, missing } = idle
  await printed(
    [...idleLines(idle, how), ...(how.mine ? [] : shown.flatMap((one) => changeScreen(one).lines))],
    output,
  )
  return missing.length > 0 || (shown.length === 0 && mistakes.length > 0) ? EXIT.failed : EXIT.ok
}

function idleLines({ shown, whats, mistakes, missing }: Idle, { mine }: How): readonly string[] {
  const said = whats.length === 0 ? 'everything here' : whats.map(visibleName).join(', ')
  if (shown.length > 0) return [`${said} ${whats.length > 1 ? 'are' : 'is'} trusted already`]
  if (missing.length > 0) return []
  const [mistake] = mistakes
  if (mistake) return [`no hook here could run: correct ${placeOf(plainData(mistake))} first`]
  return [mine ? NOT_CHANGED : NOTHING_CAME]
}

async function decide(
  waiting: readonly Shown[],
  { store }: Units,
  how: How,
  output: Output,
): Promise<number> {
  const { yes } = how
  const mayAsk = !yes && canAsk(output)
  if (mayAsk) checkPerson('Trusting')
  let isDone = true
  for (const one of waiting) {
    const leftOut = await pageScreen(screenOf(one, how), one, !yes, output)
    const { unit, review, problems } = one
    const name = visibleName(unit.name)
    if (!review || problems.length > 0) {
      await output.complain([`carabiner: ${name} was not trusted: ${visible(problems[0] ?? '')}`])
      isDone = false
    } else if (yes || (mayAsk && (await isYes(name, output, leftOut)))) {
      isDone = (await trust(one, store, output)) && isDone
    } else isDone = false
  }
  if (!yes && !mayAsk) {
    throw new Refusal(
      'NOT_TRUSTED',
      `${counted(waiting.length, 'unit')} shown, but nothing was trusted: there is no terminal to ask at`,
      {
        hint: 'Review it above. In a terminal the same command asks you; --yes trusts without asking.',
      },
    )
  }
  if (isDone) await output.print([...onlyNamed(how), ...nextLines(await nextAfter(how), painter(1))])
  return isDone ? EXIT.ok : EXIT.failed
}

/** Hooks that no agent asks guard nothing. */
async function nextAfter(how: How): Promise<readonly string[]> {
  const [setup] = await setupStep(projectOf(how), true)
  return [setup ?? typed(['list'], how)]
}

async function isYes(name: string, output: Output, leftOut: LeftOut | undefined): Promise<boolean> {
  const isAgreed = await agrees('Trust this?', output, leftOut)
  if (!isAgreed) await output.print([`${name} was not trusted`])
  return isAgreed
}

async function trust({ unit, review }: Shown, store: Units['store'], output: Output): Promise<boolean> {
  const name = visibleName(unit.name)
  try {
    await withProgress(`copying ${name}`, output, async () => store.trust(unit, review?.digest ?? ''))
    await output.print([`trusted ${name}`])
    return true
  } catch (error) {
    await output.complain([`carabiner: ${name} was not trusted: ${visible(textOf(error))}`])
    return false
  }
}

// ---- for programs ---------------------------------------------------------------------------------------------

interface TrustedUnit {
  readonly name: string
  readonly path: string
  readonly digest: string
}

async function document(
  { shown, unmet }: { readonly shown: readonly Shown[]; readonly unmet: Unmet },
  { store, diagnostics }: Units,
  given: How,
  output: Output,
): Promise<number> {
  const { yes, full } = given
  const trusted: TrustedUnit[] = []
  const failures: Diagnostic[] = []
  for (const { unit, state, review, problems } of yes ? shown : []) {
    if (state === 'trusted') continue
    try {
      if (!review || problems.length > 0) throw new Error(problems[0])
      store.trust(unit, review.digest)
      trusted.push({ name: unit.name, path: unit.path, digest: review.digest })
    } catch (error) {
      failures.push({
        code: 'untrusted',
        text: `${visibleName(unit.name)} was not trusted: ${textOf(error)}`,
      })
    }
  }
  const units = shown.map((one) => unitData(one, store, full))
  const taken = new Set(trusted.map(({ path }) => path))
  const expectations = unmet.expectations.filter(({ unit }) => !taken.has(unit.path))
  await output.document({
    project: projectFolder(given),
    units,
    trusted,
    expectations,
    diagnostics: [...diagnostics, ...unmet.notices, ...failures],
  })
  return units.every(({ state }) => state === 'trusted') ? exitOf({ expectations }) : EXIT.failed
}

function unitData(shown: Shown, store: Units['store'], isFull: boolean) {
  const { unit, review, risks, problems } = shown
  const { name, kind, path } = unit
  const standing = store.standingOf(unit)
  const files = (list: NonNullable<Shown['review']>['files'] = []) =>
    list.map((file) => ({
      path: file.path,
      size: file.size,
      sha256: file.sha256,
      executable: isExecutable(file) && file.link === undefined,
      ...(file.link !== undefined && { link: file.link }),
      ...(isFull && file.text !== undefined && { text: file.text }),
    }))
  return {
    name,
    kind,
    path,
    state: standing.state,
    ...(standing.state !== 'trusted' && { why: standing.why }),
    digest: review?.digest ?? null,
    hooks: hooksData(shown),
    files: files(review?.files),
    scripts: files(review?.scripts),
    absent: review?.absent ?? [],
    unchecked: (review && unseenCode(review)) ?? null,
    programs: review?.programs ?? {},
    missing: review?.missing ?? [],
    problems,
    risks,
    differences: (review?.differences ?? []).map(differenceData),
  }
}
