// The folder that a command hook starts in.

import type { HookEvent } from '../../core/hooks/hook.js'
import { isFolder } from '../../files/folder.js'
import type { Place } from '../hook-spec.js'

/** In this order: that of the event, of the session, of the project. */
export function startFolders({ data, session }: HookEvent, { projectDir }: Place): readonly string[] {
  return [data.cwd, session?.cwd, projectDir].filter(
    (folder): folder is string => typeof folder === 'string' && folder !== '',
  )
}

/** The first that is there: an agent may have removed the one it works in. */
export function startFolder(event: HookEvent, place: Place): string | undefined {
  return startFolders(event, place).find(isFolder)
}
