// Disks that are written over.

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

/** They only tell. */
const TELLING =
  /^(?:-l|-n|-p|-h|-V|-I|-i|--(?:list|no-act|help|version|print|dump|verify)|list|info|print|status|id-ctrl|smart-log)$/

export function diskFindings(call: Call, effects: readonly Effect[]): Finding[] {
  const written = effects.filter(({ deed }) => deed !== 'link').map(({ target }) => target)
  const found = [...written.filter(isDisk), ...formatted(call)]
  return found.slice(0, 1).map((word) => disk(`\`${call.name}\``, word))
}

export function diskOutputs(outputs: readonly WrittenFile[]): Finding[] {
  return outputs.flatMap(({ words }) => words.filter(isDisk)).map((word) => disk('It', word))
}

function formatted({ name, args }: Call): readonly Word[] {
  if (!FORMATTERS.test(name) || args.some(({ text }) => TELLING.test(text))) return []
  if (/^(?:zpool|diskutil|lvremove|vgremove)$/.test(name)) {
    return args.filter(({ text }) =>
      /^(?:destroy|labelclear|erase.*|partition.*|zero.*|-f|-y|.*\/.*)$/i.test(text),
    )
  }
  return args.filter((word) => isDisk(word) || (!word.known && !word.text.startsWith('-')))
}

function isDisk({ text, known }: Word): boolean {
  const path = text.replace(/\/{2,}/g, '/').replace(/\/\.\//g, '/')
  return /^\/dev\/./.test(path) && !HARMLESS.test(path) && (known || /^\/dev\/\w/.test(path))
}

function disk(who: string, { text }: Word): Finding {
  return denied(
    'disk',
    `${who} writes over ${shown(text)}: what is on that disk would be lost. Write to a file, or let the user do it.`,
  )
}
