// Proxies that a script sets: everything that its programs send or fetch also reaches them.

import type { Effect } from '../effect.js'
import { hostOf } from '../program.js'
import type { Script } from './shell-script.js'

const SET = /^(?:https?|all|ftp|socks|npm_config(?:_https)?)_proxy=(.+)$/is
/** `git -c http.proxy=…` */
const SET_FOR_GIT = /^(?:http|https|remote)\..*proxy=(.+)$/is

/** Programs ask a proxy for these too, but what they fetch there is seldom of interest. */
const LOCAL = /^(?:localhost|127\.|\[?::1)/

/** More are not told apart. */
const MOST = 5

/** The same effects, and one for each proxy. */
export function throughProxies(
  effects: readonly Effect[],
  { assignments, calls }: Script,
): readonly Effect[] {
  const isGit = calls.some(({ name }) => name === 'git')
  const settings = isGit ? calls.flatMap(({ args }) => args.map(({ text }) => text)) : []
  const addresses = [
    ...assignments.map((one) => SET.exec(one)?.[1]),
    ...settings.map((one) => SET_FOR_GIT.exec(one)?.[1]),
  ].filter((address) => address !== undefined)
  if (addresses.length === 0) return effects
  const all = [...new Set(addresses.map((address) => hostOf(address) ?? hostOf(`//${address}`)))]
  const hosts = all.length > MOST ? [...all.slice(0, MOST), undefined] : all
  return effects.flatMap((one): readonly Effect[] =>
    one.kind === 'send' || (one.kind === 'fetch' && !LOCAL.test(one.host ?? ''))
      ? [one, ...hosts.map((host) => ({ ...one, host }))]
      : [one],
  )
}
