// Removes what is kept outside a removed plugin's folder: its data, the user's trust in it, its accepted source, its switches.

import { rmdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigFiles } from '../config/config-file.js'
import { pluginSources } from '../config/discovery.js'
import { Notes } from '../config/notes.js'
import type { Owner } from '../config/owner.js'
import { readPluginFolder } from '../config/plugin-folder.js'
import { discard } from '../files/folder.js'
import { realOf } from '../files/within.js'
import { type TrustStore, trustStore } from '../trust/trust-store.js'
import { forgetSource } from './sources/accepted-source.js'
import { SwitchStore } from './switches.js'
import { pluginEntries, pluginsDir, type Target } from './target.js'

/** Call it once the plugin has been moved out of its place. `folder` is where its files are now. */
export function forgetPlugin(target: Target, name: string, folder: string): void {
  untrust(target, name)
  forgetSource(target, name)
  const own = ownerOf(target, folder)
  const called = own?.source ?? name
  const dir = pluginsDir(target)
  const others = pluginEntries(dir).map((one) => ownerOf(target, join(dir, one)))
  // Plugins with the same name share data and switches, so both stay while another one is installed.
  if (others.some((other) => other?.source === called)) return
  if (own?.place.plugin) removeData(own.place.plugin.dataDir)
  const project = target.scope === 'project' ? target.base : undefined
  new SwitchStore().forget({ plugin: called, from: target.scope }, project, Date.now())
}

/** A plugin may have been trusted under several projects. */
function untrust(target: Target, name: string): void {
  const store = trustStore()
  const path = join(pluginsDir(target), name)
  const own = { kind: 'folder' as const, path, projectDir: resolve(target.base) }
  const records = recordsIn(store).filter((one) => one.kind === 'folder' && realOf(one.path) === realOf(path))
  for (const where of [own, ...records]) store.untrust(where)
}

/** A record that cannot be read must not stop plugins from being removed. */
function recordsIn(store: TrustStore): ReturnType<TrustStore['records']> {
  try {
    return store.records()
  } catch {
    return []
  }
}

function removeData(folder: string): void {
  discard(folder)
  try {
    rmdirSync(dirname(folder))
    rmdirSync(dirname(dirname(folder)))
  } catch {
    // other plugins have data there, or none ever had
  }
}

/** The plugin as its hooks know it. Undefined if it has no hooks. */
function ownerOf({ scope, base }: Target, folder: string): Owner | undefined {
  const sources = pluginSources(scope, scope === 'user' ? { homeDir: base } : { projectDir: base })
  const notes = new Notes()
  const { documents } = readPluginFolder(folder, true, sources, new ConfigFiles(new Map(), notes), notes)
  return documents[0]?.owner
}
