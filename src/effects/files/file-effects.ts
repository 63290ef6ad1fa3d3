// The files that a call changes, by program. An unknown program is judged by the names in its arguments.

import { isWild, type Word, withText } from '../script/word.js'
import { extractEffects, packEffects, tarEffects, unzipEffects, zipEffects } from './archive-effects.js'
import { curlEffects, wgetEffects } from './download-effects.js'
import { editEffects } from './editor-effects.js'
import {
  argumentsOf,
  baseOf,
  type Deed,
  type EffectReader,
  each,
  type FileEffect,
  inFolder,
  literalWord,
  one,
} from './file-effect.js'
import { findEffects } from './find-effects.js'
import { gitEffects } from './git-effects.js'
import { shapeOf } from './option-shapes.js'
import { patched, pathsInPatch } from './patch-paths.js'

/** Undefined for an unknown program. */
export function fileEffectsOf(name: string): EffectReader | undefined {
  return EFFECTS.get(name) ?? (READERS.has(name) ? nothing : undefined)
}

const nothing: EffectReader = () => []

/** Whether the program never changes a file in its arguments. */
export function isReader(name: string): boolean {
  return READERS.has(name)
}

// ---- removing, moving, copying --------------------------------------------------------------------------------------

/** Always deep, because removing a link looks the same as removing a file. */
const remove: EffectReader = ({ name, args }) =>
  each('delete', argumentsOf(args, shapeOf(name)).operands, true)

/** The sources and the targets: the last word, or the value of `-t`. */
function destinations(
  operands: readonly Word[],
  folders: readonly Word[],
): [readonly Word[], readonly Word[]] {
  const last = operands.at(-1)
  // `cp *.txt` overwrites the last of the files that it stands for.
  if (folders.length === 0 && operands.length === 1 && last && isWild(last)) return [operands, operands]
  const sources = folders.length > 0 || operands.length < 2 ? operands : operands.slice(0, -1)
  const targets = folders.length > 0 ? folders : last && operands.length > 1 ? [last] : []
  const others = operands.filter(({ either }) => either)
  return [others.length > 0 ? operands : sources, [...new Set([...targets, ...others])]]
}

function arriving(sources: readonly Word[], targets: readonly Word[], deed: Deed): FileEffect[] {
  return targets.flatMap((target) => [
    { ...one(deed, target, true), arrives: 'maybe' },
    ...sources
      // The content of a whole folder keeps its own names, which are looked up elsewhere.
      .filter((source) => !/^[.*]*$/.test(baseOf(source)))
      .map((source) => {
        const { known, glob } = { known: source.known && target.known, glob: source.glob || target.glob }
        return one(deed, { ...inFolder(target, baseOf(source)), known, glob }, true)
      }),
  ])
}

const move: EffectReader = ({ name, args }) => {
  const { operands, valuesOf, has } = argumentsOf(args, shapeOf(name))
  const [sources, targets] = destinations(operands, valuesOf('t', '--target-directory'))
  const itself = has('T', '--no-target-directory') ? each('write', targets, true) : []
  const arrived = arriving(sources, targets, 'write')
  const kept = has('bS', '--backup', '--suffix') ? backups(arrived) : []
  return [...each('move', sources, true), ...itself, ...arrived, ...kept]
}

/** `a~`, `a.~1~`: what was in the place before gets another name. */
function backups(written: readonly FileEffect[]): FileEffect[] {
  return written.map(({ target }) => one('write', { ...target, text: `${target.text}*`, glob: true }))
}

const copy: EffectReader = ({ name, args }) => {
  const { operands, valuesOf, has } = argumentsOf(args, shapeOf(name))
  const [given, targets] = destinations(operands, valuesOf('t', '--target-directory'))
  // `host:a/b` arrives as `b`.
  const sources =
    name === 'scp' ? given.map((word) => withText(word, word.text.replace(/^[^/:]*:/, ''))) : given
  const links = name !== 'scp' && has('ls', '--link', '--symbolic-link') ? each('link', sources, true) : []
  const itself = has('T', '--no-target-directory') ? each('write', targets, true) : []
  const kept = has('', '--parents') ? withFolders(sources, targets) : []
  const arrived = arriving(sources, targets, 'write')
  const before = name !== 'scp' && has('bS', '--backup', '--suffix') ? backups(arrived) : []
  return [...links, ...itself, ...kept, ...arrived, ...before]
}

/** The targets of sources that keep their folders. */
function withFolders(sources: readonly Word[], targets: readonly Word[]): FileEffect[] {
  const names = sources.map(({ text }) => text.replace(/^.*\/\.\//s, ''))
  return each(
    'write',
    targets.flatMap((target) => names.map((name) => inFolder(target, name))),
    true,
  )
}

/** `install -d` creates folders. */
const install: EffectReader = (call) => {
  const { operands, has } = argumentsOf(call.args, shapeOf(call.name))
  if (has('d', '--directory')) return each('write', operands.flatMap(withWay))
  return has('D') ? [...copy(call), ...each('write', operands.slice(-1).flatMap(withWay))] : copy(call)
}

/** `mkdir -p a/../b` also makes `a`. */
function withWay(word: Word): readonly Word[] {
  const [, before] = /^(.*?[^/.][^/]*)\/+\.\.(?:\/|$)/s.exec(word.text) ?? []
  return before === undefined ? [word] : [word, withText(word, before)]
}

const makeFolder: EffectReader = ({ name, args }) =>
  each('write', argumentsOf(args, shapeOf(name)).operands.flatMap(withWay))

const rsync: EffectReader = ({ name, args }) => {
  const { operands, has } = argumentsOf(args, shapeOf(name))
  const [sources, targets] = destinations(operands, [])
  const kept = has('R', '--relative') ? withFolders(sources, targets) : []
  const arrived = [...kept, ...arriving(sources, targets, 'write')]
  const gone = has('', '--remove-source-files') ? each('move', sources, true) : []
  // `--delete` and its variants remove everything that is not in the source.
  return has('', '--delete') || args.some(({ text }) => /^--del/.test(text))
    ? [...arrived, ...gone, ...each('delete', targets, true)]
    : [...arrived, ...gone]
}

/** The target of a link counts as changed, because a later change under its new name would go unnoticed. */
const link: EffectReader = ({ name, args }) => {
  const { operands, valuesOf, has } = argumentsOf(args, shapeOf(name))
  const folders = valuesOf('t', '--target-directory')
  // With one word, the link gets the same name here.
  const [sources, targets] = destinations(operands, operands.length === 1 ? [...folders, HERE] : folders)
  const arrived = arriving(sources, targets, 'write')
  // It is relative to the folder of the link, which is the target itself if that is a folder.
  const beside = targets.flatMap((target) =>
    sources
      .filter(({ text }) => !/^[/~]/.test(text))
      .flatMap(({ text }) => [
        inFolder(target, `../${text}`),
        ...(text.startsWith('../') ? [inFolder(target, text)] : []),
      ]),
  )
  return [
    ...each('link', sources, true),
    ...each('link', beside, true),
    // With `n`, a link to a folder is itself replaced.
    ...(has('Tn', '--no-target-directory', '--no-dereference') ? each('write', targets, true) : []),
    ...arrived,
    ...(has('bS', '--backup', '--suffix') ? backups(arrived) : []),
  ]
}

const HERE = literalWord('.')

/** Mounting gives a folder a second name, and hides what was in its place. */
const mount: EffectReader = ({ name, args }) => {
  const { operands } = argumentsOf(args, { valued: 'toLU', long: ['--types', '--options'] })
  const [targets, sources] = name === 'umount' ? [operands, []] : [operands.slice(-1), operands.slice(0, -1)]
  return [...each('link', sources, true), ...each('write', targets, true)]
}

// ---- writing ---------------------------------------------------------------------------------------------------------

const write: EffectReader = ({ name, args }) => each('write', argumentsOf(args, shapeOf(name)).operands)

/** A mode is read as a file that does not exist, which does no harm. A folder without permissions hides its content. */
const change: EffectReader = ({ name, args }) => {
  const valued = name === 'setfacl' ? 'mxMX' : ''
  const { operands } = argumentsOf(args, { valued, long: ['--reference', '--modify'] })
  // An unknown first word, such as `"$USER"`, is the owner and not a file.
  const isWho = /^ch(?:own|grp|mod)$/.test(name) && operands.length > 1 && operands[0]?.known === false
  return each('change', isWho ? operands.slice(1) : operands, true)
}

const dd: EffectReader = ({ args }) =>
  args
    .filter(({ text }) => /^(?:of|wipe)=/.test(text))
    .map((word) => one('write', withText(word, word.text.slice(word.text.indexOf('=') + 1))))

/** With `-i`, sed writes its files. `w` and `s///w` in its script write too. */
const sed: EffectReader = ({ args, input }) => {
  const { operands, has, valuesOf } = argumentsOf(args, { valued: 'efl', long: ['--expression', '--file'] })
  const inPlace = args.some(({ text }) => /^-[nErsuz]*[iI]|^--in-/.test(text))
  const isGiven = has('ef', '--expression', '--file')
  const files = valuesOf('f', '--file').map(({ text }) => text)
  const read = files.some((text) => /^-$|^\/dev\/(?:stdin|fd\/\d+)$/.test(text)) ? input.map(literalWord) : []
  const scripts = [...valuesOf('e', '--expression'), ...read, ...(isGiven ? [] : operands.slice(0, 1))]
  const written = scripts.flatMap(({ text }) =>
    [...text.matchAll(/(?:^|[;\n{}/|#,\dgpIi$!])\s*w\s*([^\n;}]+)/g)].map(([, file = '']) =>
      literalWord(file.trim()),
    ),
  )
  const edited = isGiven ? operands : operands.slice(1)
  // sed's `e` command runs a shell command.
  const runs = scripts.some(({ text }) =>
    /(?:^|[;\n{}/$\d])\s{0,20}e\s+\S|\/[gpiI\d]*e[gpiI\d]*\s*(?:$|[;}\n])/.test(text),
  )
  if (runs) written.push({ text: 'the files of its e command', known: false, glob: false })
  if (files.some((text) => text.startsWith('<(')))
    written.push({ text: 'the files of its script', known: false, glob: false })
  return [
    ...each('write', written),
    ...(inPlace ? each('write', [...edited, ...backedUp(edited, args)]) : []),
  ]
}

/** `sed -i.bak` keeps `a.txt.bak`. A star in the ending stands for the name. */
function backedUp(edited: readonly Word[], args: readonly Word[]): readonly Word[] {
  return args.flatMap(({ text }) => {
    const [, ending = ''] = /^(?:-[nErsuz]*[iI]|--in-place=)(.+)$/s.exec(text) ?? []
    if (ending === '') return []
    return edited.map((word) =>
      withText(
        word,
        ending.includes('*')
          ? word.text.replace(/[^/]*$/, (name) => ending.replaceAll('*', name))
          : word.text + ending,
      ),
    )
  })
}

/** The program writes the values of these options. */
const outputs =
  (letters: string, ...long: readonly string[]): EffectReader =>
  ({ args }) =>
    each('write', argumentsOf(args, { valued: letters, long }).valuesOf(letters, ...long))

/** `split a.txt part` writes `partaa`, `partab` and so on. */
const split: EffectReader = ({ name, args }) => {
  const { operands } = argumentsOf(args, shapeOf(name))
  const [file, prefix = literalWord('x')] = operands
  // A pattern may stand for both.
  return each('write', [numbered(prefix), ...(file && isWild(file) ? [numbered(file)] : [])])
}

const csplit: EffectReader = ({ name, args }) => {
  const { valuesOf } = argumentsOf(args, shapeOf(name))
  const [prefix = literalWord('xx')] = valuesOf('f', '--prefix')
  return each('write', [numbered(prefix)])
}

function numbered(prefix: Word): Word {
  return { ...prefix, text: `${prefix.text}*`, glob: true }
}

const second: EffectReader = ({ name, args }) => {
  const [first, ...others] = argumentsOf(args, shapeOf(name)).operands
  // A pattern may stand for both.
  return each('write', [...(first && isWild(first) ? [first] : []), ...others])
}

const patch: EffectReader = (call) => {
  const { operands, valuesOf } = argumentsOf(call.args, {
    valued: 'pioBdDFrVYz',
    long: ['--input', '--output', '--directory'],
  })
  if (call.args.some(({ text }) => /^--(?:dry-run|check)$|^-C$/.test(text))) return []
  const named = [...operands.slice(0, 1), ...valuesOf('orB', '--output')]
  const files = [...operands.slice(1), ...valuesOf('i', '--input'), ...call.inputFiles]
  const written = [...each('write', named), ...patched(call, files, valuesOf('d', '--directory'))]
  const beside = written.flatMap((one) => rejected(one.target).map((target) => ({ ...one, target })))
  return [...written, ...beside]
}

/** What does not fit is kept beside the file, which is kept too. */
function rejected(file: Word): readonly Word[] {
  return ['.orig', '.rej'].map((ending) => withText(file, file.text + ending))
}

/** The command that agents call from a shell to change files. */
const applyPatch: EffectReader = ({ args, input }) =>
  each('write', [...args.map(({ text }) => text), ...input].flatMap(pathsInPatch).map(literalWord), true)

/** Programs that delete the files that they are given. */
export const DELETERS = [
  ...['rm', 'rmdir', 'unlink', 'shred', 'srm', 'trash', 'trash-put', 'rimraf', 'del-cli', 'safe-rm', 'wipe'],
  ...['rip', 'trash-cli', 'gvfs-trash', 'remove_directory'],
] as const

const EFFECTS: ReadonlyMap<string, EffectReader> = new Map<string, EffectReader>([
  ...DELETERS.map((name) => [name, remove] as const),
  [
    'gio',
    ({ args }) =>
      /^(?:trash|remove|move)$/.test(args[0]?.text ?? '') ? each('delete', args.slice(1), true) : [],
  ],
  ...['touch', 'tee', 'truncate', 'mkfifo', 'mknod', 'sponge'].map((name) => [name, write] as const),
  ['mkdir', makeFolder],
  ...['dos2unix', 'unix2dos', 'logrotate'].map((name) => [name, write] as const),
  ...['gzip', 'gunzip', 'xz', 'unxz', 'bzip2', 'bunzip2', 'zstd', 'unzstd'].map(
    (name) => [name, packEffects] as const,
  ),
  ...['7z', '7za', '7zz', 'cpio', 'pax', 'jar', 'ar', 'unrar'].map((name) => [name, extractEffects] as const),
  ...['mount', 'umount'].map((name) => [name, mount] as const),
  ...['chmod', 'chown', 'chgrp', 'chattr', 'setfacl', 'xattr', 'chflags', 'chcon'].map(
    (name) => [name, change] as const,
  ),
  ...['vi', 'vim', 'nvim', 'view', 'ex', 'ed', 'red', 'nano', 'emacs', 'pico', 'micro'].map(
    (name) => [name, editEffects] as const,
  ),
  ...['cp', 'scp', 'ditto'].map((name) => [name, copy] as const),
  ...['ln', 'link', 'symlink'].map((name) => [name, link] as const),
  ['mv', move],
  ['rename', ({ args }) => each('move', args, true)],
  ['install', install],
  ['rsync', rsync],
  ...['dd', 'dcfldd', 'dc3dd'].map((name) => [name, dd] as const),
  ['ddrescue', second],
  ['dd_rescue', second],
  ['history', ({ args }) => each('write', argumentsOf(args).operands)],
  ['sed', sed],
  ['split', split],
  ['csplit', csplit],
  ['tar', tarEffects],
  ['bsdtar', tarEffects],
  ['unzip', unzipEffects],
  ['zip', zipEffects],
  ...['sort', 'base64', 'xmllint', 'shuf', 'iconv', 'sdiff'].map(
    (name) => [name, outputs('o', '--output')] as const,
  ),
  ['diff', outputs('', '--output')],
  ['tree', outputs('o')],
  ['less', outputs('oO', '--log-file', '--LOG-FILE')],
  ['curl', curlEffects],
  ['wget', wgetEffects],
  [
    'openssl',
    ({ args }) =>
      args.flatMap((_, i) => (args[i - 1]?.text === '-out' ? each('write', args.slice(i, i + 1)) : [])),
  ],
  ['uniq', second],
  ['json.tool', second],
  ['xxd', second],
  ['patch', patch],
  ['apply_patch', applyPatch],
  ['applypatch', applyPatch],
  ['find', findEffects],
  ['git', gitEffects],
])

/** Programs that never change a file in their arguments. */
const READERS: ReadonlySet<string> = new Set(
  `: [ alias awk b2sum base32 basename bat batcat cal cat cd chdir cksum clear cloc cmp column comm cut date df
  difft dirname dirs du echo egrep exa export eza false fgrep file fmt fold getfacl getopts grep hash head help
  hexdump hostname id jobs join jq local ls lsattr lsof man md5 md5sum more nl od paste pathchk popd printenv printf
  ps pushd pwd read readlink readonly realpath return rev rg set sha1sum sha256sum sha512sum shasum shellcheck shift
  sleep stat strings sum tac tail test tr true type typeset declare uname unset wait wc which whereis whoami
  yamllint zcat zgrep`.split(/\s+/),
)
