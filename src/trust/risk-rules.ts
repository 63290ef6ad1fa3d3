// Patterns that deserve a reviewer's attention, matched line by line, each with its sentence.

/** The worst first. */
export const RISK_KINDS = [
  'pipe-to-shell',
  'hidden-text',
  'obfuscation',
  'unseen',
  'secrets',
  'root',
  'launcher',
  'network',
  'writes-outside',
  'background',
  'binary',
  'subprocess',
  'program',
  'bash-syntax',
  'cannot-start',
] as const

export type RiskKind = (typeof RISK_KINDS)[number]

export interface Rule {
  readonly kind: RiskKind
  readonly pattern: RegExp
  readonly text: string
  /** Applies only to text that a shell reads. */
  readonly isShell?: true
  /** Does not apply to quoted `case` patterns, which never run. */
  readonly isRun?: true
  /** Applies only to a hook's command and to names, which never contain prose. */
  readonly isCommand?: true
}

const SHELL = String.raw`(?:\S{0,40}\/)?(?:(?:ba|z|da|k|a)?sh|python[\d.]*|node|perl|ruby)\b`
const OUTSIDE = String.raw`["']?(?:~|\$\{?HOME\b|\.\.\/|\/(?!dev\/(?:null|stdout|stderr|tty|fd)\b|tmp\/))`

/** Alphabets with letters that look like Latin ones. */
const FOREIGN = String.raw`[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]`

/** Every repetition is bounded, because the text is untrusted. */
export const RULES: readonly Rule[] = [
  {
    kind: 'launcher',
    pattern:
      /\b(?:npx|uvx|bunx|pnpx)\s|\bpipx\s{1,9}run\b|\b(?:pnpm|yarn)\s{1,9}dlx\b|\bnpm\s{1,9}(?:exec|x)\s|\buv\s{1,9}tool\s{1,9}run\b|\bgo\s{1,9}run\s{1,9}\S{1,200}@/,
    text: 'It runs a package from a registry: whatever is published there at that time, unreviewed.',
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
      /\b(?:curl|wget|ncat|netcat|socat|ssh|scp|sftp|rsync|telnet)\s|\bnc\s{1,9}-?\w|\/dev\/(?:tcp|udp)\/|\bfetch\s{0,9}\(|\bhttps?\s{0,9}(?:\.|\[\s{0,9}["'`])\s{0,9}(?:get|request)\b|["'`](?:node:)?(?:https?|http2|net|tls|dgram|dns)(?:\/promises)?["'`]\s{0,9}(?:\)|$|;)|\burllib\d?\b|\bhttp\.client\b|\b(?:import|from)\s{1,9}(?:socket|ssl|ftplib|smtplib|aiohttp|requests|httpx)\b|\bsocket\.(?:socket|create_connection)\(|\bXMLHttpRequest\b|\brequests\.(?:get|post|put|request)\(|\bhttpx\.|\bnet\.(?:connect|createConnection)\(|\bWebSocket\(|\bInvoke-WebRequest\b/,
    text: 'It names something that uses the network.',
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
    text: 'It names a file that other programs run or read their settings from.',
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
    text: 'It names something that shows the whole environment, with the secrets in it.',
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
    text: 'It runs code that is only created at run time.',
  },
  { kind: 'root', pattern: /\b(?:sudo|doas|pkexec)\s|\bsu\s{1,9}-/, text: 'It asks for root privileges.' },
  {
    kind: 'background',
    pattern:
      /\b(?:nohup|setsid|disown|daemonize)\b|\bsystemctl\s|\blaunchctl\s|\bstart_new_session\b|\bdetached:\s{0,9}true/,
    text: 'It starts something that keeps running after the hook ends.',
  },
  {
    kind: 'background',
    pattern: /[^\s&|<>]\s{0,9}&\s{0,9}(?:$|[;)}#])/,
    text: 'It starts something in the background.',
    isShell: true,
    isRun: true,
  },
  {
    kind: 'subprocess',
    pattern:
      /\bchild_process\b|\b(?:exec|spawn)Sync\s{0,9}\(|\bexecFile\b|\bsubprocess\b|\bos\.(?:system|popen|exec[lv]\w{0,3}|spawn\w{1,4})\b|\bPopen\b|\bpty\.spawn\b|\bexec\.Command\(|\bshell_exec\b|\bproc_open\b|\bBun\.spawn|\bDeno\.Command\b/,
    text: 'It starts other programs.',
  },
  {
    kind: 'hidden-text',
    // An emoji may be followed by a joiner or a selector.
    pattern:
      /\p{Bidi_Control}|(?![\ufe0e\ufe0f])(?:(?<!\p{Extended_Pictographic}|\ufe0f)\u200d|(?!\u200d)\p{Default_Ignorable_Code_Point})|(?![\t\r\f])\p{Cc}/u,
    text: 'It has characters that are invisible, or that change the order in which text is shown.',
  },
  {
    kind: 'hidden-text',
    // One word in two scripts, or letters whose only purpose is to look like others.
    pattern: new RegExp(
      `[A-Za-z]${FOREIGN}|${FOREIGN}[A-Za-z]|[\\uff01-\\uff5e\\u{1d400}-\\u{1d7ff}\\u2215\\u2044\\u29f8\\u2024]`,
      'u',
    ),
    text: 'It has look-alike letters: a word that mixes two alphabets.',
  },
  {
    kind: 'hidden-text',
    pattern: new RegExp(FOREIGN, 'u'),
    text: 'It has letters of another alphabet that may look like Latin ones.',
    isCommand: true,
  },
  {
    kind: 'hidden-text',
    pattern: /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u,
    text: 'It has right-to-left letters, which move the text around them.',
    isCommand: true,
  },
  {
    kind: 'hidden-text',
    pattern: /\S[ \t]{80,4000}\S/,
    text: 'It has text far to the right, after many spaces.',
  },
]
