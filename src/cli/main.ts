#!/usr/bin/env node
// The entry of the program. `fire` comes in one file of its own: a host starts it for every event, and each file takes time to load.

await (process.argv[2] === 'fire' ? import('./fire-program.js') : import('./full-program.js'))
