// Programs that run another one without changing what it does: `npx`, `bundle exec`, `uv run`, `docker exec`.

import { AGENT_PACKAGES } from '../../files/agent-shell.js'
import { literalWord } from '../files/file-effect.js'
import { SOMEWHERE } from '../paths/absolute-path.js'
import { remembered } from '../remembered.js'
import type { Call } from '../script/shell-script.js'
import { type Word, withText } from '../script/word.js'
import { type Mounts, mountsOf } from './mounts.js'

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
  /** The option whose value is a line for a shell. The command is not among the other words. */
  readonly line?: RegExp
  /** Whether a shell reads its words. */
  readonly shell?: boolean
}

const PACKAGE =
  /^(?:-p|--package|--node-options|-c|--call|--from|--with|--python|-w|--workspace|-C|--cwd|--env-file)$/
const CONTAINER =
  /^(?:-e|--env|-u|--user|-w|--workdir|--env-file|--detach-keys|-f|--file|-p|--project-name|-n|--namespace|-c|--container|--context|--index|--profile)$/
const RUN =
  /^(?:-e|--env|-u|--user|-w|--workdir|--env-file|-v|--volume|-p|--publish|--name|--network|--net|--mount|--entrypoint|-m|--memory|--cpus|-h|--hostname|--platform|-l|--label|--add-host|--restart|--device|--shm-size|--pull|--gpus|--cap-add|--security-opt|--tmpfs|--ulimit|--ip|--dns)$/

const MACHINE =
  /^(?:-a|--app|-r|--remote|-s|--size|--select|--machine|--zone|--project|--region|-n|--name|--user|-u|--cwd|--env|-w|--workdir|--container|--type|--org|-g)$/

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
      { verbs: ['exec'], shell: true },
      { verbs: ['dlx'], valued: PACKAGE },
      { verbs: ['workspace'], operands: 1, runs: /^npm$/ },
      { verbs: ['workspaces', 'foreach'], valued: /^--(?:from|include|exclude|jobs|since)$/, runs: /^npm$/ },
    ],
    bun: [{ verbs: ['x'] }],
    uv: [
      { verbs: ['run'], valued: PACKAGE },
      { verbs: ['tool', 'run'], valued: PACKAGE },
    ],
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
      { verbs: ['container', 'run'], valued: RUN, operands: 1, elsewhere: true },
      { verbs: ['run'], valued: RUN, operands: 1, elsewhere: true },
    ],
    'docker-compose': [
      { verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true },
      { verbs: ['run'], valued: RUN, operands: 1, elsewhere: true },
    ],
    ...Object.fromEntries(
      ['podman', 'nerdctl'].map((name) => [
        name,
        [
          { verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true },
          { verbs: ['run'], valued: RUN, operands: 1, elsewhere: true },
          { verbs: ['compose', 'exec'], valued: CONTAINER, operands: 1, elsewhere: true },
          { verbs: ['container', 'exec'], valued: CONTAINER, operands: 1, elsewhere: true },
          { verbs: ['container', 'run'], valued: RUN, operands: 1, elsewhere: true },
          { verbs: ['compose', 'run'], valued: RUN, operands: 1, elsewhere: true },
        ],
      ]),
    ),
    'podman-compose': [
      { verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true },
      { verbs: ['run'], valued: RUN, operands: 1, elsewhere: true },
    ],
    ...Object.fromEntries(
      ['kubectl', 'oc', 'k'].map((name) => [
        name,
        [
          { verbs: ['exec'], valued: CONTAINER, operands: 1, elsewhere: true },
          { verbs: ['debug'], valued: CONTAINER, operands: 1, elsewhere: true },
        ],
      ]),
    ),
    crictl: [{ verbs: ['exec'], operands: 1, elsewhere: true }],
    lxc: [{ verbs: ['exec'], valued: MACHINE, operands: 1, elsewhere: true }],
    incus: [{ verbs: ['exec'], valued: MACHINE, operands: 1, elsewhere: true }],
    'docker-machine': [{ verbs: ['ssh'], operands: 1, shell: true }],
    // Other machines. Their commands count like those of ssh.
    heroku: [
      { verbs: ['run'], valued: MACHINE, elsewhere: true, shell: true },
      { verbs: ['run:detached'], valued: MACHINE, elsewhere: true, shell: true },
    ],
    multipass: [{ verbs: ['exec'], valued: MACHINE, operands: 1 }],
    limactl: [{ verbs: ['shell'], valued: MACHINE, operands: 1 }],
    lima: [{}],
    wsl: [{ valued: /^(?:-d|-u|--distribution|--user|--cd)$/ }],
    gcloud: [{ verbs: ['compute', 'ssh'], valued: MACHINE, line: /^--command$/ }],
    vagrant: [{ verbs: ['ssh'], line: /^(?:-c|--command)$/ }],
    ...Object.fromEntries(
      ['fly', 'flyctl'].map((name) => [
        name,
        [
          { verbs: ['ssh', 'console'], valued: MACHINE, line: /^(?:-C|--command)$/ },
          { verbs: ['machine', 'exec'], valued: MACHINE, operands: 1, shell: true },
        ],
      ]),
    ),
    az: [{ verbs: ['vm', 'run-command', 'invoke'], line: /^--scripts$/ }],
    aws: [
      { verbs: ['ssm', 'send-command'], line: /^--parameters$/ },
      { verbs: ['ecs', 'execute-command'], line: /^--command$/ },
    ],
    railway: [
      { verbs: ['run'], valued: /^(?:-s|--service|-e|--environment|-p|--project)$/ },
      { verbs: ['ssh'], valued: MACHINE, shell: true },
    ],
    ansible: [{ line: /^(?:-a|--args)$/ }],
    'ansible-console': [{ line: /^(?:-a|--args)$/ }],
    pdsh: [{ valued: /^-[wxlutfRM]$/, shell: true }],
    pssh: [{ valued: /^-[hHlptoe]$/, shell: true }],
    'parallel-ssh': [{ valued: /^-[hHlptoe]$/, shell: true }],
    mosh: [{ operands: 1 }],
    autossh: [{ valued: /^-[MpilLRDo]$/, operands: 1, shell: true }],
    sshpass: [{ valued: /^-[pf]$/ }],
    eb: [{ verbs: ['ssh'], line: /^(?:-c|--command)$/ }],
    kamal: [
      { verbs: ['app', 'exec'], shell: true, elsewhere: true },
      { verbs: ['server', 'exec'], shell: true },
    ],
    // Programs that run what their words say.
    gdb: [{ line: /^(?:-ex|--eval-command)$/ }, { verbs: ['--args'] }],
    lldb: [{ valued: /^-[osSOkK]$/ }],
    rr: [{ verbs: ['record'] }],
    perf: [
      { verbs: ['record'], valued: /^-[eFogc]$/ },
      { verbs: ['stat'], valued: /^-[erIo]$/ },
    ],
    chronic: [{}],
    ts: [{}],
    nq: [{}],
    pueue: [{ verbs: ['add'], valued: /^(?:-g|-w|-l)$/, shell: true }],
    retry: [{ valued: /^-\w$/ }],
    mprof: [{ verbs: ['run'] }],
    'env-cmd': [{ valued: /^-[fre]$/ }],
    teller: [{ verbs: ['run'] }],
    chamber: [{ verbs: ['exec'], operands: 1 }],
    infisical: [{ verbs: ['run'], valued: /^--(?:env|path|projectId)$/ }],
    envchain: [{ operands: 1 }],
    'aws-okta': [{ verbs: ['exec'], operands: 1 }],
    saml2aws: [{ verbs: ['exec'], valued: /^-[ap]$/ }],
    sops: [{ verbs: ['exec-env'], operands: 1, shell: true }],
    vault: [{ verbs: ['agent'], line: /^-exec$/ }],
    coverage: [{ verbs: ['run'] }],
    c8: [{}],
    nyc: [{}],
    onchange: [{ operands: 1 }],
    reflex: [{ valued: /^-[rRgGd]$/ }],
    air: [{ line: /^--build\.cmd$/ }],
  }),
)

/** Packages whose program has another name. */
const PROGRAMS_OF_PACKAGES: ReadonlyMap<string, string> = new Map([
  ...AGENT_PACKAGES,
  ['@changesets/cli', 'changeset'],
  ['firebase-tools', 'firebase'],
  ['netlify-cli', 'netlify'],
  ['aws-cdk', 'cdk'],
  ['@railway/cli', 'railway'],
  ['@aws-amplify/cli', 'amplify'],
  ['eas-cli', 'eas'],
  ['@angular/cli', 'ng'],
  ['@shopify/cli', 'shopify'],
  ['@google/clasp', 'clasp'],
  ['@expo/cli', 'expo'],
  ['dotenv-cli', 'dotenv'],
  ['@dotenvx/dotenvx', 'dotenvx'],
])

export interface Launched {
  readonly call: Call
  readonly elsewhere: boolean
  /** Folders of this machine that the command sees. */
  readonly mounts?: Mounts
  /** Where the call runs on this machine, if its command runs in a container. */
  readonly folders?: readonly string[]
}

const isPython = remembered((name) => /^python[\d.]*$/.test(name))

/** Undefined if the call launches nothing. */
export function launchedBy(call: Call): Launched | undefined {
  if (isPython(call.name)) return byPython(call)
  if (call.name === 'cmake')
    return call.args[0]?.text === '-E' && call.args[1] ? made(call, call.args.slice(1), false) : undefined
  if (call.name === 'cmd') return byCmd(call)
  if (call.name === 'nix') return byNix(call)
  if (call.name === 'salt' || call.name === 'salt-ssh' || call.name === 'salt-call') return bySalt(call)
  if (call.name === 'php' && /(?:^|\/)artisan$/.test(call.args[0]?.text ?? ''))
    return made(call, call.args, false)
  for (const launcher of LAUNCHERS.get(call.name) ?? []) {
    const given = wordsBehind(call.args, launcher)
    const options = given ? call.args.slice(0, call.args.length - given.length) : []
    const entrypoint = given && launcher.elsewhere ? entrypointIn(options) : []
    const behind = entrypoint.length > 0 ? [...entrypoint, ...lastOptions(options), ...(given ?? [])] : given
    const words = behind && launcher.line ? lineIn(call, launcher.line) : behind
    if (!words?.[0] || !(launcher.runs?.test(words[0].text) ?? true)) continue
    const started = made(call, launcher.shell ? asLine(words) : words, launcher.elsewhere ?? false)
    const mounts = launcher.elsewhere ? mountsOf(call.name, options) : undefined
    return mounts ? inContainer(started, mounts) : started
  }
  return undefined
}

/** `--entrypoint rm`: the words after the image are its arguments. */
function entrypointIn(options: readonly Word[]): readonly Word[] {
  const at = options.findIndex(({ text }) => /^--entrypoint(?:=|$)/.test(text))
  const word = options[at]
  if (!word) return []
  const program = word.text.includes('=') ? withText(word, word.text.replace(/^[^=]*=/, '')) : options[at + 1]
  return program ? [program] : []
}

/** Those after the image, which the entrypoint gets. */
function lastOptions(options: readonly Word[]): readonly Word[] {
  const image = options.findLastIndex(({ text }) => !text.startsWith('-'))
  return options.slice(image + 1)
}

function inContainer(started: Launched, mounts: Mounts): Launched {
  const { call } = started
  const folders = [mounts.folder ?? SOMEWHERE]
  return { ...started, mounts, folders: call.folders, call: { ...call, folders } }
}

/** `--command 'rm x'`, `--command='rm x'`, `--parameters commands='rm x'`. */
function lineIn({ name, args }: Call, option: RegExp): readonly Word[] | undefined {
  for (const [i, word] of args.entries()) {
    const [, long = word.text, attached] = /^(--[\w.-]+)=(.*)$/s.exec(word.text) ?? []
    if (!option.test(long)) continue
    const line = attached === undefined ? args[i + 1] : withText(word, attached)
    return line && shell(withText(line, plainLine(name, line.text)))
  }
  return undefined
}

/** Some programs have a form of their own around the line. */
function plainLine(name: string, text: string): string {
  if (name === 'gdb') return text.replace(/^(?:shell|!)\s*/, '')
  if (name !== 'aws') return text
  const [, list] = /^\s*(?:\{\s*"commands"\s*:|commands=)\s*(.*?)\s*\}?\s*$/s.exec(text) ?? []
  if (list === undefined) return text
  return list
    .replace(/^\[|\]$/g, '')
    .replace(/^(["'])(.*)\1$/s, '$2')
    .replace(/["']\s*,\s*["']/g, '; ')
}

/** A single word with spaces is a line. Several words are the words of one. */
function asLine(words: readonly Word[]): readonly Word[] {
  const [only] = words
  return only && words.length === 1 && /\s/.test(only.text) ? shell(only) : words
}

function shell(line: Word): readonly Word[] {
  return [literalWord('sh'), literalWord('-c'), line]
}

/** `salt '*' cmd.run 'rm x'`. */
function bySalt(call: Call): Launched | undefined {
  const at = call.args.findIndex(({ text }) => /^cmd\.(?:run|shell|run_all|script)$/.test(text))
  const line = at < 0 ? undefined : call.args[at + 1]
  return line && made(call, shell(line), false)
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
  const name = PROGRAMS_OF_PACKAGES.get(text) ?? text.slice(text.lastIndexOf('/') + 1)
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
