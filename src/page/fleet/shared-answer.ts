// An answer that many open tabs ask for at once, and that costs the database much: found once for all of them.
// Another copy of the gateway may show a change about two seconds later, or when its page asks again.

const KEPT_MS = 2000

/** Only for what everybody may see who may ask. Whether somebody may ask is not shared. */
export class SharedAnswer<T> {
  readonly #find: () => Promise<T>
  #found: Promise<T> | undefined

  constructor(find: () => Promise<T>) {
    this.#find = find
  }

  /** The one that is being found, or was found a moment ago. */
  get(): Promise<T> {
    this.#found ??= this.#kept()
    return this.#found
  }

  /** After a change, which whoever made it wants to see. */
  forget(): void {
    this.#found = undefined
  }

  #kept(): Promise<T> {
    const found = this.#find()
    const end = () => {
      if (this.#found === found) this.#found = undefined
    }
    found.then(() => setTimeout(end, KEPT_MS).unref(), end)
    return found
  }
}
