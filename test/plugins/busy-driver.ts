// A process of its own that begins work in a folder of plugins and is done with it, again and again.

import { clearAway, noteDown } from '../../src/plugins/work-folder.js'

const [folder, times] = process.argv.slice(2)
for (let n = 0; n < Number(times); n++) clearAway(noteDown(folder as string, 'staging', 'guard'))
