// Programs that sign in or out, or that change which servers, keys and certificates another program trusts.

import { literalWord } from '../files/file-effect.js'
import { cloud, type Draft, type Program, plainWords, privilege, type Use, writes } from '../program.js'
import { plainName } from './plain-name.js'

interface Credentials {
  /** The words of a call that changes them. */
  readonly words: RegExp
  /** Where they are kept. */
  readonly kept: string
  /** Options that take the next word. */
  readonly valued?: RegExp
}

const DOCKER = '~/.docker/config.json'
const CLUSTERS = '~/.kube/config'
const CERTIFICATES = '/etc/ssl/certs'
const SOURCES = '/etc/apt/sources.list.d'
const SIGNS = /^(?:login|logout)(?: |$)/
const IMAGES: Credentials = { words: /^(?:(?:auth|registry) )?(?:login|logout)(?: |$)/, kept: DOCKER }
const ALWAYS = /^/

const CREDENTIALS: Readonly<Record<string, Credentials>> = {
  gh: { words: /^auth (?:login|logout|refresh|switch|setup-git)(?: |$)/, kept: '~/.config/gh/hosts.yml' },
  glab: { words: /^auth (?:login|logout)(?: |$)/, kept: '~/.config/glab-cli/config.yml' },
  docker: IMAGES,
  podman: IMAGES,
  nerdctl: IMAGES,
  buildah: IMAGES,
  skopeo: IMAGES,
  crane: IMAGES,
  oras: IMAGES,
  helm: IMAGES,
  gcloud: {
    words:
      /^(?:auth (?:application-default )?(?:login|revoke|activate-service-account|configure-docker)|config set (?:core\/)?account|config set auth\/\S+)(?: |$)/,
    kept: '~/.config/gcloud/credentials.db',
    valued: /^--(?:project|zone|region)$/,
  },
  aws: {
    words: /^(?:configure (?:set|import|sso|add-model)|sso (?:login|logout)|configure$)/,
    kept: '~/.aws/credentials',
    valued: /^--(?:profile|region|output)$/,
  },
  az: {
    words: /^(?:login|logout|account clear|acr login)(?: |$)/,
    kept: '~/.azure/msal_token_cache.json',
    valued: /^-/,
  },
  azd: { words: /^auth (?:login|logout)(?: |$)/, kept: '~/.azure/msal_token_cache.json' },
  heroku: { words: /^(?:auth:)?(?:login|logout)(?: |$)/, kept: '~/.netrc' },
  fly: { words: /^auth (?:login|logout|signup|docker)(?: |$)/, kept: '~/.fly/config.yml' },
  flyctl: { words: /^auth (?:login|logout|signup|docker)(?: |$)/, kept: '~/.fly/config.yml' },
  vercel: { words: /^(?:login|logout|switch)(?: |$)/, kept: '~/.local/share/com.vercel.cli/auth.json' },
  netlify: { words: SIGNS, kept: '~/.config/netlify/config.json' },
  wrangler: { words: SIGNS, kept: '~/.wrangler/config/default.toml' },
  firebase: { words: /^(?:login|logout)(?::\w+)?(?: |$)/, kept: '~/.config/configstore/firebase-tools.json' },
  railway: { words: SIGNS, kept: '~/.railway/config.json' },
  supabase: { words: SIGNS, kept: '~/.supabase/access-token' },
  doctl: {
    words: /^(?:auth (?:init|remove|switch)|registry login)(?: |$)/,
    kept: '~/.config/doctl/config.yaml',
  },
  terraform: { words: SIGNS, kept: '~/.terraform.d/credentials.tfrc.json' },
  pulumi: { words: SIGNS, kept: '~/.pulumi/credentials.json' },
  vault: { words: /^login(?: |$)/, kept: '~/.vault-token' },
  oc: { words: SIGNS, kept: CLUSTERS },
  argocd: { words: SIGNS, kept: '~/.config/argocd/config' },
  tsh: { words: SIGNS, kept: '~/.tsh' },
  cf: { words: SIGNS, kept: '~/.cf/config.json' },
  eb: { words: /^(?:init|use)$/, kept: '~/.aws/config' },
  eas: { words: /^(?:account:)?(?:login|logout)(?: |$)/, kept: '~/.expo/state.json' },
  expo: { words: SIGNS, kept: '~/.expo/state.json' },
  npm: {
    words: /^(?:set|config (?:delete|rm|edit)|c set|c delete)(?: |$)/,
    kept: '~/.npmrc',
  },
  yarn: { words: /^config (?:set|unset|delete)(?: |$)/, kept: '~/.yarnrc.yml' },
  pnpm: { words: /^(?:set|config (?:delete|set)|c set)(?: |$)/, kept: '~/.npmrc' },
  pip: { words: /^config (?:set|unset|edit)(?: |$)/, kept: '~/.config/pip/pip.conf' },
  poetry: {
    words:
      /^(?:config (?:--unset )?(?:pypi-token|http-basic|repositories|certificates)\.|source (?:add|remove)(?: |$))/,
    kept: '~/.config/pypoetry/auth.toml',
  },
  pdm: { words: /^config (?:pypi|repository)\./, kept: '~/.config/pdm/config.toml' },
  uv: { words: /^auth (?:login|logout)(?: |$)/, kept: '~/.netrc' },
  cargo: { words: SIGNS, kept: '~/.cargo/credentials.toml' },
  gem: { words: /^(?:signin|signout|sources .*)(?: |$)/, kept: '~/.gem/credentials' },
  bundle: {
    words: /^config (?:set )?(?:--global )?(?:\S+\.(?:com|org|net)\b|mirror\.)/,
    kept: '~/.bundle/config',
  },
  composer: {
    words: /^config (?:http-basic|github-oauth|gitlab-token|bearer|repositories?)\b/,
    kept: '~/.composer/auth.json',
  },
  dotnet: {
    words: /^nuget (?:add|update|remove|disable) source(?: |$)/,
    kept: '~/.nuget/NuGet/NuGet.Config',
  },
  nuget: {
    words: /^(?:setapikey|sources (?:add|remove|update))(?: |$)/i,
    kept: '~/.nuget/NuGet/NuGet.Config',
  },
  mix: { words: /^hex\.user (?:auth|deauth)(?: |$)/, kept: '~/.hex/hex.config' },
  op: { words: /^(?:signin|signout|account (?:add|forget))(?: |$)/, kept: '~/.config/op/config' },
  bw: { words: /^(?:login|logout|unlock|lock)(?: |$)/, kept: '~/.config/Bitwarden CLI/data.json' },
  lpass: { words: SIGNS, kept: '~/.lpass' },
  doppler: { words: /^(?:login|logout|configure set token)(?: |$)/, kept: '~/.doppler/.doppler.yaml' },
  infisical: { words: SIGNS, kept: '~/.infisical' },
  'aws-vault': { words: /^(?:add|remove|rotate|clear)(?: |$)/, kept: '~/.awsvault' },
  'huggingface-cli': { words: SIGNS, kept: '~/.cache/huggingface/token' },
  hf: { words: /^auth (?:login|logout)(?: |$)/, kept: '~/.cache/huggingface/token' },
  wandb: { words: /^login(?: |$)/, kept: '~/.netrc' },
  databricks: { words: /^(?:configure|auth login)(?: |$)/, kept: '~/.databrickscfg' },
  snyk: { words: /^(?:auth|config set)(?: |$)/, kept: '~/.config/configstore/snyk.json' },
  'sentry-cli': { words: /^login(?: |$)/, kept: '~/.sentryclirc' },
  stripe: { words: SIGNS, kept: '~/.config/stripe/config.toml' },
  ngrok: { words: /^(?:authtoken|config add-authtoken)(?: |$)/, kept: '~/.config/ngrok/ngrok.yml' },
  cloudflared: { words: /^(?:tunnel )?login(?: |$)/, kept: '~/.cloudflared/cert.pem' },
  twilio: { words: SIGNS, kept: '~/.twilio-cli/config.json' },
  shopify: { words: /^auth (?:login|logout)(?: |$)/, kept: '~/.config/shopify' },
  surge: { words: SIGNS, kept: '~/.netrc' },
  'ssh-add': { words: ALWAYS, kept: '~/.ssh/agent' },
  'ssh-keygen': { words: ALWAYS, kept: '~/.ssh/known_hosts' },
  gpg: { words: ALWAYS, kept: '~/.gnupg/trustdb.gpg' },
  // Which certificates and sources of packages the machine trusts.
  'update-ca-certificates': { words: ALWAYS, kept: CERTIFICATES },
  'update-ca-trust': { words: ALWAYS, kept: CERTIFICATES },
  trust: { words: /^(?:anchor|extract)(?: |$)/, kept: CERTIFICATES },
  mkcert: { words: ALWAYS, kept: CERTIFICATES },
  certutil: { words: ALWAYS, kept: CERTIFICATES },
  keytool: { words: ALWAYS, kept: CERTIFICATES },
  security: {
    words:
      /^(?:add-trusted-cert|remove-trusted-cert|delete-\S+|import|add-\S+|set-\S+|create-keychain|unlock-keychain|default-keychain|authorizationdb (?:write|remove))(?: |$)/,
    kept: '~/Library/Keychains/login.keychain-db',
  },
  'apt-key': { words: /^(?:add|adv|del)(?: |$)/, kept: SOURCES },
  'add-apt-repository': { words: ALWAYS, kept: SOURCES },
  rpm: { words: ALWAYS, kept: '/etc/pki/rpm-gpg' },
  'yum-config-manager': { words: ALWAYS, kept: '/etc/yum.repos.d' },
  dnf: { words: /^config-manager(?: |$)/, kept: '/etc/yum.repos.d' },
  flatpak: { words: /^remote-(?:add|modify)(?: |$)/, kept: '/etc/flatpak' },
  tailscale: { words: /^(?:up|down|login|logout|set|switch|cert)(?: |$)/, kept: '/var/lib/tailscale' },
}

/** Programs that change what they trust only with one of these options. */
const NEEDED: Readonly<Record<string, RegExp>> = {
  'ssh-add': /^-[dDxX]/,
  'ssh-keygen': /^-[RH]/,
  gpg: /^--(?:import-ownertrust|import|recv-keys?|edit-key|quick-\S+|gen-key|full-gen\S*|delete-\S+|lsign-key|sign-key)$/,
  mkcert: /^-(?:un)?install$/,
  certutil: /^[-/](?:A|D|addstore|delstore|importpfx|M)$/i,
  keytool: /^-(?:import(?:cert)?|delete|storepasswd)$/,
  rpm: /^--import$/,
  gem: /^(?:-a|--add|-r|--remove|signin|signout)$/,
  'yum-config-manager': /^--(?:add-repo|enable|disable)/,
}

const changed = (use: Use): readonly Draft[] => {
  const { call, texts } = use
  const name = Object.hasOwn(CREDENTIALS, call.name) ? call.name : plainName(call.name)
  const known = CREDENTIALS[name]
  if (!known || texts.some((text) => /^(?:--help|--version|--dry-run)$/.test(text))) return []
  const needed = NEEDED[name]
  if (needed && !texts.some((text) => needed.test(text))) return []
  return known.words.test(plainWords(texts, known.valued).join(' '))
    ? writes(use, [literalWord(known.kept)])
    : []
}

// ---- rights on a server -----------------------------------------------------------------------------------------

interface Rights {
  /** Gives somebody rights, or a program a secret. */
  readonly gives?: RegExp
  /** Takes them away from people who need them. */
  readonly takes?: RegExp
}

const FORGE: Rights = {
  gives:
    /^(?:(?:ssh|gpg|deploy)-key add|repo deploy-key add|secret (?:set|remove|delete)|org (?:invite|add)|repo (?:collaborator|edit .*--visibility)|api .*\/(?:collaborators|keys|hooks|protection|memberships|rulesets|secrets|invitations)(?:\/|\?| |$))/,
  takes: /^(?:workflow disable|repo rename|ruleset|run cancel-all|token revoke)/,
}

const RIGHTS: Readonly<Record<string, Rights>> = {
  gh: FORGE,
  glab: FORGE,
  vault: {
    gives: /^(?:token create|policy write|auth enable|write auth\/|write sys\/)/,
    takes:
      /^(?:token revoke|lease revoke|auth disable|secrets disable|policy delete|operator (?:seal|step-down))(?: |$)/,
  },
  wrangler: { gives: /^(?:pages )?secret (?:put|bulk)(?: |$)/ },
  vercel: { gives: /^(?:env add|teams invite)(?: |$)/, takes: /^(?:env rm|domains rm|alias rm)(?: |$)/ },
  fly: { gives: /^(?:tokens create|orgs invite)(?: |$)/, takes: /^secrets unset(?: |$)/ },
  az: {
    gives: /^(?:role assignment create|ad sp create\S*|ad app credential reset|keyvault set-policy)(?: |$)/,
  },
  tailscale: { gives: /^(?:funnel|serve)(?: |$)/ },
  code: { gives: /^tunnel(?: |$)/ },
}

const rights = (use: Use): readonly Draft[] => {
  const { call, texts } = use
  const known = RIGHTS[call.name]
  const isRead = !texts.some((text) => /^-X|^--method|^(?:PUT|POST|PATCH|DELETE)$/.test(text))
  const words = plainWords(
    texts,
    call.name === 'az' ? /^-/ : /^(?:-R|--repo|-H|--header|-X|--method|-f|--field|-F|--input)$/,
  )
  const line = words.join(' ')
  if (!known || (words[0] === 'api' && isRead)) return []
  const operation = [call.name, ...words.slice(0, 2)].join(' ')
  if (known.gives?.test(line)) return [privilege(operation)]
  return known.takes?.test(line) ? [cloud(operation, true, words.at(-1))] : []
}

const write = (path: string) => ({ kind: 'write', place: { path } })
const given = { kind: 'privilege' }

export const SIGN_INS: readonly Program[] = [
  {
    names: Object.keys(CREDENTIALS),
    effects: changed,
    examples: [
      { command: 'gh auth login', effects: [write('/home/dev/.config/gh/hosts.yml')] },
      { command: 'gh auth status', effects: [] },
      { command: 'docker login -u x example.org', effects: [write('/home/dev/.docker/config.json')] },
      {
        command: 'gcloud auth login --cred-file=k.json',
        effects: [write('/home/dev/.config/gcloud/credentials.db')],
      },
      { command: 'gcloud config set project x', effects: [] },
      { command: 'az logout', effects: [write('/home/dev/.azure/msal_token_cache.json')] },
      {
        command: 'pip config set global.index-url https://example.org',
        effects: [write('/home/dev/.config/pip/pip.conf')],
      },
      { command: 'pip config list', effects: [] },
      {
        command: 'poetry config pypi-token.pypi x',
        effects: [write('/home/dev/.config/pypoetry/auth.toml')],
      },
      { command: 'poetry config virtualenvs.in-project true', effects: [] },
      { command: 'cargo login x', effects: [write('/home/dev/.cargo/credentials.toml')] },
      { command: 'ssh-keygen -R example.org', effects: [write('/home/dev/.ssh/known_hosts')] },
      { command: 'ssh-add -l', effects: [] },
      { command: 'gpg --list-keys', effects: [] },
      { command: 'update-ca-certificates', effects: [write('/etc/ssl/certs')] },
      {
        command: 'security add-trusted-cert -r trustRoot a.crt',
        effects: [write('/home/dev/Library/Keychains/login.keychain-db')],
      },
      { command: 'add-apt-repository ppa:x/y', effects: [write('/etc/apt/sources.list.d')] },
    ],
  },
  {
    names: Object.keys(RIGHTS),
    effects: rights,
    examples: [
      { command: 'gh ssh-key add k.pub', effects: [given] },
      { command: 'gh secret set TOKEN', effects: [given] },
      { command: 'gh secret list', effects: [] },
      { command: 'gh api repos/a/b/hooks', effects: [] },
      { command: 'gh api -X PUT repos/a/b/collaborators/c', effects: [given] },
      { command: 'gh workflow disable ci', effects: [{ kind: 'cloud', destroys: true }] },
      { command: 'vault token revoke -self', effects: [{ kind: 'cloud', destroys: true }] },
      { command: 'az role assignment create --assignee x --role Owner', effects: [given] },
    ],
  },
]
