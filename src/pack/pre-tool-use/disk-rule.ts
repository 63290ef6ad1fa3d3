// Disks that are written over.

import { posix } from 'node:path'
import { shown } from '../../core/text.js'
import type { Effect } from './effect.js'
import { denied, type Finding } from './finding.js'
import type { Call, WrittenFile } from './shell-script.js'
import type { Word } from './word.js'

/** Devices that are no disk. */
const HARMLESS =
  /^\/dev\/(?:null|zero|full|random|urandom|tty\w*|pts\/.*|ptmx|stdin|stdout|stderr|fd\/.*|shm(?:\/.*)?|console|dsp|snd\/.*|tcp\/.*|udp\/.*)$/

const FORMATTERS =
  /^(?:mkfs(?:\..+)?|mke2fs|mkswap|mkdosfs|mkntfs|newfs(?:_.+)?|wipefs|blkdiscard|badblocks|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|hdparm|cryptsetup|pvcreate|pvremove|vgremove|lvremove|zpool|diskutil|nvme|sg_format)$/

/** With these they only tell; what is a question to one is a value to another. */
const TELLING =
  /^(?:-h|-V|--(?:list|no-act|help|version|print|dump|verify)|list|info|print|status|id-ctrl|smart-log)$/
const TELLING_BY: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:mkfs\.ext\d|mke2fs|wipefs|sfdisk)$/, /^-n$/],
  [/^(?:[sc]?fdisk|s?gdisk|parted)$/, /^-[lp]$/],
  [/^hdparm$/, /^-[iI]$/],
]

export function diskFindings(call: Call, effects: readonly Effect[]): Finding[] {
  const written = effects.filter(({ deed }) => deed !== 'link').map(({ target }) => target)
  const found = [...written.filter((word) => isDisk(word, call.folders)), ...formatted(call)]
  return found.slice(0, 1).map((word) => disk(`\`${call.name}\``, word))
}

export function diskOutputs(outputs: readonly WrittenFile[]): Finding[] {
  return outputs
    .flatMap(({ words, folders }) => words.filter((word) => isDisk(word, folders)))
    .map((word) => disk('It', word))
}

function tells(name: string, text: string): boolean {
  return TELLING.test(text) || TELLING_BY.some(([who, what]) => who.test(name) && what.test(text))
}

function formatted({ name, args, folders }: Call): readonly Word[] {
  if (!FORMATTERS.test(name) || args.some(({ text }) => tells(name, text))) return []
  if (/^(?:zpool|diskutil|lvremove|vgremove)$/.test(name)) {
    return args.filter(({ text }) =>
      /^(?:destroy|labelclear|erase.*|partition.*|zero.*|-f|-y|.*\/.*)$/i.test(text),
    )
  }
  return args.filter((word) => isDisk(word, folders) || (!word.known && !word.text.startsWith('-')))
}

function isDisk({ text, known }: Word, folders: readonly string[]): boolean {
  const from = /^[/~]/.test(text) ? ['/'] : folders.filter((folder) => folder.startsWith('/'))
  return from.some((folder) => {
    // An unknown word has no folders to go up by.
    const path = posix.normalize(text.startsWith('/') ? text : `${folder}/${text}`)
    return /^\/dev\/./.test(path) && !HARMLESS.test(path) && (known || /^\/dev\/\w/.test(path))
  })
}

function disk(who: string, { text }: Word): Finding {
  return denied(
    'disk',
    `${who} writes over ${shown(text)}: what is on that disk would be lost. Write to a file, or let the user do it.`,
  )
}
