// What the frame around every screen shows.

export interface About {
  readonly project: string
  readonly version: string
}
