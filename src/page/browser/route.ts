// The address after #: which screen is shown, which entry is open, and the filters.

import { useEffect, useState } from 'preact/hooks'

export interface Route {
  readonly screen: string
  /** What is opened on the screen, such as the number of an entry. */
  readonly item: string
  readonly query: URLSearchParams
}

function routeNow(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [screen = '', item = ''] = path.split('/')
  return {
    screen: screen === '' ? 'live' : screen,
    item: decoded(item),
    query: new URLSearchParams(query),
  }
}

/** A person may have typed it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function addressOf(screen: string, item = '', query = ''): string {
  return `#/${screen}${item === '' ? '' : `/${encodeURIComponent(item)}`}${query === '' ? '' : `?${query}`}`
}

/** Without a step in the history. */
export function replaceRoute(address: string): void {
  history.replaceState(null, '', address)
  window.dispatchEvent(new HashChangeEvent('hashchange'))
}

export function useRoute(): Route {
  const [route, setRoute] = useState(routeNow)
  useEffect(() => {
    const listener = () => setRoute(routeNow())
    window.addEventListener('hashchange', listener)
    return () => window.removeEventListener('hashchange', listener)
  }, [])
  return route
}
