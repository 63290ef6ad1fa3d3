// Programs that make files: temporary ones, locks, and those of Python's own modules.

import { argumentsOf, inFolder, literalWord } from '../files/file-effect.js'
import { type Draft, type Program, reads, type Use, writes } from '../program.js'
import { type Word, withText } from '../script/word.js'

const TEMPORARY = literalWord('/tmp')

/** `mktemp -p DIR NAME.XXXX`: the letters are replaced. */
const makesTemporary = (use: Use): readonly Draft[] => {
  const { operands, has, valuesOf } = argumentsOf(use.args, { valued: 'p', long: ['--suffix'] })
  if (has('u', '--dry-run')) return []
  const [template = literalWord('tmp.XXXXXXXXXX')] = operands
  const [folder] = valuesOf('p', '--tmpdir')
  const isTemporary = operands.length === 0 || has('t', '--tmpdir')
  const file = folder
    ? inFolder(folder, template.text)
    : isTemporary
      ? inFolder(TEMPORARY, template.text)
      : template
  const isKnown = file.known && template.known
  return writes(use, [
    { ...withText(file, `${file.text.replace(/X{3,}[^/]*$/, '')}*`), glob: true, known: isKnown },
  ])
}

/** The file that a lock is held on is made if it is missing. */
const locks = (use: Use): readonly Draft[] => {
  const [file] = argumentsOf(use.args, { valued: 'wE', long: ['--timeout', '--wait'], stops: true }).operands
  return file && !/^\d+$/.test(file.text) ? [...reads(use, [file]), ...writes(use, [file])] : []
}

/** `python -m zipfile -c x.zip FILES` and `-e x.zip FOLDER`. */
const packs = (use: Use): readonly Draft[] => {
  const [mode, archive, ...others] = use.args
  if (!mode || !archive) return []
  if (/^(?:-c|--create)$/.test(mode.text)) return [...reads(use, others, true), ...writes(use, [archive])]
  if (!/^(?:-e|--extract)$/.test(mode.text)) return reads(use, [archive])
  const into: readonly Word[] = others.length > 0 ? others : [literalWord('.')]
  return [...reads(use, [archive]), ...writes(use, into, true)]
}

const at = (kind: string, path: string) => ({ kind, place: { path: `/home/dev/app/${path}` } })

export const FILE_MAKERS: readonly Program[] = [
  {
    names: ['mktemp'],
    effects: makesTemporary,
    examples: [
      { command: 'mktemp', effects: [{ kind: 'write', place: { path: '/tmp/tmp.*', wild: true } }] },
      { command: 'mktemp new.XXXX', effects: [at('write', 'new.*')] },
      { command: 'mktemp -d -p build', effects: [at('write', 'build/tmp.*')] },
      { command: 'mktemp -u', effects: [] },
    ],
  },
  {
    names: ['flock'],
    effects: locks,
    examples: [
      { command: 'flock x.lock npm test', effects: [at('write', 'x.lock')] },
      { command: "flock x.lock -c 'rm y'", effects: [at('write', 'x.lock'), at('delete', 'y')] },
      { command: 'flock 9', effects: [] },
    ],
  },
  {
    names: ['fallocate'],
    effects: (use) =>
      writes(use, argumentsOf(use.args, { valued: 'lo', long: ['--length', '--offset'] }).operands),
    examples: [{ command: 'fallocate -l 1G x.img', effects: [at('write', 'x.img')] }],
  },
  {
    names: ['zipfile', 'tarfile'],
    effects: packs,
    examples: [
      { command: 'python3 -m zipfile -c x.zip .env', effects: [at('read', '.env'), at('write', 'x.zip')] },
      { command: 'python3 -m tarfile -e x.tar out', effects: [at('read', 'x.tar'), at('write', 'out')] },
    ],
  },
  {
    names: ['json.tool'],
    effects: (use) => {
      const [from, to] = argumentsOf(use.args, { long: ['--indent'] }).operands
      return [...reads(use, from ? [from] : []), ...writes(use, to ? [to] : [])]
    },
    examples: [
      {
        command: 'python3 -m json.tool a.json b.json',
        effects: [at('read', 'a.json'), at('write', 'b.json')],
      },
      { command: 'echo {} | python3 -m json.tool', effects: [] },
    ],
  },
]
