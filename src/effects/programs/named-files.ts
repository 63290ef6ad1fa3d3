// Files that a call names, of programs that another table reads for what else they do: `psql -o x.txt`, `gpg --store x`.

import { argumentsOf, inFolder, literalWord, type OptionShape } from '../files/file-effect.js'
import { shapeOf } from '../files/option-shapes.js'
import { type Draft, onPlaces, type Program, plainWords, reads, type Use, writes } from '../program.js'
import { awkDeeds } from '../script/awk-code.js'
import { type Word, withText } from '../script/word.js'

interface Names extends OptionShape {
  /** Letters and long options whose values are files. */
  readonly reads?: Options
  readonly writes?: Options
  readonly operands?: 'read'
}

type Options = readonly [letters: string, ...long: string[]]

const NO_OPTIONS: Options = ['']

/** Programs that name files by options, and read their other words at most. */
const named =
  (names: Names) =>
  (use: Use): readonly Draft[] => {
    const { reads: read = NO_OPTIONS, writes: written = NO_OPTIONS } = names
    const { operands, valuesOf } = argumentsOf(use.args, {
      valued: `${names.valued ?? ''}${read[0]}${written[0]}`,
      long: [...(names.long ?? []), ...read.slice(1), ...written.slice(1)],
    })
    return [
      ...reads(use, [...valuesOf(...read), ...(names.operands === 'read' ? operands : [])]),
      ...writes(use, valuesOf(...written)),
    ]
  }

// ---- keys -------------------------------------------------------------------------------------------------------

const GPG: OptionShape = {
  valued: 'oruRNz',
  long: [
    ...[
      '--output',
      '--recipient',
      '--local-user',
      '--homedir',
      '--keyring',
      '--secret-keyring',
      '--passphrase',
    ],
    ...[
      '--passphrase-file',
      '--options',
      '--trust-model',
      '--pinentry-mode',
      '--cipher-algo',
      '--digest-algo',
    ],
    ...['--keyserver', '--batch-size', '--comment', '--set-filename', '--status-fd', '--passphrase-fd'],
  ],
}

/** What it names no output for goes beside the file. */
const gpg = (use: Use): readonly Draft[] => {
  const { operands, valuesOf } = argumentsOf(use.args, GPG)
  const isAbout = use.texts.some((text) =>
    /^--(?:list-(?!packets)|export|delete|gen|quick|edit|recv|search)/.test(text),
  )
  const files = isAbout ? [] : operands
  const beside = files.flatMap((word) => [
    ...['.gpg', '.asc', '.sig'].map((ending) => withText(word, word.text + ending)),
    ...(/\.(?:gpg|asc|sig|pgp)$/.test(word.text) ? [withText(word, word.text.replace(/\.\w+$/, ''))] : []),
  ])
  const outputs = valuesOf('o', '--output')
  return [
    ...reads(use, [...files, ...valuesOf('', '--passphrase-file', '--options')]),
    ...writes(use, outputs.length > 0 || !use.texts.some(changesForm) ? outputs : beside),
    ...writes(use, valuesOf('', '--keyring', '--secret-keyring')),
    ...writes(use, valuesOf('', '--homedir'), true),
  ]
}

/** Whether it writes another form of the file: encrypted, signed, wrapped, or the plain one. */
function changesForm(text: string): boolean {
  return (
    /^-[a-zA-Z]*[csebd]/.test(text) ||
    /^--(?:encrypt|sign|symmetric|store|clear|detach|dearmo|enarmo|decrypt)/.test(text)
  )
}

const keygen = (use: Use): readonly Draft[] => {
  const files = argumentsOf(use.args, { valued: 'fRFNCtbPm' }).valuesOf('f')
  if (use.texts.some((text) => /^-\w*[lyBei]|^-F/.test(text))) return reads(use, files)
  return use.texts.some((text) => /^-[RH]/.test(text))
    ? writes(
        use,
        files.map((word) => ({ ...withText(word, `${word.text}.*`), glob: true })),
      )
    : []
}

// ---- disks ------------------------------------------------------------------------------------------------------

/** Images of disks: `mke2fs x.img 64`. A size behind one looks like a file, which does no harm. */
const disks = (use: Use): readonly Draft[] => {
  const { operands, valuesOf, has } = argumentsOf(use.args, {
    valued: 'tTLUNbIiMmOoEGgrCdezcps',
    long: ['--types', '--offset', '--output', '--label', '--uuid', '--pagesize'],
  })
  const files = operands.filter(({ text }) => !text.startsWith('/dev/'))
  const tells = use.texts.some((text) => /^(?:-n|--no-act)$/.test(text))
  return [
    ...reads(use, [...files, ...valuesOf('d')], true),
    ...(tells ? [] : writes(use, files)),
    ...(use.call.name === 'wipefs' && has('b', '--backup') ? writes(use, [WIPED]) : []),
    ...(use.call.name === 'badblocks' ? writes(use, valuesOf('o')) : []),
  ]
}

const WIPED: Word = { text: '~/wipefs-*.bak', known: true, glob: true }

// ---- gio --------------------------------------------------------------------------------------------------------

const TRASH = literalWord('~/.local/share/Trash')

const gio = (use: Use): readonly Draft[] => {
  const [verb, ...rest] = use.args
  const { operands } = argumentsOf(rest, { valued: 'at', long: ['--attributes', '--type'] })
  const last = operands.slice(-1)
  switch (verb?.text) {
    case 'cat':
      return reads(use, operands)
    case 'info':
    case 'list':
    case 'tree':
      return reads(use, operands, true)
    case 'copy':
      return [...reads(use, operands.slice(0, -1), true), ...writes(use, last, true)]
    case 'move':
      return writes(use, last, true)
    case 'rename':
      return [
        ...onPlaces('delete', placesOf(use, operands.slice(0, 1))),
        ...writes(use, besides(operands), true),
      ]
    case 'save':
    case 'mkdir':
    case 'set':
      return writes(use, verb.text === 'save' ? argumentsOf(rest).operands : operands)
    case 'trash':
      return writes(use, [TRASH], true)
    default:
      return []
  }
}

function placesOf(use: Use, words: readonly Word[]) {
  return words.flatMap((word) => use.places(word, true))
}

/** The new name is in the folder of the old one. */
function besides([file, name]: readonly Word[]): readonly Word[] {
  if (!file || !name) return []
  return [withText(file, file.text.replace(/[^/]*\/*$/, name.text))]
}

// ---- awk and archives -------------------------------------------------------------------------------------------

const awk = (use: Use): readonly Draft[] => {
  const { operands, valuesOf } = argumentsOf(use.args, shapeOf('awk'))
  const files = valuesOf('f', '--file')
  if (files.length > 0) return reads(use, files)
  const [code] = operands
  if (!code) return []
  const deeds = awkDeeds(code.text)
  return [
    ...reads(use, deeds.reads),
    ...writes(use, deeds.writes),
    ...(deeds.runs ? [{ kind: 'unknown', why: 'awk runs what it prints' } as const] : []),
  ]
}

/** `jar cf x.jar FILES` and `jar --create --file=x.jar FILES`. */
const jar = (use: Use): readonly Draft[] => {
  const [first, ...rest] = use.args
  const letters = /^-?([ctuxifmevM0nP]+)$/.exec(first?.text ?? '')?.[1]
  const isBundled = letters !== undefined && letters.length > 1
  // Behind bundled letters, the archive comes first, whatever its name begins with.
  const isNamed = isBundled && letters.includes('f')
  const { operands, valuesOf, has } = argumentsOf(isBundled ? rest.slice(isNamed ? 1 : 0) : use.args, {
    valued: 'fmeC',
    long: ['--file', '--manifest', '--main-class', '--release'],
  })
  const does = (letter: string, long: string) => (isBundled ? letters.includes(letter) : has(letter, long))
  const archives = isNamed ? rest.slice(0, 1) : valuesOf('f', '--file')
  const folders = valuesOf('C')
  if (does('x', '--extract')) return [...reads(use, archives), ...writes(use, [literalWord('.')], true)]
  if (!does('c', '--create') && !does('u', '--update')) return reads(use, archives)
  return [
    ...reads(use, [...operands, ...folders, ...valuesOf('m', '--manifest')], true),
    ...(does('u', '--update') ? reads(use, archives) : []),
    ...writes(use, archives),
  ]
}

// ---- packages ---------------------------------------------------------------------------------------------------

const dpkg = (use: Use): readonly Draft[] => {
  const { operands, has } = argumentsOf(use.args, { valued: 'D', long: ['--root', '--admindir'] })
  const [file, folder] = operands
  if (has('xXeR', '--extract', '--vextract', '--control', '--raw-extract'))
    return [
      ...reads(use, file ? [file] : []),
      ...writes(use, folder ? [folder] : [literalWord('DEBIAN')], true),
    ]
  if (has('b', '--build'))
    return [
      ...reads(use, file ? [file] : [], true),
      ...writes(
        use,
        folder ? [folder, inFolder(folder, '*.deb')] : file ? [withText(file, `${file.text}.deb`)] : [],
      ),
    ]
  return has('icIfW', '--install', '--contents', '--info', '--unpack', '--fsys-tarfile', '--show')
    ? reads(use, operands, true)
    : []
}

const PIP_SETTINGS = literalWord('~/.config/pip')

const pip = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts)
  const sets = words[0] === 'config' && /^(?:set|unset|edit)$/.test(words[1] ?? '')
  const { operands, valuesOf } = argumentsOf(use.args, {
    valued: 'rcdwtief',
    long: [
      '--requirement',
      '--constraint',
      '--dest',
      '--wheel-dir',
      '--target',
      '--prefix',
      '--log',
      '--index-url',
    ],
  })
  return [
    ...reads(use, [
      ...valuesOf('rc', '--requirement', '--constraint'),
      ...(words[0] === 'hash' ? operands.slice(1) : []),
    ]),
    ...writes(
      use,
      [...valuesOf('dwt', '--dest', '--wheel-dir', '--target', '--prefix'), ...(sets ? [PIP_SETTINGS] : [])],
      true,
    ),
    ...writes(use, valuesOf('', '--log')),
  ]
}

const MANIFEST = ['package.json', 'package-lock.json'].map(literalWord)

const npm = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts)
  if (words[0] === 'pack') return writes(use, [{ text: '*.tgz', known: true, glob: true }])
  const changes =
    /^(?:init|create|innit)$/.test(words[0] ?? '') ||
    (words[0] === 'pkg' && /^(?:set|delete|fix)$/.test(words[1] ?? '')) ||
    (words[0] === 'version' && words.length > 1)
  return changes ? writes(use, MANIFEST) : []
}

const GO_SETTINGS = literalWord('~/.config/go/env')
const GO_MODULE = ['go.mod', 'go.sum'].map(literalWord)

const go = (use: Use): readonly Draft[] => {
  const [verb, ...rest] = use.args
  const { operands, valuesOf, has } = argumentsOf(rest, { valued: 'o' })
  switch (verb?.text) {
    case 'mod':
      return /^(?:init|edit|tidy|vendor)$/.test(operands[0]?.text ?? '')
        ? [...reads(use, GO_MODULE), ...writes(use, GO_MODULE), ...writes(use, vendored(operands), true)]
        : []
    case 'get':
      return writes(use, GO_MODULE)
    case 'env':
      return has('wu') ? writes(use, [GO_SETTINGS]) : []
    case 'fmt':
      return [
        ...reads(use, operands, true),
        ...writes(use, operands.length > 0 ? operands : [literalWord('.')], true),
      ]
    default:
      return [
        ...reads(
          use,
          operands.filter(({ text }) => text.endsWith('.go')),
        ),
        ...writes(use, valuesOf('o')),
      ]
  }
}

function vendored([verb]: readonly Word[]): readonly Word[] {
  return verb?.text === 'vendor' ? [literalWord('vendor')] : []
}

// ---- table ------------------------------------------------------------------------------------------------------

const at = (kind: string, path: string, more = {}) => ({
  kind,
  place: { path: `/home/dev/app/${path}`, ...more },
})
const atHome = (kind: string, path: string) => ({ kind, place: { path: `/home/dev/${path}` } })

export const NAMED_FILES: readonly Program[] = [
  {
    names: ['jq'],
    // Each takes a name and a file.
    effects: (use) =>
      reads(
        use,
        use.args.filter((_, i) => /^--(?:slurpfile|rawfile)$/.test(use.texts[i - 2] ?? '')),
      ),
    examples: [
      { command: 'jq -n --slurpfile x -odd .', effects: [at('read', '-odd')] },
      { command: 'jq -n --rawfile key .env $key', effects: [at('read', '.env')] },
    ],
  },
  {
    names: ['gpg', 'gpg2'],
    effects: gpg,
    examples: [
      {
        command: 'gpg --output x.gpg --encrypt -r me .env',
        effects: [at('read', '.env'), at('write', 'x.gpg')],
      },
      { command: 'gpg -c .env', effects: [at('read', '.env'), at('write', '.env.gpg')] },
      { command: 'gpg --keyring ./x.kbx --list-keys', effects: [at('write', 'x.kbx')] },
      { command: 'gpg --list-packets x.gpg', effects: [at('read', 'x.gpg')] },
      { command: 'gpg --list-keys me', effects: [] },
    ],
  },
  {
    names: ['awk'],
    effects: awk,
    examples: [
      { command: `awk '{ print > "x.txt" }' a.csv`, effects: [at('write', 'x.txt')] },
      {
        command: `awk '{ print $1 >> $2 ".txt" }' a.csv`,
        effects: [{ kind: 'write', place: { known: false } }],
      },
      { command: `awk 'BEGIN { while ((getline l < ".env") > 0) print l }'`, effects: [at('read', '.env')] },
      { command: `awk '{ print "rm " $1 | "sh" }' list`, effects: [{ kind: 'unknown' }] },
      { command: `awk '$3 > 100 { print ($1 > 5), "a > b" }'`, effects: [] },
      { command: `awk '{ print $1 | "sort -rn" }'`, effects: [] },
      { command: `awk '{ print "x" > "/dev/stderr" }'`, effects: [] },
    ],
  },
  {
    names: ['jar'],
    effects: jar,
    examples: [
      { command: 'jar cf x.jar .env', effects: [at('read', '.env'), at('write', 'x.jar')] },
      { command: 'jar --extract --file x.jar', effects: [at('read', 'x.jar'), { kind: 'write' }] },
    ],
  },
  {
    names: ['wget'],
    effects: (use) => [
      ...named({
        reads: ['i', '--input-file', '--load-cookies', '--post-file', '--body-file'],
        valued: 'OPoaUetTQ',
      })(use),
      ...writes(
        use,
        argumentsOf(use.args, { long: ['--warc-file'] })
          .valuesOf('', '--warc-file')
          .map((word) => ({ ...withText(word, `${word.text}*.warc*`), glob: true })),
      ),
    ],
    examples: [{ command: 'wget -i list.txt', effects: [at('read', 'list.txt')] }],
  },
  {
    names: ['ssh', 'sftp'],
    effects: (use) =>
      use.call.name === 'ssh'
        ? named({ reads: ['Fi'], writes: ['E'], valued: 'BbcDeIJLlmOopQRSWw', stops: true })(use)
        : named({ reads: ['Fib'], valued: 'BcDJloPRSsX', stops: true })(use),
    examples: [
      {
        command: 'ssh -E ssh.log -i key example.org true',
        effects: [at('read', 'key'), at('write', 'ssh.log')],
      },
      { command: 'sftp -b batch.txt example.org', effects: [at('read', 'batch.txt')] },
    ],
  },
  {
    names: ['ssh-keygen'],
    effects: keygen,
    examples: [
      { command: 'ssh-keygen -R example.org -f hosts', effects: [at('write', 'hosts.*')] },
      { command: 'ssh-keygen -lf key.pub', effects: [at('read', 'key.pub')] },
    ],
  },
  {
    names: ['psql'],
    effects: named({
      reads: ['f', '--file'],
      writes: ['oL', '--output', '--log-file'],
      valued: 'cdvhpUFPRT',
      long: ['--command', '--dbname', '--host', '--port', '--username', '--variable'],
    }),
    examples: [
      { command: "psql -o out.txt -c 'select 1'", effects: [at('write', 'out.txt')] },
      { command: 'psql --file=x.sql app', effects: [at('read', 'x.sql')] },
    ],
  },
  {
    names: ['pg_restore'],
    effects: named({
      reads: ['L', '--use-list'],
      writes: ['f', '--file'],
      valued: 'dFIjnNPStThpU',
      operands: 'read',
    }),
    examples: [
      { command: 'pg_restore -f x.sql x.dump', effects: [at('read', 'x.dump'), at('write', 'x.sql')] },
    ],
  },
  {
    names: ['ninja'],
    effects: named({ reads: ['f'], valued: 'Cjkldtw' }),
    examples: [{ command: 'ninja -f out/rules.ninja', effects: [at('read', 'out/rules.ninja')] }],
  },
  {
    names: ['sysctl'],
    effects: (use) =>
      use.texts.some((text) => /^(?:-p|-f|--load)/.test(text))
        ? reads(use, argumentsOf(use.args).operands)
        : [],
    examples: [{ command: 'sysctl -p x.conf', effects: [at('read', 'x.conf')] }],
  },
  {
    names: ['mkfs', 'mke2fs', 'mkswap', 'wipefs', 'badblocks'],
    effects: disks,
    examples: [
      { command: 'mke2fs -F x.img 64', effects: [at('write', 'x.img')] },
      { command: 'mke2fs -d src x.img', effects: [at('read', 'src', { deep: true }), at('write', 'x.img')] },
      { command: 'wipefs -a --backup x.img', effects: [atHome('write', 'wipefs-*.bak')] },
    ],
  },
  {
    names: ['gio'],
    effects: gio,
    examples: [
      { command: 'gio copy .env /tmp/x', effects: [at('read', '.env')] },
      { command: 'gio rename a.txt b.txt', effects: [at('delete', 'a.txt'), at('write', 'b.txt')] },
      { command: 'gio trash a.txt', effects: [at('delete', 'a.txt'), atHome('write', '.local/share/Trash')] },
      { command: 'gio mount -l', effects: [] },
    ],
  },
  {
    names: ['dpkg'],
    effects: dpkg,
    examples: [
      { command: 'dpkg -x x.deb out', effects: [at('read', 'x.deb'), at('write', 'out', { deep: true })] },
      { command: 'dpkg -l', effects: [] },
    ],
  },
  {
    names: ['pip'],
    effects: pip,
    examples: [
      { command: 'pip download -d wheels requests', effects: [at('write', 'wheels')] },
      { command: 'pip install -r requirements.txt', effects: [at('read', 'requirements.txt')] },
      { command: 'pip config set global.timeout 1', effects: [atHome('write', '.config/pip')] },
    ],
  },
  {
    names: ['npm'],
    effects: npm,
    examples: [
      { command: 'npm init -y', effects: [at('write', 'package.json')] },
      { command: 'npm version', effects: [] },
    ],
  },
  {
    names: ['go'],
    effects: go,
    examples: [
      { command: 'go build -o app ./cmd/app', effects: [at('write', 'app')] },
      { command: 'go mod init example.org/x', effects: [at('write', 'go.mod')] },
      { command: 'go env -w GOFLAGS=-mod=mod', effects: [atHome('write', '.config/go/env')] },
      { command: 'go version', effects: [] },
    ],
  },
]
