// Starts the core of Cline 3 for one prompt, as a program of its own would: `cline-core URL PROMPT`, or `--version`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const home = join(process.env.CARABINER_AGENT_PACKAGES ?? '', '@cline', 'core')
const [address, prompt] = process.argv.slice(2)

if (address === '--version') {
  console.log(JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version)
} else {
  const { ClineCore } = await import(pathToFileURL(join(home, 'dist', 'index.js')).href)
  const cline = await ClineCore.create({ backendMode: 'local' })
  const { result } = await cline.start({
    config: {
      providerId: 'anthropic',
      modelId: 'claude-sonnet-4-5',
      apiKey: 'none',
      baseUrl: `${address}/v1`,
      cwd: process.cwd(),
      workspaceRoot: process.cwd(),
      mode: 'act',
      enableTools: true,
      enableSpawnAgent: true,
      enableAgentTeams: false,
      systemPrompt: 'You do what you are told.',
    },
    prompt,
    interactive: false,
  })
  console.log(result?.text ?? result?.finishReason)
  await cline.dispose()
  process.exit(0)
}
