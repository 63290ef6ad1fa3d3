// Clients of databases, and the tools that change their schema.

import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { readPlain } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import { argumentsOf } from '../files/file-effect.js'
import { DELETERS } from '../files/file-effects.js'
import {
  type Draft,
  database,
  optionValue,
  type Program,
  plainWords,
  reads,
  type Use,
  writes,
} from '../program.js'
import type { Word } from '../script/word.js'
import { mongoEffects, sqlEffects } from './sql.js'

// ---- SQL --------------------------------------------------------------------------------------------------------

interface Client {
  /** Options that are followed by statements. */
  readonly statements: RegExp
  readonly files: RegExp
  /** Letters that take a value. */
  readonly valued: string
  /** Whether the second operand is a statement. */
  readonly operand?: boolean
}

const sql =
  ({ statements, files, valued, operand = false }: Client) =>
  (use: Use): readonly Draft[] => {
    const given = use.texts.flatMap((text, i) => {
      const [, attached] = /^(?:--\w+=|-[ceqQ](?=\S{4}))(.*)$/s.exec(text) ?? []
      if (attached !== undefined && statements.test(text.replace(/=.*$|(?<=^-\w).*$/s, ''))) return [attached]
      return statements.test(use.texts[i - 1] ?? '') ? [text] : []
    })
    const read = use.args.filter((_, i) => files.test(use.texts[i - 1] ?? ''))
    const operands = operand
      ? argumentsOf(use.args, { valued })
          .operands.slice(1)
          .map(({ text }) => text)
      : []
    const texts = [...given, ...operands, ...inputOf(use), ...read.flatMap((word) => textOf(word, use) ?? [])]
    const isFed = use.call.readsFrom.length > 0 && printed(use) === undefined
    return [
      ...texts.flatMap(sqlEffects),
      ...reads(use, read),
      ...(isFed
        ? [
            {
              kind: 'unknown',
              why: `the statements that ${use.call.name} runs come from another program`,
            } as const,
          ]
        : []),
    ]
  }

/** Statements and commands that only show something. */
const LOOKING =
  /^\s*(?:$|select\b|with\b|explain\b|values\b|--|\.(?:tables|schema|dump|headers?|mode|width|databases|indexes|indices|show|print|timer|stats|help|quit|exit|fullschema|separator|nullvalue|output|once|read|bail|echo|eqp|cd))/i

/** The database itself, and the files that commands such as `.output` name. */
function sqliteFiles(use: Use): readonly Draft[] {
  const [file, ...given] = argumentsOf(use.args, { valued: '' }).operands
  const named = file && !/^(?::memory:|\s*)$/.test(file.text) ? [file] : []
  const texts = [
    ...given.map(({ text }) => text),
    ...use.texts.filter((_, i) => /^-?-c(?:md)?$/.test(use.texts[i - 1] ?? '')),
  ]
  const lines = [...texts, ...inputOf(use)].flatMap((text) => text.split(/[;\n]/))
  const isFed = use.call.readsFrom.length > 0 && printed(use) === undefined
  // A missing database is made. It may also be missing once another call has run.
  const isLater = use.script.calls.some(({ name }) => DELETERS.some((deleter) => deleter === name))
  const isNew =
    isLater || named.flatMap((word) => use.places(word)).some(({ path, known }) => known && !existsSync(path))
  const changes = isFed || isNew || lines.some((line) => !LOOKING.test(line))
  const filesOf = (commands: string) =>
    lines.flatMap((line) => {
      const [, name] =
        new RegExp(String.raw`^\s*\.(?:${commands})\s+(?:-\S+\s+)*["']?([^\s"'|]+)`).exec(line) ?? []
      return name === undefined ? [] : [{ text: name, known: true, glob: false }]
    })
  return [
    ...reads(use, [...named, ...filesOf('read|import|restore|open')]),
    ...writes(use, [
      ...(changes ? named : []),
      ...filesOf('output|once|backup|save|dump|log|open|clone|excel'),
    ]),
    ...(lines.some((line) => /^\s*\.(?:shell|system)\b|^\s*\.(?:once|output)\s+["']?\|/.test(line))
      ? [{ kind: 'unknown', why: 'sqlite3 runs a command of a shell' } as const]
      : []),
  ]
}

/** Here-documents, and what echo and printf print. */
function inputOf(use: Use): readonly string[] {
  return [
    ...use.call.input,
    ...(printed(use) ?? []),
    ...use.call.inputFiles.flatMap((word) => textOf(word, use) ?? []),
  ]
}

function printed(use: Use): readonly string[] | undefined {
  const [source] = use.call.readsFrom
  if (!source || !/^(?:echo|printf|cat)$/.test(source.name)) return undefined
  if (source.name !== 'cat') return source.args.map(({ text }) => text)
  return [...source.input, ...source.args.flatMap((word) => textOf(word, use) ?? [])]
}

const MAX_BYTES = 1024 * 1024

function textOf({ text, known }: Word, { call: { folders } }: Use): string | undefined {
  if (!known) return undefined
  for (const folder of folders) {
    try {
      const found = readPlain(realOf(isAbsolute(text) ? text : join(folder, text)), MAX_BYTES)
      if ('text' in found) return found.text
    } catch {
      // It may not exist yet, or not be readable. Then the call itself fails, or its input is unknown.
    }
  }
  return undefined
}

const redis = ({ texts }: Use): readonly Draft[] => {
  const [verb = '', key] = plainWords(texts, /^-[hpanuiDdr]$|^--(?:user|pass|pattern|count)$/)
  if (/^(?:flushall|flushdb|del|unlink|shutdown|script|cluster)$/i.test(verb))
    return [database(verb.toUpperCase(), true, key)]
  return /^(?:set|hset|lpush|rpush|sadd|zadd|incr|expire|rename|append|setex|mset)$/i.test(verb)
    ? [database(verb.toUpperCase(), false, key)]
    : []
}

const mongo = (use: Use): readonly Draft[] =>
  mongoEffects([optionValue(use.texts, /^--eval$/) ?? '', ...inputOf(use)].join('\n'))

// ---- schemas ----------------------------------------------------------------------------------------------------

/** Words of schema tools that drop data, and words that only change the schema. */
const tool =
  (destroys: RegExp, changes: RegExp = /^$/) =>
  (use: Use): readonly Draft[] => {
    const line = use.texts.join(' ')
    const [operation] = destroys.exec(line) ?? []
    if (operation !== undefined) return [database(operation.trim(), true)]
    const [changed] = changes.exec(line) ?? []
    return changed === undefined ? [] : [database(changed.trim(), false)]
  }

const drops = (operation?: string) => ({
  kind: 'database',
  destroys: true,
  ...(operation === undefined ? {} : { operation }),
})
const keeps = { kind: 'database', destroys: false }

export const DATABASE_PROGRAMS: readonly Program[] = [
  {
    names: ['psql', 'pgcli', 'cockroach', 'yugabyte', 'ysqlsh'],
    effects: sql({
      statements: /^(?:-c|--command|-e|--execute)$/,
      files: /^(?:-f|--file)$/,
      valued: 'dhpUcf',
    }),
    examples: [
      { command: "psql -c 'DROP TABLE users'", effects: [drops('DROP TABLE')] },
      { command: "echo 'truncate t' | psql app", effects: [drops('TRUNCATE')] },
      { command: "psql -c 'DELETE FROM t WHERE id=1'", effects: [keeps] },
      { command: "psql -c 'select 1'", effects: [] },
    ],
  },
  {
    names: [
      'mysql',
      'mariadb',
      'mycli',
      'sqlcmd',
      'clickhouse-client',
      'clickhouse',
      'cqlsh',
      'snowsql',
      'isql',
      'impala-shell',
      'beeline',
      'trino',
      'presto',
    ],
    effects: sql({
      statements: /^(?:-e|--execute|-q|-Q|--query)$/,
      files: /^(?:-f|--file|-i)$/,
      valued: 'huPpeqQDSU',
    }),
    examples: [
      { command: "mysql -u root -e 'DROP DATABASE app'", effects: [drops('DROP DATABASE')] },
      { command: "mysql -e 'show tables'", effects: [] },
    ],
  },
  {
    names: ['sqlite3', 'sqlite', 'duckdb', 'litecli', 'turso'],
    effects: (use) => [
      ...sql({ statements: /^(?:-cmd|-c)$/, files: /^-init$/, valued: '', operand: true })(use),
      ...sqliteFiles(use),
    ],
    examples: [
      {
        command: "sqlite3 app.db 'DELETE FROM t'",
        effects: [drops('DELETE'), { kind: 'write', place: { path: '/home/dev/app/app.db' } }],
      },
      {
        command: "sqlite3 app.db '.output x.csv' 'select 1'",
        effects: [{ kind: 'write', place: { path: '/home/dev/app/x.csv' } }],
      },
      {
        command: "sqlite3 :memory: '.read x.sql'",
        effects: [{ kind: 'read', place: { path: '/home/dev/app/x.sql' } }],
      },
      { command: "sqlite3 app.db '.shell rm x'", effects: [{ kind: 'unknown' }] },
      {
        command: 'sqlite3 app.db .tables',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/app.db' } }],
      },
    ],
  },
  {
    names: ['mongosh', 'mongo'],
    effects: mongo,
    examples: [
      { command: "mongosh --eval 'db.dropDatabase()'", effects: [drops('dropDatabase')] },
      { command: "mongosh --eval 'db.t.find()'", effects: [] },
    ],
  },
  {
    names: ['redis-cli', 'valkey-cli', 'keydb-cli'],
    effects: redis,
    examples: [
      { command: 'redis-cli -h db FLUSHALL', effects: [drops('FLUSHALL')] },
      { command: 'redis-cli get a', effects: [] },
    ],
  },
  {
    names: ['dropdb', 'dropuser'],
    effects: ({ call, texts }) => [database(call.name, true, plainWords(texts, /^-[hpUW]$/)[0])],
    examples: [{ command: 'dropdb app', effects: [drops('dropdb')] }],
  },
  {
    names: ['mysqladmin'],
    effects: tool(/\bdrop\s+\S+|\bshutdown\b/, /\bcreate\s+\S+/),
    examples: [{ command: 'mysqladmin -f drop app', effects: [drops()] }],
  },
  {
    names: ['pg_restore', 'mongorestore'],
    effects: ({ texts }) => [
      database(
        'restore',
        texts.some((text) => /^(?:--clean|--drop|-\w*c)$/.test(text)),
      ),
    ],
    examples: [
      { command: 'pg_restore --clean -d app x.dump', effects: [drops('restore')] },
      { command: 'pg_restore -d app x.dump', effects: [keeps] },
    ],
  },
  {
    names: ['rails', 'rake'],
    effects: tool(
      /\bdb:(?:drop|reset|schema:load|structure:load|migrate:reset|purge|truncate_all|rollback|setup)\S*/,
      /\bdb:(?:migrate|seed|create)(?!:status)\b/,
    ),
    examples: [
      { command: 'bin/rails db:reset', effects: [drops('db:reset')] },
      { command: 'bundle exec rake db:migrate', effects: [keeps] },
    ],
  },
  {
    names: ['prisma'],
    effects: tool(
      /migrate reset|db push\b.*(?:--force-reset|--accept-data-loss)/,
      /migrate (?:dev|deploy)|db (?:push|seed)/,
    ),
    examples: [
      { command: 'npx prisma migrate reset', effects: [drops('migrate reset')] },
      { command: 'npx prisma migrate dev', effects: [keeps] },
    ],
  },
  {
    names: ['alembic', 'flask', 'aerich'],
    effects: tool(/\bdowngrade\b.*/, /\bupgrade\b.*/),
    examples: [
      { command: 'alembic downgrade base', effects: [drops()] },
      { command: 'alembic upgrade head', effects: [keeps] },
    ],
  },
  {
    names: ['manage.py', 'django-admin'],
    effects: tool(/\b(?:flush|reset_db|sqlflush)\b|\bmigrate \S+ zero\b/, /\bmigrate\b/),
    examples: [
      { command: 'python manage.py flush', effects: [drops('flush')] },
      { command: 'python3 manage.py migrate', effects: [keeps] },
    ],
  },
  {
    names: [
      'knex',
      'sequelize',
      'sequelize-cli',
      'typeorm',
      'drizzle-kit',
      'mikro-orm',
      'supabase',
      'dbmate',
      'goose',
      'flyway',
      'liquibase',
      'migrate',
      'sqlx',
      'diesel',
      'atlas',
    ],
    effects: tool(
      /migrate:rollback\b.*|db:drop\b|migrate:undo\S*|schema:drop|migration:revert|\bdrop(?:-all|-schema)?\b|\bclean\b|\bdb reset\b|\breset\b|\brollback\b|\bdown\b|\bdatabase reset\b|schema clean/,
      /migrate:latest|db:migrate|migration:run|\bup\b|\bmigrate\b|\bpush\b|\bupdate\b/,
    ),
    examples: [
      { command: 'npx knex migrate:rollback --all', effects: [drops()] },
      { command: 'flyway clean', effects: [drops('clean')] },
      { command: 'npx knex migrate:latest', effects: [keeps] },
    ],
  },
  {
    names: ['artisan', 'ecto'],
    effects: tool(/\b(?:migrate:(?:fresh|reset|refresh|rollback)|db:wipe)\b/, /\bmigrate\b|db:seed/),
    examples: [{ command: 'php artisan migrate:fresh', effects: [drops('migrate:fresh')] }],
  },
  {
    names: ['mix'],
    effects: tool(/\becto\.(?:drop|reset|rollback)\b/, /\becto\.migrate\b/),
    examples: [{ command: 'mix ecto.drop', effects: [drops('ecto.drop')] }],
  },
  {
    names: ['dotnet'],
    effects: tool(/\bef database drop\b/, /\bef database update\b/),
    examples: [
      { command: 'dotnet ef database drop', effects: [drops()] },
      { command: 'dotnet build', effects: [] },
    ],
  },
  {
    names: ['influx'],
    effects: tool(/^(?:delete|bucket delete)\b/),
    examples: [{ command: 'influx delete --bucket x', effects: [drops('delete')] }],
  },
]
