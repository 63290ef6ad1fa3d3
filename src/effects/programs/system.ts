// Rights, processes and services of the machine.

import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { argumentsOf, literalWord } from '../files/file-effect.js'
import {
  type Draft,
  onPlaces,
  onProcess,
  optionValue,
  type Program,
  plainWords,
  privilege,
  reads,
  type Use,
  writes,
} from '../program.js'
import { isMake, makeCall } from '../script/make-scripts.js'
import { withText } from '../script/word.js'

// ---- rights -----------------------------------------------------------------------------------------------------

const asOther = ({ call, texts }: Use): readonly Draft[] =>
  texts.some((text) => /^-\w*[lvkKV]$|^--(?:list|validate|version|help|reset-timestamp)$/.test(text)) &&
  texts.length === 1
    ? []
    : [privilege(call.name)]

const account = ({ call, texts }: Use): readonly Draft[] => [
  privilege([call.name, ...plainWords(texts)].join(' ')),
]

// ---- processes --------------------------------------------------------------------------------------------------

/** One process by its number is ordinary. */
const kills = ({ call, texts }: Use): readonly Draft[] => {
  if (call.name === 'kill') {
    const targets = texts.filter(
      (text, i) =>
        !(text.startsWith('-') && i === 0 && text !== '--') &&
        !/^-[sn]$/.test(texts[i - 1] ?? '') &&
        text !== '--',
    )
    const wide = targets.find((text) => /^-\d+$|^[01]$/.test(text))
    return wide === undefined ? [] : [onProcess('kill', wide)]
  }
  const [name] = plainWords(texts, /^-[sugPGtUF]$|^--(?:signal|euid|uid)$/)
  const byUser = optionValue(texts, /^(?:-u|-U|--euid|--uid)$/)
  const isForced = texts.some((text) => /^-(?:9|KILL|SIGKILL)$/.test(text))
  const isWide =
    call.name === 'killall' ||
    call.name === 'killall5' ||
    isForced ||
    byUser !== undefined ||
    (name !== undefined && /^\.?\*?$/.test(name)) ||
    // Every server and every shell of that kind.
    (name !== undefined &&
      /^(?:python[\d.]*|node|java|ruby|php|bash|zsh|sh|ssh|sshd|docker|systemd|Xorg|code|postgres|mysqld|redis-server)$/.test(
        name,
      ))
  return isWide ? [onProcess(call.name, name ?? byUser)] : []
}

const halts = ({ call, texts }: Use): readonly Draft[] =>
  call.name === 'init' && !/^[0-6sS]$/.test(texts[0] ?? '')
    ? []
    : texts.some((text) => /^(?:--help|--version|-c)$/.test(text))
      ? []
      : [onProcess(call.name)]

const STOPS =
  /^(?:stop|disable|mask|kill|isolate|poweroff|reboot|halt|suspend|hibernate|emergency|rescue|enable|unload|bootout|remove|load|bootstrap|submit|delete|revert|link|edit|set-default|daemon-reexec|set-property)$/

const services = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts, /^-[HMtpn]$/)
  const [first = '', second = ''] = words
  const [verb, unit] = use.call.name === 'service' ? [second, first] : [first, second]
  return STOPS.test(verb) ? [onProcess(`${use.call.name} ${verb}`, unit)] : []
}

const FROM_INPUT = /^(?:-f|--file=|--makefile=)?(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/

/** The rules of these programs are in a language that is not read. In a file, people can at least look at them. */
const builds = (use: Use): readonly Draft[] => [
  ...(isMake(use.call.name) ? readMakefiles(use) : []),
  ...(use.texts.some((text) => FROM_INPUT.test(text) || /^--eval(?:=|$)/.test(text))
    ? [{ kind: 'unknown', why: `${use.call.name} gets its rules from the command line` } as const]
    : []),
]

function readMakefiles(use: Use): readonly Draft[] {
  const { folders, files } = makeCall(use.call)
  const from = folders.reduce<readonly string[]>(
    (starts, step) => starts.map((start) => posix.resolve(start, step)),
    use.call.folders,
  )
  const found = files.flatMap((text) => use.places(literalWord(text), false, from))
  return onPlaces(
    'read',
    found.filter(({ path, known }) => !known || existsSync(path)),
  )
}

const cron = (use: Use): readonly Draft[] => {
  if (use.texts.some((text) => /^-\w*l|^-V$/.test(text))) return []
  return use.texts.length === 0 &&
    use.call.readsFrom.length + use.call.inputFiles.length + use.call.input.length === 0
    ? []
    : [
        onProcess(use.texts.includes('-r') ? 'crontab -r' : 'crontab'),
        ...builds(use),
        ...reads(use, argumentsOf(use.args, { valued: 'u' }).operands),
      ]
}

const firewall = ({ call, texts }: Use): readonly Draft[] => {
  const changes =
    /^(?:-[FXADIRPZ]|--(?:flush|append|delete|insert|policy|delete-chain)|flush|add|delete|insert|disable|enable|reset|allow|deny|reject|--(?:add|remove)-\S+|0|off|stop)$/
  return texts.some((text) => changes.test(text)) ? [onProcess(`${call.name} ${texts[0]}`)] : []
}

export const SYSTEM_PROGRAMS: readonly Program[] = [
  {
    names: ['sudo', 'doas', 'su', 'pkexec', 'runuser'],
    effects: asOther,
    examples: [
      { command: 'sudo ls', effects: [{ kind: 'privilege', operation: 'sudo' }] },
      {
        command: "su -c 'rm -r /x'",
        effects: [{ kind: 'privilege' }, { kind: 'delete', place: { path: '/x' } }],
      },
    ],
  },
  {
    names: [
      'usermod',
      'useradd',
      'userdel',
      'groupadd',
      'groupdel',
      'gpasswd',
      'passwd',
      'chpasswd',
      'visudo',
      'setcap',
      'adduser',
      'deluser',
      'chsh',
      'vipw',
      'dscl',
      'newgrp',
      'sysadminctl',
    ],
    effects: account,
    examples: [
      {
        command: 'usermod -aG docker dev',
        effects: [{ kind: 'privilege', operation: 'usermod docker dev' }],
      },
    ],
  },
  {
    names: ['kill', 'pkill', 'killall', 'killall5', 'skill'],
    effects: kills,
    examples: [
      { command: 'kill -9 -1', effects: [{ kind: 'process', operation: 'kill', target: '-1' }] },
      { command: 'kill 1234', effects: [] },
      { command: 'killall node', effects: [{ kind: 'process' }] },
    ],
  },
  {
    names: ['shutdown', 'reboot', 'poweroff', 'halt', 'init', 'telinit', 'kexec'],
    effects: halts,
    examples: [{ command: 'shutdown -h now', effects: [{ kind: 'process', operation: 'shutdown' }] }],
  },
  {
    names: ['systemctl', 'service', 'launchctl', 'rc-service', 'sc', 'initctl'],
    hasVerb: true,
    effects: services,
    examples: [
      {
        command: 'systemctl stop nginx',
        effects: [{ kind: 'process', operation: 'systemctl stop', target: 'nginx' }],
      },
      { command: 'systemctl status nginx', effects: [] },
      { command: 'service nginx stop', effects: [{ kind: 'process', target: 'nginx' }] },
    ],
  },
  {
    names: ['make', 'gmake', 'bmake', 'nmake', 'just', 'ninja'],
    effects: builds,
    examples: [
      { command: "make -f - <<< 'all:; touch x'", effects: [{ kind: 'unknown' }] },
      { command: 'make --eval="$(cat rules)"', effects: [{ kind: 'unknown' }] },
      { command: 'make -f other.mk test', effects: [] },
    ],
  },
  {
    names: ['crontab'],
    effects: cron,
    examples: [
      { command: 'crontab -r', effects: [{ kind: 'process', operation: 'crontab -r' }] },
      { command: 'crontab -l', effects: [] },
    ],
  },
  {
    names: ['iptables', 'ip6tables', 'nft', 'ufw', 'firewall-cmd', 'pfctl', 'setenforce', 'swapoff'],
    effects: (use) => (use.call.name === 'swapoff' ? [onProcess('swapoff')] : firewall(use)),
    examples: [
      { command: 'iptables -F', effects: [{ kind: 'process' }] },
      { command: 'ufw status', effects: [] },
    ],
  },
  {
    names: ['sysctl', 'modprobe', 'insmod', 'rmmod'],
    effects: (use) =>
      use.call.name !== 'sysctl' || use.texts.some((text) => text === '-w' || text.includes('='))
        ? [onProcess([use.call.name, ...use.texts].join(' '))]
        : [],
    examples: [{ command: 'sysctl -w a.b=1', effects: [{ kind: 'process' }] }],
  },
  {
    names: ['ssh-keygen'],
    effects: (use) =>
      use.texts.some((text) => /^-[lyFBe]/.test(text))
        ? []
        : argumentsOf(use.args, { valued: 'fNCtbPOIVnDmsrRa' })
            .valuesOf('f')
            .flatMap((word) => writes(use, [word, withText(word, `${word.text}.pub`)])),
    examples: [
      {
        command: "ssh-keygen -t ed25519 -f ~/.ssh/id_x -N ''",
        effects: [{ kind: 'write', place: { path: '/home/dev/.ssh/id_x' } }],
      },
    ],
  },
  {
    names: ['gpg', 'gpg2'],
    effects: (use) => [
      ...(use.texts.some((text) => /^--delete-/.test(text))
        ? use
            .places({ text: '~/.gnupg', known: true, glob: false }, true)
            .map((place) => ({ kind: 'delete', place }) as const)
        : []),
      ...(use.texts.some((text) => /^--export-secret/.test(text))
        ? reads(use, [{ text: '~/.gnupg', known: true, glob: false }], true)
        : []),
    ],
    examples: [
      {
        command: 'gpg --delete-secret-keys ABCD',
        effects: [{ kind: 'delete', place: { path: '/home/dev/.gnupg' } }],
      },
    ],
  },
]
