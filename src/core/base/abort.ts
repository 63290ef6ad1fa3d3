// One listener per signal, however many calls share it: hosts pass one signal to everything a turn does.

const waiting = new WeakMap<
  AbortSignal,
  { readonly callbacks: Set<() => void>; readonly listener: () => void }
>()

/** Calls back when the signal is aborted, at once if it is already. Returns how to stop listening. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const { callbacks, listener } = waiting.get(signal) ?? listenTo(signal)
  callbacks.add(callback)
  return () => {
    callbacks.delete(callback)
    if (callbacks.size > 0 || waiting.get(signal)?.callbacks !== callbacks) return
    signal.removeEventListener('abort', listener)
    waiting.delete(signal)
  }
}

function listenTo(signal: AbortSignal) {
  const callbacks = new Set<() => void>()
  const listener = () => {
    for (const callback of [...callbacks]) callback()
  }
  const entry = { callbacks, listener }
  waiting.set(signal, entry)
  signal.addEventListener('abort', listener)
  return entry
}
