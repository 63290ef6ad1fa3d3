// `carabiner setup --mcp`: puts the MCP servers of agents behind `carabiner mcp`, and takes them out again.

import { dirname } from 'node:path'
import { didYouMean, visible } from '../../core/base/text.js'
import { userHome } from '../../files/homes.js'
import { isBelow } from '../../files/within.js'
import { MCP_CLIENTS, type McpClient, mcpClientNamed, mcpFile, mcpFilesOf } from '../../hosts/mcp/clients.js'
import { behindProxy, type McpChange, takenOut } from '../../hosts/mcp/proxied-file.js'
import { agentFiles, registrationsIn } from '../../hosts/registrations.js'
import { readSettings, replaceSettings, type SettingsFile } from '../../hosts/settings-file.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { SetupRecord } from '../../hosts/setup-record.js'
import { isDeciding } from '../../pack/deciding-variables.js'
import { missingSdk } from '../../runners/mcp-tool/sdk.js'
import { choiceOf } from '../command.js'
import { agrees, canAsk } from '../confirm.js'
import type { Output } from '../output.js'
import { isAgentShell } from '../person.js'
import { columns, nextLines, shortPath } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { EXIT, usage } from '../refusal.js'
import { projectOf } from '../sources.js'
import { thisProgram } from './register.js'

export interface McpWish {
  readonly remove: boolean
  readonly yes: boolean
  readonly 'dry-run': boolean
}

/** The planned change of one file. */
export interface McpPlan extends McpChange {
  readonly client: McpClient
  readonly file: SettingsFile
}

type McpResult =
  | (McpPlan & { readonly written: boolean; readonly backup?: string })
  | { readonly client: McpClient; readonly problem: SetupProblem }

export async function setUpMcp(names: readonly string[], wish: McpWish, output: Output): Promise<number> {
  const clients = names.length === 0 ? offered(wish) : await named(names, wish)
  const results = clients.flatMap((client) => plansFor(client, wish))
  const isAsked = names.length === 0 && !wish.yes && !wish['dry-run']
  const changes = results.some((result) => 'after' in result && result.changed.length > 0)
  if (!changes || wish['dry-run'])
    return tell(results, wish, changes ? ['Run it again without --dry-run to write it'] : [], output)
  if (isAsked) {
    if (!canAsk(output) || isAgentShell())
      return tell(
        results,
        wish,
        [`carabiner setup --mcp --yes${wish.remove ? ' --remove' : ''}   # write it`],
        output,
      )
    await tell(results, wish, [], output)
    if (!(await agrees(wish.remove ? REMOVE : GUARD, output))) {
      await output.print(['nothing was written'])
      return EXIT.failed
    }
  }
  const done: McpResult[] = []
  for (const result of results) done.push(await carriedOut(result, wish))
  const check = wish.remove ? [] : ['carabiner doctor   # check that hooks judge their calls']
  return tell(done, wish, ['Restart the agents', ...check], output)
}

const GUARD = 'Put these servers behind carabiner mcp?'
const REMOVE = 'Take these servers out again?'

// ---- which agents ---------------------------------------------------------------------------------------------

/** Setup offers no proxy to agents whose hooks already see MCP calls. Servers behind one can always be taken out. */
function offered({ remove }: McpWish): readonly McpClient[] {
  return MCP_CLIENTS.filter(({ host }) => remove || host === undefined)
}

async function named(names: readonly string[], { remove }: McpWish): Promise<readonly McpClient[]> {
  const known = MCP_CLIENTS.map(({ name }) => name)
  const clients = [...new Set(names)].map((name) => {
    const client = mcpClientNamed(name)
    if (client) return client
    throw usage(
      `There is no agent ${JSON.stringify(name)} with MCP servers${didYouMean(name, known)}`,
      choiceOf(known),
    )
  })
  if (remove) return clients
  const hosts = await hookedHosts()
  const twice = clients.find(({ host }) => host !== undefined && hosts.has(host))
  if (!twice) return clients
  throw usage(
    `${twice.title} runs your hooks for MCP tools already: behind a proxy, they would judge each call twice`,
    `Leave it as it is, or take the hooks out first: carabiner setup ${twice.host} --remove`,
  )
}

/** Agents that our hooks are registered with. */
async function hookedHosts(): Promise<ReadonlySet<string>> {
  const project = projectOf({ project: undefined })
  return new Set(registrationsIn(await agentFiles(project), project).map(({ host }) => host.name))
}

// ---- for `carabiner remove` ------------------------------------------------------------------------------------

/**
 * Files with servers behind the proxy, the user's and those of the project here. `texts`: those of some files before the
 * servers are taken out.
 */
export function filesBehindProxy(texts: ReadonlyMap<string, string | undefined>): {
  readonly plans: readonly McpPlan[]
  /** Why others stay. */
  readonly left: readonly string[]
} {
  const all = MCP_CLIENTS.flatMap((client) => plansFor(client, TAKE_OUT))
  return {
    plans: all.flatMap((one) => {
      if ('problem' in one || one.changed.length === 0) return []
      const text = texts.get(one.file.real)
      if (text === undefined) return [one]
      return [{ ...one, after: planFor(one.client, { ...one.file, text }, TAKE_OUT).after }]
    }),
    left: all.flatMap((one) => {
      if ('problem' in one) return [`${one.problem.message}; its MCP servers may need carabiner mcp`]
      return one.left.map(({ name, why }) => `${shortPath(one.file.path)}: ${name} (${why})`)
    }),
  }
}

/** Takes the servers in this file out. `undo` puts the text back, and `backup` has it. Throws a SetupProblem. */
export async function takeOut({
  client,
  file,
}: McpPlan): Promise<{ undo(): void; backup: string | undefined }> {
  const done = await carriedOut({ ...planFor(client, file, TAKE_OUT), written: false }, TAKE_OUT)
  if ('problem' in done) throw done.problem
  return { undo: () => replaceSettings(done.file, done.file.text ?? ''), backup: done.backup }
}

/** The commands that put these servers behind the proxy again. */
export function mcpAgain({ client, file }: McpPlan): readonly (readonly string[])[] {
  const project = projectOf({ project: undefined })
  return [
    ...(isOfProject(file.path, project) ? [['cd', project]] : []),
    ['carabiner', 'setup', '--mcp', client.name],
  ]
}

/** A project in the home folder is the user. */
function isOfProject(path: string, project: string): boolean {
  return isBelow(path, project) && project !== userHome()
}

const TAKE_OUT: McpWish = { remove: true, yes: true, 'dry-run': false }

// ---- files ----------------------------------------------------------------------------------------------------

function plansFor(client: McpClient, wish: McpWish): readonly McpResult[] {
  const project = projectOf({ project: undefined })
  return mcpFilesOf(client, project).flatMap((path): readonly McpResult[] => {
    try {
      const file = readSettings({ path, within: [userHome(), project, dirname(path)] })
      if (file.text === undefined || file.text.trim() === '') return []
      const plan = planFor(client, file, wish)
      const { changed, left, already } = plan
      // Servers that were never behind the proxy are no news to somebody who takes others out.
      const told = changed.length + left.length + (wish.remove ? 0 : already.length)
      return told === 0 ? [] : [{ ...plan, written: false }]
    } catch (error) {
      if (error instanceof SetupProblem) return [{ client, problem: error }]
      throw error
    }
  })
}

function planFor(client: McpClient, file: SettingsFile, { remove }: McpWish): McpPlan {
  const project = projectOf({ project: undefined })
  const setting = {
    ...{ program: thisProgram(), project, decides: isDeciding, missing: missingSdk() },
    isOfProject: isOfProject(file.path, project),
  }
  const given = (text: string) => mcpFile(client, file.path, text)
  const text = file.text ?? ''
  if (!remove) return { client, file, ...behindProxy(given(text), setting) }
  const change = takenOut(given(text), setting)
  // As it was to the last byte, if nobody has changed it since.
  const [before] = recordOf(file).replaced()
  const isUntouched = before !== undefined && behindProxy(given(before), setting).after === text
  return { client, file, ...change, after: isUntouched ? before : change.after }
}

/** Apart from what setup did to hooks in the same file. */
function recordOf({ real }: SettingsFile): SetupRecord {
  return new SetupRecord(`${real}#mcp`)
}

async function carriedOut(result: McpResult, wish: McpWish): Promise<McpResult> {
  if ('problem' in result || result.changed.length === 0) return result
  const { client, file } = result
  try {
    const record = recordOf(file)
    return await record.alone(() => {
      const now = readSettings({ path: file.path, within: [dirname(file.real)] })
      const plan = planFor(client, now, wish)
      const backup = record.keep(now.text ?? '')
      replaceSettings(now, plan.after)
      return { ...plan, written: true, backup }
    })
  } catch (error) {
    if (error instanceof SetupProblem) return { client, problem: error }
    throw error
  }
}

// ---- telling --------------------------------------------------------------------------------------------------

async function tell(
  results: readonly McpResult[],
  wish: McpWish,
  next: readonly string[],
  output: Output,
): Promise<number> {
  const exit = results.some((result) => 'problem' in result) ? EXIT.failed : EXIT.ok
  const data = { agents: results.map(dataOf) }
  return output.result(data, (paint) => [...linesOf(results, wish, paint), ...nextLines(next, paint)], exit)
}

function dataOf(result: McpResult): object {
  if ('problem' in result) {
    const { message, hint = null } = result.problem
    return { agent: result.client.name, error: { code: 'SETTINGS_UNUSABLE', message, hint } }
  }
  const { client, file, changed, left, already, written, backup = null } = result
  return { agent: client.name, file: file.path, changed, left, already, written, backup }
}

function linesOf(results: readonly McpResult[], { remove }: McpWish, paint: Paint): readonly string[] {
  if (results.length === 0)
    return [
      remove ? 'No MCP server is behind carabiner mcp.' : 'No agent without hooks has MCP servers here.',
    ]
  return results.flatMap((result) => {
    if ('problem' in result)
      return [
        paint.bold(result.client.title),
        `  ${paint.red('left alone')} ${visible(result.problem.message)}`,
      ]
    const { client, file, changed, left, already, written, backup } = result
    const what = remove ? 'restored' : 'behind carabiner mcp'
    const rows = columns([
      ...changed.map((name) => [`  ${visible(name)}`, written ? what : `would be ${what}`]),
      ...left.map(({ name, why }) => [`  ${visible(name)}`, `left alone: ${why}`]),
      ...(remove ? [] : already.map((name) => [`  ${visible(name)}`, `${what} already`])),
    ])
    return [
      `${paint.bold(client.title)}  ${visible(shortPath(file.path))}`,
      ...rows.map((row) => row.join('  ').trimEnd()),
      ...(backup === undefined ? [] : [`  ${paint.dim('before')} ${visible(shortPath(backup))}`]),
    ]
  })
}
