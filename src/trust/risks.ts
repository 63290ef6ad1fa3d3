// Remarks on a review for the person who decides. Advisory: they find the usual, and nobody may rely on their silence.

import type { Review, ReviewedFile } from './review.js'
import { isExecutable } from './unit.js'

export type RiskKind =
  | 'launcher'
  | 'pipe-to-shell'
  | 'network'
  | 'writes-outside'
  | 'secrets'
  | 'obfuscation'
  | 'hidden-text'
  | 'root'
  | 'background'
  | 'binary'
  | 'program'
  | 'unseen'

export interface RiskNote {
  readonly kind: RiskKind
  /** The name of the hook, or the path of the file. As it was found: clean it before it is shown. */
  readonly where: string
  readonly line?: number
  /** A sentence of ours, without text from outside unless in quotes. */
  readonly text: string
}

interface Rule {
  readonly kind: RiskKind
  readonly pattern: RegExp
  readonly text: string
  /** Only in what a shell reads. */
  readonly isShell?: true
}

const SHELL = String.raw`(?:\S{0,40}\/)?(?:(?:ba|z|da|k|a)?sh|python[\d.]*|node|perl|ruby)\b`
const OUTSIDE = String.raw`["']?(?:~|\$\{?HOME\b|\.\.\/|\/(?!dev\/(?:null|stdout|stderr|tty|fd)\b|tmp\/))`

/** Every repetition is bounded: a line is a stranger, too. */
const RULES: readonly Rule[] = [
  {
    kind: 'launcher',
    pattern:
      /\b(?:npx|uvx|bunx|pnpx)\s|\bpipx\s{1,9}run\b|\b(?:pnpm|yarn)\s{1,9}dlx\b|\bnpm\s{1,9}(?:exec|x)\s|\buv\s{1,9}tool\s{1,9}run\b|\bgo\s{1,9}run\s{1,9}\S{1,200}@/,
    text: 'It runs a package from a registry: whatever is published there by then, which nobody reviewed.',
  },
  {
    kind: 'pipe-to-shell',
    pattern: new RegExp(
      String.raw`\b(?:curl|wget|fetch)\b[^|]{0,400}\|\s{0,9}(?:sudo\s{1,9})?${SHELL}|(?:<|\$)\(\s{0,9}(?:curl|wget)\b|\x60\s{0,9}(?:curl|wget)\b`,
    ),
    text: 'It runs what it downloads.',
  },
  {
    kind: 'network',
    pattern:
      /\b(?:curl|wget|ncat|netcat|socat|ssh|scp|sftp|rsync|telnet)\s|\bnc\s{1,9}-?\w|\/dev\/(?:tcp|udp)\/|\bfetch\(|\bhttps?\.(?:get|request)\(|\burllib\b|\brequests\.(?:get|post|put|request)\(|\bhttpx\.|\bnet\.(?:connect|createConnection)\(|\bWebSocket\(|\bInvoke-WebRequest\b/,
    text: 'It talks to the network.',
  },
  {
    kind: 'writes-outside',
    pattern: new RegExp(
      String.raw`>{1,2}\s{0,9}${OUTSIDE}|\b(?:tee|touch|mkdir|rm|rmdir|install|chmod|chown)\s(?:[^|;&]{0,200}\s)?${OUTSIDE}|\b(?:cp|mv|ln)\s[^|;&]{1,200}\s${OUTSIDE}`,
    ),
    text: 'It writes outside the project.',
    isShell: true,
  },
  {
    kind: 'writes-outside',
    pattern:
      /\.(?:bashrc|bash_profile|zshrc|profile|gitconfig)\b|\.git\/hooks\b|\bcrontab\b|\bLaunchAgents\b/,
    text: 'It names a file that other programs run or obey.',
  },
  {
    kind: 'secrets',
    pattern:
      /\.ssh\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.aws\b|\.netrc\b|\.npmrc\b|\.pypirc\b|\.kube\/config|\.docker\/config|\.gnupg\b|\.git-credentials\b|(?:^|[\s"'`/=])\.env(?![\w-])(?!\.(?:example|sample))|\bfind-(?:generic|internet)-password\b|\bkeychain\b|\bsecret-tool\b|\/proc\/\S{1,40}\/environ/i,
    text: 'It names a place where secrets are kept.',
  },
  {
    kind: 'secrets',
    pattern:
      /\bprintenv\b|(?:^|[;&|(]\s{0,9})(?:env|export\s{1,9}-p|set)\s{0,9}(?:[|>]|$)|JSON\.stringify\(\s{0,9}process\.env\b|\bos\.environ\b(?!\s{0,9}(?:\[|\.get))/,
    text: 'It reads the whole environment, with the secrets in it.',
  },
  {
    kind: 'obfuscation',
    pattern:
      /\bbase64\s{1,9}(?:-[a-zA-Z]{0,5}[dD]|--decode)|\bb64decode\(|\batob\(|,\s{0,9}["']base64["']\)|\bxxd\s{1,9}-\w{0,5}r|\bopenssl\s{1,9}enc\b[^|]{0,200}-d\b|fromCharCode\(|(?:\\x[0-9a-fA-F]{2}){8}|\bexec\(\s{0,9}(?:compile|bytes|zlib|marshal|__import__)/,
    text: 'It decodes text that cannot be read here.',
  },
  {
    kind: 'obfuscation',
    pattern:
      /\beval\s{1,9}["']?[^#]{0,200}[$`]|\beval\(|\bnew\s{1,9}Function\(|\bexec\(\s{0,9}[a-z_]{1,40}\s{0,9}\)/,
    text: 'It runs text that is only made when it runs.',
  },
  { kind: 'root', pattern: /\b(?:sudo|doas|pkexec)\s|\bsu\s{1,9}-/, text: 'It asks for the rights of root.' },
  {
    kind: 'background',
    pattern:
      /\b(?:nohup|setsid|disown|daemonize)\b|\bsystemctl\s|\blaunchctl\s|\bstart_new_session\b|\bdetached:\s{0,9}true/,
    text: 'It starts something that goes on when the hook has ended.',
  },
  {
    kind: 'background',
    pattern: /[^\s&|<>]\s{0,9}&\s{0,9}(?:$|[;)}#])/,
    text: 'It starts something in the background.',
    isShell: true,
  },
  {
    kind: 'hidden-text',
    pattern: /[\p{Bidi_Control}\u200b\u2060\ufeff\u{e0000}-\u{e007f}]|(?![\t\r\f])\p{Cc}/u,
    text: 'It holds characters that are not shown, or that change the order in which text is shown.',
  },
]

/** Of a line; what is behind it is not looked at. */
const LONGEST_LINE = 4000
const MOST_TEXT = 4 * 1024 * 1024
/** Of one kind in one file. */
const MOST_LINES = 3

/** In the order of hooks, files and programs. */
export function risksOf(review: Review): readonly RiskNote[] {
  let left = MOST_TEXT
  const inFiles = [...review.files, ...review.scripts].flatMap((file): readonly RiskNote[] => {
    if (file.link !== undefined) return []
    if (!file.isText) return [note('binary', file.path, 'It is no text: nobody can review it here.')]
    if (file.text === undefined || file.text.length > left) {
      return [note('unseen', file.path, 'It is too large to be looked at here.')]
    }
    left -= file.text.length
    return isDocument(file) ? [] : inText(file.path, file.text, isShellScript(file))
  })
  return [...inHooks(review), ...inFiles, ...aboutPrograms(review)]
}

function inHooks({ unit, notes }: Review): readonly RiskNote[] {
  return unit.hooks.flatMap((hook) => {
    const text = [hook.command, ...(hook.args ?? [])].join(' ')
    const found = inText(hook.name, text, true).map(({ line: _, ...rest }) => rest)
    const unseen = notes.filter((one) => one.hook === hook.name)
    return [...found, ...unseen.map((one) => note('unseen', hook.name, one.text))]
  })
}

function inText(where: string, text: string, isShell: boolean): readonly RiskNote[] {
  const lines = text.split('\n')
  return RULES.flatMap((rule) => {
    if (rule.isShell && !isShell) return []
    const found: RiskNote[] = []
    for (let i = 0; i < lines.length && found.length < MOST_LINES; i++) {
      const line = lines[i] as string
      if (rule.kind !== 'hidden-text' && COMMENT.test(line)) continue
      if (rule.pattern.test(line.slice(0, LONGEST_LINE)))
        found.push({ ...note(rule.kind, where, rule.text), line: i + 1 })
    }
    return found
  }).concat(longLines(where, lines))
}

/** Alone on its line, and no `#!`. */
const COMMENT = /^\s{0,200}(?:#(?!!)|\/\/)/

function longLines(where: string, lines: readonly string[]): readonly RiskNote[] {
  const at = lines.findIndex((line) => line.length > LONGEST_LINE)
  if (at < 0) return []
  return [{ ...note('obfuscation', where, 'It has a line too long for anybody to read.'), line: at + 1 }]
}

/** Texts for people, and lists of hooks, which are shown as such. */
function isDocument(file: ReviewedFile): boolean {
  return !isExecutable(file) && /(?:\.(?:md|json|txt|rst)|(?:^|\/)LICENSE)$/i.test(file.path)
}

function isShellScript({ path, text = '' }: ReviewedFile): boolean {
  return /\.(?:sh|bash|zsh|ksh)$/.test(path) || /^#!.{0,80}\b(?:ba|z|k|da|a)?sh\b/.test(text)
}

function aboutPrograms({ unit, missing, inProject, skippedPath }: Review): readonly RiskNote[] {
  return [
    ...missing.map((name) =>
      note(
        'program',
        unit.name,
        `The program ${JSON.stringify(name)} is not on PATH: one that is put there later will run.`,
      ),
    ),
    ...inProject.map((path) =>
      note(
        'program',
        unit.name,
        `The program ${JSON.stringify(path)} is a link into the project, and is not used.`,
      ),
    ),
    ...skippedPath.map((entry) =>
      note(
        'program',
        unit.name,
        `PATH has ${JSON.stringify(entry)}, a folder that the project can fill; no program is taken from it.`,
      ),
    ),
  ]
}

function note(kind: RiskKind, where: string, text: string): RiskNote {
  return { kind, where, text }
}
