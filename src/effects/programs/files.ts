// Programs that change files. What each does to which file is read by the tables in files/.

import { argumentsOf, baseOf, type FileEffect, inFolder, literalWord } from '../files/file-effect.js'
import { DELETERS, fileEffectsOf, isReader } from '../files/file-effects.js'
import { shapeOf } from '../files/option-shapes.js'
import { isFolder, isLink } from '../paths/on-disk.js'
import {
  type Draft,
  isAlone,
  literalPlace,
  maybeSetting,
  onProcess,
  type Program,
  privilege,
  reads,
  type Use,
} from '../program.js'
import { type Word, withText } from '../script/word.js'

/** The files that a known program changes. */
export function fileChanges(use: Use): readonly Draft[] {
  if (use.call.name === 'git') return []
  const all = fileEffectsOf(use.call.name)?.(use.call) ?? []
  const effects = all.some(({ isMissing }) => isMissing && isAlone(use))
    ? all.filter(({ isMissing }) => !isMissing)
    : all
  if (effects.length === 0) return []
  const kept = settled(effects, use)
  const target = kept.find(({ deed }) => deed === 'write')
  const isFlat = isShallow(use)
  return kept.flatMap((effect) => draftsOf(effect, use, target, isFlat))
}

function draftsOf(
  effect: FileEffect,
  use: Use,
  target: FileEffect | undefined,
  isFlat: boolean,
): readonly Draft[] {
  const at = ({ target: word, deep, folders }: FileEffect) => use.places(word, deep, folders)
  switch (effect.deed) {
    case 'delete':
      return at(effect).flatMap((place) => {
        const gone = { ...place, deep: place.deep && !isFlat }
        // What is overwritten is lost, whether the name stays or not.
        return use.call.name === 'shred'
          ? [
              { kind: 'write', place: gone },
              { kind: 'delete', place: gone },
            ]
          : [{ kind: 'delete', place: gone }]
      })
    case 'link':
      // Whoever changes the link later changes the file.
      return at(effect).flatMap((place) => [
        { kind: 'read', place: { ...place, deep: false }, links: true },
        ...maybeSetting([{ ...place, deep: true }]),
      ])
    case 'move': {
      const [to] = target ? at(target) : []
      // `mv x /dev/null`
      if (use.args.at(-1)?.text === '/dev/null')
        return at(effect).flatMap((place) => [
          { kind: 'move', place, to: literalPlace('/dev/null') },
          { kind: 'delete', place: { ...place, deep: true } },
        ])
      return at(effect).map((place) => ({ kind: 'move', place, to: to ?? place }))
    }
    default:
      return at(effect).map((place) => {
        if (effect.arrives === 'names') return { kind: 'write', place, into: 'unknown' }
        return effect.arrives === 'maybe' && place.known && !place.wild && isFolder(place.path)
          ? { kind: 'write', place, into: 'known' }
          : { kind: 'write', place }
      })
  }
}

function isShallow({ call: { name }, texts }: Use): boolean {
  if (/^(?:rmdir|unlink|shred)$/.test(name)) return true
  return name === 'rm' && !texts.some((text) => /^-\w*[rR]|^--r/.test(text))
}

/** `cp a b` writes `b`, or `b/a` if `b` is a folder. The disk tells which, unless the script may change that before. */
function settled(effects: readonly FileEffect[], use: Use): readonly FileEffect[] {
  const { call, script } = use
  // What the first pass makes, the second finds.
  if (script.repeats || call.isInner) return effects
  if (!script.calls.every((other) => other.command === call.command || isReader(other.name))) return effects
  const open = effects.find(({ arrives, target }) => arrives === 'maybe' && target.known)
  if (!open || call.folders.length !== 1) return effects
  const text = open.target.text.replace(/(.)\/+$/, '$1')
  const isIn = (one: FileEffect) =>
    one !== open && one.deed === open.deed && one.target.text.startsWith(`${text}/`)
  const [place] = use.places(open.target)
  const isInto =
    use.texts.includes('--parents') ||
    /\/$|^\.\.?$/.test(open.target.text) ||
    (place !== undefined && isFolder(place.path))
  if (!isInto)
    return effects
      .filter((one) => !isIn(one))
      .map((one) =>
        one === open ? { ...one, deep: isDeepCopy(call.args) || movesFolder(effects, use) } : one,
      )
  const isNamed =
    effects.some(isIn) &&
    !argumentsOf(call.args).operands.some(
      (word) => /^[.*]*$/.test(baseOf(word)) && word.text !== open.target.text,
    )
  return isNamed ? effects.filter((one) => one !== open) : effects
}

function movesFolder(effects: readonly FileEffect[], use: Use): boolean {
  return effects.some(
    ({ deed, target }) =>
      deed === 'move' && use.places(target).some(({ path, known, wild }) => !known || wild || isFolder(path)),
  )
}

function isDeepCopy(args: readonly Word[]): boolean {
  return args.some(({ text }) => /^-\w*[rRaT]|^--(?:recursive|archive)/.test(text))
}

/** `history | grep -i token`. */
function searchesHistory({ call, texts, script }: Use): boolean {
  const isShown = texts.every((text) => /^\d+$/.test(text))
  return (
    isShown &&
    script.calls.some(
      ({ readsFrom: [from], args }) =>
        from?.command === call.command && args.some(({ text }) => SECRET_WORD.test(text)),
    )
  )
}

const SECRET_WORD = /pass|token|secret|key|cred|auth|aws_|bearer/i

const changes = (use: Use): readonly Draft[] => fileChanges(use)

/** The sources of a copy are read. */
const copies = (use: Use): readonly Draft[] => {
  const { operands, valuesOf } = argumentsOf(use.args, shapeOf(use.call.name))
  const sources = valuesOf('t', '--target-directory').length > 0 ? operands : operands.slice(0, -1)
  const local = sources.filter((word) => !isRemote(word))
  return [...reads(use, local, true), ...copiedLinks(use, local), ...fileChanges(use).filter(isLocal)]
}

/** With these options, the copy of a link is a link to the same file. */
function copiedLinks(use: Use, sources: readonly Word[]): readonly Draft[] {
  if (use.call.name !== 'cp') return []
  const { has } = argumentsOf(use.args, shapeOf('cp'))
  if (!has('adPrR', '--archive', '--no-dereference', '--recursive') || has('LH', '--dereference')) return []
  return sources
    .flatMap((word) => use.places(word))
    .filter(({ path, known, wild }) => known && !wild && isLink(path))
    .map((place) => ({ kind: 'read', place, links: true }))
}

export function isRemote({ text }: Word): boolean {
  const isNamed =
    /^(?:[\w.-]+@)?[\w.-]+:(?!\/\/)|^(?:rsync|scp|ssh|sftp):\/\//.test(text) && !/^[./~]/.test(text)
  // `$HOST:/srv` and `me@$HOST:/srv`.
  return isNamed || /^(?:[\w.-]+@)?(?:\$\w+|\$\{.*\}|\$\(.*\)|`.*`)[\w.-]*:/s.test(text)
}

function isLocal(draft: Draft): boolean {
  return (
    !('place' in draft) ||
    !draft.place ||
    !/(?:^|\/)[\w.-]+(?:@[\w.-]+)?:/.test(draft.place.path.replace(/^.*\/(?=[^/]*:)/, ''))
  )
}

// ---- archives ---------------------------------------------------------------------------------------------------

/** A list or the input of the program names them. */
const NAMED_ELSEWHERE: Word = { text: 'the files in its list', known: false, glob: false }

const packs = (use: Use): readonly Draft[] => {
  const { name, args } = use.call
  const changed = fileChanges(use)
  if (/tar$/.test(name)) {
    const [first, ...rest] = args
    const words =
      first && /^[a-zA-Z]+$/.test(first.text) ? [withText(first, `-${first.text}`), ...rest] : args
    const { operands, has, valuesOf } = argumentsOf(words, {
      valued: 'fCTXbIg',
      long: ['--file', '--directory', '--exclude'],
    })
    const [folder] = valuesOf('C', '--directory')
    const inside = folder ? operands.map(({ text }) => inFolder(folder, text)) : []
    if (has('cruA', '--create', '--append', '--update'))
      return [
        ...reads(use, [...operands, ...inside, ...valuesOf('TX', '--files-from', '--exclude-from')], true),
        ...(has('T', '--files-from') ? reads(use, [NAMED_ELSEWHERE], true) : []),
        ...changed,
      ]
    return [...reads(use, valuesOf('f', '--file')), ...changed]
  }
  const { operands } = argumentsOf(args, { valued: name === 'unzip' ? 'dP' : 'bnPtoS' })
  if (name === 'zip')
    return [
      ...reads(use, operands.slice(1), true),
      ...(use.texts.includes('-@') ? reads(use, [NAMED_ELSEWHERE], true) : []),
      ...changed.filter((one) => !('place' in one) || one.place?.path !== '-'),
    ]
  return [...reads(use, name === 'unzip' ? operands.slice(0, 1) : operands), ...changed]
}

// ---- permissions and disks --------------------------------------------------------------------------------------

const LOOSE = /^[0-7]?[0-7]?[0-7]?[2367]$/

const modes = (use: Use): readonly Draft[] => {
  const { name } = use.call
  const { operands, has } = argumentsOf(use.args, { long: ['--reference'] })
  const taken = name === 'chmod' ? use.texts.find((text) => /^-[rwxXst]{1,6}$/.test(text)) : undefined
  const hasMode = taken === undefined && !has('', '--reference')
  const [mode] = hasMode ? operands : [undefined]
  const isDeep = has('R', '--recursive')
  const files = operands.slice(hasMode ? 1 : 0).flatMap((word) => use.places(word, isDeep))
  const changed: Draft[] = [
    ...files.map((place): Draft => ({ kind: 'write', place, rights: true })),
    // A folder that nobody may read or change keeps its files from everybody.
    ...(isDeep ? [] : maybeSetting(files.map((place) => ({ ...place, deep: true })))),
  ]
  if (name !== 'chmod') return [privilege(`${name} ${mode?.text ?? ''}`.trim()), ...changed]
  const text = mode?.text ?? taken ?? ''
  const opens = LOOSE.test(text) || /^[ugoa]*[oa][ugoa]*[+=]\w*w|^\+\w*w(?!.*u)/.test(text)
  const setsId = /^[ugoa]*[+=]\w*s|^[2467][0-7]{3}$/.test(text)
  const shuts = /^0+$/.test(text)
  return opens || setsId || shuts ? [privilege(`chmod ${text}`), ...changed] : changed
}

/** With these words, programs for disks only print. */
const TELLS =
  /^(?:-h|-V|--(?:list|no-act|help|version|print|dump|verify)|list|info|print|status|id-ctrl|smart-log|get|check)$/

const formats = (use: Use): readonly Draft[] => {
  const { name } = use.call
  const tells = (text: string) =>
    TELLS.test(text) ||
    (text === '-l' && /fdisk|parted|gdisk/.test(name)) ||
    (text === '-n' && /^(?:mkfs\.ext\d|mke2fs|wipefs|sfdisk)$/.test(name))
  if (use.texts.some(tells)) return []
  if (
    /^(?:zfs|zpool|diskutil)$/.test(name) &&
    !use.texts.some((text) =>
      /^(?:destroy|labelclear|rollback|erase.*|partition.*|zero.*|delete.*|reformat|secureErase)$/i.test(
        text,
      ),
    )
  )
    return []
  const disk =
    use.args.find(({ text }) => text.includes('/dev/')) ??
    use.args.findLast(({ text }) => !text.startsWith('-'))
  return [
    onProcess(`format with ${name}`, disk?.text),
    ...(disk ? use.places(disk, true) : []).map((place) => ({ kind: 'write', place }) as const),
  ]
}

const mounts = (use: Use): readonly Draft[] => [
  ...(use.args.length > 0 ? [privilege(`${use.call.name} ${use.texts.join(' ')}`)] : []),
  ...fileChanges(use),
]

const del = (path: string, more = {}) => ({ kind: 'delete', place: { path, ...more } })
const write = (path: string, more = {}) => ({ kind: 'write', place: { path, ...more } })

export const FILE_PROGRAMS: readonly Program[] = [
  {
    names: [...DELETERS, 'gio'],
    effects: changes,
    examples: [
      { command: 'rm -rf ~/old', effects: [del('/home/dev/old', { deep: true, known: true })] },
      { command: 'cd /tmp && rm -f *.log', effects: [del('/tmp/*.log', { wild: true })] },
      { command: 'rm -rf "$DIR"', effects: [del('$DIR', { known: false })] },
      { command: 'sudo sh -c "rm -r /opt/x"', effects: [del('/opt/x'), { kind: 'privilege' }] },
      { command: 'npx rimraf dist', effects: [del('/home/dev/app/dist')] },
      { command: 'rip old', effects: [del('/home/dev/app/old')] },
      { command: 'shred -u key.pem', effects: [del('/home/dev/app/key.pem')] },
    ],
  },
  {
    names: ['mv', 'rename'],
    effects: changes,
    examples: [
      {
        command: 'mv a.txt b.txt',
        effects: [
          { kind: 'move', place: { path: '/home/dev/app/a.txt' }, to: { path: '/home/dev/app/b.txt' } },
        ],
      },
      {
        command: 'mv a b /tmp/',
        effects: [{ kind: 'move', place: { path: '/home/dev/app/b' } }, write('/tmp/a')],
      },
    ],
  },
  {
    names: ['cp', 'ditto', 'install', 'ln', 'link', 'symlink'],
    effects: copies,
    examples: [
      {
        command: 'cp -r src /backup/',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/src' } }, write('/backup/src')],
      },
      {
        command: 'cp -f .env x',
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }, write('/home/dev/app/x')],
      },
      { command: 'cp -Z a b', effects: [write('/home/dev/app/b')] },
      { command: 'ln -sf /tmp/x ~/.bashrc', effects: [write('/home/dev/.bashrc')] },
      { command: 'ln -s /tmp/x', effects: [write('/home/dev/app/x')] },
      { command: 'cp -b a.txt b.txt', effects: [write('/home/dev/app/b.txt*', { wild: true })] },
      { command: 'echo a | xargs -I% cp % b', effects: [write('/home/dev/app/b')] },
      { command: 'install -m 755 app /usr/local/bin/app', effects: [write('/usr/local/bin/app')] },
    ],
  },
  {
    names: [
      'touch',
      'tee',
      'truncate',
      'mkdir',
      'mkfifo',
      'mknod',
      'sponge',
      'split',
      'csplit',
      'dos2unix',
      'unix2dos',
      'logrotate',
      'dd',
      'dcfldd',
      'dc3dd',
      'ddrescue',
      'dd_rescue',
      'vi',
      'vim',
      'nvim',
      'view',
      'ex',
      'ed',
      'red',
      'nano',
      'emacs',
      'pico',
      'micro',
      'patch',
      'apply_patch',
      'applypatch',
      'find',
      'history',
    ],
    effects: (use) => [
      ...fileChanges(use),
      ...ddReads(use),
      ...splitReads(use),
      ...editorReads(use),
      ...(use.call.name === 'history' && searchesHistory(use)
        ? reads(use, [literalWord('~/.bash_history')])
        : []),
    ],
    examples: [
      { command: 'echo x | tee -a ~/.profile', effects: [write('/home/dev/.profile')] },
      {
        command: 'dd if=disk.img of=/dev/sda bs=1M',
        effects: [write('/dev/sda'), { kind: 'read', place: { path: '/home/dev/app/disk.img' } }],
      },
      { command: 'truncate -s 0 app.log', effects: [write('/home/dev/app/app.log')] },
      { command: 'nano .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      {
        command: "vim -es -c '%print' -c q .env",
        effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }],
      },
      { command: 'split .env', effects: [{ kind: 'read', place: { path: '/home/dev/app/.env' } }] },
      { command: 'touch -m a.txt', effects: [write('/home/dev/app/a.txt')] },
      { command: 'split -b 1M big.bin part', effects: [write('/home/dev/app/part*', { wild: true })] },
      { command: 'csplit notes.md 10', effects: [write('/home/dev/app/xx*', { wild: true })] },
      {
        command: 'find /var/log -name "*.log" -delete',
        effects: [{ kind: 'delete', place: { wild: true } }],
      },
      {
        command: 'find . -type d -exec chmod 777 {} +',
        effects: [{ kind: 'privilege', operation: 'chmod 777' }],
      },
    ],
  },
  {
    names: [
      'tar',
      'bsdtar',
      'gtar',
      'zip',
      'unzip',
      'gzip',
      'gunzip',
      'xz',
      'unxz',
      'bzip2',
      'bunzip2',
      'zstd',
      'unzstd',
      '7z',
      '7za',
      '7zz',
      'cpio',
      'pax',
      'jar',
      'ar',
      'unrar',
    ],
    effects: packs,
    examples: [
      {
        command: 'tar czf /tmp/x.tgz ~/.ssh',
        effects: [{ kind: 'read', place: { path: '/home/dev/.ssh', deep: true } }, write('/tmp/x.tgz')],
      },
      { command: 'tar xzf a.tgz -C /opt/app', effects: [write('/opt/app', { deep: true })] },
      { command: 'gzip app.log', effects: [write('/home/dev/app/app.log.gz')] },
      { command: 'gzip -r logs', effects: [write('/home/dev/app/logs', { deep: true })] },
      { command: 'unzip a.zip -d /etc', effects: [write('/etc', { deep: true })] },
      { command: 'zip -rm a.zip src', effects: [del('/home/dev/app/src')] },
    ],
  },
  {
    names: ['chmod', 'chown', 'chgrp', 'chattr', 'setfacl', 'chflags', 'chcon', 'xattr'],
    effects: modes,
    examples: [
      {
        command: 'chmod -R 777 /srv',
        effects: [{ kind: 'privilege', operation: 'chmod 777' }, write('/srv', { deep: true })],
      },
      { command: 'chmod u+s /bin/bash', effects: [{ kind: 'privilege' }] },
      { command: 'chmod --reference=a.txt b.txt', effects: [write('/home/dev/app/b.txt')] },
      { command: 'chmod +x run.sh', effects: [write('/home/dev/app/run.sh')] },
    ],
  },
  {
    names: [
      'mkfs',
      'mke2fs',
      'mkswap',
      'mkdosfs',
      'mkntfs',
      'newfs',
      'wipefs',
      'blkdiscard',
      'badblocks',
      'fdisk',
      'sfdisk',
      'cfdisk',
      'gdisk',
      'sgdisk',
      'parted',
      'hdparm',
      'cryptsetup',
      'pvcreate',
      'pvremove',
      'vgremove',
      'lvremove',
      'zpool',
      'zfs',
      'diskutil',
      'nvme',
      'sg_format',
    ],
    effects: formats,
    examples: [
      {
        command: 'mkfs.ext4 /dev/sdb1',
        effects: [{ kind: 'process', operation: 'format with mkfs.ext4', target: '/dev/sdb1' }],
      },
      { command: 'fdisk -l', effects: [] },
      { command: 'mkfs.ext4 -n /dev/sdb1', effects: [] },
    ],
  },
  {
    names: ['mount', 'umount'],
    effects: mounts,
    examples: [{ command: 'mount -o remount,rw /', effects: [{ kind: 'privilege' }] }],
  },
]

/** An editor shows the files that it opens. */
function editorReads(use: Use): readonly Draft[] {
  if (!/^(?:vi|vim|nvim|view|ex|r?ed|nano|pico|micro|emacs)$/.test(use.call.name)) return []
  const { operands } = argumentsOf(use.args, { valued: 'cST', long: ['--cmd', '--eval'] })
  return reads(
    use,
    operands.filter(({ text }) => !text.startsWith('+')),
  )
}

/** They read their first file. */
function splitReads(use: Use): readonly Draft[] {
  const { name } = use.call
  if (name === 'patch')
    return reads(use, argumentsOf(use.args, { valued: 'pioBdDFrVYz' }).valuesOf('i', '--input'))
  return name === 'split' || name === 'csplit'
    ? reads(use, argumentsOf(use.args, shapeOf(name)).operands.slice(0, 1))
    : []
}

function ddReads(use: Use): readonly Draft[] {
  if (!/^d[cd]/.test(use.call.name)) return []
  return reads(
    use,
    use.args.filter(({ text }) => text.startsWith('if=')).map((word) => withText(word, word.text.slice(3))),
  )
}
