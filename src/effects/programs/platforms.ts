// Platforms that run programs for others, and tunnels to this machine.

import { cloud, type Draft, database, type Program, plainWords, send, type Use } from '../program.js'
import { destroys, operations } from './cloud-operation.js'
import { d1Effects } from './database-services.js'

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

export const PLATFORM_PROGRAMS: readonly Program[] = [
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
