// Command lines that stand in a word, for a program to run: git's own, and those that a variable hands over.

import { runByTar } from './archive-effects.js'
import { scriptsInCode } from './code-scripts.js'
import { runByEditor } from './editor-effects.js'
import { gitCall } from './git-call.js'
import type { Call, Script } from './shell-script.js'

/** Variables that programs run. */
const RUN =
  /^(?:\w*EDITOR|VISUAL|\w*PAGER|GIT_SSH_COMMAND|GIT_SSH|GIT_PROXY_COMMAND|GIT_EXTERNAL_DIFF|\w*ASKPASS|LESSOPEN|LESSCLOSE|BROWSER|RSYNC_RSH)=(.+)$/s

/** Settings of git that git runs. */
const RUN_BY_GIT =
  /^(?:core\.(?:editor|pager|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor|pager\..*|diff\..*|difftool\..*|merge\..*|mergetool\..*|filter\..*|credential\..*helper|gpg\..*program|gpg\.program|uploadpack\..*|alias\..*)=(.+)$/is

/** They hand a word with blanks in it to a shell. */
const STRING_RUNNERS =
  /^(?:npm|npx|pnpm|pnpx|yarn|bunx|nix-shell|tmux|screen|concurrently|nodemon|entr|hyperfine|watchexec|make|gmake|just)$/

export function hiddenScripts(script: Script): readonly string[] {
  const { calls, assignments } = script
  const found = assignments.flatMap((one) => RUN.exec(one)?.[1] ?? [])
  for (const call of calls) {
    found.push(...scriptsInCode(call, script), ...runByEditor(call))
    if (/^(?:bsd|g)?tar$/.test(call.name)) found.push(...runByTar(texts(call)))
    if (call.name === 'git') found.push(...runByGit(call))
    else if (STRING_RUNNERS.test(call.name)) found.push(...texts(call).filter((text) => /\s/.test(text)))
  }
  return [...new Set(found)]
}

function texts({ args }: Call): readonly string[] {
  return args.map(({ text }) => text)
}

function runByGit(call: Call): readonly string[] {
  const { verb = '', args, settings } = gitCall(texts(call))
  const set = settings.flatMap((setting) => RUN_BY_GIT.exec(setting)?.[1]?.replace(/^!/, '') ?? [])
  return [...set, ...runByVerb(verb, args)]
}

function runByVerb(verb: string, args: readonly string[]): readonly string[] {
  if (verb === 'bisect' && args[0] === 'run') return [args.slice(1).join(' ')]
  if (verb === 'submodule' && args.includes('foreach')) {
    return [
      args
        .slice(args.indexOf('foreach') + 1)
        .filter((word) => word !== '--recursive')
        .join(' '),
    ]
  }
  if (verb === 'config')
    return args.flatMap(
      (name, i) => RUN_BY_GIT.exec(`${name}=${args[i + 1] ?? ''}`)?.[1]?.replace(/^!/, '') ?? [],
    )
  if (verb !== 'rebase' && verb !== 'filter-branch' && verb !== 'difftool' && verb !== 'mergetool') return []
  return args.flatMap((word, i) => {
    const [, attached] = /^(?:-x|--exec|--extcmd|--[\w-]+-filter)(?:=(.*))?$/s.exec(word) ?? []
    if (attached !== undefined) return [attached]
    return /^(?:-x|--exec|--extcmd|--[\w-]+-filter)$/.test(word) && args[i + 1] !== undefined
      ? [args[i + 1] as string]
      : []
  })
}
