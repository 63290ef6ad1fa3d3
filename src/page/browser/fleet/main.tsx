// Everything that only people see who are signed in.

import { render } from 'preact'
import type { MeView } from '../../view/fleet.js'
import { askSignedIn } from '../ask.js'
import { App } from './app.js'

export function start(me: MeView): void {
  askSignedIn({
    lost: 'The gateway does not answer. This page tries again.',
    onSignedOut: () => location.reload(),
  })
  // A place of its own: the other one remembers what another copy of Preact has drawn there.
  const place = document.createElement('div')
  document.getElementById('page')?.replaceWith(place)
  render(<App me={me} />, place)
}
