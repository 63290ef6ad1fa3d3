// Programs that copy files into a backup, which may be on another machine.

import { argumentsOf } from '../files/file-effect.js'
import {
  type Draft,
  hostOf,
  onPlaces,
  optionValue,
  type Program,
  plainWords,
  send,
  type Use,
} from '../program.js'
import { certainStart, type Word } from '../script/word.js'

interface Backup {
  /** The words with which it copies. Undefined: it always does. */
  readonly verbs?: RegExp
  /** Letters and long options that take the next word. */
  readonly valued: readonly [letters: string, ...long: string[]]
  /** Where the copy goes, and the files. Undefined: only its settings say where. */
  readonly parts: (use: Use, operands: readonly Word[]) => Parts
}

interface Parts {
  readonly repository: string | undefined
  readonly files: readonly Word[]
}

/** A scheme, or `host:path` as in ssh. A letter alone is a drive. */
const ELSEWHERE = /^(?!file:|local:)(?:[\w+.-]{2,}:|[\w.-]+@[\w.-]+:)/

const BUCKETS = /^(?:s3|b2|gs|azure|swift|rclone|rest|b2s):(?:https?:)?(?:\/\/)?([\w.-]+)/

function hostOfRepository(text: string): string | undefined {
  if (certainStart(text) !== undefined) return undefined
  return hostOf(text) ?? BUCKETS.exec(text)?.[1] ?? /^(?:sftp:)?(?:[^@/]*@)?([\w.-]+):/.exec(text)?.[1]
}

const restic: Backup = {
  verbs: /^backup$/,
  valued: [
    'rpoeH',
    ...['--repo', '--repository-file', '--password-file', '--password-command', '--exclude', '--iexclude'],
    ...['--exclude-file', '--tag', '--host', '--parent', '--files-from', '--option', '--limit-upload'],
  ],
  parts: ({ texts, script }, [, ...files]) => ({
    repository:
      optionValue(texts, /^(?:-r|--repo)$/) ??
      /^-r(.+)$/.exec(texts.find((text) => /^-r./.test(text)) ?? '')?.[1] ??
      assigned(script.assignments, 'RESTIC_REPOSITORY'),
    files,
  }),
}

const borg: Backup = {
  verbs: /^create$/,
  valued: ['Cce', '--compression', '--exclude', '--exclude-from', '--pattern', '--comment', '--repo'],
  parts: ({ texts, script }, [, archive, ...files]) => ({
    repository:
      optionValue(texts, /^--repo$/) ??
      (archive?.text.startsWith('::') ? assigned(script.assignments, 'BORG_REPO') : archive?.text),
    files,
  }),
}

/** Its settings say where. */
const connected = (verbs: RegExp, skipped: number): Backup => ({
  verbs,
  valued: [''],
  parts: (_, operands) => ({ repository: undefined, files: operands.slice(skipped) }),
})

/** `duplicity full ~/app s3://bucket`: the last word says where. */
const lastIs: Backup = {
  valued: ['', '--exclude', '--include', '--encrypt-key', '--name', '--archive-dir'],
  parts: (_, operands) => ({
    repository: operands.at(-1)?.text ?? '',
    files: operands.slice(0, -1).filter(({ text }) => !/^(?:full|incr|incremental|backup)$/.test(text)),
  }),
}

const BACKUPS: Readonly<Record<string, Backup>> = {
  restic,
  rustic: restic,
  borg,
  borgmatic: connected(/^create$/, 1),
  kopia: connected(/^snapshot$/, 2),
  duplicacy: connected(/^backup$/, 1),
  tarsnap: connected(/^/, 0),
  duplicity: lastIs,
  'rdiff-backup': lastIs,
}

function assigned(assignments: readonly string[], name: string): string | undefined {
  return assignments.findLast((one) => one.startsWith(`${name}=`))?.slice(name.length + 1)
}

const copied = (use: Use): readonly Draft[] => {
  const { verbs, valued, parts } = BACKUPS[use.call.name] as Backup
  const [letters, ...long] = valued
  const { operands, has } = argumentsOf(use.args, { valued: letters, long })
  if (verbs && !verbs.test(operands[0]?.text ?? '')) return []
  if (use.call.name === 'kopia' && operands[1]?.text !== 'create') return []
  if (use.call.name === 'tarsnap' && !has('c')) return []
  // `duplicity restore` and `rdiff-backup --remove-older-than` bring files back, or none.
  if (/^(?:restore|verify|cleanup|list|collection|remove)/.test(plainWords(use.texts)[0] ?? '')) return []
  const { repository, files } = parts(use, operands)
  const places = files.flatMap((word) => use.places(word, true))
  const read = onPlaces('read', places)
  const isHere =
    repository !== undefined && certainStart(repository) === undefined && !ELSEWHERE.test(repository)
  if (isHere) return read
  const host = repository === undefined ? undefined : hostOfRepository(repository)
  const from = places.map((place) => ({ of: 'file', place }) as const)
  return [...read, send(host, from.length > 0 ? from : [{ of: 'text' }])]
}

const read = (path: string) => ({ kind: 'read', place: { path, deep: true } })

export const BACKUP_PROGRAMS: readonly Program[] = [
  {
    names: Object.keys(BACKUPS),
    effects: copied,
    examples: [
      {
        command: 'restic -r s3:s3.amazonaws.com/b backup ~/app',
        effects: [read('/home/dev/app'), { kind: 'send', host: 's3.amazonaws.com' }],
      },
      { command: 'restic backup src', effects: [read('/home/dev/app/src'), { kind: 'send' }] },
      {
        command: 'RESTIC_REPOSITORY=sftp:a@example.org:/b restic backup src',
        effects: [{ kind: 'send', host: 'example.org' }],
      },
      {
        command: 'borg create ssh://a@example.org/./r::x src',
        effects: [{ kind: 'send', host: 'example.org' }],
      },
      { command: 'borg create example.org:r::x src', effects: [{ kind: 'send', host: 'example.org' }] },
      { command: 'duplicity src s3://bucket/a', effects: [{ kind: 'send', host: 'bucket' }] },
      { command: 'kopia snapshot create src', effects: [{ kind: 'send' }] },
      { command: 'kopia snapshot list', effects: [] },
      { command: 'rdiff-backup src a@example.org::b', effects: [{ kind: 'send', host: 'example.org' }] },
    ],
  },
]
