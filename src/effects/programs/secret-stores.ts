// Programs that print a secret: those for nothing else, and the words of cloud programs that do.

import { cloud, type Draft, type Program, plainWords, type Use } from '../program.js'

interface Store {
  readonly names: readonly string[]
  /** The plain words of a call that prints a secret. */
  readonly words: RegExp
  /** An option without which nothing secret is shown. */
  readonly option?: RegExp
  /** An option with which nothing secret is shown. */
  readonly unless?: RegExp
}

/** Words of programs that also do other things. */
const STORES: readonly Store[] = [
  {
    names: ['aws', 'awslocal'],
    words:
      /(?:^| )(?:secretsmanager (?:batch-)?get-secret-value|sts (?:get-session-token|assume-role\S*|get-federation-token)|configure export-credentials|configure get \S*(?:secret|token)\S*)(?: |$)/,
  },
  {
    names: ['aws', 'awslocal'],
    words: /(?:^| )ssm get-parameters?(?:-by-path|-history)?(?: |$)/,
    option: /^--with-decryption$/,
  },
  {
    names: ['gcloud'],
    words:
      /(?:^| )(?:auth (?:application-default )?print-(?:access|identity)-token|secrets versions access)(?: |$)/,
  },
  { names: ['az'], words: /(?:^| )(?:account get-access-token|keyvault secret (?:show|download))(?: |$)/ },
  {
    names: ['kubectl', 'oc', 'k'],
    words: /(?:^| )get (?:\S+,)?secrets?(?:[/, ]|$)/,
    option: /^(?:-o|--output|--template)/,
  },
  { names: ['kubectl', 'oc', 'k'], words: /(?:^| )config view(?: |$)/, option: /^--raw(?:=true)?$/ },
  {
    names: ['docker', 'podman', 'nerdctl', 'docker-compose', 'podman-compose', 'kubectl', 'oc', 'k'],
    words: /^(?:(?:compose |container )?exec|compose run) (?:.* )?(?:env|printenv)$/,
  },
  {
    names: ['docker', 'podman', 'nerdctl'],
    words: /^(?:container )?inspect(?: |$)/,
    option: /Config\.Env|\.Env\b|^\{\{json \.Config\}\}/,
  },
  {
    names: ['docker', 'docker-compose', 'podman-compose'],
    words: /^(?:compose )?config(?: |$)/,
    unless: /^(?:--quiet|--services|--images|--volumes|--profiles|--no-interpolate|--hash)/,
  },
  { names: ['heroku', 'scalingo'], words: /^(?:config|config:get)(?: |$)/ },
  { names: ['vercel'], words: /(?:^| )env pull(?: |$)/ },
  { names: ['vault'], words: /^(?:kv get|read)(?: |$)/ },
  { names: ['terraform', 'tofu', 'terragrunt'], words: /^output(?: |$)/, option: /^--?(?:json|raw)$/ },
  { names: ['terraform', 'tofu', 'terragrunt'], words: /^state pull(?: |$)/ },
]

const VALUED =
  /^(?:-n|-a|-o|-r|--(?:namespace|context|profile|region|project|output|query|app|remote|subscription|scope|environment|cwd))$/

/** Undefined if the call shows no secret of a store. */
function shownSecret(use: Use): Draft | undefined {
  const words = plainWords(use.texts, VALUED)
  const line = words.join(' ')
  const isShown = STORES.some(
    ({ names, words: shows, option, unless }) =>
      names.includes(use.call.name) &&
      shows.test(line) &&
      // A filter behind it may choose the secret part.
      (option === undefined || [...use.texts, use.script.text].some((text) => option.test(text))) &&
      !(unless && use.texts.some((text) => unless.test(text))),
  )
  return isShown ? cloud('read secret', false, words.at(-1)) : undefined
}

/** The same program, which also tells when it prints a secret. */
export function showingSecrets(program: Program): Program {
  return {
    ...program,
    effects: (use) => {
      const shown = shownSecret(use)
      return shown ? [shown] : program.effects(use)
    },
  }
}

/** Programs for nothing but secrets. */
const secrets = (use: Use): readonly Draft[] => {
  const [verb = '', ...names] = plainWords(use.texts)
  return /^(?:read|show|get|kv|inject|secrets|item|document|fetch|export|lookup|decrypt|view|-p)$/.test(
    verb,
  ) && !names.some((name) => /^(?:list|ls|set|delete|create|edit)$/.test(name))
    ? [cloud('read secret', false, names.at(-1))]
    : []
}

/** `sops -d FILE`, `age -d -i KEY FILE` */
const decrypts = (use: Use): readonly Draft[] =>
  use.texts.some((text) => /^(?:-\w*d|--decrypt|decrypt)$/.test(text))
    ? [cloud('read secret', false, plainWords(use.texts, /^(?:-[io]|--(?:identity|output))$/).at(-1))]
    : []

const shows = { kind: 'cloud', operation: 'read secret', destroys: false }

export const SECRET_STORES: readonly Program[] = [
  {
    names: [
      'pass',
      'op',
      'gopass',
      'bw',
      'lpass',
      'chamber',
      'doppler',
      'infisical',
      'secret-tool',
      'ansible-vault',
      'dotenv-vault',
    ],
    hasVerb: true,
    effects: secrets,
    examples: [
      { command: 'pass show github', effects: [shows] },
      { command: 'infisical secrets', effects: [shows] },
      { command: 'secret-tool lookup service github', effects: [shows] },
      { command: 'ansible-vault view group_vars/prod.yml', effects: [shows] },
      { command: 'op item list', effects: [] },
      { command: 'aws secretsmanager get-secret-value --secret-id x', effects: [shows] },
      { command: 'aws ssm get-parameters-by-path --path /prod --with-decryption', effects: [shows] },
      { command: 'aws configure export-credentials', effects: [shows] },
      { command: 'aws ecr get-login-password', effects: [] },
      { command: 'gcloud secrets versions access latest --secret=db', effects: [shows] },
      { command: 'az keyvault secret show --vault-name kv -n db', effects: [shows] },
      { command: 'kubectl get secret db -o yaml', effects: [shows] },
      { command: 'kubectl get secret/db -oyaml', effects: [shows] },
      { command: 'kubectl config view --raw', effects: [shows] },
      { command: 'kubectl config view', effects: [] },
      { command: 'kubectl exec -it pod -- env', effects: [shows] },
      { command: 'docker compose exec web printenv', effects: [shows] },
      { command: 'gh auth token', effects: [shows] },
      { command: 'heroku config:get SECRET -a x', effects: [shows] },
      { command: 'vercel env pull .env.local', effects: [shows] },
      { command: 'vault kv get secret/prod/db', effects: [shows] },
      { command: 'terraform output -json', effects: [shows] },
      { command: 'terraform state pull', effects: [shows] },
      { command: "docker inspect x --format '{{.Config.Env}}'", effects: [shows] },
      { command: 'docker inspect x', effects: [] },
      { command: 'docker compose config', effects: [shows] },
      { command: 'docker compose config --services', effects: [] },
      { command: 'aws iam create-access-key --user-name x', effects: [{ kind: 'privilege' }] },
    ],
  },
  {
    names: ['sops', 'age', 'rage'],
    effects: decrypts,
    examples: [
      { command: 'sops -d secrets.yaml', effects: [shows] },
      { command: 'age -d -i key.txt secrets.age', effects: [shows] },
      { command: 'sops -e secrets.yaml', effects: [] },
    ],
  },
]
