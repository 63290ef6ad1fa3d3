// The entry of the page in the browser.

import { render } from 'preact'
import { App } from './app.js'
import { Feed } from './feed.js'

const feed = new Feed()
const place = document.getElementById('page')
if (place) render(<App feed={feed} />, place)
void feed.start()
