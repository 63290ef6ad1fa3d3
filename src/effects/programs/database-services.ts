// Databases and queues that somebody else runs, and the programs that administer them.

import { argumentsOf } from '../files/file-effect.js'
import { type Draft, database, type Program, plainWords, type Use } from '../program.js'
import { drops, inputOf, keeps, textOf, tool } from './database.js'
import { sqlEffects } from './sql.js'

/** `turso db shell NAME STATEMENT` */
const turso = (use: Use): readonly Draft[] => {
  const [noun = '', verb = '', name, ...statements] = plainWords(use.texts, /^(?:-l|--location|--group)$/)
  if (verb === 'shell') return [...statements, ...inputOf(use)].flatMap(sqlEffects)
  return /^(?:destroy|delete|rm|remove|invalidate)$/.test(verb)
    ? [database(`${noun} ${verb}`, true, name)]
    : []
}

/** `d1 execute NAME --command STATEMENT`: the statements and files of Cloudflare's databases. */
export function d1Effects(use: Use): readonly Draft[] {
  const given = argumentsOf(use.args, { long: ['--command', '--file'] })
  return [
    ...given.valuesOf('', '--command').map(({ text }) => text),
    ...given.valuesOf('', '--file').flatMap((word) => textOf(word, use) ?? []),
  ].flatMap(sqlEffects)
}

/** `pscale database delete NAME` */
const hosted = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts, /^--(?:project-id|org|org-id|api-key|branch|cluster|projectId)$/)
  const at = words.findIndex((word) => /^(?:delete|rm|remove|destroy|terminate|reset|restore)$/.test(word))
  return at < 0 ? [] : [database(words.slice(0, at + 1).join(' '), true, words.slice(at + 1).at(-1))]
}

/** `kafka-topics --delete --topic NAME` */
const kafka = (use: Use): readonly Draft[] => {
  const named = argumentsOf(use.args, { long: ['--topic', '--group'] }).valuesOf('', '--topic', '--group')
  const deletes =
    use.call.name.startsWith('kafka-delete') ||
    use.texts.some((text) => /^--(?:delete|delete-offsets)$/.test(text)) ||
    (/^kafka-consumer-groups/.test(use.call.name) && use.texts.includes('--execute'))
  return deletes ? [database('delete', true, named[0]?.text)] : []
}

const rabbit = (use: Use): readonly Draft[] => {
  const [verb = '', ...names] = plainWords(use.texts, /^(?:-[nptVHPuN]|--(?:vhost|node|host|port|username))$/)
  if (!/^(?:delete|purge|clear|reset|force_reset|stop_app|forget_cluster_node)(?:_|$)|_reset$/.test(verb))
    return []
  const name = names.find((word) => word.startsWith('name='))?.slice('name='.length) ?? names.at(-1)
  return [database(use.call.name === 'rabbitmqadmin' ? `${verb} ${names[0] ?? ''}`.trim() : verb, true, name)]
}

export const DATABASE_SERVICES: readonly Program[] = [
  {
    names: ['turso'],
    hasVerb: true,
    effects: turso,
    examples: [
      { command: 'turso db destroy prod --yes', effects: [{ ...drops('db destroy'), resource: 'prod' }] },
      { command: "turso db shell prod 'DROP TABLE users'", effects: [drops('DROP TABLE')] },
      { command: 'turso db list', effects: [] },
    ],
  },
  {
    names: ['neonctl', 'neon', 'pscale', 'atlascli', 'astra', 'ccloud', 'confluent', 'upstash'],
    hasVerb: true,
    effects: hosted,
    examples: [
      {
        command: 'neonctl branches delete main',
        effects: [{ ...drops('branches delete'), resource: 'main' }],
      },
      { command: 'pscale database delete prod --force', effects: [{ ...drops(), resource: 'prod' }] },
      { command: 'pscale branch list prod', effects: [] },
    ],
  },
  {
    names: ['supabase'],
    effects: tool(
      /\bdb reset\b|\b(?:projects|functions|branches|secrets|storage|orgs|sso|domains|preview) (?:delete|unset|rm|remove)\b|\bmigration (?:down|squash)\b|\bstop\b.*--no-backup\b/,
      /\bdb push\b|\bmigration up\b|\bfunctions deploy\b|\bsecrets set\b/,
    ),
    examples: [
      { command: 'supabase db reset', effects: [drops('db reset')] },
      { command: 'supabase projects delete abcd', effects: [drops('projects delete')] },
      { command: 'supabase functions delete f', effects: [drops('functions delete')] },
      { command: 'supabase db push', effects: [keeps] },
      { command: 'supabase start', effects: [] },
    ],
  },
  {
    names: [
      ...['topics', 'consumer-groups', 'delete-records', 'acls', 'configs'].flatMap((tool) => [
        `kafka-${tool}`,
        `kafka-${tool}.sh`,
      ]),
    ],
    effects: kafka,
    examples: [
      {
        command: 'kafka-topics.sh --bootstrap-server prod:9092 --delete --topic orders',
        effects: [{ ...drops('delete'), resource: 'orders' }],
      },
      { command: 'kafka-topics --delete --topic=orders', effects: [{ ...drops(), resource: 'orders' }] },
      { command: 'kafka-topics.sh --list', effects: [] },
    ],
  },
  {
    names: ['rabbitmqctl', 'rabbitmqadmin'],
    effects: rabbit,
    examples: [
      { command: 'rabbitmqctl delete_queue jobs', effects: [{ ...drops('delete_queue'), resource: 'jobs' }] },
      {
        command: 'rabbitmqadmin purge queue name=jobs',
        effects: [{ ...drops('purge queue'), resource: 'jobs' }],
      },
      { command: 'rabbitmqctl list_queues', effects: [] },
    ],
  },
]
