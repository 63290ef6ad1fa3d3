// `carabiner service`: the program that stays ready between events. Shows what runs, and ends it.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { realOf } from '../../files/within.js'
import { clipFile, clipState } from '../../hosts/clip-file.js'
import { isServiceOff } from '../../service/clip.js'
import {
  findServices,
  folderProblem,
  killLine,
  type Service,
  serviceFolder,
  silentText,
  stopService,
} from '../../service/socket/running-services.js'
import { type Command, chosen } from '../command.js'
import type { Output } from '../output.js'
import { counted, labelled, nextLines, shortPath } from '../print/lines.js'
import { withProgress } from '../print/progress.js'
import type { Paint } from '../print/terminal.js'
import { EXIT, Refusal } from '../refusal.js'

const ACTIONS = ['show', 'stop'] as const
/** A service ends after the calls that it works on. */
const PATIENCE_MS = 30_000

export const command: Command = {
  name: 'service',
  summary: 'Show the service that answers hooks, or stop it.',
  positionals: ['[stop]'],
  completes: [['stop']],
  about:
    'carabiner setup makes clip, the small program that agents start for every event. clip asks a service, which it ' +
    'starts if none runs. The service ends by itself after 15 minutes without an event, and after an update. Hooks ' +
    'give the same answers without it, only later. To do without it, set CARABINER_SERVICE=off, or run carabiner ' +
    'setup claude-code --no-service.',
  options: {},
  exits: [
    [0, 'shown, or stopped; also if none runs'],
    [1, 'a service does not answer'],
  ],
  examples: [
    { does: 'Does a service run?', line: 'carabiner service' },
    { does: 'End it. The next event starts a new one.', line: 'carabiner service stop' },
  ],
  async run({ positionals: [first = 'show'] }, output) {
    const action = chosen(first, ACTIONS, 'carabiner service has no action', 'Choose stop.')
    const services = await findServices()
    return action === 'show' ? show(services, output) : stop(services, output)
  },
}

// ---- showing --------------------------------------------------------------------------------------------------

async function show(services: readonly Service[], output: Output): Promise<number> {
  const live = services.filter(({ state }) => state !== 'gone')
  const off = offBy()
  const next = nextOf(live, off)
  const document = {
    folder: serviceFolder(),
    off: off?.why ?? null,
    services: services.map((one) => ({ ...one, isCurrent: one.build === currentBuild() })),
    next,
  }
  const exit = live.some(({ state }) => state === 'silent') ? EXIT.failed : EXIT.ok
  return output.result(
    document,
    (paint) => [
      ...(live.length > 0 ? live.flatMap((one) => serviceLines(one, paint)) : ['No service runs.']),
      ...(off ? labelled('note', off.why, paint.yellow) : []),
      ...nextLines(next, paint),
    ],
    exit,
  )
}

function serviceLines(service: Service, paint: Paint): readonly string[] {
  const { state, status, name } = service
  if (state === 'elsewhere')
    return labelled('elsewhere', `${name}: another machine or container uses this folder`, paint.dim)
  if (!status) return labelled('silent', silentText(service), paint.red)
  const build = service.build === currentBuild() ? '' : ' of another build'
  const facts = [
    `${counted(status.calls, 'call')}${status.active > 0 ? `, ${status.active} under way` : ''}`,
    `${Math.round(status.memory / 1e6)} MB`,
    status.warm === 1 ? '1 warm process' : `${status.warm} warm processes`,
  ]
  const since = new Date(status.startedAt).toLocaleString('sv-SE')
  return labelled(
    'running',
    `service${build}, process ${status.pid}, since ${since}: ${facts.join(', ')}`,
    paint.green,
  )
}

/** The build of the program that runs here. */
function currentBuild(): string {
  try {
    return readFileSync(join(dirname(realOf(process.argv[1] ?? '')), 'build-id'), 'utf8').trim()
  } catch {
    return ''
  }
}

interface Off {
  readonly why: string
  readonly fix: string
}

/** Why no agent asks a service, as far as it can be seen here. */
function offBy(): Off | undefined {
  if (isServiceOff(process.env))
    return { why: 'CARABINER_SERVICE=off is set, so hooks start Node.', fix: 'unset CARABINER_SERVICE' }
  const problem = folderProblem()
  if (problem !== undefined)
    return { why: `${shortPath(serviceFolder())} ${problem}, so hooks start Node.`, fix: 'carabiner doctor' }
  if (clipState(undefined) === 'good') return undefined
  return { why: `${shortPath(clipFile())} is missing or was changed.`, fix: 'carabiner setup claude-code' }
}

function nextOf(live: readonly Service[], off: Off | undefined): readonly string[] {
  const silent = live.filter(({ state }) => state === 'silent')
  return [
    ...silent.map((one) => `${killLine(one)}   # the next event starts a new one`),
    ...(off ? [off.fix] : []),
    ...(live.some(({ state }) => state === 'running')
      ? ['carabiner service stop   # the next event starts a new one']
      : []),
  ]
}

// ---- stopping -------------------------------------------------------------------------------------------------

async function stop(services: readonly Service[], output: Output): Promise<number> {
  const live = services.filter(({ state }) => state === 'running' || state === 'silent')
  const ended = await withProgress('waiting for calls to finish', output, () =>
    Promise.all(
      live.map(async (one) =>
        one.state === 'running' && (await stopService(one, PATIENCE_MS)) ? one : undefined,
      ),
    ),
  )
  const left = live.filter((one) => !ended.includes(one))
  const [stuck] = left
  if (stuck) {
    const what =
      stuck.state === 'silent'
        ? `Service ${stuck.name} does not answer`
        : `The service (process ${stuck.status?.pid}) still works on calls`
    const hint = stuck.state === 'silent' ? `To end it: ${killLine(stuck)}` : 'It ends when they are done.'
    throw new Refusal('SERVICE_NOT_STOPPED', what, { hint })
  }
  const pids = live.map(({ status }) => status?.pid)
  return output.result({ stopped: pids }, () =>
    live.length === 0 ? ['No service runs.'] : pids.map((pid) => `stopped the service (process ${pid})`),
  )
}
