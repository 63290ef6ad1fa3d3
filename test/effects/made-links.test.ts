import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'made-links-')))
mkdirSync(join(home, 'dir'))
symlinkSync('dir', join(home, 'link'))
afterAll(() => rmSync(home, { recursive: true }))

async function changed(command: string): Promise<readonly string[]> {
  const context = { cwd: home, projectDir: home, home, env: {} }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  return effects.flatMap((one) =>
    one.kind === 'write' || one.kind === 'delete'
      ? [`${one.kind} ${one.place.path.slice(home.length + 1)}`]
      : [],
  )
}

describe('what a call does through a link that it makes', () => {
  it.each([
    ['ln -s dir new; rm -rf new/x.txt', 'delete dir/x.txt'],
    ['ln -s dir new; echo x > new/y', 'write dir/y'],
    ['ln -s dir new && cd new && rm x.txt', 'delete dir/x.txt'],
    ['mkdir sub; ln -s ../dir sub; touch sub/dir/y', 'write dir/y'],
    ['cp -a link new; touch new/y', 'write dir/y'],
    ['ln -s dir new; ln -s dir new', 'write dir/dir'],
    ['for i in 1 2; do cp -rP link new; done', 'write dir/link'],
    ['f() { ln -s dir new; }; f; f', 'write dir/dir'],
    ["find . -exec cp -rP link new ';'", 'write dir/link'],
  ])('%s', async (command, deed) => {
    expect(await changed(command)).toContain(deed)
  })

  it('is not what happens to the link itself', async () => {
    expect(await changed('ln -s dir new; rm new')).not.toContain('delete dir')
    expect(await changed('ln -s dir new')).toEqual(['write new'])
  })
})
