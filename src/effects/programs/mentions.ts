// Files and disks that a program gets as arguments, if nothing is known about what it does with them.

import { fileEffectsOf } from '../files/file-effects.js'
import { type Draft, maybeSetting, NOT_GIT, onProcess, type Use } from '../program.js'
import type { Word } from '../script/word.js'

/** Programs with known effects on files, and options beside them that name one more. */
const EFFECTS_BESIDE = /^(?:rsync|tar|bsdtar|gtar|git|cp|mv|curl|wget|patch|split|sort)$/

/** An interpreter only runs the first file that it names, and does not change it. */
const INTERPRETER = /^(?:(?:ba|da|z|k)?sh|source|\.|python[\d.]*|node|bun|deno|tsx|ruby|perl|php)$/

/** Settings are below folders that begin with a dot, or at absolute paths. */
const HIDDEN = /(?:^|[/=:o])\.[^./]|^[/~]|=[/~]/

/** `sometool --out .config/x`: a setting that the program may change. */
export function mentions({ call, args, places }: Use): readonly Draft[] {
  if (args.length === 0) return []
  const isNear = call.folders.some((folder) => folder.includes('/.'))
  if (!isNear && !args.some(({ text }) => HIDDEN.test(text))) return []
  const given = fileEffectsOf(call.name) === undefined ? args : sideOutputs(call.name, args)
  const behind = args[0]?.text === '-m' ? 2 : 0
  const run = INTERPRETER.test(call.name)
    ? args.slice(behind).find(({ text }) => !text.startsWith('-'))
    : undefined
  return given
    .flatMap((word) => [word, ...valuesIn(word)])
    .filter((word) => word !== run && word.known && !/\s/.test(word.text))
    .flatMap((word) => maybeSetting(places(asNamed(word), true), NOT_GIT))
}

/** `--log-file=x`. Options that exclude files do not count. */
function sideOutputs(name: string, args: readonly Word[]): readonly Word[] {
  if (!EFFECTS_BESIDE.test(name)) return []
  return args.filter(({ text }) =>
    /^--(?!\w*-?(?:exclude|include|ignore|filter|reference|from|path|format|grep))[\w-]+=/.test(text),
  )
}

/** Everything in a folder counts as the folder. Many programs expand a pattern even if it is quoted. */
function asNamed(word: Word): Word {
  if (/\/\*\*(?:\/\*)?$/.test(word.text))
    return { ...word, text: word.text.replace(/\/\*\*(?:\/\*)?$/, ''), glob: false }
  return word.glob || !word.text.includes('*') || /^(?:\.\/)?[^/]*\*/.test(word.text)
    ? word
    : { ...word, glob: true }
}

/** `--out=x`, `-ox`, `if=x`, `OPEN:x`. */
function valuesIn(word: Word): readonly Word[] {
  const [, value] = /^(?:--?[\w-]+=|\w+=|[A-Za-z][\w-]*:(?!\/\/)|-\w(?=[./~]))(.+)$/s.exec(word.text) ?? []
  return value === undefined ? [] : [{ ...word, text: value }]
}

// ---- disks ------------------------------------------------------------------------------------------------------

const DISK =
  /^\/dev\/(?:r?disk\d|[hsv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|mapper\/.|loop\d|mtd\w*\d|disk\/.)/

export function isDisk(path: string): boolean {
  return DISK.test(path)
}

/** Programs that only look at disks or mount them, and those that are read otherwise. */
const LOOKING =
  /^(?:lsblk|blkid|smartctl|findmnt|udevadm|udisksctl|dumpe2fs|xfs_info|iostat|fuser|eject|swapon|swapoff|losetup|docker|podman|qemu-system-\w+|mount|umount|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|hdparm|nvme|diskutil)$/

const TELLING =
  /^(?:-n|-l|-h|-V|--(?:detail|get\w*|list|no-act|help|version|print|dump|verify)|list|info|print|status)$/

/** `resize2fs /dev/sda`: a program that may change the disk. */
export function givenDisks({ call, texts }: Use): readonly Draft[] {
  if (!texts.some((text) => text.includes('/dev/'))) return []
  if (LOOKING.test(call.name) || fileEffectsOf(call.name) !== undefined) return []
  if (texts.some((text) => TELLING.test(text))) return []
  const disk = texts.map((text) => text.replace(/^(?:--?)?\w+=/, '')).find(isDisk)
  return disk === undefined ? [] : [onProcess(`change a disk with ${call.name}`, disk)]
}
