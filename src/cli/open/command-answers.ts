// Screens of the page that show what another command says: doctor, explain and trust, each in its own words.

import { digest } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { CATALOGUE } from '../../core/events/catalogue.js'
import { type Answers, NotAnswered, numberIn, textIn } from '../../page/answers.js'
import { passkeysView } from '../../page/passkeys.js'
import { block, place, path as shownPath } from '../../page/shown-text.js'
import type { RecordedCall } from '../../page/trace.js'
import type { DoctorView } from '../../page/view/doctor.js'
import type { TrustView, UnitFilesView, UnitView } from '../../page/view/trust.js'
import type { WhyHookView, WhyView } from '../../page/view/why.js'
import type { Expectation } from '../../trust/expectation.js'
import { RISK_KINDS } from '../../trust/risk-rules.js'
import type { RiskNote } from '../../trust/risks.js'
import type { UnitHook } from '../../trust/unit.js'
import type { Commands } from '../command.js'
import { examine } from '../doctor/examine.js'
import { gather } from '../doctor/facts.js'
import type { Finding } from '../doctor/finding.js'
import { REPAIR_BUTTONS, repair } from '../doctor/repairs.js'
import { commandLines, termLines, wayOf } from '../plugins/review-rows.js'
import { run } from '../program.js'
import { sourcesOf } from '../sources.js'

export interface CommandOptions {
  readonly commands: Commands
  readonly project: string
  /** The call of a record. */
  readonly callOf: (seq: number) => Promise<RecordedCall>
  /** Default: the list of this machine. */
  readonly approversFile?: string
}

/** None of these commands changes anything, but for a fix that only tightens. */
export function commandAnswers({ commands, project, callOf, approversFile }: CommandOptions): Answers {
  const said = <T>(...args: readonly string[]) =>
    documentOf<T>(commands, [...args, `--project=${project}`, '--json'])
  return {
    'GET api/doctor': async () => doctorView(await said<DoctorDocument>('doctor')),
    'POST api/doctor/fix': async ({ body }) => {
      const id = textIn(body, 'id', 100)
      const families = await examine(await gather(sourcesOf(project)))
      // What is done comes from a new look, never from the page.
      const finding = families.flatMap(({ findings }) => findings).find((one) => findingId(one) === id)
      if (!finding) throw new NotAnswered(409, 'This is not so any more. Look again.')
      if (buttonOf(finding) === undefined)
        throw new NotAnswered(403, 'Only a person fixes this, in a terminal: carabiner doctor --fix')
      try {
        return { done: visible((await repair(finding, project)).text) }
      } catch (error) {
        throw new NotAnswered(409, visible(`This was not fixed: ${textOf(error)}`))
      }
    },
    'GET api/trust': async (): Promise<TrustView> => ({
      ...trustView(await said<TrustDocument>('trust')),
      passkeys: passkeysView(approversFile),
    }),
    'GET api/trust/files': async ({ query }) =>
      filesView((await said<TrustDocument>('trust', '--full')).units, query.get('id') ?? ''),
    'GET api/events': async () => ({ events: Object.keys(CATALOGUE) }),
    'GET api/why': async ({ query }): Promise<WhyView> => {
      const call = await askedCall(query, callOf)
      return whyView(await said<WhyDocument>(...explained(call)), call)
    },
    'GET api/why/hook': async ({ query }): Promise<WhyHookView> => {
      const { hook } = await said<{ hook: WhyHookView }>(
        ...explained(await askedCall(query, callOf)),
        `--hook=${query.get('hook') ?? ''}`,
      )
      return { text: block(hook.text), next: hook.next.map(block) }
    },
  }
}

/** What a command prints with `--json`. Throws NotAnswered with its refusal. */
export async function documentOf<T>(commands: Commands, args: readonly string[]): Promise<T> {
  let text = ''
  const write = (fd: 1 | 2, part: string) => {
    if (fd === 1) text += part
  }
  await run(commands, args, { stdin: '', write })
  const document = JSON.parse(text) as T & {
    readonly error?: { readonly message: string; readonly hint: string | null }
  }
  if (document.error) {
    const { message, hint } = document.error
    throw new NotAnswered(400, visible(hint === null ? message : `${message}. ${hint}`))
  }
  return document
}

/** The record with this number, or what a person typed. */
async function askedCall(
  query: URLSearchParams,
  callOf: CommandOptions['callOf'],
): Promise<RecordedCall & { readonly seq?: number }> {
  const seq = numberIn(query, 'seq')
  if (seq !== undefined) return { ...(await callOf(seq)), seq }
  const [event = '', tool = '', input = ''] = ['event', 'tool', 'input'].map((name) => query.get(name) ?? '')
  return { event, tool, input, isExact: true }
}

/** Words from the page are values, never options. */
function explained({ event, tool, input }: RecordedCall): readonly string[] {
  if (!event || event.startsWith('-')) throw new NotAnswered(400, 'Which event?')
  return ['explain', event, ...(tool ? [`--tool=${tool}`] : []), ...(input ? [`--input=${input}`] : [])]
}

// ---- doctor ---------------------------------------------------------------------------------------------------

interface DoctorDocument {
  readonly ok: boolean
  readonly checked: readonly { readonly family: string; readonly what: string }[]
  readonly findings: readonly (Finding & { readonly family: string })[]
}

function buttonOf({ repair: wanted }: Pick<Finding, 'repair'>): string | undefined {
  return wanted && REPAIR_BUTTONS[wanted.kind]
}

/** The same for the same finding, however often one looks. */
function findingId({ code, hook, file, line, repair: wanted }: Finding): string {
  return digest({ code, hook: hook ?? null, file: file ?? null, line: line ?? null, repair: { ...wanted } })
}

function doctorView({ ok, checked, findings }: DoctorDocument): DoctorView {
  return {
    ok,
    families: checked.map(({ family, what }) => ({
      name: visible(family),
      what: visible(what),
      findings: findings
        .filter((one) => one.family === family)
        .map((finding) => ({ ...finding, id: findingId(finding), button: buttonOf(finding) }))
        .map(({ id, button, severity, code, hook, text, fix, file, line }) => ({
          id,
          ...(button !== undefined && { button }),
          severity,
          code: visible(code),
          place: [place(file, line), visible(hook ?? '')].filter(Boolean).join(' '),
          text: block(text),
          fix: block(fix),
        })),
    })),
  }
}

// ---- explain --------------------------------------------------------------------------------------------------

interface WhyDocument {
  readonly event: string
  readonly candidates: readonly {
    readonly name: string
    readonly matched: boolean
    readonly why?: string
    readonly detail?: string
    readonly standing?: string
    readonly matcher?: string | null
    readonly cannotStart?: string
    readonly origin: { readonly file?: string; readonly line?: number; readonly source: string }
  }[]
  readonly forecast?: { readonly deny?: string; readonly ask?: string }
}

/** A longer input is judged, but not shown. */
const LONGEST_INPUT = 3000

function whyView(
  { event, candidates, forecast }: WhyDocument,
  { tool = '', input = '', isExact, seq }: Awaited<ReturnType<typeof askedCall>>,
): WhyView {
  const { deny, ask } = forecast ?? {}
  return {
    event: visible(event),
    ...(seq !== undefined && {
      record: {
        seq,
        tool: visible(tool),
        input: input.length > LONGEST_INPUT ? '' : visible(input),
        isKept: input !== '',
        isExact,
      },
    }),
    hooks: candidates.map(({ name, matched, why, detail, standing, matcher, cannotStart, origin }) => ({
      name: visible(name),
      runs: matched && cannotStart === undefined,
      reason: block(cannotStart ?? detail ?? (matched ? '' : (why ?? 'it does not match'))),
      terms: [standing, matcher ? `for ${matcher}` : undefined]
        .flatMap((one) => (one ? [visible(one)] : []))
        .join(', '),
      place: origin.file === undefined ? visible(origin.source) : place(origin.file, origin.line),
    })),
    forecast: [
      deny && `If a hook denies: ${deny}.`,
      ask && `If a hook asks: ${ask.replace(/^if a hook asks: /, '')}.`,
    ].flatMap((one) => (one ? [block(one)] : [])),
  }
}

// ---- trust ----------------------------------------------------------------------------------------------------

interface TrustDocument {
  readonly units: readonly (ContentDocument & {
    readonly name: string
    readonly path: string
    readonly state: string
    readonly why?: string
    readonly digest: string | null
    readonly programs: Readonly<Record<string, string>>
    readonly problems: readonly string[]
    readonly unchecked: string | null
    readonly files: readonly FileDocument[]
    readonly scripts: readonly FileDocument[]
    readonly missing: readonly string[]
  })[]
  readonly expectations: readonly Pick<Expectation, 'unit' | 'guardedBy' | 'why' | 'repair'>[]
}

/** What a person reads before they agree to it. */
export interface ContentDocument {
  readonly hooks: readonly (UnitHook & { readonly envPassthrough?: readonly string[] })[]
  readonly risks: readonly RiskNote[]
  readonly differences: readonly { readonly text: string; readonly diff?: readonly string[] }[]
}

interface FileDocument {
  readonly path: string
  readonly size: number
  readonly text?: string
  readonly link?: string
  readonly executable: boolean
}

function filesView(units: TrustDocument['units'], id: string): UnitFilesView {
  const unit = units.find(({ path }) => path === id)
  if (!unit) throw new NotAnswered(404, 'This is not in the project any more. Load this screen again.')
  const files = [...unit.files, ...unit.scripts]
  return {
    files: files.map(({ path, size, text, link, executable }) => ({
      path: shownPath(path),
      size,
      ...(text !== undefined && { text: block(text) }),
      ...(link !== undefined && { link: shownPath(link) }),
      isExecutable: executable,
    })),
    missing: unit.missing.map(visible),
  }
}

function trustView({ units, expectations }: TrustDocument): Omit<TrustView, 'passkeys'> {
  const waiting = units.filter(({ state }) => state !== 'trusted')
  return {
    trusted: units.length - waiting.length,
    waiting: waiting.toSorted(worstFirst).map(unitView),
    gone: expectations.map(({ unit, guardedBy, why, repair }) => ({
      id: unit.path,
      name: visible(unit.name),
      guardedBy,
      why: block(why),
      repair: block(repair),
    })),
  }
}

function unitView(unit: TrustDocument['units'][number]): UnitView {
  const {
    name,
    path,
    state,
    why = '',
    digest,
    hooks,
    risks,
    differences,
    programs,
    problems,
    unchecked,
  } = unit
  return {
    id: path,
    name: visible(name),
    path: shownPath(path),
    state: visible(state),
    why: block(why),
    ...(digest !== null && { digest }),
    ...contentView({ hooks, risks, differences }),
    programs: Object.entries(programs).map(([program, place]) => `${visible(program)}: ${visible(place)}`),
    canTrust: digest !== null && problems.length === 0,
    problems: [...problems.map(block), ...(unchecked === null ? [] : [block(unchecked)])],
  }
}

/** All that the digest covers: whoever signs it has read it here. */
export function contentView({
  hooks,
  risks,
  differences,
}: ContentDocument): Pick<UnitView, 'hooks' | 'risks' | 'differences'> {
  return {
    hooks: hooks.map((hook) => ({
      name: visible(hook.name),
      on: `${visible([hook.event, hook.matcher].filter(Boolean).join(' '))}${wayOf(hook)}`,
      command: [...commandLines(hook), ...termLines(hook, hook.envPassthrough ?? [])].join('\n'),
    })),
    risks: risks.map(({ where, line, text }) => ({ where: place(where, line), text: block(text) })),
    differences: differences.map(({ text, diff = [] }) => ({ text: block(text), diff: diff.map(visible) })),
  }
}

/** What changed after somebody trusted it, then by the worst of its risks, then by their number. */
function worstFirst(a: TrustDocument['units'][number], b: TrustDocument['units'][number]): number {
  const changed = Number(b.state === 'modified') - Number(a.state === 'modified')
  return changed || worstOf(a) - worstOf(b) || b.risks.length - a.risks.length
}

/** Risks come with the worst first. */
function worstOf({ risks }: ContentDocument): number {
  const [first] = risks
  return first ? RISK_KINDS.indexOf(first.kind) : RISK_KINDS.length
}
