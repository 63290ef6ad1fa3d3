// Programs that read the files that they are given.

import { type Arguments, argumentsOf, inFolder, literalWord } from '../files/file-effect.js'
import { shapeOf } from '../files/option-shapes.js'
import { canBe } from '../paths/path-overlap.js'
import {
  type Draft,
  hostOf,
  literalPlace,
  onPlaces,
  optionValue,
  type Program,
  reads,
  send,
  type Use,
  writes,
} from '../program.js'
import type { Call, Script } from '../script/shell-script.js'
import { isWild, type Word, withText } from '../script/word.js'
import { alternativesOf } from '../shell/patterns.js'
import { fileChanges } from './files.js'
import { sourcesOfInput } from './sources.js'

/** The environment as a file: programs that print it read this. */
const ENVIRONMENT = literalPlace('/proc/self/environ')

/** Names of variables that hold secrets. */
export const SECRET_NAME =
  /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIALS?|PRIVATE_KEY|PAT|AUTH)(?:$|_)/i

/** Part of such a name. */
const SECRET_PART = /KEY|TOK|SEC|PAS|PWD|CRED|PRIV|PAT(?!H)|AUTH|API|AWS|GITHUB/i

const all = (use: Use) => {
  const { operands, valuesOf } = argumentsOf(use.args, shapeOf(use.call.name))
  const lists = valuesOf(use.call.name === 'file' ? 'f' : '', '--files0-from', '--files-from')
  return [
    ...reads(use, [...operands, ...lists]),
    ...reads(
      use,
      lists.map(({ text }) => ({ text: `the files in ${text}`, known: false, glob: false })),
    ),
    ...fileChanges(use),
  ]
}

/** The first operand is a pattern or a program, unless an option gives it. */
const behindFirst =
  (letters: string, ...long: readonly string[]) =>
  (use: Use) => {
    const { operands, has, valuesOf } = argumentsOf(use.args, shapeOf(use.call.name))
    const isGiven = has(letters, ...long)
    const isSed = /^g?sed$/.test(use.call.name)
    const isDeep = /^(?:rg|ag|ack)$/.test(use.call.name) || has('rR', '--recursive')
    const files = isGiven ? operands : operands.slice(1)
    // Without files, it searches the current folder.
    const isHere = isDeep && files.length === 0 && use.call.readsFrom.length === 0
    const searched = isHere ? [literalWord('.')] : files
    const filters = isDeep ? filtersOf(use.call.name, valuesOf) : []
    return [
      ...(filters.length === 0
        ? reads(use, searched, isDeep)
        : searched.flatMap((word) => readsLike(use, word, filters))),
      ...reads(use, letters.includes('f') ? valuesOf('f', '--file', '--from-file') : []),
      ...(isSed
        ? reads(use, filesInSed(isGiven ? valuesOf('e', '--expression') : operands.slice(0, 1)))
        : []),
      ...inPlace(use, files),
      ...(isSed && runsLines(isGiven ? valuesOf('e', '--expression') : operands.slice(0, 1))
        ? [{ kind: 'unknown', why: 'sed runs lines of its input as commands' } as const]
        : []),
      ...fileChanges(use),
    ]
  }

/** Patterns for the only files that are searched: `rg -g '*.ts'`, `grep -r --include=.env`. */
function filtersOf(name: string, valuesOf: Arguments['valuesOf']): readonly Word[] {
  const given = name === 'rg' ? valuesOf('g', '--glob', '--iglob') : valuesOf('', '--include')
  if (!given.every(({ known }) => known)) return []
  return given.flatMap((word) =>
    word.text.startsWith('!')
      ? []
      : (alternativesOf(word.text) ?? ['*'])
          .filter((text) => !/[{}]/.test(text))
          .map((text) => withText(word, text)),
  )
}

/** A filter with a slash starts at the folder, and others count in every folder. A file itself is searched as it is. */
function readsLike(use: Use, folder: Word, filters: readonly Word[]): readonly Draft[] {
  if (/[^./]\.\w+$|^\.[\w.-]+$/.test(folder.text) && !isWild(folder)) return reads(use, [folder], true)
  return filters.flatMap(({ text }) => {
    const below = text.replace(/^\/+/, '')
    const path = below.includes('/') ? below : `**/${below}`
    const like = { ...inFolder(folder, path), glob: true }
    // To these programs, a star also matches names that begin with a dot.
    const hidden = HIDDEN.filter((name) => canBe(below, name, true, true)).map((name) =>
      inFolder(folder, name),
    )
    return [...reads(use, [like]), ...reads(use, /^[*?.]*$/.test(below) ? [] : hidden)]
  })
}

const HIDDEN = ['.env', '.env.local', '.env.production', '.npmrc', '.netrc', '.envrc']

/** `yq -i` and `awk -i inplace` write the files that they read. */
function inPlace(use: Use, files: readonly Word[]): readonly Draft[] {
  const { name } = use.call
  const isYq = name === 'yq' && use.texts.some((text) => /^-[a-zA-Z]*i|^--in-?place$/.test(text))
  const isAwk =
    /awk$/.test(name) &&
    use.texts.some(
      (text, i) =>
        /^(?:-i|--include=)inplace$/.test(text) ||
        (text === 'inplace' && /^(?:-i|--include)$/.test(use.texts[i - 1] ?? '')),
    )
  return isYq || isAwk ? writes(use, files) : []
}

/** `r FILE` and `R FILE` in a script of sed. */
function filesInSed(scripts: readonly Word[]): readonly Word[] {
  return scripts.flatMap(({ text }) =>
    [...text.matchAll(/(?:^|[;\n{}/|#,\d$!])\s*[rR]\s*([^\n;}]+)/g)].map(([, file = '']) =>
      literalWord(file.trim()),
    ),
  )
}

/** `1e`, `s/a/b/e`: what runs is the line itself. */
function runsLines(scripts: readonly Word[]): boolean {
  return scripts.some(
    ({ text }) =>
      text.length < LONGEST_SED &&
      (/(?:^|[;{}\n\d$/])\s{0,20}e\s{0,20}(?:$|[;}\n])/.test(text) || RUNS_RESULT.test(text)),
  )
}

const LONGEST_SED = 5000
const RUNS_RESULT =
  /(?:^|[;{}\n\d$/])\s{0,20}s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[gpimIM\d]*e[gpimIM\d]*\s*(?:$|[;}\n])/s

const prints = ({ call, texts }: Use): Draft[] => {
  const words = texts.flatMap((text) => [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name))
  return call.command.dynamic && words.some((name) => SECRET_NAME.test(name))
    ? onPlaces('read', [ENVIRONMENT])
    : []
}

/** Whether what follows only counts variables, or lets through only those that hold no secrets. */
function isFiltered({ command }: Call, script: Script): boolean {
  const [reader, ...others] = script.calls.filter(({ readsFrom: [from] }) => from?.command === command)
  if (others.length > 0 || !reader) return false
  if (/^(?:sort|uniq)$/.test(reader.name) && argumentsOf(reader.args).operands.length === 0)
    return isFiltered(reader, script)
  if (reader.name === 'wc') return true
  if (!/^[ef]?grep$/.test(reader.name)) return false
  const { operands, has } = argumentsOf(reader.args)
  const [pattern] = operands
  if (has('cq', '--count', '--quiet', '--silent')) return true
  return (
    pattern?.known === true &&
    !has('vf', '--invert-match', '--file') &&
    /^\^?[A-Za-z]\w{2,}=?$/.test(pattern.text) &&
    !SECRET_PART.test(pattern.text)
  )
}

const loads = (use: Use): readonly Draft[] => {
  const [file] = use.args
  // What follows is given to the script.
  return file ? reads(use, [file]) : []
}

function isOperand({ text }: Word): boolean {
  return !text.startsWith('-')
}

/** `openssl s_client -connect host:443 < file` */
function connected(use: Use): readonly Draft[] {
  const address = optionValue(use.texts, /^-connect$/)
  const from = sourcesOfInput(use)
  return address === undefined || from.length === 0 ? [] : [send(hostOf(`//${address}`), from)]
}

export const READERS: readonly Program[] = [
  {
    names: [
      'cat',
      'tac',
      'nl',
      'less',
      'more',
      'bat',
      'batcat',
      'zcat',
      'rev',
      'strings',
      'hexdump',
      'xxd',
      'od',
      'file',
      'base32',
      'basenc',
      'b2sum',
      'cksum',
      'md5',
      'md5sum',
      'sha1sum',
      'sha256sum',
      'sha512sum',
      'shasum',
      'sum',
      'wc',
      'comm',
      'cmp',
      'diff',
      'difft',
      'join',
      'paste',
      'uniq',
      'tree',
      'xmllint',
      'getfacl',
      'stat',
      'expand',
      'unexpand',
      'pr',
      'ptx',
      'shuf',
      'tsort',
      'iconv',
      'ul',
      'sdiff',
      'diff3',
      'sha224sum',
      'sha384sum',
      'bzcat',
      'xzcat',
      'zstdcat',
      'zless',
      'zmore',
      'nm',
      'objdump',
      'readelf',
      'size',
    ],
    effects: all,
    examples: [
      {
        command: 'cat ~/.aws/credentials',
        effects: [{ kind: 'read', place: { path: '/home/dev/.aws/credentials', known: true } }],
      },
      { command: 'cat < .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      { command: 'cat -n .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      { command: 'wc -l .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      {
        command: 'wc --files0-from=list',
        effects: [
          { kind: 'read', place: { path: '/home/dev/app/list' } },
          { kind: 'read', place: { known: false } },
        ],
      },
      { command: 'echo hi | cat', effects: [] },
    ],
  },
  {
    names: ['head', 'tail', 'cut', 'fold', 'fmt', 'column', 'base64', 'sort'],
    effects: all,
    examples: [
      { command: 'head -n 5 .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      { command: 'sort -n .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      { command: 'column -t .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      { command: 'base64 -w0 id_rsa', effects: [{ kind: 'read', place: { path: '/home/dev/app/id_rsa' } }] },
    ],
  },
  {
    names: ['grep', 'egrep', 'fgrep', 'zgrep', 'bzgrep', 'xzgrep', 'rg', 'ag', 'ack', 'look'],
    effects: behindFirst('ef', '--regexp', '--file', '--files'),
    examples: [
      { command: 'grep -n KEY .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      { command: 'grep -r KEY', effects: [{ kind: 'read', place: { path: '/home/dev/app', deep: true } }] },
      {
        command: "rg -g '*.{ts,tsx}' key src",
        effects: [{ kind: 'read', place: { path: '/home/dev/app/src/**/*.tsx', wild: true } }],
      },
      {
        command: 'grep -r --include=.env KEY',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/**/.env' } }],
      },
      {
        command: "grep -r --include='*env' KEY .",
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }],
      },
      {
        command: "rg KEY -g '!dist'",
        effects: [{ kind: 'read', place: { path: '/home/dev/app', deep: true } }],
      },
      { command: 'rg password /etc', effects: [{ kind: 'read', place: { path: '/etc', deep: true } }] },
    ],
  },
  {
    names: ['sed', 'awk', 'jq', 'yq'],
    effects: behindFirst('ef', '--expression', '--file', '--from-file'),
    examples: [
      { command: 'sed -n 1,5p /etc/shadow', effects: [{ kind: 'read', place: { path: '/etc/shadow' } }] },
      {
        command: 'sed -i s/a/b/ x.txt',
        effects: [{ kind: 'write', place: { path: '/home/dev/app/x.txt' } }],
      },
      { command: 'yq -i .a=1 x.yaml', effects: [{ kind: 'write', place: { path: '/home/dev/app/x.yaml' } }] },
      {
        command: 'awk -i inplace 1 x.txt',
        effects: [{ kind: 'write', place: { path: '/home/dev/app/x.txt' } }],
      },
      {
        command: 'jq .hooks settings.json',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/settings.json' } }],
      },
    ],
  },
  {
    names: ['openssl'],
    effects: (use) => [
      ...reads(
        use,
        use.args.filter((_, i) => /^-(?:in|inkey|key|CAfile)$/.test(use.texts[i - 1] ?? '')),
      ),
      // `openssl dgst -sha256 FILE`
      ...reads(
        use,
        /^(?:dgst|sha\d+|md5)$/.test(use.texts[0] ?? '') ? use.args.slice(1).filter(isOperand) : [],
      ),
      ...fileChanges(use),
      ...connected(use),
    ],
    examples: [
      {
        command: 'openssl rsa -in key.pem -out plain.pem',
        effects: [
          { kind: 'read', place: { path: '/home/dev/app/key.pem' } },
          { kind: 'write', place: { path: '/home/dev/app/plain.pem' } },
        ],
      },
    ],
  },
  {
    names: ['env', 'printenv', 'export', 'set', 'declare', 'typeset', 'compgen'],
    effects: ({ call, texts, script }) => {
      const named = texts.filter((text) => !text.startsWith('-'))
      const isWhole =
        call.name === 'env'
          ? named.every((text) => text.includes('=')) && !texts.some((text) => /^-[^i0]/.test(text))
          : call.name === 'printenv'
            ? named.length === 0
            : named.length === 0 &&
              (texts.length === 0 || (call.name !== 'set' && texts.some((text) => /^-\w*[px]/.test(text))))
      const isSecret = call.name === 'printenv' && named.some((name) => SECRET_NAME.test(name))
      return (isWhole && !isFiltered(call, script)) || isSecret ? onPlaces('read', [ENVIRONMENT]) : []
    },
    examples: [
      { command: 'env', effects: [{ kind: 'read', place: { path: '/proc/self/environ' } }] },
      { command: 'printenv API_KEY', effects: [{ kind: 'read', place: { path: '/proc/self/environ' } }] },
      { command: 'env A=1 true', effects: [] },
      { command: 'env | grep NODE_', effects: [] },
      { command: 'env | sort | grep ^npm_', effects: [] },
      { command: 'env | grep -c .', effects: [] },
      { command: 'set -eux', effects: [] },
      { command: 'set', effects: [{ kind: 'read', place: { path: '/proc/self/environ' } }] },
      { command: 'env | sort', effects: [{ kind: 'read', place: { path: '/proc/self/environ' } }] },
      { command: 'env | grep -i key', effects: [{ kind: 'read', place: { path: '/proc/self/environ' } }] },
    ],
  },
  {
    names: ['xargs', 'parallel'],
    effects: (use) =>
      reads(
        use,
        argumentsOf(use.args, {
          valued: 'adEIJLnPRSs',
          long: ['--arg-file', '--delimiter'],
          stops: true,
        }).valuesOf('a', '--arg-file'),
      ),
    examples: [
      { command: 'xargs -a .env echo', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      {
        command: 'xargs --arg-file=.env echo',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }],
      },
    ],
  },
  {
    names: ['source', '.'],
    effects: loads,
    examples: [
      {
        command: 'source .env && npm start',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }],
      },
      { command: '. ./x.sh', effects: [{ kind: 'read', place: { path: '/home/dev/app/x.sh' } }] },
      {
        command: 'source .env; echo "$A"',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }],
      },
      {
        command: 'set -x; source .env; true',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }],
      },
    ],
  },
  {
    names: ['echo', 'printf'],
    effects: prints,
    examples: [
      { command: 'echo $GITHUB_TOKEN', effects: [{ kind: 'read', place: { path: '/proc/self/environ' } }] },
      { command: "echo 'rm -rf /'", effects: [] },
    ],
  },
  {
    names: ['security'],
    effects: ({ texts }) =>
      /^(?:dump-keychain|find-(?:generic|internet)-password|export)$/.test(texts[0] ?? '')
        ? onPlaces('read', [literalPlace('/Library/Keychains', true)])
        : [],
    examples: [
      {
        command: 'security dump-keychain',
        effects: [{ kind: 'read', place: { path: '/Library/Keychains' } }],
      },
    ],
  },
]
