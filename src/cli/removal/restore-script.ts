// The commands that bring back what was removed: the script in a backup, and setup.

import { basename, dirname, join } from 'node:path'
import { RESTORE_SCRIPT } from '../../files/homes.js'
import type { Plan } from '../../hosts/setup.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { setupAgain } from '../setup/choice.js'
import type { Found, Settings } from './found.js'

/** For a shell. Each step marks what it did, so that the script can be run again. */
const RESTORING = `failed=0
missed() { echo "not restored: $1" >&2; failed=1; }
# NAME: whether a removal that was cut short had not come to it
stayed() { [ ! -e "$backup/$1" ] || { [ "$1" = data/setup ] && [ ! -e "$backup/complete" ]; }; }
# NAME PATH
check() {
  if stayed "$1" || [ -e "$backup/$1.restored" ]; then return; fi
  if [ -e "$2" ]; then missed "$2 already exists; move it away, then run this again"; fi
}
kept() {
  if stayed "$1" || [ -e "$backup/$1.restored" ]; then return; fi
  if (umask 077 && mkdir -p "\${2%/*}") && rm -rf "$2.restoring" && cp -a "$backup/$1" "$2.restoring" && mv "$2.restoring" "$2"
  then : > "$backup/$1.restored"; echo "restored $2"
  else missed "$2"; fi
}
# FILE, the text it had, the text it was left with, the folder it is in, what registers the hooks
settings() {
  if [ ! -d "$4" ]; then missed "$1, because $4 is gone"; return; fi
  if cmp -s "$backup/$2" "$1"; then return; fi
  if [ -n "$3" ] && cmp -s "$backup/$3" "$1"; then cp -p "$1" "$1.restoring" && cat "$backup/$2" > "$1.restoring"
  elif [ -z "$3" ] && [ ! -e "$1" ]; then mkdir -p "\${1%/*}" && cp -p "$backup/$2" "$1.restoring"
  else missed "$1, because it has changed since\${5:+. To register its hooks: $5}"; return; fi
  if [ $? = 0 ] && mv -f "$1.restoring" "$1"; then echo "restored $1"; else missed "$1"; fi
}`

/** `left`: the text that remains, or nothing if the file goes. */
export function savedNames(
  i: number,
  { file, after }: Plan,
): { readonly saved: string; readonly left: string } {
  const saved = `${i + 1}-${basename(file.path)}`
  return { saved, left: after === undefined ? '' : `${saved}.left` }
}

export function restoreScript({ settings, kept }: Pick<Found, 'settings' | 'kept'>, backup: string): string {
  const names = kept.flatMap(({ kind, folder, names }) =>
    names.map((name) => [`${kind}/${name}`, join(folder, name)]),
  )
  return [
    '#!/bin/sh',
    '# Restores what `carabiner remove` removed. It overwrites nothing that came since, and can be run again.',
    `backup=${shellQuoted(backup)}`,
    RESTORING,
    ...names.map((words) => typedWords(['check', ...words])),
    'if [ $failed = 1 ]; then exit 1; fi',
    ...names.map((words) => typedWords(['kept', ...words])),
    ...settings.map((one, i) => {
      const { saved, left } = savedNames(i, one.plan)
      const again = setupCommands([one])
      return typedWords(['settings', one.plan.file.real, saved, left, folderOf(one.plan), again])
    }),
    'if [ $failed = 0 ]; then : > "$backup/restored"; fi',
    'exit $failed',
    '',
  ].join('\n')
}

/** The folder that the removal leaves. */
function folderOf({ file, after, installed }: Plan): string {
  const [created] = after === undefined ? (installed?.folders ?? []) : []
  return dirname(created ?? file.real)
}

/** Registers the same hooks again. Empty if setup knows none of them. */
export function setupCommands(settings: readonly Settings[]): string {
  const commands = settings.flatMap(setupAgain)
  return commands.map(typedWords).join(' && ')
}

export function restoreCommand(backup: string): string {
  return typedWords(['sh', join(backup, RESTORE_SCRIPT)])
}

function typedWords(words: readonly string[]): string {
  return words.map(shellQuoted).join(' ')
}
