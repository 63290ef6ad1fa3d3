// What stands in a case for folders that are other ones on every machine and in every run: {{project}}, {{home}}, {{plugin}}.

/** A folder by the name of its stand-in. */
export type Folders = Readonly<Partial<Record<'project' | 'home' | 'plugin', string>>>

/** A copy in which every text, however deep, has the folders; `escape` where a text is a pattern. */
export function withFolders<T>(value: T, folders: Folders): T {
  return mapped(value, (text, isPattern) =>
    text.replace(/\{\{(project|home|plugin)\}\}/g, (all, name: keyof Folders) => {
      const folder = folders[name]
      if (folder === undefined) return all
      return isPattern ? folder.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : folder
    }),
  )
}

/** The other way round: the longest folder first, and only where its name ends. */
export function withStandIns<T>(value: T, folders: Folders): T {
  const known = Object.entries(folders)
    .filter(([, folder]) => folder !== undefined && folder.length > 1)
    .sort(([, a], [, b]) => b.length - a.length)
  return mapped(value, (text) =>
    known.reduce((left, [name, folder]) => replaced(left, folder, `{{${name}}}`), text),
  )
}

/** `/home/me` is not in `/home/menu`, nor in `/mnt/home/me`. */
function replaced(text: string, folder: string, standIn: string): string {
  const pieces = text.split(folder)
  return pieces.reduce((left, piece) => {
    const isWhole = !/[\w.-]$/.test(left) && !/^[\w-]/.test(piece)
    return left + (isWhole ? standIn : folder) + piece
  })
}

function mapped<T>(value: T, change: (text: string, isPattern: boolean) => string): T {
  return walk(value, false, change) as T
}

function walk(
  value: unknown,
  isPattern: boolean,
  change: (text: string, isPattern: boolean) => string,
): unknown {
  if (typeof value === 'string') return change(value, isPattern)
  if (Array.isArray(value)) return value.map((one) => walk(one, false, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, walk(one, key === 'matches', change)]),
  )
}
