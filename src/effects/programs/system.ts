// Rights, processes, services and packages of the machine.

import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { argumentsOf, literalWord } from '../files/file-effect.js'
import {
  type Draft,
  fetched,
  hostOf,
  onPlaces,
  onProcess,
  optionValue,
  type Program,
  plainWords,
  privilege,
  reads,
  type Use,
  writes,
} from '../program.js'
import { isMake, makeCall } from '../script/make-scripts.js'
import { withText } from '../script/word.js'

// ---- rights -----------------------------------------------------------------------------------------------------

const asOther = ({ call, texts }: Use): readonly Draft[] =>
  texts.some((text) => /^-\w*[lvkKV]$|^--(?:list|validate|version|help|reset-timestamp)$/.test(text)) &&
  texts.length === 1
    ? []
    : [privilege(call.name)]

const account = ({ call, texts }: Use): readonly Draft[] => [
  privilege([call.name, ...plainWords(texts)].join(' ')),
]

// ---- processes --------------------------------------------------------------------------------------------------

/** One process by its number is ordinary. */
const kills = ({ call, texts }: Use): readonly Draft[] => {
  if (call.name === 'kill') {
    const targets = texts.filter(
      (text, i) =>
        !(text.startsWith('-') && i === 0 && text !== '--') &&
        !/^-[sn]$/.test(texts[i - 1] ?? '') &&
        text !== '--',
    )
    const wide = targets.find((text) => /^-\d+$|^[01]$/.test(text))
    return wide === undefined ? [] : [onProcess('kill', wide)]
  }
  const [name] = plainWords(texts, /^-[sugPGtUF]$|^--(?:signal|euid|uid)$/)
  const byUser = optionValue(texts, /^(?:-u|-U|--euid|--uid)$/)
  const isForced = texts.some((text) => /^-(?:9|KILL|SIGKILL)$/.test(text))
  const isWide =
    call.name === 'killall' ||
    call.name === 'killall5' ||
    isForced ||
    byUser !== undefined ||
    (name !== undefined && /^\.?\*?$/.test(name))
  return isWide ? [onProcess(call.name, name ?? byUser)] : []
}

const halts = ({ call, texts }: Use): readonly Draft[] =>
  call.name === 'init' && !/^[0-6sS]$/.test(texts[0] ?? '')
    ? []
    : texts.some((text) => /^(?:--help|--version|-c)$/.test(text))
      ? []
      : [onProcess(call.name)]

const STOPS =
  /^(?:stop|disable|mask|kill|isolate|poweroff|reboot|halt|suspend|hibernate|emergency|rescue|enable|unload|bootout|remove|load|bootstrap|submit|delete|revert|link|edit|set-default|daemon-reexec|set-property)$/

const services = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts, /^-[HMtpn]$/)
  const [first = '', second = ''] = words
  const [verb, unit] = use.call.name === 'service' ? [second, first] : [first, second]
  return STOPS.test(verb) ? [onProcess(`${use.call.name} ${verb}`, unit)] : []
}

const FROM_INPUT = /^(?:-f|--file=|--makefile=)?(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/

/** The rules of these programs are in a language that is not read. In a file, people can at least look at them. */
const builds = (use: Use): readonly Draft[] => [
  ...(isMake(use.call.name) ? readMakefiles(use) : []),
  ...(use.texts.some((text) => FROM_INPUT.test(text) || /^--eval(?:=|$)/.test(text))
    ? [{ kind: 'unknown', why: `${use.call.name} gets its rules from the command line` } as const]
    : []),
]

function readMakefiles(use: Use): readonly Draft[] {
  const { folders, files } = makeCall(use.call)
  const from = folders.reduce<readonly string[]>(
    (starts, step) => starts.map((start) => posix.resolve(start, step)),
    use.call.folders,
  )
  const found = files.flatMap((text) => use.places(literalWord(text), false, from))
  return onPlaces(
    'read',
    found.filter(({ path, known }) => !known || existsSync(path)),
  )
}

const cron = (use: Use): readonly Draft[] => {
  if (use.texts.some((text) => /^-\w*l|^-V$/.test(text))) return []
  return use.texts.length === 0 &&
    use.call.readsFrom.length + use.call.inputFiles.length + use.call.input.length === 0
    ? []
    : [
        onProcess(use.texts.includes('-r') ? 'crontab -r' : 'crontab'),
        ...builds(use),
        ...reads(use, argumentsOf(use.args, { valued: 'u' }).operands),
      ]
}

const firewall = ({ call, texts }: Use): readonly Draft[] => {
  const changes =
    /^(?:-[FXADIRPZ]|--(?:flush|append|delete|insert|policy|delete-chain)|flush|add|delete|insert|disable|enable|reset|allow|deny|reject|--(?:add|remove)-\S+|0|off|stop)$/
  return texts.some((text) => changes.test(text)) ? [onProcess(`${call.name} ${texts[0]}`)] : []
}

// ---- packages ---------------------------------------------------------------------------------------------------

interface Manager {
  /** Words that install. */
  readonly installs: RegExp
  readonly valued?: RegExp
  /** Whether packages without a name are those of the project. */
  readonly isLocal?: boolean
}

const REMOTE =
  /^(?:https?|git|ssh|git\+\w+):\/?\/?|^(?:github|gitlab|bitbucket|gist):|^git@|\.git(?:#|$)|@(?:https?|git\+)/

/** Code from an address runs when it is installed. */
const installs =
  ({ installs: verbs, valued = /^$/ }: Manager) =>
  (use: Use): readonly Draft[] => {
    const words = plainWords(use.texts, valued)
    const at = words.findIndex((word) => verbs.test(word))
    if (at < 0) return []
    const packages = words.slice(at + 1)
    const given = packages.filter((name) => !/^\.{0,2}\/|^\.{1,2}$|\.(?:whl|gem|deb|rpm)$/.test(name))
    const from = [
      ...given.filter((name) => REMOTE.test(name)),
      ...use.texts.filter(
        (text, i) =>
          /^(?:--(?:index-url|extra-index-url|find-links|registry|git|from|source)|-i|-f)$/.test(
            use.texts[i - 1] ?? '',
          ) && REMOTE.test(text),
      ),
    ]
    const isGlobal =
      use.texts.some((text) => /^(?:-g|--global|--system)$/.test(text)) ||
      !/^(?:npm|pnpm|yarn|bun)$/.test(use.call.name)
    return [
      ...(given.length > 0 || isGlobal
        ? [{ kind: 'install', manager: use.call.name, packages: given } as const]
        : [{ kind: 'install', manager: use.call.name, packages: [] } as const]),
      ...from.map((address) => fetched(addressOf(address), true)),
    ]
  }

function addressOf(address: string): string | undefined {
  const [, service] = /^(github|gitlab|bitbucket|gist):/.exec(address) ?? []
  if (service !== undefined)
    return service === 'bitbucket' ? 'bitbucket.org' : `${service === 'gist' ? 'gist.github' : service}.com`
  return (
    hostOf(address.replace(/^.*?(?=(?:https?|ssh):)/, '').replace(/^git\+/, '')) ??
    hostOf(address.replace(/^git@([\w.-]+):/, '//$1/'))
  )
}

/** The package that is fetched and run: `npx https://…`, `go run host/x@latest`, `deno run https://…`. */
const runsRemote = (use: Use): readonly Draft[] => {
  const isGo = use.call.name === 'go'
  const words = plainWords(use.texts, PACKAGE_VALUED)
  const at = words.findIndex((word) => !VERBS_OF_RUNNERS.test(word))
  if (at < 0 && !use.texts.some((text) => GIVEN_PACKAGE.test(text))) return []
  const isRemote = (text: string) =>
    isGo
      ? at > 0 && /^(?:run|install)$/.test(words[0] ?? '') && /^[\w-]+\.[\w.-]+\/\S+@/.test(text)
      : REMOTE.test(text)
  // An option before it may take the next word, which then only looks like the package.
  const before = use.texts[use.texts.indexOf(words[at] ?? '') - 1] ?? ''
  const isDoubtful = before.startsWith('-') && !RUNNER_FLAG.test(before)
  const packages = at < 0 ? [] : isGo ? words.slice(at) : words.slice(at, at + (isDoubtful ? 2 : 1))
  const given = use.texts.flatMap((text, i) => {
    const [, attached] = GIVEN_PACKAGE.exec(text) ?? []
    if (attached === undefined) return []
    return [attached === '' ? (use.texts[i + 1] ?? '') : attached]
  })
  return [...new Set([...packages, ...given])]
    .filter(isRemote)
    .map((address) => fetched(addressOf(address) ?? hostOf(`//${address}`), true))
}

const VERBS_OF_RUNNERS = /^(?:exec|x|dlx|tool|run|install|inject|serve|test|bench|compile|cache)$/
/** Options without a value, and those with one in the same word. */
const RUNNER_FLAG =
  /^-[a-zA-Z]$|^--(?:yes|no|quiet|silent|offline|bun|verbose|shell-mode|(?:no|allow|deny|prefer|ignore)-\S+)$|=/
const PACKAGE_VALUED =
  /^(?:-p|--package|--from|--with|--python|-c|--call|-w|--workspace|-C|--cwd|--registry|--config|--import-map|--spec|--index-url|--env-file)$/
/** The package, if it is in the same word. */
const GIVEN_PACKAGE = /^(?:--(?:from|package|with|spec)=?|-p)(.*)$/s

const NPMRC = literalWord('~/.npmrc')

const npm = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts)
  const [verb = '', action, name = ''] =
    use.call.name === 'yarn' && words[0] === 'npm' ? words.slice(1) : words
  if (verb === 'config' && action === 'set' && name !== '') return writes(use, [NPMRC])
  if (/^(?:login|logout|adduser|add-user)$/.test(verb)) return writes(use, [NPMRC])
  if (/^(?:exec|x|dlx)$/.test(verb)) return runsRemote(use)
  // In the table of publishers.
  if (/^(?:owner|author|access|team|org|token|profile|dist-tags?|tag)$/.test(verb)) return []
  return installs({
    installs:
      /^(?:i|in|ins|inst|insta|instal|install|isnt|isnta|isntal|isntall|a|add|ci|cit|ic|it|install-test|install-ci-test|clean-install|install-clean|update|upgrade|up)$/,
    valued: /^(?:--prefix|-w|--workspace|--registry|--filter|-C)$/,
  })(use)
}

const installed = { kind: 'install' }

export const SYSTEM_PROGRAMS: readonly Program[] = [
  {
    names: ['sudo', 'doas', 'su', 'pkexec', 'runuser'],
    effects: asOther,
    examples: [
      { command: 'sudo ls', effects: [{ kind: 'privilege', operation: 'sudo' }] },
      {
        command: "su -c 'rm -r /x'",
        effects: [{ kind: 'privilege' }, { kind: 'delete', place: { path: '/x' } }],
      },
    ],
  },
  {
    names: [
      'usermod',
      'useradd',
      'userdel',
      'groupadd',
      'groupdel',
      'gpasswd',
      'passwd',
      'chpasswd',
      'visudo',
      'setcap',
      'adduser',
      'deluser',
      'chsh',
      'vipw',
      'dscl',
      'newgrp',
      'sysadminctl',
    ],
    effects: account,
    examples: [
      {
        command: 'usermod -aG docker dev',
        effects: [{ kind: 'privilege', operation: 'usermod docker dev' }],
      },
    ],
  },
  {
    names: ['kill', 'pkill', 'killall', 'killall5', 'skill'],
    effects: kills,
    examples: [
      { command: 'kill -9 -1', effects: [{ kind: 'process', operation: 'kill', target: '-1' }] },
      { command: 'kill 1234', effects: [] },
      { command: 'killall node', effects: [{ kind: 'process' }] },
    ],
  },
  {
    names: ['shutdown', 'reboot', 'poweroff', 'halt', 'init', 'telinit', 'kexec'],
    effects: halts,
    examples: [{ command: 'shutdown -h now', effects: [{ kind: 'process', operation: 'shutdown' }] }],
  },
  {
    names: ['systemctl', 'service', 'launchctl', 'rc-service', 'sc', 'initctl'],
    hasVerb: true,
    effects: services,
    examples: [
      {
        command: 'systemctl stop nginx',
        effects: [{ kind: 'process', operation: 'systemctl stop', target: 'nginx' }],
      },
      { command: 'systemctl status nginx', effects: [] },
      { command: 'service nginx stop', effects: [{ kind: 'process', target: 'nginx' }] },
    ],
  },
  {
    names: ['make', 'gmake', 'bmake', 'nmake', 'just', 'ninja'],
    effects: builds,
    examples: [
      { command: "make -f - <<< 'all:; touch x'", effects: [{ kind: 'unknown' }] },
      { command: 'make --eval="$(cat rules)"', effects: [{ kind: 'unknown' }] },
      { command: 'make -f other.mk test', effects: [] },
    ],
  },
  {
    names: ['crontab'],
    effects: cron,
    examples: [
      { command: 'crontab -r', effects: [{ kind: 'process', operation: 'crontab -r' }] },
      { command: 'crontab -l', effects: [] },
    ],
  },
  {
    names: ['iptables', 'ip6tables', 'nft', 'ufw', 'firewall-cmd', 'pfctl', 'setenforce', 'swapoff'],
    effects: (use) => (use.call.name === 'swapoff' ? [onProcess('swapoff')] : firewall(use)),
    examples: [
      { command: 'iptables -F', effects: [{ kind: 'process' }] },
      { command: 'ufw status', effects: [] },
    ],
  },
  {
    names: ['sysctl', 'modprobe', 'insmod', 'rmmod'],
    effects: (use) =>
      use.call.name !== 'sysctl' || use.texts.some((text) => text === '-w' || text.includes('='))
        ? [onProcess([use.call.name, ...use.texts].join(' '))]
        : [],
    examples: [{ command: 'sysctl -w a.b=1', effects: [{ kind: 'process' }] }],
  },
  {
    names: ['ssh-keygen'],
    effects: (use) =>
      use.texts.some((text) => /^-[lyFBe]/.test(text))
        ? []
        : argumentsOf(use.args, { valued: 'fNCtbPOIVnDmsrRa' })
            .valuesOf('f')
            .flatMap((word) => writes(use, [word, withText(word, `${word.text}.pub`)])),
    examples: [
      {
        command: "ssh-keygen -t ed25519 -f ~/.ssh/id_x -N ''",
        effects: [{ kind: 'write', place: { path: '/home/dev/.ssh/id_x' } }],
      },
    ],
  },
  {
    names: ['gpg', 'gpg2'],
    effects: (use) => [
      ...(use.texts.some((text) => /^--delete-/.test(text))
        ? use
            .places({ text: '~/.gnupg', known: true, glob: false }, true)
            .map((place) => ({ kind: 'delete', place }) as const)
        : []),
      ...(use.texts.some((text) => /^--export-secret/.test(text))
        ? reads(use, [{ text: '~/.gnupg', known: true, glob: false }], true)
        : []),
    ],
    examples: [
      {
        command: 'gpg --delete-secret-keys ABCD',
        effects: [{ kind: 'delete', place: { path: '/home/dev/.gnupg' } }],
      },
    ],
  },
  {
    names: ['npm', 'pnpm', 'yarn', 'bun'],
    hasVerb: true,
    effects: npm,
    examples: [
      {
        command: 'npm install -g typescript',
        effects: [{ ...installed, manager: 'npm', packages: ['typescript'] }],
      },
      {
        command: 'npm i https://example.org/x.tgz',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
      { command: 'npm login', effects: [{ kind: 'write', place: { path: '/home/dev/.npmrc' } }] },
      { command: 'npm test', effects: [] },
      { command: 'npm exec wait-on http://localhost:3000', effects: [] },
    ],
  },
  {
    names: ['npx', 'bunx', 'pnpx', 'uvx', 'pipx', 'go', 'deno', 'dlx'],
    effects: (use) => [
      ...runsRemote(use),
      ...(/^(?:go|pipx)$/.test(use.call.name) ? installs({ installs: /^install$/ })(use) : []),
    ],
    examples: [
      { command: 'npx github:a/b', effects: [{ kind: 'fetch', host: 'github.com', runs: true }] },
      { command: 'npx -p https://example.org/x.tgz x', effects: [{ kind: 'fetch', host: 'example.org' }] },
      {
        command: 'uvx --from=git+https://example.org/x tool',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
      { command: 'deno run -A https://example.org/x.ts', effects: [{ kind: 'fetch', host: 'example.org' }] },
      { command: 'npx -y semantic-release', effects: [{ kind: 'send' }] },
      { command: 'pnpm dlx @changesets/cli@2 publish', effects: [{ kind: 'send' }] },
      { command: 'yarn workspaces foreach -A npm publish', effects: [{ kind: 'send' }] },
      { command: 'corepack pnpm@9 publish', effects: [{ kind: 'send' }] },
      { command: 'npx lighthouse http://localhost:3000', effects: [] },
      { command: 'npx -y openapi-typescript https://example.org/api.json -o a.ts', effects: [] },
      { command: 'go install example.org/x@latest', effects: [installed] },
      { command: 'go build ./...', effects: [] },
    ],
  },
  {
    names: ['pip', 'uv', 'poetry', 'pipenv', 'conda', 'mamba', 'pdm'],
    hasVerb: true,
    effects: (use) => [
      ...installs({
        installs: /^(?:install|add)$/,
        valued:
          /^(?:-r|--requirement|-c|--constraint|-i|--index-url|--extra-index-url|-f|--find-links|-t|--target|-e|--editable|-n|--name|-G|--group)$/,
      })(use),
      ...(use.call.name === 'uv' && /^(?:run|tool)$/.test(plainWords(use.texts)[0] ?? '')
        ? runsRemote(use)
        : []),
    ],
    examples: [
      { command: 'pip install requests', effects: [{ ...installed, packages: ['requests'] }] },
      {
        command: 'pip install git+https://example.org/x.git',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
      {
        command: 'uv run https://example.org/x.py',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
      { command: 'uv run load.py http://localhost:3000', effects: [] },
      { command: 'pip list', effects: [] },
    ],
  },
  {
    names: [
      'apt',
      'apt-get',
      'brew',
      'dnf',
      'yum',
      'apk',
      'pacman',
      'zypper',
      'snap',
      'flatpak',
      'port',
      'choco',
      'winget',
      'dpkg',
      'rpm',
      'emerge',
      'nix-env',
      'aptitude',
    ],
    hasVerb: true,
    effects: (use) => [
      ...installs({ installs: /^(?:install|add|reinstall|upgrade|dist-upgrade|cask)$/ })(use),
      ...(use.texts.some((text) => /^(?:remove|purge|autoremove|uninstall|del|erase)$/.test(text))
        ? [onProcess(`${use.call.name} remove`, plainWords(use.texts)[1])]
        : []),
      ...(use.texts.some((text) => /^-\w*[SiU]/.test(text)) && /^(?:pacman|dpkg|rpm)$/.test(use.call.name)
        ? [{ kind: 'install', manager: use.call.name, packages: plainWords(use.texts) } as const]
        : []),
    ],
    examples: [
      { command: 'apt-get install -y jq', effects: [{ ...installed, packages: ['jq'] }] },
      { command: 'brew list', effects: [] },
    ],
  },
  {
    names: ['cargo', 'gem', 'twine', 'hex', 'composer'],
    hasVerb: true,
    effects: installs({
      installs: /^(?:install|add|require)$/,
      valued: /^(?:--root|--path|--version|--features|--branch|--tag|--rev|--bin)$/,
    }),
    examples: [
      { command: 'cargo install ripgrep', effects: [{ ...installed, packages: ['ripgrep'] }] },
      { command: 'cargo publish', effects: [{ kind: 'send' }] },
      { command: 'cargo build', effects: [] },
    ],
  },
]
