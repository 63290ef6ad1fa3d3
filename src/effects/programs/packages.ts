// Package managers: what they install, and code from an address that runs when it is installed or started.

import { argumentsOf, literalWord } from '../files/file-effect.js'
import {
  type Draft,
  fetched,
  hostOf,
  onProcess,
  type Program,
  plainWords,
  type Use,
  writes,
} from '../program.js'
import { certainStart } from '../script/word.js'
import { textOf } from './database.js'

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
    const isOpen = at < 0 && certainStart(words[0] ?? '') !== undefined
    if (at < 0 && !isOpen) return []
    const packages = words.slice(at + 1)
    const given = packages.filter(
      (name) => REMOTE.test(name) || !/^\.{0,2}\/|^\.{1,2}$|\.(?:whl|gem|deb|rpm)$/.test(name),
    )
    const isNode = /^(?:npm|pnpm|yarn|bun)$/.test(use.call.name)
    const from = [
      ...given.filter((name) => REMOTE.test(name) || (isNode && ON_GITHUB.test(name))),
      ...sourcesOf(use.texts),
    ]
    return [
      // `npm "$VERB"` may install all packages of the project, which have no names here.
      ...(isOpen ? [{ kind: 'install', manager: use.call.name, packages: [] } as const] : []),
      { kind: 'install', manager: use.call.name, packages: given },
      ...from.map((address) => fetched(addressOf(address), true)),
    ]
  }

/** `npm install owner/name` is a repository of GitHub. */
const ON_GITHUB = /^[\w-][\w.-]*\/[\w.-]+(?:#.*)?$/

const SOURCE =
  /^(?:--(?:index-url|extra-index-url|default-index|index|find-links|registry|git|from|source|repository)|-i|-f)(?:=(.*))?$/s
/** Everybody installs from these. */
const USUAL =
  /^https?:\/\/(?:pypi\.org|test\.pypi\.org|files\.pythonhosted\.org|download\.pytorch\.org|pypi\.nvidia\.com|data\.pyg\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|rubygems\.org|crates\.io)(?:[/:]|$)/

/** Other places than the usual, that options name. */
function sourcesOf(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text, i) => {
    const found = SOURCE.exec(text)
    const value = found && (found[1] ?? texts[i + 1] ?? '')
    return value && REMOTE.test(value) && !USUAL.test(value) ? [value] : []
  })
}

function addressOf(address: string): string | undefined {
  if (ON_GITHUB.test(address)) return 'github.com'

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
      ? at > 0 &&
        /^(?:run|install)$/.test(words[0] ?? '') &&
        /^[\w-]+\.[\w.-]+\/\S+@/.test(text) &&
        !OF_GO.test(text)
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

/** The people who make Go. */
const OF_GO = /^(?:google\.)?golang\.org\//

const VERBS_OF_RUNNERS = /^(?:exec|x|dlx|tool|run|install|inject|serve|test|bench|compile|cache)$/
/** Options without a value, and those with one in the same word. */
const RUNNER_FLAG =
  /^-[a-zA-Z]$|^--(?:yes|no|quiet|silent|offline|bun|verbose|shell-mode|(?:no|allow|deny|prefer|ignore)-\S+)$|=/
const PACKAGE_VALUED =
  /^(?:-p|--package|--from|--with|--python|-c|--call|-w|--workspace|-C|--cwd|--registry|--config|--import-map|--spec|--index-url|--env-file)$/
/** The package, if it is in the same word. */
const GIVEN_PACKAGE = /^(?:--(?:from|package|with|spec)=?|-p)(.*)$/s

/** A list of packages from an address, or one on disk: `pip install -r requirements.txt`. */
function required(use: Use): readonly Draft[] {
  const lists = argumentsOf(use.args, { valued: 'rc', long: ['--requirement', '--requirements'] }).valuesOf(
    'r',
    '--requirement',
    '--requirements',
  )
  return lists.flatMap((word): readonly Draft[] => {
    if (/^https?:/.test(word.text)) return [fetched(hostOf(word.text), true)]
    const lines = (textOf(word, use) ?? '').split('\n').map((line) => line.trim())
    const named = lines.flatMap(
      (line) => /^[A-Za-z0-9][\w.-]*(?=\s*(?:[[<>=!~;@,#]|$))/.exec(line)?.[0] ?? [],
    )
    return named.length === 0
      ? []
      : [{ kind: 'install', manager: use.call.name, packages: named.slice(0, MOST_PACKAGES) }]
  })
}

const MOST_PACKAGES = 200

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

export const PACKAGE_MANAGERS: readonly Program[] = [
  {
    names: ['npm', 'pnpm', 'yarn', 'bun'],
    hasVerb: true,
    effects: npm,
    examples: [
      {
        command: 'npm install -g typescript',
        effects: [{ ...installed, manager: 'npm', packages: ['typescript'] }],
      },
      { command: 'npm "$VERB" x', effects: [{ ...installed, packages: ['$VERB', 'x'] }] },
      {
        command: 'npm i https://example.org/x.tgz',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
      { command: 'npm login', effects: [{ kind: 'write', place: { path: '/home/dev/.npmrc' } }] },
      { command: 'npm install owner/name', effects: [{ kind: 'fetch', host: 'github.com', runs: true }] },
      { command: 'npm install @scope/name', effects: [installed] },
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
      { command: 'go install golang.org/x/tools/gopls@latest', effects: [installed] },
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
      ...required(use),
    ],
    examples: [
      {
        command: 'pip install -r https://example.org/r.txt',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
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
      {
        command: 'pip install https://example.org/x.whl',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
      {
        command: 'pip install --index-url=https://example.org/simple x',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
      {
        command: 'pip install torch --index-url https://download.pytorch.org/whl/cpu',
        effects: [installed],
      },
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
      ...(use.call.name === 'brew' && plainWords(use.texts)[0] === 'tap' && plainWords(use.texts).length > 1
        ? [fetched(hostOf(plainWords(use.texts)[2] ?? '') ?? 'github.com', true)]
        : []),
      ...(use.texts.some((text) => /^-\w*[SiU]/.test(text)) && /^(?:pacman|dpkg|rpm)$/.test(use.call.name)
        ? [{ kind: 'install', manager: use.call.name, packages: plainWords(use.texts) } as const]
        : []),
    ],
    examples: [
      { command: 'apt-get install -y jq', effects: [{ ...installed, packages: ['jq'] }] },
      { command: 'brew tap owner/tap', effects: [{ kind: 'fetch', host: 'github.com', runs: true }] },
      {
        command: 'brew install https://example.org/x.rb',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
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
