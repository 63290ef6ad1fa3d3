// `fleet audit`: searches the records of all machines; `verify`: whether they are whole; `export`: all in a file, or to a collector; `evidence`: breaks.

import { readFileSync } from 'node:fs'
import { textOf } from '../../../core/base/errors.js'
import { visible, visibleName } from '../../../core/base/text.js'
import { localTime, timestamp } from '../../../core/base/time.js'
import { callerPath } from '../../../files/caller.js'
import { publicKeyFrom } from '../../../files/ed25519.js'
import { readMembership } from '../../../files/fleet/marker.js'
import { fleetPlace } from '../../../files/fleet-places.js'
import { isFolder } from '../../../files/folder.js'
import { checkedCheckpoint, type Leaf } from '../../../fleet/checkpoint/checkpoint.js'
import { readExport, writeExport } from '../../../fleet/checkpoint/export.js'
import { databaseSource, type FleetSource } from '../../../fleet/checkpoint/source.js'
import { type FleetVerification, verifyFleet } from '../../../fleet/checkpoint/verify.js'
import { type FleetEntry, searchRecords } from '../../../fleet/database/audit-query.js'
import type { Database } from '../../../fleet/database/connection.js'
import { evidenceOf } from '../../../fleet/database/evidence-query.js'
import { retiredAmong, retiredWords, unknownName } from '../../../fleet/database/machine-names.js'
import { firstRootKey } from '../../../fleet/database/policy.js'
import { UNREADABLE } from '../../../fleet/listing.js'
import type { Break } from '../../../fleet/protocol.js'
import { FILTERS, type FilterOptions, filterOf } from '../../../store/audit/filter.js'
import { chosen } from '../../command.js'
import { plainData } from '../../output.js'
import { columns, counted, oneLine, shortPath } from '../../print/lines.js'
import { entryCells } from '../../print/print-audit.js'
import { EXIT, Refusal, usage } from '../../refusal.js'
import { type Given, orgOf, withDatabase } from '../action.js'
import { isOfFile } from '../failure.js'
import { keptIn } from './kept-checkpoints.js'

export async function run(given: Given): Promise<number> {
  const verb = chosen(
    given.words[0] ?? 'search',
    ['search', 'verify', 'evidence', 'export'] as const,
    'carabiner fleet audit has no action',
  )
  const { options, words } = given
  if (words.length > 1 && verb !== 'verify') throw usage(`carabiner fleet audit ${verb} takes no file`)
  const own = (['out', 'to', 'follow'] as const).find((name) => options[name])
  if (verb !== 'export' && own !== undefined) throw usage(`--${own} is for carabiner fleet audit export`)
  if (verb !== 'verify' && (options.checkpoint !== undefined || options['root-key'] !== undefined))
    throw usage('--checkpoint and --root-key are for carabiner fleet audit verify')
  if (verb === 'search') return searched(given)
  const allowed = { verify: [], evidence: ['machine'], export: ['since'] }[verb] as readonly string[]
  const filter = [...FILTERS, 'machine' as const, 'lines' as const].find(
    (name) => options[name] !== undefined && !allowed.includes(name),
  )
  if (filter !== undefined) throw usage(`--${filter} does not work with carabiner fleet audit ${verb}`)
  return { verify: verified, evidence, export: exported }[verb](given)
}

async function searched({ options, output }: Given): Promise<number> {
  const filters: FilterOptions = Object.fromEntries(
    FILTERS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
  try {
    filterOf(filters, Date.now(), '--')
  } catch (error) {
    throw usage(textOf(error))
  }
  const limit = Number(options.lines ?? '20')
  if (!Number.isSafeInteger(limit) || limit < 1) throw usage('--lines must be a whole number above 0')
  const { machine } = options
  const entries = await withDatabase(options, async (database) => {
    await checkMachine(database, machine)
    const query = { ...filters, ...(machine !== undefined && { machine }), limit }
    const found = await searchRecords(database, query)
    const retired = await retiredAmong(database, found)
    return found.map((one) => ({ ...one, ...retiredIn(retired.get(one.chain)) }))
  })
  return output.result({ entries }, () =>
    entries.length === 0
      ? ['no entries match']
      : columns(entries.toReversed().map(cells)).map((row) => row.join('  ').trimEnd()),
  )
}

/** An unknown name would look as if nothing had happened there. */
async function checkMachine(database: Database, name: string | undefined): Promise<void> {
  const unknown = name === undefined ? undefined : await unknownName(database, name)
  if (unknown !== undefined)
    throw new Refusal('UNKNOWN_MACHINE', unknown, { hint: 'carabiner fleet machines lists them.' })
}

function retiredIn(retired: string | undefined): { readonly retired?: string } {
  return retired === undefined ? {} : { retired }
}

function cells({ machine, retired, entry }: FleetEntry & { readonly retired?: string }): string[] {
  const plain = plainData(entry)
  const [what, verdict, words] = isUnreadable(plain) ? [plain.kind, '', plain.reason] : entryCells(plain)
  const session = 'session' in plain && typeof plain.session === 'string' ? [plain.session] : []
  return [
    oneLine(localTime(plain.time)),
    `${visibleName(machine)}${retiredWords(retired)}`,
    what,
    verdict,
    oneLine([words, ...session].join(' · ')),
  ]
}

/** What the database knows of a record that nobody reads. */
function isUnreadable(entry: object): entry is { readonly kind: string; readonly reason: string } {
  return 'kind' in entry && entry.kind === UNREADABLE && 'reason' in entry && typeof entry.reason === 'string'
}

/** Of an export if one is named, else of the database. */
async function verified(given: Given): Promise<number> {
  const { options, words } = given
  const kept = options.checkpoint === undefined ? undefined : checkpointsAt(options.checkpoint)
  const file = words[1]
  if (file !== undefined) return verifiedFile(callerPath(file), kept, given)
  return withDatabase(options, async (database) => {
    const root = await rootKeyOf(options['root-key'], async () => firstRootKey(database))
    const checking = { ...root, kept, where: 'database' } as const
    const found = await database.snapshot((client) => checked(databaseSource(client), checking))
    return told(found, checking, given)
  })
}

async function verifiedFile(
  path: string,
  kept: readonly string[] | undefined,
  given: Given,
): Promise<number> {
  const unusable = (error: unknown) => {
    if (error instanceof Refusal) throw error
    // The operating system names the file itself.
    const name = isOfFile(error) ? '' : ` ${shortPath(path)}`
    throw new Refusal('FLEET_UNUSABLE', `The export${name} cannot be used: ${textOf(error)}`, {
      hint: 'Nothing in it is proven. Let the auditor export it again.',
    })
  }
  const source = await readExport(path).catch(unusable)
  try {
    const root = await rootKeyOf(given.options['root-key'], async () => publicKeyFrom(source.head.rootKey))
    const checking = { ...root, kept, where: 'export' } as const
    return await told(await checked(source, checking).catch(unusable), checking, given)
  } finally {
    await source.close()
  }
}

interface Checking extends RootKey {
  /** Files of checkpoints. */
  readonly kept: readonly string[] | undefined
  readonly where: 'database' | 'export'
}

/** What is wrong with the key or with a file that was given comes first: it may be the reason for all the rest. */
async function checked<C extends Leaf>(
  source: FleetSource<C>,
  { key, isOther, kept, where }: Checking,
): Promise<FleetVerification> {
  const own = isOther
    ? [
        `the ${where} names another key than the one that it is checked with: check --root-key, or whose ${where} this is`,
      ]
    : []
  const texts = kept && keptTexts(kept, key, (what) => own.push(what))
  const found = await verifyFleet(source, { rootKey: key, ...(texts && { kept: texts }) })
  return {
    ...found,
    ok: found.ok && own.length === 0,
    problems: [...own, ...found.problems],
    problemCount: own.length + found.problemCount,
  }
}

function told(
  found: FleetVerification,
  { isPinned, kept, where }: Checking,
  { output }: Given,
): Promise<number> {
  // Whoever hands over a file could have written all of it; a database is at least where the fleet keeps its own.
  const isProven = where === 'database' || (isPinned && found.checkpoints > 0)
  const ok = found.ok && isProven
  const notes = [
    ...(isPinned
      ? []
      : [`the key comes from the ${where} itself; give --root-key, as fleet init printed it`]),
    ...(where === 'export' && found.checkpoints === 0
      ? ['no checkpoint signs these records; carabiner fleet checkpoint makes one before the next export']
      : []),
    ...(kept ? [] : [`only with --checkpoint, checkpoints that were removed from the ${where} are missed`]),
  ]
  return output.result(
    { ...found, ok, pinned: isPinned, notes },
    (paint) => [
      `${ok ? paint.green('whole') : paint.red(found.ok ? 'not proven' : 'not whole')}: ${counted(found.records, 'record')} in ${counted(found.chains, 'chain')}, ${counted(found.checkpoints, 'checkpoint')}`,
      ...(found.evidence === 0
        ? []
        : [
            `  breaks were noticed ${found.evidence === 1 ? 'once' : counted(found.evidence, 'time')}: carabiner fleet audit evidence lists them`,
          ]),
      ...found.problems.map((one) => `  ${visible(one)}`),
      ...(found.problemCount > found.problems.length
        ? [`  and ${found.problemCount - found.problems.length} more`]
        : []),
      ...notes.map((note) => `  note: ${note}`),
    ],
    ok ? EXIT.ok : EXIT.failed,
  )
}

/** What OpenTelemetry calls the address of a collector, for all that is sent or for a part of it. */
const COLLECTOR = /^OTEL_EXPORTER_OTLP_(?:(?:TRACES|LOGS)_)?ENDPOINT$/

async function exported(given: Given): Promise<number> {
  const { out, to, follow, since } = given.options
  if (out === undefined) {
    if (to === undefined && !Object.keys(process.env).some((name) => COLLECTOR.test(name)))
      throw usage(
        'Where to? Give --out FILE, or --to URL',
        '--out writes all records to a file that verify checks. --to sends them to an OpenTelemetry collector, such as http://localhost:4318.',
      )
    const { sendRecords } = await import('./send.js')
    return sendRecords(given)
  }
  const other = Object.entries({ to, follow, since }).find(([, value]) => value)?.[0]
  if (other !== undefined)
    throw usage(`--${other} does not work with --out, which writes all records to a file`)
  return written(callerPath(out), given)
}

async function written(file: string, { options, output }: Given): Promise<number> {
  const total = await withDatabase(options, async (database) => {
    const rootKey = (await firstRootKey(database)).toString('base64url')
    const head = { org: orgOf(options), rootKey, time: timestamp() }
    return database
      .snapshot((client) => writeExport(file, head, databaseSource(client)))
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') throw usage(`${shortPath(file)} is there already; name another file`)
        if (error.path === undefined && error.code !== 'ENOSPC') throw error
        throw new Refusal('FLEET_UNUSABLE', `The export cannot be written to ${file}: ${textOf(error)}`, {
          hint: 'Give --out FILE, in a folder that is there and that you may write to.',
        })
      })
  })
  return output.result({ file, ...total }, () => [
    `${counted(total.records, 'record')} in ${counted(total.chains, 'chain')} and ${counted(total.checkpoints, 'checkpoint')} are in ${shortPath(file)}`,
    '  carabiner fleet audit verify FILE checks them without the database',
  ])
}

/** Files of checkpoints: one, or all in a folder. */
function checkpointsAt(given: string): readonly string[] {
  const path = callerPath(given)
  const isOne = orUsage(() => !isFolder(path))
  const files = isOne ? [path] : orUsage(() => keptIn(path))
  const [first] = files
  if (first === undefined) throw usage(`--checkpoint: there are no checkpoints in ${path}`)
  const text = readCheckpoint(first)
  if (isOne && !text.startsWith('carabiner-fleet/'))
    throw usage(
      `--checkpoint: ${shortPath(path)} is not a checkpoint`,
      'carabiner fleet checkpoint writes files such as checkpoint-1.txt.',
    )
  return files
}

function readCheckpoint(file: string): string {
  return orUsage(() => readFileSync(file, 'utf8'))
}

/** They are read when their turn comes. Those that prove nothing are left out, and `problem` is told which they are. */
function* keptTexts(
  files: readonly string[],
  rootKey: Buffer,
  problem: (what: string) => void,
): Generator<string> {
  for (const file of files) {
    const text = readCheckpoint(file)
    try {
      checkedCheckpoint(text, rootKey)
    } catch (error) {
      problem(`${shortPath(file)}, which you kept, ${textOf(error)}`)
      continue
    }
    yield text
  }
}

function orUsage<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw usage(`--checkpoint cannot be read: ${textOf(error)}`)
  }
}

const MEANS: Readonly<Record<Break, string>> = {
  fork: 'has another history than the fleet',
  cut: 'is shorter than in the fleet',
  gap: 'lost records before they were shipped',
  damaged: 'was changed before it was shipped',
  behind: 'is shorter in the fleet than was acknowledged',
}

async function evidence({ options, output }: Given): Promise<number> {
  const found = await withDatabase(options, async (database) => {
    await checkMachine(database, options.machine)
    return evidenceOf(database, options.machine)
  })
  return output.result(found, () => [
    ...(found.evidence.length === 0
      ? ['no break was noticed']
      : columns(
          found.evidence
            .toReversed()
            .map(({ machine, retired, log, kind, seq, at }) => [
              localTime(at),
              `${visibleName(machine)}${retiredWords(retired)}`,
              kind,
              `log ${log.slice(-8)} ${MEANS[kind]}, at record ${seq}`,
            ]),
        ).map((row) => row.join('  ').trimEnd())),
    ...Object.entries(found.hidden).map(
      ([name, more]) =>
        `  and ${more} more of ${visibleName(name)}${options.machine === undefined ? ': --machine lists the newest thousand of one machine' : ''}`,
    ),
  ])
}

interface RootKey {
  readonly key: Buffer
  readonly isPinned: boolean
  /** Whether the records come with another one. */
  readonly isOther: boolean
}

/** Given, else known to this machine, else what the records themselves come with, which somebody could have changed. */
async function rootKeyOf(text: string | undefined, own: () => Promise<Buffer | undefined>): Promise<RootKey> {
  const known = text ?? (fleetPlace() ? readMembership()?.rootKey : undefined)
  const key = known === undefined ? undefined : publicKeyFrom(known)
  if (known !== undefined && !key)
    throw usage('--root-key must be the public key that carabiner fleet init printed')
  const named = await own()
  return key
    ? { key, isPinned: true, isOther: named !== undefined && !named.equals(key) }
    : { key: named ?? Buffer.alloc(0), isPinned: false, isOther: false }
}
