// The way in: a link that works once, and the cookie that a browser gets for it.

import { randomBytes, timingSafeEqual } from 'node:crypto'

const LINK_MINUTES = 10

/**
 * Browsers send a cookie to every port of its name, so another program on this machine could collect it. It is only sent
 * below its path, which is random, too.
 */
export class Entrance {
  /** Everything but the link is below this path. */
  readonly base = `/${secret(9)}/`
  readonly #cookie = secret(32)
  #link: { readonly token: string; readonly until: number } | undefined

  /** A new link, which ends the one before. Relative to the origin. */
  link(now = Date.now()): string {
    this.#link = { token: secret(32), until: now + LINK_MINUTES * 60_000 }
    return `/open?t=${this.#link.token}`
  }

  /** True once for each link. */
  enter(token: string, now = Date.now()): boolean {
    const link = this.#link
    if (!link || !isSame(token, link.token)) return false
    this.#link = undefined
    return now <= link.until
  }

  /** The value of the header that gives a browser its cookie. */
  setCookie(port: number): string {
    return `${cookieName(port)}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=${this.base}`
  }

  knows(cookies: string | undefined, port: number): boolean {
    const name = cookieName(port)
    return (cookies ?? '')
      .split(/; */)
      .some((pair) => pair.startsWith(`${name}=`) && isSame(pair.slice(name.length + 1), this.#cookie))
  }
}

/** Pages of several projects are open side by side. */
function cookieName(port: number): string {
  return `carabiner-${port}`
}

function secret(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}
