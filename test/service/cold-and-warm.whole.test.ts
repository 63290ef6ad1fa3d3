// The cold path and the service give equal answers: the same call prints the same, ends the same, and leaves the same files.

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kimi } from '../../src/hosts/kimi/host.js'
import { withProgram } from '../cli/program.js'
import { isMore } from '../property/runs.js'
import { corpusIsHere } from '../systems/claude-code/replay.js'
import { CORPUS_CALLS, type CorpusCall } from './corpus-calls.js'
import { eventually, isServable, NO_NODE, Scene, steady, treeOf } from './scene.js'

withProgram('own')

/** Its claims of folders while it lives, and the process ids of stubs. */
const NOT_OF_CALLS = /\/owner\.[0-9a-f]+$|\.pid$/

type Way = 'cold' | 'warm'

interface Left {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly files: Readonly<Record<string, string>>
}

/** Hooks of the pack that start programs are always cold. */
const isAlwaysCold = ({ args: [command, name = ''] }: CorpusCall) =>
  command === 'hook' && /^(?:session-start|pre-compact|stop|session-end)$/.test(name)

/** An event for which its agent does not wait goes on in a process of its own, whose end nobody here waits for either. */
const goesOn = ({ args, input }: CorpusCall) =>
  (kimi.unawaited ?? []).some((event) => args.includes(kimi.name) && input.includes(`"${event}"`))

/** The command and the event decide most of what happens. Every third call with both the same is made. */
function sampled(calls: readonly CorpusCall[]): readonly CorpusCall[] {
  if (isMore) return calls
  const counts = new Map<string, number>()
  return calls.filter(({ args, input }) => {
    const kind = JSON.stringify([args, EVENT.exec(input)?.[1]])
    const count = counts.get(kind) ?? 0
    counts.set(kind, count + 1)
    return count % 3 === 0
  })
}

const EVENT = /"(?:hook_event_name|hookName|hookEventName|event|type)"\s*:\s*"([^"]*)"/

/** A service answers callers with its own home only, so calls at the same time need a service each. */
const ROWS = 4

/** Every call finds the same folders, with its own files in them. */
async function play(scene: Scene, calls: readonly CorpusCall[], way: Way): Promise<Map<string, Left>> {
  const left = new Map<string, Left>()
  for (const call of calls) left.set(call.name, await one(scene, call, way))
  return left
}

async function one(scene: Scene, call: CorpusCall, way: Way): Promise<Left> {
  const filled = (text: string) =>
    text.replaceAll('@HOME@', scene.home).replaceAll('@PROJECT@', scene.project)
  for (const place of [scene.home, scene.project]) mkdirSync(place, { recursive: true })
  for (const [path, { text, isProgram }] of Object.entries(call.files))
    scene.file(path, filled(text), isProgram ? 0o755 : 0o644)
  const mayBeCold = way === 'cold' || isAlwaysCold(call)
  const { code, stdout, stderr } = await scene.call({
    args: call.args,
    input: filled(call.input),
    env: way === 'cold' ? { CARABINER_SERVICE: 'off' } : {},
    ...(!mayBeCold && { node: NO_NODE }),
  })
  const files = { ...takeTree(scene, 'home'), ...takeTree(scene, 'project'), ...takeState(scene) }
  return { code, stdout: steady(stdout), stderr: steady(stderr), files }
}

/** Everything in a folder, which is gone afterwards. */
function takeTree(scene: Scene, name: string): Left['files'] {
  const path = scene.path(name)
  if (!existsSync(path)) return {}
  const tree = treeOf(path, (below) => NOT_OF_CALLS.test(below))
  rmSync(path, { recursive: true, force: true })
  return Object.fromEntries(Object.entries(tree).map(([below, what]) => [join(name, below), what]))
}

/** The socket stays. */
function takeState(scene: Scene): Left['files'] {
  const state = 'state/carabiner'
  const names = existsSync(scene.path(state)) ? readdirSync(scene.path(state)) : []
  const trees = names.filter((name) => name !== 'service').map((name) => takeTree(scene, join(state, name)))
  return Object.assign({}, ...trees)
}

describe.skipIf(!isServable || !corpusIsHere)(
  'the corpus (../shared/corpus, absent in a bare checkout)',
  () => {
    describe.each(Object.entries(CORPUS_CALLS))('%s', (_, all) => {
      const calls = sampled(all.filter((call) => !goesOn(call)))
      let scenes: readonly Scene[] = []
      const cold = new Map<string, Left>()
      const warm = new Map<string, Left>()
      let answered = 0
      beforeAll(async () => {
        scenes = Array.from({ length: ROWS }, () => new Scene())
        await Promise.all(
          scenes.map(async (scene, row) => {
            const own = calls.filter((_, at) => at % ROWS === row)
            for (const [name, left] of await play(scene, own, 'cold')) cold.set(name, left)
            for (const place of [scene.home, scene.project]) mkdirSync(place)
            await scene.startService()
            takeState(scene)
            const { status } = await scene.service()
            for (const place of ['home', 'project']) takeTree(scene, place)
            for (const [name, left] of await play(scene, own, 'warm')) warm.set(name, left)
            const { status: after } = await scene.service()
            answered += after.calls - status.calls
          }),
        )
      }, 600_000)
      afterAll(() => Promise.all(scenes.map((scene) => scene.remove())))

      it('the service answered all', () => {
        expect(calls.length).toBeGreaterThan(30)
        expect(answered).toBeGreaterThanOrEqual(calls.filter((call) => !isAlwaysCold(call)).length)
      })

      it.for(calls.map(({ name }) => [name] as const))('%s', ([name]) => {
        expect(warm.get(name)).toEqual(cold.get(name))
      })

      it('leaves no process', async () => {
        for (const scene of scenes) {
          await scene.stopServices()
          await eventually('no process is left', () => scene.left().length === 0)
        }
      })
    })
  },
)

it.skipIf(isServable)('there is no C compiler: clip was not compared', () => {})
it.skipIf(corpusIsHere)('../shared/corpus is not there: its calls were not compared', () => {})
