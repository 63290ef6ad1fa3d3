// What a host starts for every event, by itself: `hook NAME` and nothing else.

export { runPackHook } from '../../pack/run-pack-hook.js'
