// `carabiner verify`: proves that installed agents obey hooks, by starting them against a mock model.

import type { KnownHost } from '../../hosts/hosts.js'
import { type Agent, agentsOf, fittingAgents, PROOF_HOSTS } from '../../verify/agents.js'
import { enclosure } from '../../verify/enclosure.js'
import { type Command, chosen } from '../command.js'
import { proveAgents } from '../prove.js'
import { EXIT, Refusal } from '../refusal.js'

const OPTIONS = {
  quick: { type: 'boolean', help: 'Only whether a command and a written file are refused.' },
  keep: {
    type: 'string',
    value: 'DIR',
    completes: 'folder',
    help: 'Leave the homes, projects and requests of all runs here.',
  },
  inside: { type: 'string', value: 'FILE', help: 'Run one trial.', hidden: true },
} as const

const NAMES = PROOF_HOSTS.map(({ name }) => name)

export const command: Command<typeof OPTIONS> = {
  name: 'verify',
  summary: 'Prove that an agent obeys hooks.',
  positionals: ['[AGENT…]'],
  completes: [NAMES],
  about:
    'Starts the installed agent in a fresh home and project, without network, against a mock model on this machine. ' +
    'The model asks for a command and a file; without a hook, both must happen, and with one, neither. Then it looks ' +
    'at changed commands, context, subagents, refused ends and questions. Your own settings take no ' +
    `part; if they keep hooks from running, it says so. Without a name: every agent in PATH. Agents: ${NAMES.join(', ')}. The last proof is kept; carabiner ` +
    'shows it, and says when something has changed since.',
  options: OPTIONS,
  exits: [
    [0, 'every fact held, or is known to be beyond the agent'],
    [1, 'a fact did not hold, nothing could be proven, or your hooks are off'],
  ],
  examples: [
    {
      does: 'Do the agents on this machine obey hooks?',
      line: 'carabiner verify',
      needs: 'an agent in PATH',
    },
    { does: 'Only Codex.', line: 'carabiner verify codex', needs: 'Codex in PATH' },
    {
      does: 'Quickly: only a command and a file.',
      line: 'carabiner verify claude-code --quick',
      needs: 'Claude Code in PATH',
    },
  ],
  async run({ options, positionals }, output, context) {
    if (options.inside !== undefined) return inside(options.inside)
    const agents = await agentsOf(hostsNamed(positionals))
    const found = agents.filter(({ program }) => program !== undefined)
    const missing = agents.filter(({ program }) => program === undefined)
    if (found.length === 0 || (positionals.length > 0 && missing.length > 0)) throw notFound(missing)
    return proveAgents(
      positionals.length > 0 ? found : fittingAgents(found, enclosure()),
      options,
      output,
      context.signal,
    )
  },
}

async function inside(file: string): Promise<number> {
  const { runFromFile } = await import('../../verify/agent-run.js')
  await runFromFile(file)
  return EXIT.ok
}

function hostsNamed(names: readonly string[]): readonly KnownHost[] {
  const given = names.map((name) => chosen(name, NAMES, 'carabiner verify does not know the agent'))
  return names.length === 0 ? PROOF_HOSTS : PROOF_HOSTS.filter(({ name }) => given.includes(name))
}

function notFound(missing: readonly Agent[]): Refusal {
  const programs = missing.map(({ proof }) => proof.program)
  const what =
    programs.length === 1
      ? `There is no program ${programs[0]} in PATH`
      : `None of these programs is in PATH: ${programs.join(', ')}`
  return new Refusal('AGENT_NOT_FOUND', what, { hint: 'Install the agent, or add its folder to PATH.' })
}
