// The cold path and the service give equal answers: the same call prints the same, ends the same, and leaves the same files.

import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withProgram } from '../cli/program.js'
import { corpusIsHere } from '../systems/claude-code/replay.js'
import { CORPUS_CALLS, type CorpusCall } from './corpus-calls.js'
import { eventually, isServable, NO_NODE, Scene, steady, treeOf } from './scene.js'

withProgram('own')

const STATE = 'state/carabiner'
/** The service itself, its claims of folders while it lives, and the process ids of stubs. */
const NOT_OF_CALLS = /^service(?:\/|$)|\/owner\.[0-9a-f]+$|\.pid$/

type Way = 'cold' | 'warm'

interface Left {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly files: Readonly<Record<string, string>>
}

/** Hooks of the pack that start programs are always cold. */
const isAlwaysCold = ({ args: [command, name = ''] }: CorpusCall) =>
  command === 'hook' && /^(?:session-start|stop|session-end)$/.test(name)

const AT_ONCE = 4

/** One after the other in several rows, each in folders of its own that are the same in both ways. */
async function play(scene: Scene, calls: readonly CorpusCall[], way: Way): Promise<Map<string, Left>> {
  const left = new Map<string, Left>()
  const waiting = calls.entries()
  const row = async () => {
    for (const [at, call] of waiting) left.set(call.name, await one(scene, call, at, way))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, row))
  return left
}

async function one(scene: Scene, call: CorpusCall, at: number, way: Way): Promise<Left> {
  const folder = scene.path(`calls/${at}`)
  const [home, project] = [join(folder, 'home'), join(folder, 'project')]
  const filled = (text: string) => text.replaceAll('@HOME@', home).replaceAll('@PROJECT@', project)
  for (const place of [home, project]) mkdirSync(place, { recursive: true })
  for (const [path, { text, isProgram }] of Object.entries(call.files)) {
    const whole = join(folder, path)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, filled(text))
    if (isProgram) chmodSync(whole, 0o755)
  }
  const { args } = call
  const mayBeCold = way === 'cold' || isAlwaysCold(call)
  const { code, stdout, stderr } = await scene.call({
    args,
    input: filled(call.input),
    cwd: project,
    env: { HOME: home, ...(way === 'cold' && { CARABINER_SERVICE: 'off' }) },
    ...(!mayBeCold && { node: NO_NODE }),
  })
  const files = treeOf(folder, (path) => NOT_OF_CALLS.test(path))
  rmSync(folder, { recursive: true, force: true })
  return { code, stdout: steady(stdout), stderr: steady(stderr), files }
}

describe.skipIf(!isServable || !corpusIsHere)(
  'the whole corpus (../shared/corpus, absent in a bare checkout)',
  () => {
    describe.each(Object.entries(CORPUS_CALLS))('%s', (_, calls) => {
      let scene: Scene
      let cold: Map<string, Left>
      let warm: Map<string, Left>
      let state: { readonly cold: object; readonly warm: object }
      let answered = 0
      beforeAll(async () => {
        scene = new Scene()
        const stateNow = () => treeOf(scene.path(STATE), (path) => NOT_OF_CALLS.test(path))
        cold = await play(scene, calls, 'cold')
        const afterCold = stateNow()
        rmSync(scene.path('state'), { recursive: true })
        await scene.startService()
        const { status } = await scene.service()
        for (const name of Object.keys(stateNow()))
          rmSync(scene.path(join(STATE, name)), { recursive: true, force: true })
        warm = await play(scene, calls, 'warm')
        answered = (await scene.service()).status.calls - status.calls
        state = { cold: afterCold, warm: stateNow() }
      }, 600_000)
      afterAll(() => scene.remove())

      it('the service answered all', () => {
        expect(calls.length).toBeGreaterThan(50)
        expect(answered).toBeGreaterThanOrEqual(calls.filter((call) => !isAlwaysCold(call)).length)
      })

      it.for(calls.map(({ name }) => [name] as const))('%s', ([name]) => {
        expect(warm.get(name)).toEqual(cold.get(name))
      })

      it('state', () => {
        expect(state.warm).toEqual(state.cold)
      })

      it('leaves no process', async () => {
        await scene.stopServices()
        await eventually('no process is left', () => scene.left().length === 0)
      })
    })
  },
)

it.skipIf(isServable)('there is no C compiler: clip was not compared', () => {})
it.skipIf(corpusIsHere)('../shared/corpus is not there: its calls were not compared', () => {})
