// What the machine itself depends on: volumes, boot entries, its defences, scheduled jobs, and processes found by name or port.

import { literalWord } from '../files/file-effect.js'
import {
  type Draft,
  onProcess,
  optionValue,
  type Program,
  plainWords,
  privilege,
  type Use,
  writes,
} from '../program.js'

/** The words of a call that changes something, by program. */
const CHANGES: Readonly<Record<string, RegExp>> = {
  // Volumes
  btrfs:
    /^(?:subvolume delete|device (?:delete|remove)|balance start|filesystem resize|check .*--repair|rescue)(?: |$)/,
  losetup: /(?:^| )(?:-d|-D|--detach|--detach-all)(?: |$)/,
  lvresize: /^/,
  lvreduce: /^/,
  lvconvert: /^/,
  vgreduce: /^/,
  pvmove: /^/,
  dmsetup: /^(?:remove|remove_all|wipe_table|suspend|clear)(?: |$)/,
  mdadm: /(?:^| )(?:--(?:zero-superblock|stop|fail|remove|create|grow)|-[SfrCG])(?: |$)/,
  e2fsck: /(?:^| )-\w*[yfp]/,
  fsck: /(?:^| )-\w*[yp]/,
  xfs_repair: /^/,
  resize2fs: /^/,
  tune2fs: /(?:^| )-[^l]/,
  quotaoff: /^/,
  tmutil: /^(?:delete|disable|deletelocalsnapshots|thinlocalsnapshots|removedestination)(?: |$)/,
  timeshift: /(?:^| )--(?:delete|delete-all|restore)(?: |$)/,
  snapper: /^(?:delete|rollback|undochange)(?: |$)/,
  'proxmox-backup-client': /^(?:prune|snapshot forget)(?: |$)/,
  // Boot
  efibootmgr: /(?:^| )-\w*[BDNOcon]/,
  'grub-install': /^/,
  'update-grub': /^/,
  'grub-mkconfig': /(?:^| )-o(?: |$)/,
  bootctl: /^(?:install|remove|set-\S+|unlink|update)(?: |$)/,
  nvram: /(?:^| )(?:-[dc]|\S+=)/,
  bless: /^/,
  // Its processes
  fuser: /(?:^| )(?:-\w*k\w*|--kill)(?: .*)?$/,
  renice: /(?:^| )-(?:g|u)(?: |$)/,
  // Services and virtual machines
  limactl: /^(?:delete|factory-reset|prune)(?: |$)/,
  lima: /^(?:delete|factory-reset|prune)(?: |$)/,
  colima: /^(?:delete|prune)(?: |$)/,
  VBoxManage:
    /^(?:unregistervm .*--delete|closemedium .*--delete|snapshot \S+ delete|controlvm \S+ poweroff)/,
  vboxmanage:
    /^(?:unregistervm .*--delete|closemedium .*--delete|snapshot \S+ delete|controlvm \S+ poweroff)/,
  pm2: /^(?:kill|delete all|stop all|unstartup|startup)(?: |$)/,
  supervisorctl: /^(?:shutdown|stop all|stop)(?: |$)/,
  hostnamectl: /^(?:set-\S+|hostname \S)/,
  timedatectl: /^set-/,
  nmcli:
    /^(?:(?:networking|radio \S+|n) off|(?:connection|con|c|device|dev|d) (?:delete|del|down|modify|disconnect))(?: |$)/,
  ip: /^(?:-\d )?(?:link (?:set \S+ down|delete)|route (?:flush|del|delete|add|replace)|addr(?:ess)? (?:flush|del))/,
  ifconfig: /(?:^| )down$/,
  networksetup: /^-set/,
  scutil: /^--set/,
}

/** A single port is what agents free before they start a server. */
const ONE_PORT = /^(?:-\w+ )*\d+\/(?:tcp|udp)$|^(?:-\w+ )*-n (?:tcp|udp) \d+$/

const changes = (use: Use): readonly Draft[] => {
  const { call, texts } = use
  const line = texts.join(' ')
  const isTold = texts.some((text) => /^(?:--help|-h|--version|-V|--dry-run)$/.test(text))
  if (isTold || (call.name === 'fuser' && ONE_PORT.test(line.replace(/ -k$/, '')))) return []
  const plain = plainWords(texts).join(' ')
  const changing = CHANGES[call.name]
  return changing?.test(line) || (changing && plain !== '' && changing.test(plain))
    ? [onProcess([call.name, ...plainWords(texts).slice(0, 2)].join(' '))]
    : []
}

// ---- defences ---------------------------------------------------------------------------------------------------

/** The words of a call that takes a defence away or gives somebody rights. */
const RIGHTS: Readonly<Record<string, RegExp>> = {
  csrutil: /^(?:disable|enable|clear|authenticated-root)(?: |$)/,
  spctl: /(?:^| )--(?:master-disable|global-disable|disable|add|remove|reset-default)(?: |$)/,
  nsenter: /^/,
  unshare: /^/,
  capsh: /^/,
  icacls: /\/(?:grant|deny|remove|setowner|reset|inheritance)/i,
  cacls: /\/[gprd](?: |$)/i,
  takeown: /^/,
  runas: /^/,
  net: /^(?:user|localgroup|group|accounts) .*\/(?:add|delete|active|domain)|^user \S+ \S+|^share \S+=/i,
  netsh: /(?:^| )(?:set|add|delete|off|reset)(?: |$)/i,
  'set-executionpolicy': /^/,
  'set-mppreference': /^/,
  'aa-disable': /^/,
  'aa-complain': /^/,
  'aa-teardown': /^/,
  apparmor_parser: /(?:^| )-R(?: |$)/,
  setsebool: /^/,
  semanage: /(?:^| )(?:-[adDm]|permissive)(?: |$)/,
  auditctl: /(?:^| )-[Dde](?: |$)/,
  loginctl: /^(?:enable-linger|kill-\S+|terminate-\S+)(?: |$)/,
  tccutil: /^reset(?: |$)/,
  fdesetup: /^(?:disable|enable|remove|changerecovery)(?: |$)/,
  profiles: /^(?:install|remove|renew)(?: |$)|(?:^| )-[IRD](?: |$)/,
  'polkit-agent-helper-1': /^/,
  chage: /(?:^| )-[^l]/,
  ulimit: /(?:^| )-u unlimited/,
  xhost: /^\+/,
}

const rights = ({ call, texts }: Use): readonly Draft[] => {
  const line = texts.join(' ')
  const name = Object.hasOwn(RIGHTS, call.name) ? call.name : call.name.toLowerCase()
  return RIGHTS[name]?.test(line) && !/^(?:--help|--version|\/\?)$/.test(line)
    ? [privilege([call.name, ...plainWords(texts).slice(0, 2)].join(' '))]
    : []
}

/** `umask 000`: everybody may write what is made from now on. */
const masks = ({ texts }: Use): readonly Draft[] => {
  const mode = texts.find((text) => !text.startsWith('-')) ?? ''
  return /^0*[0-7]?[0145]$|^0+$|o=\w*w|a=\w*w/.test(mode) && mode !== '' ? [privilege(`umask ${mode}`)] : []
}

// ---- later ------------------------------------------------------------------------------------------------------

/** Removing or listing jobs is left to `atq` and `atrm`. */
const schedules = (use: Use): readonly Draft[] =>
  use.texts.some((text) => /^-\w*[lcV]/.test(text))
    ? []
    : [onProcess(`${use.call.name} ${use.texts.join(' ')}`.trim())]

/** Settings of macOS, of which some name what runs at login. */
const defaults = (use: Use): readonly Draft[] => {
  const [verb = '', domain = ''] = plainWords(use.texts, /^-host$/)
  const isGlobal = use.texts.some((text) => /^-(?:g|globalDomain)$/.test(text))
  if (!/^(?:write|delete|import|rename)$/.test(verb)) return []
  const file = isGlobal || domain === '' ? '.GlobalPreferences' : domain.replace(/\.plist$/, '')
  return writes(use, [
    literalWord(file.startsWith('/') ? `${file}.plist` : `~/Library/Preferences/${file}.plist`),
  ])
}

/** A file that fills the disk. */
const fills = ({ texts }: Use): readonly Draft[] => {
  const [, size = '0', unit = ''] =
    /^(\d+)([GT])/.exec(optionValue(texts, /^(?:-l|--length|-s)$/) ?? texts[0] ?? '') ?? []
  return unit === 'T' || Number(size) >= 100 ? [onProcess('exhaust the disk')] : []
}

const change = (operation?: string) => ({ kind: 'process', ...(operation !== undefined && { operation }) })
const given = { kind: 'privilege' }

export const MACHINE_PROGRAMS: readonly Program[] = [
  {
    names: Object.keys(CHANGES),
    effects: changes,
    examples: [
      { command: 'btrfs subvolume delete /mnt/x', effects: [change('btrfs subvolume delete')] },
      { command: 'btrfs filesystem show', effects: [] },
      { command: 'losetup -d /dev/loop0', effects: [change()] },
      { command: 'losetup -a', effects: [] },
      { command: 'efibootmgr -b 0001 -B', effects: [change()] },
      { command: 'efibootmgr -v', effects: [] },
      { command: 'fuser -km /mnt', effects: [change()] },
      { command: 'fuser -k 3000/tcp', effects: [] },
      { command: 'fuser -n tcp 3000', effects: [] },
      { command: 'tmutil delete /x', effects: [change()] },
      { command: 'pm2 delete all', effects: [change()] },
      { command: 'pm2 list', effects: [] },
      { command: 'ip addr show', effects: [] },
    ],
  },
  {
    names: Object.keys(RIGHTS),
    effects: rights,
    examples: [
      { command: 'csrutil disable', effects: [given] },
      { command: 'csrutil status', effects: [] },
      { command: 'spctl --master-disable', effects: [given] },
      { command: 'nsenter -t 1 -a sh', effects: [given] },
      { command: 'icacls x /grant Everyone:F', effects: [given] },
      { command: 'icacls x', effects: [] },
      { command: 'net user x y /add', effects: [given] },
      { command: 'net use', effects: [] },
    ],
  },
  {
    names: ['umask'],
    effects: masks,
    examples: [
      { command: 'umask 000', effects: [given] },
      { command: 'umask 022', effects: [] },
      { command: 'umask', effects: [] },
    ],
  },
  {
    names: ['at', 'batch'],
    effects: schedules,
    examples: [
      { command: "at now + 1 minute <<< '/tmp/x'", effects: [change()] },
      { command: 'at -l', effects: [] },
    ],
  },
  {
    names: ['defaults'],
    effects: defaults,
    examples: [
      {
        command: 'defaults write com.apple.loginwindow LoginHook /tmp/x',
        effects: [
          { kind: 'write', place: { path: '/home/dev/Library/Preferences/com.apple.loginwindow.plist' } },
        ],
      },
      { command: 'defaults read com.apple.dock', effects: [] },
    ],
  },
]

/** Code of AppleScript that asks for rights, or adds what runs at login. */
const scripted = ({ texts }: Use): readonly Draft[] => {
  const code = texts.join(' ')
  if (/with administrator privileges/i.test(code))
    return [privilege('osascript with administrator privileges')]
  return /make (?:new )?login item/i.test(code) ? [onProcess('add a login item')] : []
}

/** What programs of other tables do to the machine, besides what those say. */
export const ON_MACHINE: readonly Program[] = [
  {
    names: ['osascript'],
    effects: scripted,
    examples: [
      {
        command: `osascript -e 'tell application "System Events" to make login item at end'`,
        effects: [change('add a login item')],
      },
    ],
  },
  {
    names: ['fallocate', 'truncate', 'mkfile'],
    effects: fills,
    examples: [
      { command: 'fallocate -l 500G /tmp/x', effects: [change('exhaust the disk')] },
      { command: 'truncate -s 10M x', effects: [{ kind: 'write' }] },
    ],
  },
]
