// Programs for clouds, clusters and containers: by their operation, it shows whether something is destroyed.

import { kindOfCluster } from '../plain-resource.js'
import {
  cloud,
  type Draft,
  database,
  fetched,
  hostOf,
  optionValue,
  type Program,
  plainWords,
  privilege,
  send,
  type Use,
  writes,
} from '../program.js'
import { certainStart, type Word } from '../script/word.js'
import { d1Effects } from './database-services.js'
import { sourcesIn } from './sources.js'
import { sqlEffects } from './sql.js'

const DESTROYS =
  /^(?:delete|destroy|remove|rm|rb|terminate|purge|uninstall|deregister|drop|wipe|reset|undeploy|down|prune|deprovision|teardown)(?:$|[-:])|(?:^|[-:])(?:delete|destroy|purge|remove|terminate)(?:$|[-:])|-deletion$/

const READS =
  /^(?:get|list|ls|describe|show|info|status|logs?|tail|read|inspect|help|version|whoami|validate|plan|preview|diff|synth|template|lint|explain|top|events?|search|query|cat|stat|du|history|output|outputs|fmt|graph|current-context|get-contexts|use-context|config|auth|login|init|ps|images|df|wait|scan-\S+|head-\S+|get-\S+|list-\S+|describe-\S+|batch-get-\S+|account|open|env|doctor|console|token|completion|api-resources|api-versions|cluster-info|port-forward|proxy|attach|cp|dev|build|serve|start|local|emulators:start|projects:list)$/

/** More rights for somebody. */
const GRANTS =
  /^(?:create-access-key|attach-\S+-policy|put-\S+-policy|put-bucket-acl|put-object-acl|add-iam-policy-binding|set-iam-policy|clusterrolebinding|rolebinding|add-user-to-group|update-assume-role-policy|create-login-profile)$/

/** Words that print a secret. */
const SECRETS =
  /^(?:get-secret-value|get-session-token|print-access-token|print-identity-token|secrets?|get-parameter|get-access-token|assume-role|keyvault)$/

interface Shape {
  /** Options that take the next word. */
  readonly valued?: RegExp
  /** How many words name the operation. */
  readonly words?: number
  /** Operations that destroy beside the usual words. */
  readonly also?: RegExp
  /** Options that make an operation destroy. */
  readonly options?: RegExp
}

/** Programs whose first words are the operation. */
export function operations({ valued = /^$/, words = 1, also = /^$/, options = /^$/ }: Shape) {
  return (use: Use): readonly Draft[] => {
    const plain = plainWords(use.texts, valued)
    if (
      plain.length === 0 ||
      use.texts.some((text) => /^(?:--help|--dry-run(?:=.*)?|--dryrun|--check|-h)$/.test(text))
    )
      return []
    const named = plain.slice(0, Math.max(words, 1))
    if (plain.some((word) => GRANTS.test(word)) || /\bservice-accounts keys create\b/.test(plain.join(' ')))
      return [privilege([use.call.name, ...plain.slice(0, 2)].join(' '))]
    const isRead =
      plain.slice(0, 3).some((word) => READS.test(word) || SECRETS.test(word)) &&
      !plain.some((word) => DESTROYS.test(word))
    const [secret] = plain.slice(0, 4).filter((word) => SECRETS.test(word))
    if (secret !== undefined && isRead && !/^(?:ls|list|list-secrets)$/.test(plain[1] ?? ''))
      return [cloud('read secret', false, plain.at(-1))]
    const at = plain.slice(0, 4).findIndex((word) => DESTROYS.test(word) || also.test(word))
    const byOption = use.texts.some((text) => options.test(text))
    if (at >= 0 || byOption || also.test(named.join(' '))) {
      const operation = (at >= words ? plain.slice(0, at + 1) : named).join(' ')
      return [onResource(operation, true, plain.slice(Math.max(at + 1, words)), use)]
    }
    if (named.some((word) => READS.test(word))) return []
    return [onResource(named.join(' '), false, plain.slice(words), use)]
  }
}

/** Which of the words and options names it differs from program to program, so each of them may. */
function onResource(operation: string, destroys: boolean, words: readonly string[], use: Use): Draft {
  const [first, ...rest] = [...words, ...optionValues(use.texts)]
  return cloud(operation, destroys, first, rest)
}

/** `--bucket=prod` */
function optionValues(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => /^--?[\w-]+=(.+)$/s.exec(text)?.[1] ?? [])
}

// ---- storage ----------------------------------------------------------------------------------------------------

/** A copy from this machine to a bucket. */
function uploads(use: Use, copies: RegExp, remote: RegExp): readonly Draft[] {
  const words = use.args.filter(({ text }) => !text.startsWith('-'))
  const at = words.findIndex(({ text }) => copies.test(text))
  const [from, to] = at < 0 ? [] : words.slice(at + 1)
  if (!from || !to || remote.test(from.text) || !(remote.test(to.text) || isOpen(to))) return []
  // What is not known may be a bucket on the left, too. Then nothing leaves this machine.
  if (!from.known && isOpen(to)) return []
  const sources = use.places(from, true).map((place) => ({ of: 'file', place }) as const)
  if (isOpen(to)) return [send(undefined, sources)]
  return [send(to.text.replace(/^(\w+:(?:\/\/)?[^/]*).*$/s, '$1'), sources)]
}

function isOpen({ text }: Word): boolean {
  return certainStart(text) === ''
}

const aws = (use: Use): readonly Draft[] => {
  const usual = operations({
    words: 2,
    valued: /^--(?:profile|region|output|endpoint-url|query)$/,
    options: /^--delete$/,
  })(use)
  const [service, verb, ...names] = plainWords(use.texts, /^--(?:profile|region|output|endpoint-url|query)$/)
  const configured =
    service === 'configure' && verb === 'set'
      ? writes(use, [{ text: '~/.aws/credentials', known: true, glob: false }])
      : []
  if (service === 's3' && verb === 'sync' && use.texts.includes('--delete'))
    return [cloud('s3 sync --delete', true, names[1]), ...uploads(use, /^sync$/, /^s3:/)]
  if (service === 's3' && verb === 'mv' && use.texts.includes('--recursive'))
    return [cloud('s3 mv --recursive', true, names[0]), ...uploads(use, /^mv$/, /^s3:/)]
  if (service === 's3' && /^(?:cp|sync|mv)$/.test(verb ?? ''))
    return [...uploads(use, /^(?:cp|sync|mv)$/, /^s3:/), cloud(`s3 ${verb}`, false, names[1])]
  const bucket = bucketOf(use.texts)
  const risky = awsRisk(service, verb, use.texts)
  if (risky) return [cloud(`${service} ${verb}`, true, bucket ?? names[0], names)]
  return [...configured, ...usual.map((draft) => inBucket(draft, bucket))]
}

/** `s3api` names with options what `s3` names with an address. */
function inBucket(draft: Draft, bucket: string | undefined): Draft {
  if (draft.kind !== 'cloud' || bucket === undefined || draft.resource === undefined) return draft
  return cloud(draft.operation, draft.destroys, bucket, [draft.resource, ...(draft.others ?? [])])
}

/** Operations that lose something without saying so in their verb. */
function awsRisk(service = '', verb = '', texts: readonly string[]): boolean {
  const line = texts.join(' ')
  switch (`${service} ${verb}`) {
    case 'dynamodb batch-write-item':
      return /DeleteRequest|delete/i.test(line)
    case 's3api put-bucket-versioning':
      return /Suspended/.test(line)
    case 's3api put-bucket-lifecycle-configuration':
    case 'route53 change-resource-record-sets':
      return true
    case 'ec2 authorize-security-group-ingress':
      return /(?:0\.0\.0\.0|::)\/0/.test(line)
    default:
      return (
        texts.includes('--no-deletion-protection') || /--desired-(?:count|capacity)[ =]0(?: |$)/.test(line)
      )
  }
}

function bucketOf(texts: readonly string[]): string | undefined {
  const bucket = optionValue(texts, /^--bucket$/)
  const key = optionValue(texts, /^--key$/)
  return bucket === undefined ? undefined : `s3://${bucket}${key === undefined ? '' : `/${key}`}`
}

const gsutil = (use: Use): readonly Draft[] => [
  ...uploads(use, /^(?:cp|rsync|mv)$/, /^gs:/),
  ...operations({ valued: /^-[hou]$/ })(use),
]

const az = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts, /^-/)
  const file = use.args[use.texts.findIndex((text) => /^(?:-f|--file|--source|-s)$/.test(text)) + 1]
  const isUpload = words.includes('upload') || words.includes('upload-batch')
  const sources =
    isUpload && file ? use.places(file, true).map((place) => ({ of: 'file', place }) as const) : []
  return [
    ...(isUpload ? [send('blob.core.windows.net', sources)] : []),
    ...operations({ words: 2, valued: /^-/ })(use),
  ]
}

const rclone = (use: Use): readonly Draft[] => [
  ...uploads(use, /^(?:copy|sync|move|copyto|moveto)$/, /^[\w-]+:/),
  ...operations({ also: /^(?:deletefile|cleanup|rmdirs?|sync)$/ })(use),
]

// ---- clusters ---------------------------------------------------------------------------------------------------

const KUBECTL =
  /^(?:-n|--namespace|--context|--cluster|--kubeconfig|-l|--selector|-o|--output|-f|--filename|-c|--container|--replicas|--user|--field-selector|-k)$/

const kubectl = (use: Use): readonly Draft[] => {
  const [verb = '', ...names] = plainWords(use.texts, KUBECTL)
  if (use.texts.some((text) => /^--dry-run(?:=(?:client|server))?$/.test(text))) return []
  const address = optionValue(use.texts, /^(?:-f|--filename)$/)
  const remote = address !== undefined && /^https?:/.test(address) ? [fetched(hostOf(address), true)] : []
  if (verb === 'config') {
    const isSet = /^(?:set|set-credentials|set-cluster|set-context|delete-\w+|unset|rename-context)$/.test(
      names[0] ?? '',
    )
    return isSet ? writes(use, [{ text: '~/.kube/config', known: true, glob: false }]) : []
  }
  if (verb === 'scale' || verb === 'replace') {
    const destroys =
      verb === 'scale'
        ? use.texts.includes('--replicas=0') || optionValue(use.texts, /^--replicas$/) === '0'
        : use.texts.includes('--force')
    return [cloud(verb, destroys, names[0]), ...remote]
  }
  const line = use.texts.join(' ')
  if (
    (verb === 'apply' && /(?:^| )--prune(?:=true)?(?: |$)/.test(line)) ||
    (verb === 'patch' && /finalizers/.test(line)) ||
    (verb === 'rollout' && names[0] === 'undo')
  )
    return [...remote, cloud(verb === 'rollout' ? 'rollout undo' : verb, true, names.at(-1))]
  const usual = operations({ valued: KUBECTL, also: /^(?:drain|delete)$/ })(use)
  return [...remote, ...usual.flatMap((draft) => ofKind(draft, names))]
}

/** `kubectl delete ns a b` is about `namespace/a` and `namespace/b`. */
function ofKind(draft: Draft, [kind = '', ...names]: readonly string[]): readonly Draft[] {
  if (draft.kind !== 'cloud' || kind.includes('/') || names.length === 0) return [draft]
  const kinds = kind.split(',').map((one) => kindOfCluster(one) ?? one)
  return kinds.flatMap((one) =>
    names.map((name) => cloud(draft.operation, draft.destroys, `${one}/${name}`, [one, name])),
  )
}

const terraform = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts, /^-chdir$/)
  const [verb = '', noun = ''] = words
  const isSure = use.texts.some((text) => /^--?auto-approve$/.test(text))
  if (verb === 'apply' || words.includes('apply'))
    return [cloud('apply', isSure || use.texts.some((text) => /^--?destroy$/.test(text)))]
  if (verb === 'state')
    return noun === 'rm' || noun === 'push' ? [cloud(`state ${noun}`, true, words[2])] : []
  if (verb === 'workspace') return noun === 'delete' ? [cloud('workspace delete', true, words[2])] : []
  if (verb === 'force-unlock' || verb === 'taint') return [cloud(verb, true, noun)]
  return words.includes('destroy') ? [cloud('destroy', true)] : []
}

const helm = (use: Use): readonly Draft[] => {
  const address = use.texts.find((text) => /^https?:\/\//.test(text))
  const [verb] = plainWords(use.texts)
  return [
    ...(address !== undefined && /^(?:install|upgrade)$/.test(verb ?? '')
      ? [fetched(hostOf(address), true)]
      : []),
    ...operations({ valued: /^(?:-n|--namespace|-f|--values|--kube-context)$/, also: /^rollback$/ })(use),
  ]
}

/** `apps:destroy`, `pg:reset`. */
const heroku = (use: Use): readonly Draft[] => {
  const [verb = '', name] = plainWords(use.texts, /^(?:-a|--app|-r|--remote|--confirm)$/)
  if (/^(?:pg|redis):(?:reset|pull|push)|firestore:delete|database:remove/.test(verb))
    return [database(verb, true, name)]
  if (/:(?:destroy|delete|remove|unset)$/.test(verb)) return [cloud(verb, true, name)]
  if (verb === 'ps:scale')
    return [
      cloud(
        verb,
        use.texts.some((text) => /=0$/.test(text)),
        name,
      ),
    ]
  return /^(?:deploy|config:set|addons:create|releases:rollback|rollback|maintenance:on)$/.test(verb)
    ? [cloud(verb, false, name)]
    : []
}

const gh = (use: Use): readonly Draft[] => {
  const [noun = '', verb = '', ...names] = plainWords(
    use.texts,
    /^(?:-R|--repo|-t|--title|-b|--body|-F|--body-file|-f|--field|--raw-field|-X|--method|-H|--header|-q|--jq|-d|--desc)$/,
  )
  const files = use.args.filter(
    ({ text }, i) =>
      (names.includes(text) && /^(?:gist|release)$/.test(noun)) ||
      (/^(?:-F|--body-file|--notes-file|--input)$/.test(use.texts[i - 1] ?? '') && noun !== 'api'),
  )
  const uploads =
    (noun === 'gist' && verb === 'create') || (noun === 'release' && /^(?:upload|create)$/.test(verb))
  const named = noun === 'release' ? files.filter(({ text }) => text !== names[0]) : files
  const from = [
    ...(uploads || named.length > 0 ? named : [])
      .flatMap((word) => use.places(word))
      .map((place) => ({ of: 'file', place }) as const),
    ...use.args.flatMap((word) => sourcesIn(word, use)),
  ]
  const sent =
    uploads || from.length > 0 ? [send('github.com', from.length > 0 ? from : [{ of: 'text' }])] : []
  const method = optionValue(use.texts, /^(?:-X|--method)$/)
  if (noun === 'auth' && verb === 'token') return [cloud('read secret', false, 'the token of gh')]
  if (noun === 'api')
    return [
      ...sent,
      ...(method !== undefined && method !== 'GET'
        ? [cloud(`api ${method}`, method === 'DELETE', verb)]
        : []),
    ]
  const isPublic = optionValue(use.texts, /^--visibility$/) === 'public'
  if (noun === 'repo' && verb === 'edit' && isPublic) return [cloud('repo edit --visibility public', true)]
  if (noun === 'pr' && use.texts.some((text) => /^(?:-\w*d|--delete-branch(?:=true)?)$/.test(text)))
    if (verb === 'close' || verb === 'merge')
      return [...sent, cloud(`pr ${verb} --delete-branch`, true, names[0])]
  if (/^(?:delete|archive|remove)$/.test(verb)) return [...sent, cloud(`${noun} ${verb}`, true, names[0])]
  return sent
}

const ansible = (use: Use): readonly Draft[] => {
  if (use.texts.some((text) => /^(?:--check|-C|--version|--list-\w+|--syntax-check)$/.test(text))) return []
  const given = optionValue(use.texts, /^(?:-a|--args)$/) ?? ''
  const destroys = /state=absent|\brm\s+-|\bdropdb\b|\bmkfs|\breboot\b|\bshutdown\b/.test(given)
  return [
    cloud(
      `${use.call.name}${optionValue(use.texts, /^(?:-m|--module-name)$/) ? ` ${optionValue(use.texts, /^(?:-m|--module-name)$/)}` : ''}`,
      destroys,
      plainWords(use.texts, /^-/)[0],
    ),
  ]
}

export const destroys = (operation?: string) => ({
  kind: 'cloud',
  destroys: true,
  ...(operation === undefined ? {} : { operation }),
})

export const CLOUD_PROGRAMS: readonly Program[] = [
  {
    names: ['aws', 'awslocal'],
    hasVerb: true,
    effects: aws,
    examples: [
      { command: 'aws s3 rb s3://b --force', effects: [destroys('s3 rb')] },
      {
        command: 'aws ec2 terminate-instances --instance-ids i-1',
        effects: [destroys('ec2 terminate-instances')],
      },
      {
        command: 'aws s3 cp a.txt s3://b/',
        effects: [{ kind: 'send', from: [{ of: 'file', place: { path: '/home/dev/app/a.txt' } }] }],
      },
      {
        command: 'aws s3 cp a.txt "$TO"',
        effects: [
          { kind: 'send', host: undefined, from: [{ of: 'file', place: { path: '/home/dev/app/a.txt' } }] },
        ],
      },
      { command: 'aws s3 mv s3://a s3://b --recursive', effects: [destroys('s3 mv --recursive')] },
      {
        command: 'aws s3api put-bucket-versioning --bucket b --versioning-configuration Status=Suspended',
        effects: [{ ...destroys(), resource: 's3://b' }],
      },
      {
        command: 'aws rds modify-db-instance --db-instance-identifier x --no-deletion-protection',
        effects: [destroys('rds modify-db-instance')],
      },
      {
        command: 'aws ec2 authorize-security-group-ingress --group-id sg-1 --cidr 0.0.0.0/0 --port 22',
        effects: [destroys()],
      },
      { command: 'aws s3 ls', effects: [] },
    ],
  },
  {
    names: ['gsutil'],
    hasVerb: true,
    effects: gsutil,
    examples: [
      { command: 'gsutil -m rm -r gs://b', effects: [destroys('rm')] },
      { command: 'gsutil ls', effects: [] },
    ],
  },
  {
    names: ['gcloud', 'oci', 'ibmcloud', 'aliyun', 'linode-cli', 'hcloud', 'scw', 'civo'],
    hasVerb: true,
    effects: operations({ words: 2, valued: /^--(?:project|zone|region|format|filter)$/ }),
    examples: [
      { command: 'gcloud compute instances delete web-1', effects: [destroys('compute instances delete')] },
      {
        command: 'gcloud iam service-accounts keys create k.json --iam-account a@b',
        effects: [{ kind: 'privilege' }],
      },
      { command: 'gcloud projects list', effects: [] },
    ],
  },
  {
    names: ['bq'],
    hasVerb: true,
    effects: (use) =>
      plainWords(use.texts)[0] === 'query' ? use.texts.flatMap(sqlEffects) : operations({})(use),
    examples: [
      { command: "bq query 'DROP TABLE d.t'", effects: [{ kind: 'database', destroys: true }] },
      { command: 'bq rm -f d.t', effects: [destroys('rm')] },
    ],
  },
  {
    names: ['az'],
    hasVerb: true,
    effects: az,
    examples: [
      { command: 'az group delete --name prod --yes', effects: [destroys('group delete')] },
      { command: 'az vm list', effects: [] },
    ],
  },
  {
    names: ['kubectl', 'oc', 'k', 'kubectl.exe'],
    hasVerb: true,
    effects: kubectl,
    examples: [
      { command: 'kubectl -n prod delete deployment api', effects: [destroys('delete')] },
      { command: 'kubectl apply --prune -l app=x -f k8s', effects: [destroys('apply')] },
      { command: 'kubectl rollout undo deploy/api', effects: [destroys('rollout undo')] },
      { command: 'kubectl get pods -A', effects: [] },
      { command: 'kubectl exec pod -- rm -rf /data', effects: [destroys('exec rm')] },
      {
        command: 'kubectl apply -f https://example.org/x.yaml',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
    ],
  },
  {
    names: ['helm', 'helmfile'],
    hasVerb: true,
    effects: helm,
    examples: [
      { command: 'helm uninstall api', effects: [destroys('uninstall')] },
      { command: 'helm list', effects: [] },
    ],
  },
  {
    names: ['terraform', 'tofu', 'terragrunt'],
    hasVerb: true,
    effects: terraform,
    examples: [
      { command: 'terraform destroy -auto-approve', effects: [destroys('destroy')] },
      { command: 'terraform apply', effects: [{ kind: 'cloud', destroys: false }] },
      { command: 'terraform plan', effects: [] },
    ],
  },
  {
    names: [
      'pulumi',
      'cdk',
      'serverless',
      'sls',
      'eksctl',
      'doctl',
      'flyctl',
      'fly',
      'vercel',
      'netlify',
      'railway',
      'vagrant',
      'nomad',
      'consul',
      'vault',
      'etcdctl',
      's3cmd',
      'virsh',
      'multipass',
      'lxc',
      'sam',
      'copilot',
      'amplify',
      'eb',
      'cf',
      'render',
      'sst',
      'argocd',
      'borg',
      'velero',
    ],
    hasVerb: true,
    effects: operations({ also: /^(?:undefine|rm|del|stop|down|remove|sites:delete|metadata delete)$/ }),
    examples: [
      { command: 'pulumi destroy --yes', effects: [destroys('destroy')] },
      { command: 'fly volumes destroy vol_1', effects: [destroys()] },
      { command: 'sst remove --stage production', effects: [destroys('remove')] },
      { command: 'argocd app delete api --cascade -y', effects: [destroys()] },
      { command: 'borg delete repo', effects: [destroys('delete')] },
      { command: 'vercel ls', effects: [] },
    ],
  },
  {
    names: ['wrangler'],
    hasVerb: true,
    effects: (use) =>
      /^d1 execute\b/.test(plainWords(use.texts).join(' ')) ? d1Effects(use) : operations({})(use),
    examples: [
      {
        command: "wrangler d1 execute prod --remote --command 'DELETE FROM users'",
        effects: [{ kind: 'database', destroys: true, resource: 'users' }],
      },
      { command: 'wrangler delete', effects: [destroys('delete')] },
      { command: 'wrangler dev', effects: [] },
    ],
  },
  {
    names: ['heroku', 'firebase', 'scalingo'],
    hasVerb: true,
    effects: heroku,
    examples: [
      { command: 'heroku apps:destroy --app x', effects: [destroys('apps:destroy')] },
      { command: 'heroku pg:reset DATABASE_URL', effects: [{ kind: 'database', destroys: true }] },
    ],
  },
  {
    names: ['gh', 'glab'],
    hasVerb: true,
    effects: gh,
    examples: [
      { command: 'gh repo delete a/b', effects: [destroys('repo delete')] },
      { command: 'gh gist create a.txt', effects: [{ kind: 'send', host: 'github.com' }] },
      { command: 'gh pr close 12 --delete-branch', effects: [destroys()] },
      { command: 'gh repo edit --visibility public', effects: [destroys()] },
      { command: 'gh pr list', effects: [] },
    ],
  },
  {
    names: ['ansible', 'ansible-playbook'],
    effects: ansible,
    examples: [
      { command: "ansible all -m file -a 'path=/x state=absent'", effects: [destroys('ansible file')] },
    ],
  },
  {
    names: ['rclone', 'mc'],
    hasVerb: true,
    effects: rclone,
    examples: [
      { command: 'rclone purge r:b', effects: [destroys('purge')] },
      {
        command: 'rclone copy docs r:b',
        effects: [{ kind: 'send', from: [{ of: 'file', place: { path: '/home/dev/app/docs' } }] }],
      },
    ],
  },
  {
    names: ['restic'],
    hasVerb: true,
    effects: operations({ valued: /^(?:-[rpo]|--(?:repo|password-file))$/, also: /^(?:forget|prune)$/ }),
    examples: [{ command: 'restic -r s3:x forget --prune --keep-last 1', effects: [destroys('forget')] }],
  },
  {
    names: ['ngrok', 'cloudflared', 'localtunnel', 'lt', 'bore', 'zrok'],
    effects: (use) =>
      use.texts.some((text) => /^(?:http|tcp|tls|tunnel|start|local|share|--port|-p)$/.test(text))
        ? [send(undefined, [{ of: 'pipe', text: 'a port of this machine' }])]
        : [],
    examples: [
      { command: 'ngrok http 3000', effects: [{ kind: 'send' }] },
      { command: 'ngrok version', effects: [] },
    ],
  },
]
