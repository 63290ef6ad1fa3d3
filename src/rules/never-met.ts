// Values of a rule that no effect can have, such as an address where a host is meant. Such a rule would never apply.

import { nearest } from '../core/base/text.js'
import type { EffectKind } from '../effects/effect.js'
import { patternsOf } from './effect-kinds.js'

/** Why a value is never met, and what to write. */
export interface NeverMet {
  readonly why: string
  readonly todo: string
}

// ---- patterns ---------------------------------------------------------------------------------------------------

/** Undefined if an effect of the kind may be meant. */
export function neverMeant(pattern: string, kind: EffectKind): NeverMet | undefined {
  switch (patternsOf(kind)) {
    case 'hosts':
      return hostSlip(pattern, kind)
    case 'branches':
      return branchSlip(pattern, kind)
    case 'paths':
      return pathSlip(pattern, kind)
    default:
      return undefined
  }
}

const ADDRESS = /^(?:https?|wss?|s?ftps?|ssh|git|scp)(?:\+\w+)?:\/\/+/i

/** A host has no user, port or path. `s3://bucket` is one. */
function hostSlip(pattern: string, kind: EffectKind): NeverMet | undefined {
  const slash = pattern.indexOf('/')
  const isElsewhere = slash > 0 && !/[:*?]/.test(pattern[slash - 1] ?? '')
  const hasPath = /^[^/]*:\/\/[^/]*\//.test(pattern)
  const hasPort = /^(?:[^:]+|\[.*\]):\d+$/.test(pattern)
  const hasDot = /[^.]\.$/.test(pattern)
  if (!ADDRESS.test(pattern) && !isElsewhere && !hasPath && !hasPort && !hasDot && !pattern.includes('@'))
    return blankSlip(pattern)
  const bare = pattern
    .replace(ADDRESS, '')
    .replace(/^[^/]*@/, '')
    .replace(/^([^/]*:\/\/)?([^/]*).*$/s, '$1$2')
    .replace(/^([^:]+|\[.*\]):\d+$/, '$1')
    .replace(/\.$/, '')
  return slip(`patterns of ${kind} are hosts`, bare)
}

function branchSlip(pattern: string, kind: EffectKind): NeverMet | undefined {
  const bare = pattern.replace(
    /^(?:refs\/(?:heads|tags)\/|(?:(?:refs\/)?remotes\/)?(?:origin|upstream)\/)/,
    '',
  )
  return bare === pattern ? blankSlip(pattern) : slip(`patterns of ${kind} are branches`, bare)
}

function pathSlip(pattern: string, kind: EffectKind): NeverMet | undefined {
  if (ADDRESS.test(pattern))
    return { why: `patterns of ${kind} are paths`, todo: 'Use send or fetch for hosts.' }
  if (/^file:\/\//i.test(pattern)) return slip(`patterns of ${kind} are paths`, pattern.slice(7))
  // Then it is about a file with such a name.
  if (/^(?:~|\.{0,2})\//.test(pattern)) return undefined
  if (/^\$(?:[A-Za-z_]|\{)/.test(pattern))
    return { why: 'patterns have no variables', todo: knownPath(pattern) }
  const todo = noPath(pattern)
  return todo === undefined ? undefined : { why: 'it means no path', todo }
}

function knownPath(pattern: string): string {
  const bare = pattern.replace(/^\$(?:HOME\b|\{HOME\})/, '~').replace(/^\$(?:PWD\b|\{PWD\})\/?/, '')
  return bare === '' || bare.startsWith('$') ? 'Write the path.' : `Write ${JSON.stringify(bare)}.`
}

function noPath(pattern: string): string | undefined {
  if (pattern.startsWith('!')) return 'Use "except", or write ./! for a name that begins so.'
  if (pattern.trim() !== pattern) return 'Remove the spaces around it.'
  if (/^~[^/]/.test(pattern)) return 'Write ~ for your own home folder, or the whole path of another.'
  return pattern.includes('\\') ? 'Write / between folders.' : undefined
}

function blankSlip(pattern: string): NeverMet | undefined {
  return pattern === pattern.trim() ? undefined : slip('no name begins or ends with a blank', pattern.trim())
}

function slip(why: string, bare: string): NeverMet {
  return { why, todo: bare === '' ? 'Remove it.' : `Write ${JSON.stringify(bare)}.` }
}

// ---- fields -----------------------------------------------------------------------------------------------------

/** Every manager that the tables of programs have. */
export const MANAGERS: readonly string[] = words(`
  npm pnpm yarn bun go pipx pip uv poetry pipenv conda mamba pdm apt apt-get brew dnf yum apk pacman zypper snap flatpak
  port choco winget dpkg rpm emerge nix-env aptitude cargo gem twine hex composer`)

/** Commands that only read, so that no effect of git has them. */
export const GIT_READS: readonly string[] = words(`
  status diff log show blame ls-files ls-tree ls-remote rev-parse rev-list describe shortlog grep cat-file merge-base
  check-ignore for-each-ref show-ref`)

/** Every permission mode that a known agent has: Claude Code and Codex, Qwen Code, Droid. */
export const PERMISSION_MODES: readonly string[] = words(`
  default plan acceptEdits auto dontAsk bypassPermissions auto_edit auto-edit yolo off spec auto-low auto-medium
  auto-high`)

/** Undefined for a mode that an agent has, or that is like none of theirs: it may be an embedder's own. */
export function meantMode(mode: string): string | undefined {
  if (PERMISSION_MODES.includes(mode)) return undefined
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '')
  return PERMISSION_MODES.find((one) => plain(one) === plain(mode)) ?? nearest(mode, PERMISSION_MODES)
}

/** Words that operations usually have. They may have others, but not a slip in one of these. */
const USUAL_WORDS: { readonly [K in EffectKind]?: readonly string[] } = {
  git: words(`
    add am apply bisect branch checkout cherry-pick clean clone commit config fetch filter-branch filter-repo gc init
    maintenance merge mv notes prune pull push rebase reflog remote repack replace reset restore revert rm
    sparse-checkout stash submodule switch symbolic-ref tag update-ref worktree`),
  cloud: words(`
    apply cancel create delete deploy deploys destroy detach disable drain publish purge remove replace reset restart revoke
    rollback scale terminate uninstall unpublish update upgrade`),
  database: words('alter create database delete drop flushall grant insert schema table truncate update'),
  privilege: words(`
    adduser chgrp chmod chown chpasswd chsh deluser doas gpasswd groupadd groupdel mount newgrp passwd pkexec runuser
    setcap su sudo umount useradd userdel usermod visudo`),
  process: words(`
    crontab disable format halt iptables kill killall modprobe pkill poweroff reboot remove service shutdown stop
    swapoff sysctl systemctl`),
}

/** Undefined if an effect of the kind may have the value. Stars are never a slip. */
export function neverHad(key: string, value: string, kind: EffectKind): NeverMet | undefined {
  if (/[*?]/.test(value)) return undefined
  if (key === 'manager') {
    if (MANAGERS.includes(value.toLowerCase())) return undefined
    return { why: 'there is no such package manager', todo: meant(value, MANAGERS) ?? choose(MANAGERS) }
  }
  if (key !== 'operation') return undefined
  if (kind === 'git' && GIT_READS.includes(value.toLowerCase()))
    return { why: 'it only reads', todo: `Use the effect run, of "git ${value}".` }
  const usual = USUAL_WORDS[kind] ?? []
  for (const word of value.split(/\s+/)) {
    const near = word.length < 4 || usual.includes(word.toLowerCase()) ? undefined : oneAway(word, usual)
    if (near !== undefined)
      return {
        why: 'there is no such operation',
        todo: `Did you mean "${near}"? If not, write "${value}*".`,
      }
  }
  return undefined
}

/** One letter too many, missing, wrong or swapped. A longer word may be another one. */
function oneAway(word: string, known: readonly string[]): string | undefined {
  const near = nearest(word, known)
  if (near === undefined || Math.abs(near.length - word.length) > 1) return undefined
  const letters = (text: string) => [...text.toLowerCase()].sort().join('')
  if (letters(near) === letters(word)) return near
  const [short, long] = near.length < word.length ? [near, word.toLowerCase()] : [word.toLowerCase(), near]
  const at = [...long].findIndex((letter, i) => letter !== short[i])
  const isOne =
    short.length === long.length
      ? short.slice(at + 1) === long.slice(at + 1)
      : short.slice(at) === long.slice(at + 1)
  return isOne ? near : undefined
}

function meant(value: string, known: readonly string[]): string | undefined {
  const near = nearest(value, known)
  return near === undefined ? undefined : `Did you mean "${near}"?`
}

function choose(known: readonly string[]): string {
  return `Choose from ${known.join(', ')}.`
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
