// A separate process that begins and finishes work in a folder of plugins, again and again.

import { clearAway, noteDown } from '../../src/plugins/work-folder.js'

const [folder, times] = process.argv.slice(2)
for (let n = 0; n < Number(times); n++) clearAway(noteDown(folder as string, 'staging', 'guard'))
