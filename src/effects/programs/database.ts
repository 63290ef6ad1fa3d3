// Clients of databases, and the tools that change their schema.

import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { readPlain } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import { argumentsOf } from '../files/file-effect.js'
import { DELETERS } from '../files/file-effects.js'
import { type Draft, database, type Program, plainWords, reads, type Use, writes } from '../program.js'
import type { Word } from '../script/word.js'
import { linesInSql, modelEffects, mongoEffects, sqlEffects } from './sql.js'
import { sparingTests } from './test-databases.js'

// ---- SQL --------------------------------------------------------------------------------------------------------

interface Client {
  /** Letters of options that are followed by statements, and of those that name a file with some. */
  readonly statements: string
  readonly files: string
  /** Other letters that take a value. */
  readonly valued: string
  /** Whether the second operand is a statement. */
  readonly operand?: boolean
}

const LONG = ['--command', '--execute', '--query']
const LONG_FILES = ['--file', '--queries-file']

const sql =
  ({ statements, files, valued, operand = false }: Client) =>
  (use: Use): readonly Draft[] => {
    const given = argumentsOf(use.args, {
      valued: statements + files + valued,
      long: [...LONG, ...LONG_FILES],
    })
    const read = given.valuesOf(files, ...LONG_FILES)
    const texts = [
      ...[...given.valuesOf(statements, ...LONG), ...(operand ? given.operands.slice(1) : [])].map(
        statementsIn,
      ),
      ...inputOf(use),
      ...read.flatMap((word) => textOf(word, use) ?? []),
    ]
    return [...texts.flatMap(sqlEffects), ...runLines(use, texts), ...reads(use, read), ...fedTo(use)]
  }

/** `\! ls`, `COPY … TO PROGRAM 'ls'` */
function runLines({ call }: Use, texts: readonly string[]): readonly Draft[] {
  return texts.flatMap(linesInSql).map((line) => ({
    kind: 'unknown',
    why: `${call.name} runs a command of a shell: ${line.trim().slice(0, 100)}`,
  }))
}

/** Backticks quote a name, unless the shell fills them in. */
function statementsIn({ text, known }: Word): string {
  return known ? text : text.replace(/`([^`]*)`/g, '$$($1)')
}

function fedTo(use: Use): readonly Draft[] {
  const isFed = use.call.readsFrom.length > 0 && printed(use) === undefined
  return isFed
    ? [{ kind: 'unknown', why: `the statements that ${use.call.name} runs come from another program` }]
    : []
}

/** sqlite3 has long options with one dash. */
const sqlite = (use: Use): readonly Draft[] => {
  const isNamed = (option: RegExp) => use.args.filter((_, i) => option.test(use.texts[i - 1] ?? ''))
  const read = isNamed(/^--?init$/)
  const texts = [
    ...[...isNamed(/^--?(?:cmd|c)$/), ...argumentsOf(use.args).operands.slice(1)].map(statementsIn),
    ...inputOf(use),
    ...read.flatMap((word) => textOf(word, use) ?? []),
  ]
  return [...texts.flatMap(sqlEffects), ...reads(use, read), ...fedTo(use), ...sqliteFiles(use)]
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
export function inputOf(use: Use): readonly string[] {
  return [
    ...use.call.input,
    ...(printed(use) ?? []),
    ...use.call.inputFiles.flatMap((word) => textOf(word, use) ?? []),
  ]
}

function printed(use: Use): readonly string[] | undefined {
  const [source] = use.call.readsFrom
  if (!source || !/^(?:echo|printf|cat)$/.test(source.name)) return undefined
  if (source.name !== 'cat') return source.args.map(statementsIn)
  return [...source.input, ...source.args.flatMap((word) => textOf(word, use) ?? [])]
}

const MAX_BYTES = 1024 * 1024

export function textOf({ text, known }: Word, { call: { folders } }: Use): string | undefined {
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

const REDIS = /^-[hpanuiDdr]$|^--(?:user|pass|pattern|count)$/
const REDIS_LOSES = /^(?:flushall|flushdb|del|unlink|shutdown|script|cluster)$/i

const redis = (use: Use): readonly Draft[] => {
  const lines = inputOf(use).flatMap((text) => text.split('\n').map((line) => line.trim().split(/\s+/)))
  return [plainWords(use.texts, REDIS), ...lines].flatMap(redisCommand)
}

function redisCommand([verb = '', key, ...more]: readonly string[]): readonly Draft[] {
  // A script in Lua.
  if (/^(?:eval|fcall)$/i.test(verb)) {
    const calls = [...(key ?? '').matchAll(/\bp?call\s*\(\s*['"](\w+)['"](?:\s*,\s*['"]([^'"]*)['"])?/g)]
    return calls.flatMap(([, inner = '', name]) => redisCommand(name === undefined ? [inner] : [inner, name]))
  }
  if (REDIS_LOSES.test(verb))
    return [key, ...(/^(?:del|unlink)$/i.test(verb) ? more : [])].map((name) =>
      database(verb.toUpperCase(), true, name),
    )
  return /^(?:set|hset|lpush|rpush|sadd|zadd|incr|expire|rename|append|setex|mset)$/i.test(verb)
    ? [database(verb.toUpperCase(), false, key)]
    : []
}

const mongo = (use: Use): readonly Draft[] =>
  mongoEffects(
    [
      ...argumentsOf(use.args, { long: ['--eval'] })
        .valuesOf('', '--eval')
        .map(({ text }) => text),
      ...inputOf(use),
    ].join('\n'),
  )

/** The texts of files behind `--file`. */
function fileTexts(use: Use): readonly string[] {
  return argumentsOf(use.args, { long: LONG_FILES })
    .valuesOf('', ...LONG_FILES)
    .flatMap((word) => textOf(word, use) ?? [])
}

// ---- schemas ----------------------------------------------------------------------------------------------------

/** Words of schema tools that drop data, and words that only change the schema. */
export const tool =
  (destroys: RegExp, changes: RegExp = /^$/) =>
  (use: Use): readonly Draft[] => {
    const line = use.texts.join(' ')
    const [operation] = destroys.exec(line) ?? []
    if (operation !== undefined) return [database(operation.trim(), true)]
    const [changed] = changes.exec(line) ?? []
    return changed === undefined ? [] : [database(changed.trim(), false)]
  }

/** Code that a framework runs behind one of its verbs: `rails runner CODE`, `manage.py shell -c CODE`. */
const withCode =
  (verbs: RegExp, usual: (use: Use) => readonly Draft[]) =>
  (use: Use): readonly Draft[] => {
    const at = use.texts.findIndex((text) => verbs.test(text))
    if (at < 0) return usual(use)
    return modelEffects([...use.texts.slice(at + 1), ...inputOf(use)].join('\n'))
  }

export const drops = (operation?: string) => ({
  kind: 'database',
  destroys: true,
  ...(operation === undefined ? {} : { operation }),
})
export const keeps = { kind: 'database', destroys: false }

const CLIENTS: readonly Program[] = [
  {
    names: ['psql', 'pgcli', 'yugabyte', 'ysqlsh'],
    effects: sql({ statements: 'c', files: 'f', valued: 'dhpUFLoPRTv' }),
    examples: [
      { command: "psql -c 'DROP TABLE users'", effects: [{ ...drops('DROP TABLE'), resource: 'users' }] },
      { command: "psql -h prod -qAtc 'DROP TABLE users'", effects: [drops('DROP TABLE')] },
      { command: "psql -Atc'DELETE FROM users' prod", effects: [drops('DELETE')] },
      { command: "psql --command='DROP TABLE users'", effects: [drops('DROP TABLE')] },
      {
        command: `psql -c 'DROP TABLE public."users", logs CASCADE'`,
        effects: [
          { ...drops('DROP TABLE'), resource: 'public.users' },
          { ...drops('DROP TABLE'), resource: 'logs' },
        ],
      },
      {
        command: "psql -c 'truncate only a, only b restart identity'",
        effects: [
          { ...drops('TRUNCATE'), resource: 'a' },
          { ...drops('TRUNCATE'), resource: 'b' },
        ],
      },
      { command: "psql -c 'DELETE FROM ONLY t'", effects: [{ ...drops('DELETE'), resource: 't' }] },
      {
        command: "psql -c 'WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x WHERE a'",
        effects: [{ ...drops('DELETE'), resource: 't' }],
      },
      {
        command: "psql -c 'WITH x AS (SELECT 1) DELETE FROM t WHERE id IN (SELECT 1)'",
        effects: [{ ...keeps, resource: 't' }],
      },
      { command: "psql -c 'INSERT INTO app.t VALUES (1)'", effects: [{ ...keeps, resource: 'app.t' }] },
      {
        command: "psql -c 'GRANT ALL ON users TO app'",
        effects: [{ ...keeps, operation: 'GRANT', resource: 'users' }, { kind: 'privilege' }],
      },
      { command: "psql -c 'ALTER TABLE t ALTER c DROP NOT NULL'", effects: [keeps] },
      { command: "psql -c 'ALTER TABLE ONLY t DROP COLUMN c'", effects: [{ ...drops(), resource: 't' }] },
      { command: "psql -c 'DROP INDEX i'", effects: [keeps] },
      { command: "echo 'truncate t' | psql app", effects: [drops('TRUNCATE')] },
      { command: "psql -c 'DELETE FROM t WHERE id=1'", effects: [keeps] },
      { command: "psql -c 'select 1'", effects: [] },
      { command: "psql -tAc 'select 1'", effects: [] },
      { command: String.raw`psql prod -c '\! ls'`, effects: [{ kind: 'unknown' }] },
      { command: `psql -c "COPY users TO PROGRAM 'ls'"`, effects: [{ kind: 'unknown' }, keeps] },
    ],
  },
  {
    names: ['mysql', 'mariadb', 'mycli'],
    effects: sql({ statements: 'e', files: '', valued: 'huPDS' }),
    examples: [
      { command: "mysql -u root -e 'DROP DATABASE app'", effects: [drops('DROP DATABASE')] },
      { command: "mysql -Nse 'drop table `x`' prod", effects: [{ ...drops('DROP TABLE'), resource: 'x' }] },
      { command: "mysql -uroot -psecret -Be 'drop table x'", effects: [drops('DROP TABLE')] },
      { command: "mysql -e 'show tables'", effects: [] },
    ],
  },
  {
    names: [
      'cockroach',
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
    effects: sql({ statements: 'eqQ', files: 'fi', valued: 'huPDSUd' }),
    examples: [
      { command: "cockroach sql -e 'DROP TABLE x'", effects: [drops('DROP TABLE')] },
      { command: "sqlcmd -S db -Q 'DROP TABLE dbo.[x]'", effects: [{ ...drops(), resource: 'dbo.x' }] },
      {
        command: "clickhouse client --query='ALTER TABLE e DELETE WHERE 1'",
        effects: [{ ...drops('ALTER TABLE DELETE'), resource: 'e' }],
      },
      { command: "clickhouse-client -q 'ALTER TABLE e DELETE WHERE id = 3'", effects: [keeps] },
      { command: "clickhouse-client -q 'select 1'", effects: [] },
    ],
  },
  {
    names: ['sqlite3', 'sqlite', 'duckdb', 'litecli'],
    effects: sqlite,
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
      { command: `redis-cli -n 0 EVAL "return redis.call('FLUSHALL')" 0`, effects: [drops('FLUSHALL')] },
      { command: 'echo flushall | redis-cli', effects: [drops('FLUSHALL')] },
      { command: 'redis-cli get a', effects: [] },
      { command: `redis-cli eval "return redis.call('get', 'a')" 0`, effects: [] },
    ],
  },
  {
    names: ['dropdb', 'dropuser'],
    effects: ({ call, texts }) => [database(call.name, true, plainWords(texts, /^-[hpUW]$/)[0])],
    examples: [
      { command: 'dropdb app', effects: [drops('dropdb')] },
      { command: 'dropdb --if-exists app_test', effects: [keeps] },
      { command: 'dropdb -h db.example.org app_test', effects: [drops('dropdb')] },
    ],
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
    effects: withCode(
      /^(?:runner|r)$/,
      tool(
        /\bdb:(?:drop|reset|schema:load|structure:load|migrate:reset|purge|truncate_all|rollback|setup)\S*/,
        /\bdb:(?:migrate|seed|create)(?!:status)\b/,
      ),
    ),
    examples: [
      { command: 'bin/rails db:reset', effects: [drops('db:reset')] },
      { command: 'bundle exec rake db:migrate', effects: [keeps] },
      { command: "bin/rails runner 'User.delete_all'", effects: [drops('delete_all')] },
      {
        command: `rails runner "Base.connection.execute('DROP TABLE users')"`,
        effects: [drops('DROP TABLE')],
      },
      { command: "bin/rails runner 'puts User.count'", effects: [] },
      { command: 'railway run rails db:drop', effects: [drops('db:drop')] },
    ],
  },
  {
    names: ['prisma'],
    effects: (use) =>
      /^db execute\b/.test(plainWords(use.texts).join(' '))
        ? [...inputOf(use), ...fileTexts(use)].flatMap(sqlEffects)
        : tool(
            /migrate reset|db push\b.*(?:--force-reset|--accept-data-loss)/,
            /migrate (?:dev|deploy)|db (?:push|seed)/,
          )(use),
    examples: [
      { command: 'npx prisma migrate reset', effects: [drops('migrate reset')] },
      { command: 'npx prisma migrate dev', effects: [keeps] },
      { command: "npx prisma db execute --stdin <<< 'DROP TABLE users'", effects: [drops('DROP TABLE')] },
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
    effects: withCode(
      /^(?:shell|shell_plus|dbshell)$/,
      tool(/\b(?:flush|reset_db)\b|\bmigrate \S+ zero\b/, /\bmigrate\b/),
    ),
    examples: [
      { command: 'python manage.py flush', effects: [drops('flush')] },
      { command: 'python3 manage.py migrate', effects: [keeps] },
      {
        command: "python manage.py shell -c 'User.objects.all().delete()'",
        effects: [drops('delete')],
      },
    ],
  },
  {
    names: [
      'knex',
      'sequelize',
      'sequelize-cli',
      'typeorm',
      'mikro-orm',
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
    names: ['drizzle-kit'],
    effects: tool(/\bpush\b.*--force\b|\bdrop\b/, /\b(?:push|migrate|up)\b/),
    examples: [
      { command: 'npx drizzle-kit push --force', effects: [drops()] },
      { command: 'npx drizzle-kit push', effects: [keeps] },
      { command: 'npx drizzle-kit generate', effects: [] },
    ],
  },
  {
    names: ['artisan', 'ecto'],
    effects: withCode(
      /^tinker$/,
      tool(/\b(?:migrate:(?:fresh|reset|refresh|rollback)|db:wipe)\b/, /\bmigrate\b|db:seed/),
    ),
    examples: [
      { command: 'php artisan migrate:fresh', effects: [drops('migrate:fresh')] },
      {
        command: `php artisan tinker --execute="DB::table('users')->truncate();"`,
        effects: [drops('truncate')],
      },
    ],
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

export const DATABASE_PROGRAMS: readonly Program[] = CLIENTS.map(sparingTests)
