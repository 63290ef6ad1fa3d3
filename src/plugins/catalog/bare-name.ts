// A bare name where a source belongs: which plugin of the user's catalogues was meant.

import { nearest } from '../../core/base/nearest.js'
import { PluginProblem } from '../plugin-problem.js'
import { ENTRY_NAME } from '../sources/source.js'
import { CatalogStore } from './store.js'

/** What to say of it; undefined where no catalogue has anything like it. */
export function bareNameProblem(text: string): PluginProblem | undefined {
  if (!ENTRY_NAME.test(text)) return undefined
  const all = new CatalogStore()
    .all()
    .catalogs.flatMap(({ name: catalog, plugins }) => plugins.map(({ name }) => ({ name, catalog })))
  const meant = nearest(
    text,
    all.map(({ name }) => name),
  )
  const isSame = (one: string) => one.toLowerCase() === text.toLowerCase()
  const exact = all.filter(({ name }) => isSame(name))
  const found = exact.length > 0 ? exact : all.filter(({ name }) => name === meant)
  const names = found.map(({ name, catalog }) => `${name}@${catalog}`)
  if (names.length === 0) return undefined
  const either = names.join(' or ')
  const said = exact.length > 0 ? `but there is ${either}` : `did you mean ${either}?`
  return new PluginProblem('SOURCE_INVALID', `${text} is no source; ${said}`, `carabiner install ${names[0]}`)
}
