// The setting that keeps a hook from running, and where it stands.

export interface Silence {
  /** As it is written: `"enabled": false`. */
  readonly setting: string
  /** Absent where the host says it. */
  readonly file?: string
  readonly line?: number
}

export function silenceText({ setting, file, line }: Silence): string {
  return `${setting} in ${file === undefined ? 'the settings of the host' : `${file}:${line}`}`
}
