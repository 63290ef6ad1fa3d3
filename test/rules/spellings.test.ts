// A rule about a package, a table or a resource counts for every spelling of its name.

import { describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import type { Rule } from '../../src/rules/rule.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { verdictOf } from '../../src/rules/verdict.js'
import { HOME, PROJECT } from '../effects/command-lists.js'

async function answer(command: string, rule: Omit<Rule, 'id'>): Promise<string> {
  const context = { cwd: PROJECT, projectDir: PROJECT, home: HOME, env: {} }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  const rules = [{ id: 'mine', ...rule }, ...FILLING]
  const hits = rulesInForce({ preset: undefined, rules }, { project: PROJECT, home: HOME }).judge(effects, {
    permissionMode: undefined,
    now: 0,
  })
  return verdictOf(hits, effects, { may: 'all', file: 'rules.json' }).result.action
}

/** So that rules are looked up by their patterns. */
const FILLING: readonly Rule[] = Array.from({ length: 20 }, (_, i) => ({
  id: `other-${i}`,
  effects: ['database', 'cloud', 'install'],
  of: [`nothing-${i}`],
  then: 'deny',
}))

const on = (kind: 'database' | 'cloud' | 'install', of: string) =>
  ({ effects: [kind], of: [of], then: 'deny' }) as const

describe('a rule about a table', () => {
  const NAMES = [
    'users',
    'USERS',
    '"users"',
    'public.users',
    'PUBLIC.Users',
    'app.public.users',
    '"app"."public"."users"',
    'public . users',
    '[dbo].[users]',
  ]
  it.each(NAMES)('counts for %s', async (name) => {
    for (const pattern of ['users', 'USERS', 'user*', '"users"'])
      expect(await answer(`psql -c 'DROP TABLE ${name}'`, on('database', pattern)), pattern).toBe('deny')
  })

  it.each(NAMES.filter((name) => !name.includes('.')))('with its schema counts for %s', async (name) => {
    for (const pattern of ['public.users', 'app.public.users', 'public.*'])
      expect(await answer(`psql -c 'TRUNCATE ${name}'`, on('database', pattern)), pattern).toBe('deny')
  })

  it('counts for names in backticks, and if the table is only known at run time', async () => {
    expect(await answer("mysql -e 'drop table `app`.`users`'", on('database', 'users'))).toBe('deny')
    expect(await answer('psql -c "DROP TABLE public.$T"', on('database', 'users'))).toBe('ask_user')
  })

  it('leaves other tables and other schemas alone', async () => {
    expect(await answer("psql -c 'DROP TABLE public.users2'", on('database', 'users'))).toBe('continue')
    expect(await answer("psql -c 'DROP TABLE users.logs'", on('database', 'users'))).toBe('continue')
    expect(await answer("psql -c 'DROP TABLE test.users'", on('database', 'public.users'))).toBe('continue')
  })

  it('has exceptions only for what is surely meant', async () => {
    const rule = { effects: ['database'], except: ['test.users', 'scratch'], then: 'deny' } as const
    expect(await answer("psql -c 'DROP TABLE test.users'", rule)).toBe('continue')
    expect(await answer(`psql -c 'DROP TABLE "Scratch"'`, rule)).toBe('continue')
    expect(await answer("psql -c 'DROP TABLE users'", rule)).toBe('deny')
    expect(await answer("psql -c 'DROP TABLE prod.scratch'", rule)).toBe('deny')
  })
})

describe('a rule about a bucket', () => {
  it.each([
    'aws s3 rb s3://prod --force',
    'aws s3 rm s3://prod/ --recursive',
    'aws s3 rm s3://prod/logs --recursive',
    'aws s3api delete-bucket --bucket prod',
    'aws s3api delete-bucket --bucket=prod',
    'aws s3api delete-bucket --region eu-west-1 --bucket prod',
    'aws s3api delete-object --key a/b --bucket prod',
    'aws s3api delete-objects --delete file://list.json --bucket prod',
    'aws s3api put-bucket-versioning --bucket prod --versioning-configuration Status=Suspended',
    'aws s3api delete-bucket --bucket arn:aws:s3:::prod',
    'aws s3 sync . s3://prod --delete',
    'aws --profile x s3 rb s3://prod',
  ])('counts for %s', async (command) => {
    for (const pattern of ['s3://prod', 'prod', 'S3://prod/', 'arn:aws:s3:::prod', 's3://pro*'])
      expect(await answer(command, on('cloud', pattern)), pattern).toBe('deny')
  })

  it('counts for what is in it, and leaves other buckets alone', async () => {
    expect(
      await answer('aws s3api delete-object --bucket prod --key a/b', on('cloud', 's3://prod/a/*')),
    ).toBe('deny')
    expect(await answer('aws s3 rm "s3://prod/$KEY"', on('cloud', 's3://prod'))).toBe('ask_user')
    expect(await answer('aws s3 rb s3://prod-logs', on('cloud', 's3://prod'))).toBe('continue')
  })
})

describe('a rule about another resource', () => {
  it.each([
    'kubectl delete namespace prod',
    'kubectl delete ns prod',
    'kubectl delete namespaces/prod',
    'kubectl delete ns test prod',
    'kubectl -n x delete ns/prod --wait=false',
  ])('of a cluster counts for %s', async (command) => {
    for (const pattern of ['namespace/prod', 'ns/prod', 'prod'])
      expect(await answer(command, on('cloud', pattern)), pattern).toBe('deny')
  })

  it.each([
    'aws rds delete-db-instance --skip-final-snapshot --db-instance-identifier prod',
    'aws rds delete-db-instance --db-instance-identifier=prod --skip-final-snapshot',
    `aws dynamodb delete-item --key '{"id":{"S":"1"}}' --table-name prod`,
    'gcloud sql instances delete prod --quiet',
    'gcloud sql instances delete --project p prod',
  ])('counts for %s, wherever it is named', async (command) => {
    expect(await answer(command, on('cloud', 'prod'))).toBe('deny')
    expect(await answer(command, on('cloud', 'test'))).toBe('continue')
  })
})

describe('a rule about a package', () => {
  it.each([
    'npm install left-pad',
    'npm i left-pad@1',
    'npm i left-pad@^1.3.0',
    'npm i left-pad@latest',
    'npm i "left-pad@$VERSION"',
    'npm isntall Left-Pad',
    'npm i npm:left-pad',
    'npm i npm:left-pad@1',
    'npm i pad@npm:left-pad@1',
    'npm i left-pad@npm:other',
    'npm i someone/left-pad',
    'npm i github:someone/left-pad#main',
    'npm i git+https://github.com/someone/left-pad.git#v1',
    'npm i git@github.com:someone/left-pad.git',
    'npm i https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz',
    'yarn add left-pad@1',
    'pnpm add -D left-pad@1',
    'bun add left-pad@1',
    'pip install left_pad==2',
    'pip install "left.pad[extra]>=2,<3"',
    `pip install 'left-pad; python_version<"3"'`,
    'pip install "left-pad @ https://example.com/x.zip"',
    'pip install git+https://example.com/a/b.git@v1#egg=left-pad',
    'pip install https://example.com/left_pad-1.0.tar.gz',
    'uv pip install left-pad~=1.0',
    'cargo install left-pad@1',
    'gem install left-pad:1',
    'apt-get install left-pad=1.2',
    'apt install left-pad/stable',
    'apt install left-pad:amd64',
    'conda install conda-forge::left-pad=1',
    'brew install someone/tap/left-pad',
  ])('counts for %s', async (command) => {
    expect(await answer(command, on('install', 'left-pad'))).toBe('deny')
  })

  it.each(['npm i @scope/x@^1', 'npm i @scope/x', 'npm i y@npm:@scope/x@1', 'pnpm add @SCOPE/x@latest'])(
    'of a scope counts for %s',
    async (command) => {
      for (const pattern of ['@scope/x', '@scope/*'])
        expect(await answer(command, on('install', pattern)), pattern).toBe('deny')
    },
  )

  it('leaves other packages alone', async () => {
    for (const command of ['npm i left-pad2', 'npm i @other/left-pad', 'npm i pad@npm:right-pad@1'])
      expect(await answer(command, on('install', 'left-pad')), command).toBe('continue')
  })

  it('has exceptions for every version, but not for what only has the name', async () => {
    const rule = { effects: ['install'], except: ['left-pad', 'requests'], then: 'deny' } as const
    expect(await answer('npm i left-pad@1', rule)).toBe('continue')
    expect(await answer("pip install 'requests[socks]>=2'", rule)).toBe('continue')
    expect(await answer('npm i left-pad@npm:evil', rule)).toBe('deny')
    expect(await answer('npm i evil/left-pad', rule)).toBe('deny')
    expect(await answer('pip install git+https://evil.example/requests.git#egg=requests', rule)).toBe('deny')
  })
})
