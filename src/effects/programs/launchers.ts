// Programs that run another one without changing what it does: `npx`, `bundle exec`, `uv run`, `docker exec`.

import { PROGRAM_OF } from '../../files/agent-shell.js'
import { remembered } from '../remembered.js'
import type { Call } from '../script/shell-script.js'
import type { Word } from '../script/word.js'

interface Launcher {
  /** The words before the command. Undefined: the program is the launcher itself. */
  readonly verbs?: readonly string[]
  /** Options that take the next word. */
  readonly valued?: RegExp
  /** How many words come before the command: a container, a folder. */
  readonly operands?: number
  /** Whether it runs elsewhere: in a container, on another machine. */
  readonly elsewhere?: boolean
  /** Whether words such as `A=1` may come before the command. */
  readonly assignments?: boolean
  /** The only programs that it runs. Undefined: any. */
  readonly runs?: RegExp
}

const PACKAGE =
  /^(?:-p|--package|--node-options|-c|--call|--from|--with|--python|-w|--workspace|-C|--cwd|--env-file)$/
const CONTAINER =
  /^(?:-e|--env|-u|--user|-w|--workdir|--env-file|--detach-keys|-f|--file|-p|--project-name|-n|--namespace|-c|--container|--context|--index|--profile)$/
const RUN =
  /^(?:-e|--env|-u|--user|-w|--workdir|--env-file|-v|--volume|-p|--publish|--name|--network|--net|--mount|--entrypoint|-m|--memory|--cpus|-h|--hostname|--platform|-l|--label|--add-host|--restart|--device|--shm-size|--pull|--gpus|--cap-add|--security-opt|--tmpfs|--ulimit|--ip|--dns)$/

const LAUNCHERS = new Map<string, readonly Launcher[]>(
  Object.entries({
    npx: [{ valued: PACKAGE }],
    bunx: [{ valued: PACKAGE }],
    pnpx: [{ valued: PACKAGE }],
    uvx: [{ valued: PACKAGE }],
    npm: [
      { verbs: ['exec'], valued: PACKAGE },
      { verbs: ['x'], valued: PACKAGE },
    ],
    pnpm: [
      { verbs: ['exec'], valued: PACKAGE },
      { verbs: ['dlx'], valued: PACKAGE },
      { verbs: ['x'], valued: PACKAGE },
    ],
    yarn: [
      { verbs: ['exec'] },
      { verbs: ['dlx'], valued: PACKAGE },
      { verbs: ['workspace'], operands: 1, runs: /^npm$/ },
      { verbs: ['workspaces', 'foreach'], valued: /^--(?:from|include|exclude|jobs|since)$/, runs: /^npm$/ },
    ],
    bun: [{ verbs: ['x'] }],
    uv: [
      { verbs: ['run'], valued: PACKAGE },
      { verbs: ['tool', 'run'], valued: PACKAGE },
    ],
    railway: [{ verbs: ['run'], valued: /^(?:-s|--service|-e|--environment|-p|--project)$/ }],
    poetry: [{ verbs: ['run'] }],
    pipenv: [{ verbs: ['run'] }],
    pdm: [{ verbs: ['run'] }],
    hatch: [{ verbs: ['run'] }],
    rye: [{ verbs: ['run'] }],
    pipx: [{ verbs: ['run'], valued: PACKAGE }],
    bundle: [{ verbs: ['exec'] }],
    conda: [{ verbs: ['run'], valued: /^(?:-n|--name|-p|--prefix)$/ }],
    rbenv: [{ verbs: ['exec'] }],
    pyenv: [{ verbs: ['exec'] }],
    asdf: [{ verbs: ['exec'] }],
    mise: [{ verbs: ['exec'] }, { verbs: ['x'] }],
    volta: [{ verbs: ['run'] }],
    corepack: [{ runs: /^(?:npm|npx|pnpm|pnpx|yarn|yarnpkg)(?:@|$)/ }],
    direnv: [{ verbs: ['exec'], operands: 1 }],
    dotenv: [{ valued: /^-[ef]$/ }],
    dotenvx: [{ verbs: ['run'], valued: /^(?:-f|--env-file|-e|--env|-fk|--env-keys-file)$/ }],
    foreman: [{ verbs: ['run'], valued: /^(?:-e|--env|-f|--procfile|-d|--root)$/ }],
    honcho: [{ verbs: ['run'], valued: /^(?:-e|--env|-f|--procfile|-d|--app-root)$/ }],
    fnm: [{ verbs: ['exec'], valued: /^--(?:using|fnm-dir)$/ }],
    nvm: [{ verbs: ['exec'], operands: 1 }],
    pixi: [{ verbs: ['run'], valued: /^(?:-e|--environment|--manifest-path|-m)$/ }],
    devbox: [{ verbs: ['run'], valued: /^(?:-c|--config|-e|--env|--env-file)$/ }],
    distrobox: [{ verbs: ['enter'], operands: 1 }],
    toolbox: [{ verbs: ['run'], valued: /^(?:-c|--container|-d|--distro|-r|--release)$/ }],
    firejail: [{}],
    proot: [{ valued: /^-[rbmwqkR]$/ }],
    valgrind: [{}],
    'xvfb-run': [{ valued: /^-[enfpsw]$/ }],
    'dbus-run-session': [{ valued: /^--(?:config-file|dbus-daemon)$/ }],
    arch: [{ valued: /^-[de]$/ }],
    entr: [{}],
    watchexec: [{ valued: /^(?:-[ewifdso]|--(?:exts|watch|ignore|filter|debounce|signal|shell))$/ }],
    screen: [{ valued: /^-\w*S$|^-[chtTep]$/ }],
    // On some systems it runs the words after its file.
    script: [{ operands: 1, valued: /^-[BEIOTcmto]$/ }],
    'cross-env': [{ assignments: true }],
    doppler: [{ verbs: ['run'], valued: /^(?:-p|--project|-c|--config)$/ }],
    op: [{ verbs: ['run'], valued: /^--env-file$/ }],
    'aws-vault': [{ verbs: ['exec'], operands: 1 }],
    docker: [
      { verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true },
      { verbs: ['compose', 'exec'], valued: CONTAINER, operands: 1, elsewhere: true },
      { verbs: ['compose', 'run'], valued: RUN, operands: 1, elsewhere: true },
      { verbs: ['container', 'exec'], valued: CONTAINER, operands: 1, elsewhere: true },
      { verbs: ['run'], valued: RUN, operands: 1, elsewhere: true },
    ],
    'docker-compose': [
      { verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true },
      { verbs: ['run'], valued: RUN, operands: 1, elsewhere: true },
    ],
    podman: [
      { verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true },
      { verbs: ['run'], valued: RUN, operands: 1, elsewhere: true },
    ],
    heroku: [{ verbs: ['run'], valued: /^(?:-a|--app|-r|--remote|-s|--size)$/, elsewhere: true }],
    kubectl: [{ verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true }],
    oc: [{ verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true }],
  }),
)

export interface Launched {
  readonly call: Call
  readonly elsewhere: boolean
}

const isPython = remembered((name) => /^python[\d.]*$/.test(name))

/** Undefined if the call launches nothing. */
export function launchedBy(call: Call): Launched | undefined {
  if (isPython(call.name)) return byPython(call)
  if (call.name === 'cmake')
    return call.args[0]?.text === '-E' && call.args[1] ? made(call, call.args.slice(1), false) : undefined
  if (call.name === 'cmd') return byCmd(call)
  if (call.name === 'nix') return byNix(call)
  if (call.name === 'php' && /(?:^|\/)artisan$/.test(call.args[0]?.text ?? ''))
    return made(call, call.args, false)
  for (const launcher of LAUNCHERS.get(call.name) ?? []) {
    const words = wordsBehind(call.args, launcher)
    if (words?.[0] && (launcher.runs?.test(words[0].text) ?? true))
      return made(call, words, launcher.elsewhere ?? false)
  }
  return undefined
}

/** `nix develop .#ci -c make`. */
function byNix(call: Call): Launched | undefined {
  const at = call.args.findIndex(({ text }) => text === '-c' || text === '--command')
  const words = /^(?:develop|shell)$/.test(call.args[0]?.text ?? '') && at > 0 ? call.args.slice(at + 1) : []
  return words.length > 0 ? made(call, words, false) : undefined
}

/** `cmd /c del x`, `cmd /c "del x"`. */
function byCmd(call: Call): Launched | undefined {
  const at = call.args.findIndex(({ text }) => /^\/[ck]$/i.test(text))
  const words = at < 0 ? [] : call.args.slice(at + 1)
  const all = words.flatMap((word) => word.text.split(/\s+/).map((text) => ({ ...word, text })))
  return all.length > 0 ? made(call, all, false) : undefined
}

/** `python -m alembic`, `python manage.py`. */
function byPython(call: Call): Launched | undefined {
  const [first, ...rest] = call.args
  if (first?.text === '-m' && rest[0] && !/^(?:timeit|http\.server|venv|unittest)$/.test(rest[0].text))
    return made(call, rest, false)
  return first && /(?:^|\/)manage\.py$/.test(first.text) ? made(call, call.args, false) : undefined
}

function made(call: Call, [program, ...args]: readonly Word[], elsewhere: boolean): Launched {
  const text = (program?.text ?? '').replace(/(?<=.)@[^/]*$/, '')
  const name = PROGRAM_OF.get(text) ?? text.slice(text.lastIndexOf('/') + 1)
  return { call: { ...call, name, args, isInner: true }, elsewhere }
}

function wordsBehind(
  args: readonly Word[],
  { verbs = [], valued = /^$/, operands = 0, assignments = false }: Launcher,
): readonly Word[] | undefined {
  let at = 0
  const skipOptions = () => {
    for (; at < args.length; at++) {
      const text = args[at]?.text ?? ''
      if (text === '--') {
        at++
        return
      }
      if (assignments && /^\w+=/.test(text)) continue
      if (!text.startsWith('-')) return
      if (valued.test(text)) at++
    }
  }
  for (const verb of verbs) {
    skipOptions()
    // The word may be the value of an option that is not in the table.
    while (args[at]?.text !== verb && args[at - 1]?.text.startsWith('-')) {
      at++
      skipOptions()
    }
    if (args[at]?.text !== verb) return undefined
    at++
  }
  skipOptions()
  for (let i = 0; i < operands; i++) {
    at++
    skipOptions()
  }
  return args.slice(at)
}
