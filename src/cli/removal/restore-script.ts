// The commands that bring back what was removed: the script in a backup, and setup.

import { basename, dirname, join } from 'node:path'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { RESTORE_SCRIPT } from '../../files/homes.js'
import type { SettingsFile } from '../../hosts/settings-file.js'
import type { Plan } from '../../hosts/setup.js'
import { setupAgain } from '../setup/choice.js'
import { mcpAgain } from '../setup/mcp.js'
import type { Found } from './found.js'

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
# FILE, the text it had, the text it was left with, the folder it is in, what sets it up again, the text in between
settings() {
  if [ ! -d "$4" ]; then missed "$1, because $4 is gone"; return; fi
  if cmp -s "$backup/$2" "$1"; then return; fi
  if [ -n "$3" ] && { cmp -s "$backup/$3" "$1" || { [ -n "$6" ] && cmp -s "$backup/$6" "$1"; }; }
  then cp -p "$1" "$1.restoring" && cat "$backup/$2" > "$1.restoring"
  elif [ -z "$3" ] && [ ! -e "$1" ]; then mkdir -p "\${1%/*}" && cp -p "$backup/$2" "$1.restoring"
  else missed "$1, because it has changed since\${5:+. To set it up again: $5}"; return; fi
  if [ $? = 0 ] && mv -f "$1.restoring" "$1"; then echo "restored $1"; else missed "$1"; fi
}`

/** A file of an agent that the removal changes, and the names of its texts in the backup. */
export interface ChangedFile {
  readonly file: SettingsFile
  readonly saved: string
  /** The texts that may be found there: none if the file goes, two if it is changed twice. */
  readonly left: readonly { readonly name: string; readonly text: string }[]
  /** The folder that the removal leaves. */
  readonly folder: string
  /** Sets it up again. Empty if setup knows nothing in it. */
  readonly again: string
}

/** Hooks and MCP servers may be in one file: the hooks are taken out first. */
export function changedFiles({ settings, mcp }: Pick<Found, 'settings' | 'mcp'>): readonly ChangedFile[] {
  const plans = [...settings.map(({ plan }) => plan), ...mcp]
  const reals = [...new Set(plans.map(({ file }) => file.real))]
  return reals.flatMap((real, i) => {
    const hooks = settings.filter(({ plan }) => plan.file.real === real)
    const servers = mcp.filter(({ file }) => file.real === real)
    const all = plans.filter(({ file }) => file.real === real)
    const [first] = all
    if (!first) return []
    const saved = `${i + 1}-${basename(first.file.path)}`
    const texts = all.flatMap(({ after }) => (after === undefined ? [] : [after])).toReversed()
    return {
      file: first.file,
      saved,
      left: texts.map((text, at) => ({ name: `${saved}.${at === 0 ? 'left' : 'between'}`, text })),
      folder: hooks[0] ? folderOf(hooks[0].plan) : dirname(real),
      again: setupCommands({ settings: hooks, mcp: servers }),
    }
  })
}

export function restoreScript(found: Pick<Found, 'settings' | 'mcp' | 'kept'>, backup: string): string {
  const { kept } = found
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
    ...changedFiles(found).map(({ file, saved, left: [left, between], folder, again }) => {
      const words = [file.real, saved, left?.name ?? '', folder, again]
      return typedWords(['settings', ...words, ...(between ? [between.name] : [])])
    }),
    'if [ $failed = 0 ]; then : > "$backup/restored"; fi',
    'exit $failed',
    '',
  ].join('\n')
}

function folderOf({ file, after, installed }: Plan): string {
  const [created] = after === undefined ? (installed?.folders ?? []) : []
  return dirname(created ?? file.real)
}

/** Registers the same hooks again. Servers come first, because setup refuses them where it finds hooks. */
export function setupCommands({ settings, mcp }: Pick<Found, 'settings' | 'mcp'>): string {
  const lines = [...mcp.map(mcpAgain), ...settings.map(setupAgain)].map((commands) =>
    commands.map(typedWords).join(' && '),
  )
  return [...new Set(lines)].filter((line) => line !== '').join(' && ')
}

export function restoreCommand(backup: string): string {
  return typedWords(['sh', join(backup, RESTORE_SCRIPT)])
}

function typedWords(words: readonly string[]): string {
  return words.map(shellQuoted).join(' ')
}
