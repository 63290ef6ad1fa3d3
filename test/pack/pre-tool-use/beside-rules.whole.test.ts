// The guard with readers of its own and the guard by rules, side by side. With CARABINER_RUNS=large, every call in the other
// tests here is compared too, as it is judged.

import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isObject, type Json } from '../../../src/core/base/json.js'
import { BAD, ORDINARY } from '../../effects/command-lists.js'
import { corpusIsHere } from '../../systems/claude-code/replay.js'
import { GuardedProject } from './guarded-project.js'

const project = new GuardedProject()
beforeAll(() => project.git('feature'))
afterAll(() => project.remove())

async function differencesIn(
  calls: readonly (readonly [name: string, input: Json])[],
): Promise<readonly unknown[]> {
  const differences: unknown[] = []
  for (const [name, input] of calls) {
    const found = await project.difference(name, input)
    if (found) differences.push({ name, input, found })
  }
  return differences
}

const bash = ({ command }: { readonly command: string }) => ['Bash', { command }] as const

describe('both say the same, or it is known why not', () => {
  it('in the list of bad commands', async () => {
    expect(await differencesIn(BAD.map(bash))).toEqual([])
  }, 120_000)

  it('in the list of ordinary commands', async () => {
    expect(await differencesIn(ORDINARY.map(bash))).toEqual([])
  }, 120_000)
})

const CORPUS = new URL('../../../../shared/corpus/', import.meta.url)

/** Every call of a tool in a document, at any depth. */
function callsIn(value: Json): readonly (readonly [string, Json])[] {
  if (Array.isArray(value)) return value.flatMap(callsIn)
  if (!isObject(value)) return []
  const name = value.tool_name ?? value.toolName
  const input = value.tool_input ?? value.toolInput
  const own = typeof name === 'string' && isObject(input) ? [[name, input as Json] as const] : []
  return [...own, ...Object.values(value).flatMap((one) => callsIn(one as Json))]
}

describe.skipIf(!corpusIsHere)('calls of ../shared/corpus', () => {
  it('are judged alike', async () => {
    const files = readdirSync(CORPUS, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^(?:cases|hosts|payloads)\/.*\.json$|^observed\.json$/.test(file),
    )
    const calls = files.flatMap((file) => callsIn(JSON.parse(readFileSync(new URL(file, CORPUS), 'utf8'))))
    const distinct = [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()]
    expect(distinct.length).toBeGreaterThan(100)
    expect(await differencesIn(distinct)).toEqual([])
  }, 120_000)
})

it.skipIf(corpusIsHere)('../shared/corpus is not there: its calls were not compared', () => {})
