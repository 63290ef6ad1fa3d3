// Secrets that are none: made here, so that nobody mistakes them for somebody's.

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** The same each time, and like no other. */
function noise(seed: number, length: number, of = letters): string {
  let state = seed * 2654435761 + 12345
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return of[(state >>> 8) % of.length]
  }).join('')
}

/** Names under which programs keep secrets. */
const NAMES = [
  'PLANTED_TOKEN_0',
  'PLANTED_API_KEY',
  'PLANTED_APIKEY',
  'PLANTED_SECRET',
  'PLANTED_CLIENT_SECRET',
  'PLANTED_PASSWORD',
  'PLANTED_PASSWD',
  'PLANTED_ACCESS_KEY',
  'PLANTED_PRIVATE_KEY',
  'PLANTED_CREDENTIALS',
  'PLANTED_SESSION_COOKIE',
  'PLANTED_AUTH',
  'PLANTED_SENTRY_DSN',
  'PLANTED_PAT',
  'planted_connection_string',
]

/** Variables of the environment; their values have no form of their own. */
export function planted(): Record<string, string> {
  return Object.fromEntries(NAMES.map((name, i) => [name, `${noise(i + 1, 10)} ${noise(i + 40, 14)}+/$=`]))
}

const hex = '0123456789abcdef'
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Of known forms, in no variable. */
export const FORMS: readonly string[] = [
  `sk-${noise(101, 40)}`,
  `sk-ant-api03-${noise(102, 60)}`,
  `ghp_${noise(103, 36)}`,
  `gho_${noise(104, 36)}`,
  `github_pat_${noise(105, 60)}`,
  `glpat-${noise(106, 20)}`,
  `xoxb-${noise(107, 12, '0123456789')}-${noise(108, 24)}`,
  `AKIA${noise(109, 16, upper)}`,
  `AIza${noise(110, 35)}`,
  `sk_live_${noise(111, 24)}`,
  `SG.${noise(112, 22)}.${noise(113, 43)}`,
  `npm_${noise(114, 36)}`,
  `pypi-${noise(115, 60)}`,
  `hf_${noise(116, 34)}`,
  `dop_v1_${noise(117, 64, hex)}`,
  `shpat_${noise(118, 32, hex)}`,
  `hvs.${noise(119, 24)}`,
  `eyJ${noise(120, 20)}.eyJ${noise(121, 40)}.${noise(122, 43)}`,
]
