// Remembers answers about names of programs and tools, which are few and are asked about at every call.

const MOST_NAMES = 2000
/** Longer names are no names of programs, and would only fill the memory. */
const LONGEST_NAME = 100

/** `answer` must depend on nothing but the name. */
export function remembered<T>(answer: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const found = answer(name)
    if (known.size >= MOST_NAMES) known.clear()
    if (name.length <= LONGEST_NAME) known.set(name, found)
    return found
  }
}
