import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { preTrusted } from '../../src/trust/pre-trusted.js'
import { hook, later, project, projectIn, removeAll } from './hostile-project.js'

const listOf = (digests: readonly string[]) => new Map(digests.map((one) => [one, '']))
const A = 'a'.repeat(64)
const B = 'B1'.repeat(32)

describe('a list of digests', () => {
  it('has one per line, and comments', () => {
    const { root, dir } = project()
    const file = join(root, 'trusted.txt')
    writeFileSync(file, `# of CI\n\n  ${A}  # guard\r\n${B}`)
    expect(preTrusted(file, dir)).toEqual(
      new Map([
        [A, 'guard'],
        [B.toLowerCase(), ''],
      ]),
    )
    writeFileSync(file, '')
    expect(preTrusted(file, dir)).toEqual(new Map())
  })

  it('is refused if it is something else', () => {
    const { root, dir } = project()
    const file = join(root, 'trusted.txt')
    expect(() => preTrusted(file, dir)).toThrow(/^cannot find the list of digests ".*trusted.txt"$/)
    writeFileSync(file, `${A}\n${A} guard`)
    expect(() => preTrusted(file, dir)).toThrow(
      `${file}:2 is not a SHA-256 digest in hexadecimal: "${A} guard"`,
    )
    mkdirSync(join(root, 'folder'))
    expect(() => preTrusted(join(root, 'folder'), dir)).toThrow('is not a regular file')
  })

  it('is refused if it lies in the project, however it is named', () => {
    const { root, dir, write } = project()
    const inside = write('trusted.txt', A)
    symlinkSync(inside, join(root, 'link.txt'))
    symlinkSync(dir, join(root, 'project-link'))
    writeFileSync(join(root, 'mine.txt'), A)
    symlinkSync(join(root, 'mine.txt'), join(dir, 'outward.txt'))
    const names = [
      inside,
      join(root, 'link.txt'),
      join(root, 'project-link/trusted.txt'),
      join(dir, 'outward.txt'),
    ]
    for (const name of [...names, `${dir}/x/../trusted.txt`]) {
      expect(() => preTrusted(name, dir), name).toThrow('is inside the project, which must not trust itself')
    }
    expect(preTrusted(join(root, 'mine.txt'), join(root, 'project-link'))).toEqual(new Map([[A, '']]))
  })
})

describe('a unit on the list', () => {
  it('is trusted without a record, in another checkout too, from a copy', () => {
    const { root } = project()
    const [mine, ci] = [projectIn(root, 'mine'), projectIn(root, 'build/17')]
    const { digest } = mine.store.look(mine.plugin())
    const store = ci.newStore({ preTrusted: listOf([digest]) })
    const unit = ci.plugin()
    const copy = join(ci.dataDir, 'copies', digest, 'guard')
    for (let i = 0; i < 3; i++)
      expect(later(() => store.standingOf(unit))).toMatchObject({ state: 'trusted', copy })
    expect(readFileSync(join(copy, 'lib/rules.sh'), 'utf8')).toBe('echo reviewed\n')
    expect(store.records()).toEqual([])
    expect(ci.newStore().standingOf(unit).state).toBe('untrusted')
    removeAll(join(ci.dataDir, 'copies'))
    expect(store.standingOf(unit).state).toBe('trusted')
    expect(readFileSync(join(copy, 'lib/rules.sh'), 'utf8')).toBe('echo reviewed\n')
  })

  it('is not trusted with any other content, and is again with the listed one', () => {
    const { plugin, newStore, write, store: other } = project()
    const unit = plugin()
    const store = newStore({ preTrusted: listOf([other.look(unit).digest]) })
    expect(store.standingOf(unit).state).toBe('trusted')
    expect(store.standingOf({ ...unit, hooks: [hook('evil')] }).state).toBe('modified')
    write('plugins/guard/lib/data.txt', 'evil')
    expect(later(() => store.standingOf(unit)).state).toBe('modified')
    expect(later(() => store.standingOf(unit)).state).toBe('modified')
    write('plugins/guard/lib/data.txt', 'data\n')
    expect(store.standingOf(unit).state).toBe('trusted')
  })
})
