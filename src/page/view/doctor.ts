// What the screen Doctor shows.

export interface FindingView {
  readonly id: string
  /** What a button says that fixes it; absent unless the fix only tightens. */
  readonly button?: string
  readonly severity: 'broken' | 'warning' | 'note'
  readonly code: string
  readonly place: string
  readonly text: string
  readonly fix: string
}

export interface DoctorView {
  readonly ok: boolean
  readonly families: readonly {
    readonly name: string
    readonly what: string
    readonly findings: readonly FindingView[]
  }[]
}
