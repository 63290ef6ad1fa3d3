// Agents that Carabiner is proven under: fetched once from npm, and kept in a cache outside the checkout.
// `node scripts/agents.mjs [NAME…]` fetches them, and prints the folder of each program, for a PATH.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder, installPackage, runtimeProgram } from './runtimes.mjs'

const { platform, arch } = process

/**
 * @typedef {object} Agent
 * @property {string} host the name of the host
 * @property {string} package
 * @property {string} version
 * @property {string} program the name of its program
 * @property {string} [file] the program, below the package; a script is started by Node
 * @property {true} [native] the file is a program of this system
 * @property {string} [node] the Node that it needs
 * @property {readonly string[]} [beside] npm cannot install the package: unpack it, and install these beside it
 * @property {string} [driver] the package has no program: this file of ours, in scripts/, starts it
 */

/** @type {Readonly<Record<string, Agent>>} */
export const AGENTS = {
  'claude-code': {
    host: 'claude-code',
    package: '@anthropic-ai/claude-agent-sdk',
    version: '0.3.325',
    program: 'claude',
    file: `../claude-agent-sdk-${platform}-${arch}/claude`,
    native: true,
  },
  codex: {
    host: 'codex',
    package: '@openai/codex',
    version: '0.166.0',
    program: 'codex',
    file: 'bin/codex.js',
  },
  gemini: {
    host: 'gemini',
    package: '@google/gemini-cli',
    version: '0.61.0',
    program: 'gemini',
    file: 'bundle/gemini.js',
  },
  qwen: {
    host: 'qwen',
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    program: 'qwen',
    file: 'cli-entry.js',
    node: 'node@22',
  },
  copilot: {
    host: 'copilot',
    package: '@github/copilot',
    version: '1.0.102',
    program: 'copilot',
    file: 'npm-loader.js',
  },
  opencode: {
    host: 'opencode',
    package: `opencode-${platform}-${arch}`,
    version: '1.18.18',
    program: 'opencode',
    file: 'bin/opencode',
    native: true,
  },
  pi: {
    host: 'pi',
    package: '@earendil-works/pi-coding-agent',
    version: '1.5.0',
    program: 'pi',
    file: 'dist/bundle/cli.js',
    node: 'node@22',
    beside: ['jiti@2.7.0', 'typebox'],
  },
  cline: { host: 'cline', package: 'cline', version: '2.18.0', program: 'cline', file: 'dist/cli.mjs' },
  'cline-3': {
    host: 'cline-core',
    package: 'cline',
    version: '3.0.65',
    program: 'cline',
    file: `../@cline/cli-${platform}-${arch}/bin/cline`,
    native: true,
  },
  'cline-core': {
    host: 'cline-core',
    package: '@cline/core',
    version: '0.0.86',
    program: 'cline-core',
    node: 'node@22',
    driver: 'cline-core.mjs',
  },
  kimi: {
    host: 'kimi',
    package: '@moonshot-ai/kimi-code',
    version: '2.1.0',
    program: 'kimi',
    file: 'dist/main.mjs',
    node: 'node@22',
  },
  letta: {
    host: 'letta',
    package: '@letta-ai/letta-code',
    version: '0.32.18',
    program: 'letta',
    file: 'letta.js',
    node: 'node@22',
    beside: ['ws', 'node-pty'],
  },
}

/** The folder with the agent's program, if it was fetched before. @param {string} name one of AGENTS */
export function cachedAgent(name) {
  const folder = folderOf(name)
  const bin = join(folder, 'bin')
  if (!existsSync(bin)) return undefined
  const agent = agentNamed(name)
  // The checkout that fetched it may be gone.
  if (agent.driver !== undefined) writeProgram(agent, folder, bin)
  return bin
}

/** The folder with the agent's program. Throws with the reason if it cannot be fetched. @param {string} name one of AGENTS */
export function agentFolder(name) {
  const cached = cachedAgent(name)
  if (cached !== undefined) return cached
  const agent = agentNamed(name)
  const folder = folderOf(name)
  if (agent.beside === undefined) installPackage(`${agent.package}@${agent.version}`, folder)
  else unpack(agent, folder)
  if (!existsSync(fileOf(agent, folder)))
    throw new Error(`${agent.package}@${agent.version} has no program for ${platform}-${arch}`)
  // The folder `bin` is there only once all of it is.
  const [bin, making] = [join(folder, 'bin'), join(folder, `bin.${process.pid}`)]
  mkdirSync(making, { recursive: true })
  writeProgram(agent, folder, making)
  renameSync(making, bin)
  return bin
}

/** @param {string} name @returns {Agent} */
function agentNamed(name) {
  const agent = AGENTS[name]
  if (!agent) throw new Error(`There is no agent ${name}. Choose ${Object.keys(AGENTS).join(', ')}.`)
  return agent
}

/** @param {string} name */
function folderOf(name) {
  return cacheFolder(name, agentNamed(name).version)
}

/** npm refuses a package with a dependency that does not exist, though its bundle does not need it. @param {Agent} agent @param {string} folder */
function unpack({ package: name, version, beside = [] }, folder) {
  const home = join(folder, 'node_modules', name)
  // npm empties the folder of what it does not know, so the package comes second.
  installPackage(beside, folder)
  mkdirSync(home, { recursive: true })
  const packed = spawnSync('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 600_000,
  })
  const [tarball] = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
  if (packed.status !== 0 || !tarball)
    throw new Error(`npm could not fetch ${name}@${version}: ${packed.stderr.trim()}`)
  const untarred = spawnSync('tar', ['-xzf', join(folder, tarball), '-C', home, '--strip-components=1'], {
    encoding: 'utf8',
  })
  if (untarred.status !== 0) throw new Error(`${tarball} could not be unpacked: ${untarred.stderr.trim()}`)
}

/** What is started. @param {Agent} agent @param {string} folder */
function fileOf({ package: name, file = '', driver }, folder) {
  return driver ? fileURLToPath(new URL(driver, import.meta.url)) : join(folder, 'node_modules', name, file)
}

/** @param {Agent} agent @param {string} folder @param {string} bin */
function writeProgram(agent, folder, bin) {
  const file = fileOf(agent, folder)
  const program = join(bin, agent.program)
  if (agent.native) return symlinkSync(file, program)
  const node = agent.node === undefined ? process.execPath : runtimeProgram(agent.node)
  const env = agent.driver ? `CARABINER_AGENT_PACKAGES='${join(folder, 'node_modules')}' ` : ''
  const draft = `${program}.${process.pid}`
  writeFileSync(draft, `#!/bin/sh\n${env}exec '${node}' '${file}' "$@"\n`, { mode: 0o755 })
  renameSync(draft, program)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2)
  for (const name of names.length > 0 ? names : Object.keys(AGENTS)) {
    try {
      console.log(agentFolder(name))
    } catch (error) {
      console.error(`SKIPPED: ${name}: ${error instanceof Error ? error.message : error}`)
      process.exitCode = 1
    }
  }
}
