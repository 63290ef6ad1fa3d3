// What programs publish: packages, images and releases, who owns them, and which version people get.

import { literalWord } from '../files/file-effect.js'
import {
  cloud,
  type Draft,
  hostOf,
  optionValue,
  type Program,
  plainWords,
  privilege,
  send,
  type Use,
} from '../program.js'
import { plainName } from './plain-name.js'

export interface Publisher {
  /** The words that it begins with, such as `nuget push`. */
  readonly verbs?: RegExp
  /** A word anywhere, such as a goal of Maven or a task of Gradle. */
  readonly task?: RegExp
  /** An option that makes it publish, with its value after `=`. */
  readonly option?: RegExp
  /** Options that take the next word. */
  readonly valued?: RegExp
  /** With one of these words, it publishes nothing. */
  readonly unless?: RegExp
  /** Gives somebody rights, for example to another owner. */
  readonly gives?: RegExp
  /** Takes something away from people who use it: a version, a tag, an owner. */
  readonly takes?: RegExp
  /** Publishes only with one of these options, with its value after `=`. */
  readonly needs?: RegExp
  /** Where it publishes unless an option says otherwise. */
  readonly host?: string
}

const TRIED = /^(?:--dry-?run(?:=true)?|--help|-h)$/

const PUBLISH: Publisher = { verbs: /^publish/ }
const UPLOAD: Publisher = { verbs: /^upload/ }
/** Its only task is to publish. */
const RELEASE: Publisher = {
  verbs: /^.*/,
  unless: /^(?:-d|-v|--version|--preview|--changelog|--release-version|--init|init)$/,
}

const IMAGES: Publisher = {
  verbs: /^(?:(?:image|manifest|compose|plugin|model|artifact) )?push|^buildx imagetools create/,
  option: /^--push(?:=true)?$|^(?:-o|--output)=.*(?:\btype=registry\b|\bpush=true\b)/,
  valued:
    /^(?:-H|--host|--context|-c|-f|--file|-p|--project-name|--profile|--env-file|--project-directory|-l|--log-level|--config)$/,
}

/** The other words are those of a program in a container. */
const IN_CONTAINER = /^(?:(?:compose|container) )?(?:run|exec|create)(?: |$)/

const NPM: Publisher = {
  verbs: /^publish/,
  gives:
    /^(?:(?:owner|author) add|access (?:grant|set|public|edit)|(?:team|org) (?:add|set)|token create|profile (?:set|disable-2fa))(?: |$)/,
  takes:
    /^(?:(?:owner|author) (?:rm|remove)|access (?:revoke|restricted)|(?:team|org) (?:rm|remove|destroy)|token (?:revoke|rm|remove|delete)|(?:dist-tags?|tag) (?:add|set|rm|remove)|deprecate|undeprecate|unpublish)(?: |$)/,
  host: 'registry.npmjs.org',
}

const GEM: Publisher = {
  verbs: /^(?:push|publish)/,
  gives: /^owner .*(?:-a|--add)\b/,
  takes: /^owner .*(?:-r|--remove)\b|^yank(?: |$)/,
}

const MAVEN: Publisher = {
  task: /^(?:deploy|release:perform|jib:build|\S+:(?:deploy|deploy-file|publish|release))$/,
  unless: /^-Dmaven\.deploy\.skip(?:=true)?$/,
}

const GRADLE: Publisher = {
  task: /^(?!.*MavenLocal$)(?:\S*:)?(?:publish(?:[A-Z]\w*)?|uploadArchives|jib|closeAndRelease\w*)$/,
  valued: /^(?:-x|--exclude-task|-b|--build-file|-p|--project-dir|-I|--init-script)$/,
  unless: /^-m$/,
}

const PUBLISHERS: Readonly<Record<string, Publisher>> = {
  lerna: { ...PUBLISH, unless: /^--skip-npm$/ },
  changeset: PUBLISH,
  nx: { verbs: /^release publish|^release$/, unless: /^(?:-d|--skip-publish)$/ },
  rush: PUBLISH,
  jsr: PUBLISH,
  'semantic-release': RELEASE,
  'release-it': RELEASE,
  np: RELEASE,
  vsce: { ...PUBLISH, takes: /^unpublish/ },
  ovsx: PUBLISH,
  'web-ext': { verbs: /^sign/ },
  'electron-builder': { option: /^(?:-p|--publish)=(?:always|onTag\w*)$/ },
  'wasm-pack': PUBLISH,
  eas: { verbs: /^(?:submit|update)/ },
  fastlane: { verbs: /^(?:(?:ios|android|mac) )?(?:deliver|pilot|supply|release|upload_to_\w+)/ },
  rye: PUBLISH,
  flit: PUBLISH,
  hatch: PUBLISH,
  maturin: { verbs: /^(?:publish|upload)/ },
  anaconda: UPLOAD,
  pod: {
    verbs: /^(?:trunk|repo) push/,
    gives: /^trunk add-owner/,
    takes: /^trunk (?:delete|deprecate|remove-owner)/,
  },
  rebar3: { verbs: /^hex publish/ },
  nuget: { verbs: /^push/, takes: /^delete/ },
  mvn: MAVEN,
  mvnw: MAVEN,
  mvnd: MAVEN,
  gradle: GRADLE,
  gradlew: GRADLE,
  sbt: { task: /^(?:\S+\/)?\+?(?:publish(?:Signed)?|sonatype\w*Release|ci-release)$/ },
  lein: { verbs: /^deploy/ },
  cabal: UPLOAD,
  stack: UPLOAD,
  luarocks: UPLOAD,
  conan: UPLOAD,
  flutter: { verbs: /^pub publish/, unless: /^-n$/ },
  snapcraft: { verbs: /^(?:upload|push|release|promote)/ },
  'ansible-galaxy': { verbs: /^collection publish/ },
  jf: { verbs: /^rt (?:upload|u|build-publish|bp|docker-push|npm-publish)/ },
  goreleaser: { verbs: /^release/, unless: /^--(?:snapshot|skip-publish|skip=.*\bpublish\b.*)$/ },
  'docker-buildx': IMAGES,
  depot: IMAGES,
  buildctl: IMAGES,
  earthly: IMAGES,
  pack: { option: /^--publish(?:=true)?$/ },
  crane: { verbs: /^(?:push|copy|cp)/, takes: /^delete/ },
  skopeo: { verbs: /^(?:copy|sync) .*docker:\/\/\S+$/, takes: /^delete/ },
  oras: { verbs: /^(?:push|copy|cp|attach)/ },
  cachix: { verbs: /^push/ },
  npm: NPM,
  pnpm: NPM,
  yarn: NPM,
  bun: NPM,
  deno: PUBLISH,
  poetry: PUBLISH,
  uv: PUBLISH,
  pdm: PUBLISH,
  twine: UPLOAD,
  cargo: { ...GEM, verbs: /^publish/, unless: /^-n$/ },
  gem: GEM,
  hex: PUBLISH,
  rake: { task: /^(?:release|release:rubygem_push)$/, unless: /^-n$/ },
  mix: {
    task: /^hex\.publish$/,
    gives: /^hex\.owner (?:add|transfer)/,
    takes: /^hex\.(?:retire|owner remove)|^hex\.publish .*--revert/,
  },
  dotnet: { verbs: /^nuget push/, takes: /^nuget delete/ },
  choco: { verbs: /^push/ },
  dart: { verbs: /^pub publish/, unless: /^-n$/ },
  docker: IMAGES,
  podman: IMAGES,
  nerdctl: IMAGES,
  buildah: IMAGES,
  'docker-compose': IMAGES,
  'podman-compose': IMAGES,
  helm: { verbs: /^(?:cm-)?push/ },
}

/** The effects of a program in a table, by its name. */
export function publishedBy(use: Use, table: Readonly<Record<string, Publisher>>): readonly Draft[] {
  const publisher = table[use.call.name] ?? table[plainName(use.call.name)]
  return publisher ? published(use, publisher) : []
}

function published(use: Use, publisher: Publisher): readonly Draft[] {
  const { verbs, task, option, valued, unless, gives, takes, needs } = publisher
  const { texts } = use
  if (texts.some((text) => TRIED.test(text) || unless?.test(text))) return []
  const words = inFull(use.call.name, plainWords(texts, valued))
  const operation = [use.call.name, ...words.slice(0, 2)].join(' ')
  const plain = words.join(' ')
  const lines = [plain, texts.join(' ')]
  if (gives && lines.some((line) => gives.test(line))) return [privilege(operation)]
  if (takes && lines.some((line) => takes.test(line))) return [cloud(operation, true, words.at(-1))]
  if (publisher === IMAGES && IN_CONTAINER.test(plain)) return []
  const isSo =
    (verbs && begins(plain, verbs)) ||
    (task && words.some((word) => task.test(word))) ||
    (option && hasOption(texts, option))
  if (!isSo || (needs && !hasOption(texts, needs))) return []
  return [publisher === IMAGES ? image(words, texts) : project(use, publisher)]
}

function hasOption(texts: readonly string[], option: RegExp): boolean {
  return texts.some((text, i) => option.test(text) || option.test(`${text}=${texts[i + 1] ?? ''}`))
}

/** Up to the end of a word. */
function begins(line: string, verbs: RegExp): boolean {
  const found = verbs.exec(line)
  return found !== null && /^(?: |$)/.test(line.slice(found[0].length))
}

/** `npm pub` is `npm publish`, and newer versions of yarn have the commands of npm behind `yarn npm`. */
function inFull(name: string, words: readonly string[]): readonly string[] {
  const [first = '', ...rest] = words
  if (name === 'yarn' && first === 'npm') return rest
  if (name !== 'npm' || first.length < 2) return words
  const full = ['publish', 'unpublish'].find((verb) => /^(?:pu|unp)/.test(first) && verb.startsWith(first))
  return full === undefined ? words : [full, ...rest]
}

const REGISTRY =
  /^(?:--registry|--repository-url|--publish-url|--index-url|--source|-s|--host|--server|--registryUrl)$/

function project(use: Use, { host }: Publisher): Draft {
  const address = optionValue(use.texts, REGISTRY) ?? use.texts.find((text) => text.startsWith('oci://'))
  const given = address !== undefined && /:\/\//.test(address) ? hostOf(address) : undefined
  return send(
    given ?? host,
    use.places(literalWord('.'), true).map((place) => ({ of: 'file', place })),
  )
}

function image(words: readonly string[], texts: readonly string[]): Draft {
  const at = words.indexOf('push')
  const name = (at < 0 ? optionValue(texts, /^(?:-t|--tag)$/) : words[at + 1]) ?? ''
  const [, registry] = /^((?:[^/]*[.:][^/]*|localhost))\//.exec(name) ?? []
  const host = registry === undefined ? 'docker.io' : hostOf(`//${registry}`)
  return send(name === '' ? undefined : host, [{ of: 'pipe', text: `the image ${name}`.trimEnd() }])
}

const sent = { kind: 'send' }
const given = { kind: 'privilege' }
const taken = { kind: 'cloud', destroys: true }

export const PUBLISHING: readonly Program[] = [
  {
    names: Object.keys(PUBLISHERS),
    hasVerb: true,
    effects: (use) => publishedBy(use, PUBLISHERS),
    examples: [
      { command: 'lerna publish from-package --yes', effects: [sent] },
      { command: 'changeset publish', effects: [sent] },
      { command: 'changeset version', effects: [] },
      { command: 'semantic-release', effects: [sent] },
      { command: 'semantic-release --dry-run', effects: [] },
      { command: 'flit publish', effects: [sent] },
      { command: 'electron-builder --mac --publish always', effects: [sent] },
      { command: 'electron-builder -p never', effects: [] },
      { command: 'hatch build', effects: [] },
      { command: 'pod trunk push App.podspec', effects: [sent] },
      { command: 'pod trunk add-owner App x@example.org', effects: [given] },
      { command: 'pod install', effects: [] },
      { command: 'mvn -B clean deploy', effects: [sent] },
      { command: 'mvn -B verify', effects: [] },
      { command: './gradlew :lib:publish', effects: [sent] },
      { command: './gradlew build -x publish', effects: [] },
      { command: './gradlew publishToMavenLocal', effects: [] },
      { command: 'goreleaser release --clean', effects: [sent] },
      { command: 'goreleaser release --snapshot', effects: [] },
      { command: 'skopeo copy oci:app docker://example.org/app', effects: [sent] },
      { command: 'npm pub', effects: [{ ...sent, host: 'registry.npmjs.org' }] },
      { command: 'npm publish --registry http://localhost:4873', effects: [{ ...sent, host: 'localhost' }] },
      { command: 'npm publish --dry-run', effects: [] },
      { command: 'yarn npm publish', effects: [sent] },
      { command: 'npm owner add mallory app', effects: [given] },
      { command: 'npm token create', effects: [given] },
      { command: 'npm dist-tag add app@0.9 latest', effects: [taken] },
      { command: 'npm dist-tag ls app', effects: [] },
      { command: 'uv publish', effects: [sent] },
      { command: 'cargo owner --add mallory', effects: [given] },
      { command: 'cargo yank --version 1.0.0 app', effects: [taken] },
      { command: 'docker push example.org/app', effects: [{ ...sent, host: 'example.org' }] },
      { command: 'docker buildx build --push -t acme/app .', effects: [{ ...sent, host: 'docker.io' }] },
      { command: 'docker build -o type=registry .', effects: [sent] },
      { command: 'docker compose -f a.yml push', effects: [sent] },
      { command: 'docker buildx build -t acme/app --load .', effects: [] },
      {
        command: 'helm push app-1.0.tgz oci://registry.example.net/x',
        effects: [{ ...sent, host: 'registry.example.net' }],
      },
    ],
  },
]
