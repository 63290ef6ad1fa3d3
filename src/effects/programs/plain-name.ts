// The name under which the tables have a program.

import { remembered } from '../remembered.js'

/** `python3.12` is `python`, `mkfs.ext4` is `mkfs`, `gsed` is GNU's `sed`. */
export const plainName = remembered((name) => {
  // PowerShell and cmd do not tell cases apart.
  if (/^[A-Za-z]+(?:-[A-Za-z]+)?$/.test(name) && name !== name.toLowerCase()) return name.toLowerCase()
  if (/^mkfs\.|^newfs_/.test(name)) return name.replace(/[._].*$/, '')
  if (/^(?:[gmn]awk|gsed)$/.test(name)) return name.slice(1)
  return name.replace(/(?<=^[a-zA-Z]+)-?\d[\d.]*$/, '')
})
