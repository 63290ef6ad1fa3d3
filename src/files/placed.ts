// A value in a file with the position of all its parts, whatever the syntax, so that one of them can be changed in place.

export interface Placed {
  /** As plain data. Text that cannot be read here is an Unread. */
  readonly value: unknown
  /** Where its key or its dash begins, or else the value itself. Undefined if it is spread over a file. */
  readonly startAt: number | undefined
  /** Where the last part of its key begins: `command` in `servers.files.command = 1`. */
  readonly lastKeyAt?: number
  readonly at: number
  readonly end: number
  /** Its parts are on lines of their own, without brackets around them. */
  readonly isBlock: boolean
  readonly pairs?: ReadonlyMap<string, Placed>
  readonly items?: readonly Placed[]
}

/** Equal to itself, and to nothing that a program understands. */
export class Unread {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
