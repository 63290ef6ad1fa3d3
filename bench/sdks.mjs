// What does an agent pay for the adapter of its SDK, if there are no hooks? The models are mocks, so only the SDK's own work is
// around the adapter. Processor time counts. Each SDK has its own process, and its agents are in bench/sdks/.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runtimeProgram } from '../scripts/runtimes.mjs'
import { sdkPackages } from '../scripts/sdks.mjs'
import { Rounds } from './measure.mjs'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const { dependencies } = createRequire(import.meta.url)('../package.json')

const SDKS = {
  'ai-sdk': { lock: 'ai-sdk/6', title: 'AI SDK' },
  'openai-agents': { lock: 'openai-agents/0.20', title: 'OpenAI Agents SDK' },
  langchain: { lock: 'langchain/1.5', title: 'LangChain' },
  mastra: { lock: 'mastra/1.71', title: 'Mastra', node: 'node@22' },
  adk: { lock: 'adk/2', title: 'Agent Development Kit' },
  'claude-agent-sdk': { lock: 'claude-agent-sdk/0.3.325', title: 'Claude Agent SDK' },
}

export function bench(names = Object.keys(SDKS)) {
  return names.flatMap(rowsOf)
}

function rowsOf(name) {
  const { lock, title, node = 'node@20' } = SDKS[name]
  let packages
  let program
  try {
    packages = sdkPackages(lock)
    program = runtimeProgram(node)
  } catch (error) {
    console.error(`SKIPPED: ${title} cannot be installed: ${error.stderr ?? error.message}`)
    return []
  }
  const folder = project(packages, name)
  try {
    const quick = process.argv.filter((arg) => arg === '--quick')
    const printed = execFileSync(program, [join(folder, 'race.mjs'), ...quick], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return Object.entries(JSON.parse(printed)).flatMap(([what, times]) => {
      const rounds = new Rounds(times)
      return [
        rounds.row(`${title}, ${what}, adapter without hooks / bare`, 'guarded', 'bare', { limit: 1.05 }),
        // What the SDK itself takes for anything in the adapter's place.
        ...(times.empty ? [rounds.row(`${title}, ${what}, an empty extension / bare`, 'empty', 'bare')] : []),
      ]
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Below the packages, so that Carabiner finds the SDK as it would find it in a project. */
function project(packages, name) {
  const folder = mkdtempSync(join(packages, 'bench-'))
  const modules = join(folder, 'node_modules')
  const isProgram = (path) => path.startsWith(join(ROOT, 'dist/bin'))
  for (const path of ['package.json', 'dist'])
    cpSync(join(ROOT, path), join(modules, 'carabiner', path), {
      recursive: true,
      filter: (from) => !isProgram(from),
    })
  for (const one of Object.keys(dependencies))
    symlinkSync(join(ROOT, 'node_modules', one), join(modules, one))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  cpSync(join(ROOT, 'bench/measure.mjs'), join(folder, 'measure.mjs'))
  cpSync(join(ROOT, 'bench/sdks'), folder, { recursive: true })
  writeFileSync(join(folder, 'race.mjs'), `import { situations } from './${name}.mjs'\n${RACE}`)
  return folder
}

const RACE = `
import { cpuClock, race } from './measure.mjs'
const rows = {}
for (const [what, agents] of Object.entries(await situations()))
  rows[what] = (await race(agents, { clock: cpuClock })).times
console.log(JSON.stringify(rows))
process.exit()
`
