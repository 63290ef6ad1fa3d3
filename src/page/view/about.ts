// What the frame around every screen shows.

export interface About {
  readonly project: string
  readonly folder: string
  readonly version: string
}
