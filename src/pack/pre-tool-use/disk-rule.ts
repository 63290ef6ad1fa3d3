// Disks that a command would overwrite.

import { posix } from 'node:path'
import { shown } from '../../core/base/text.js'
import type { FileEffect } from '../../effects/files/file-effect.js'
import type { Call, WrittenFile } from '../../effects/script/shell-script.js'
import { type Word, withText } from '../../effects/script/word.js'
import { asked, denied, type Finding } from './finding.js'

/** Devices that are not disks. */
const HARMLESS =
  /^\/dev\/(?:null|zero|full|random|urandom|tty\w*|pts\/.*|ptmx|stdin|stdout|stderr|fd\/.*|shm(?:\/.*)?|console|dsp|snd\/.*|tcp\/.*|udp\/.*)$/

const FORMATTERS =
  /^(?:mkfs(?:\..+)?|mke2fs|mkswap|mkdosfs|mkntfs|newfs(?:_.+)?|wipefs|blkdiscard|badblocks|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|hdparm|cryptsetup|pvcreate|pvremove|vgremove|lvremove|zpool|zfs|diskutil|nvme|sg_format)$/

/** With these options the programs only print information. They differ by program. */
const TELLING =
  /^(?:-h|-V|--(?:list|no-act|help|version|print|dump|verify)|list|info|print|status|id-ctrl|smart-log)$/
const TELLING_BY: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:mkfs\.ext\d|mke2fs|wipefs|sfdisk)$/, /^-n$/],
  [/^(?:[sc]?fdisk|s?gdisk|parted)$/, /^-[lp]$/],
  [/^hdparm$/, /^-[iI]$/],
]

export function diskFindings(call: Call, effects: readonly FileEffect[]): Finding[] {
  const written = effects.filter(({ deed }) => deed !== 'link').map(({ target }) => target)
  if (/^dc3dd$/.test(call.name))
    written.push(
      ...call.args.flatMap((word) => (/^wipe=/.test(word.text) ? [withText(word, word.text.slice(5))] : [])),
    )
  const found = [...written.filter((word) => isDisk(word, call.folders)), ...formatted(call)]
  return found.slice(0, 1).map((word) => disk(`\`${call.name}\``, word))
}

export function diskOutputs(outputs: readonly WrittenFile[]): Finding[] {
  return outputs
    .flatMap(({ words, folders }) => words.filter((word) => isDisk(word, folders)))
    .map((word) => disk('It', word))
}

const DISK =
  /^\/dev\/(?:r?disk\d|[hsv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|mapper\/.|loop\d|mtd\w*\d|disk\/.)/

/** Whether the path is a disk by name, and not just anything in /dev. */
export function isRealDisk(path: string): boolean {
  return DISK.test(path)
}

/** Programs that only inspect or mount disks. */
const LOOKING =
  /^(?:lsblk|blkid|smartctl|findmnt|udevadm|udisksctl|dumpe2fs|xfs_info|iostat|fuser|eject|swapon|swapoff|losetup|docker|podman|qemu-system-\w+)$/

/** An unknown program gets a disk as an argument. */
export function givenDisks({ name, args }: Call): Finding[] {
  if (
    LOOKING.test(name) ||
    FORMATTERS.test(name) ||
    args.some(({ text }) => /^(?:-n|-l|--detail|--get\w*)$/.test(text) || tells(name, text))
  )
    return []
  const found = args.find(({ text }) => isRealDisk(text.replace(/^(?:--?)?\w+=/, '')))
  if (!found) return []
  return [
    asked('disk', `\`${name}\` gets the disk ${shown(found.text)} as an argument. Let the user do that.`),
  ]
}

function tells(name: string, text: string): boolean {
  return TELLING.test(text) || TELLING_BY.some(([who, what]) => who.test(name) && what.test(text))
}

function formatted({ name, args, folders }: Call): readonly Word[] {
  if (!FORMATTERS.test(name) || args.some(({ text }) => tells(name, text))) return []
  if (name === 'zfs') return args.filter(({ text }) => text === 'destroy')
  if (/^(?:zpool|diskutil|lvremove|vgremove)$/.test(name)) {
    return args.filter(({ text }) =>
      /^(?:destroy|labelclear|erase.*|partition.*|zero.*|delete.*|-f|-y|.*\/.*)$/i.test(text),
    )
  }
  return args.filter((word) => isDisk(word, folders) || (!word.known && !word.text.startsWith('-')))
}

function isDisk({ text, known }: Word, folders: readonly string[]): boolean {
  const from = /^[/~]/.test(text) ? ['/'] : folders.filter((folder) => folder.startsWith('/'))
  return from.some((folder) => {
    // A word that is only known at run time must at least name a device.
    const path = posix.normalize(text.startsWith('/') ? text : `${folder}/${text}`)
    return /^\/dev\/./.test(path) && !HARMLESS.test(path) && (known || /^\/dev\/\w/.test(path))
  })
}

function disk(who: string, { text }: Word): Finding {
  return denied(
    'disk',
    `${who} overwrites ${shown(text)}, and everything on that disk would be lost. Write to a file, or let the user do it.`,
  )
}
