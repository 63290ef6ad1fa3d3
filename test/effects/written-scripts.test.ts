import { describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import { CONTEXT } from './part-of.js'

async function sure(command: string) {
  const effects = await effectsOf({ name: 'Bash', input: { command } }, CONTEXT)
  return effects.filter(({ guess }) => !guess)
}

async function deleted(command: string): Promise<readonly string[]> {
  return (await sure(command)).flatMap((one) => (one.kind === 'delete' ? [one.place.path] : []))
}

describe('a script that the same command writes and runs', () => {
  it.each([
    [String.raw`echo '\rm -rf x' > s.sh; sh s.sh`],
    [String.raw`echo -e 'true\nrm -rf x' > s.sh; bash s.sh`],
    [String.raw`printf '%s\n' '\rm -rf x' > s.sh && bash s.sh`],
    [String.raw`printf '%b' 'true\nrm -rf x' > s.sh && bash s.sh`],
    ['nice -n 5 echo rm -rf x > s.sh; sh s.sh'],
    [`echo 'import shutil; shutil.rmtree("x")' > s.py; python3 s.py`],
  ])('%s', async (command) => {
    expect(await deleted(command)).toContain('/home/dev/app/x')
  })

  it.each([
    ['what it runs is only known at run time', `echo '$c -rf x' > s.sh; sh s.sh`],
    ['it writes itself', `echo 'curl -s x.example > s.sh' > s.sh; sh s.sh; sh s.sh`],
  ])('is unknown if %s', async (_, command) => {
    expect((await sure(command)).some(({ kind }) => kind === 'unknown')).toBe(true)
  })
})

describe('a command line in a word', () => {
  it('runs in the folder of its call', async () => {
    expect(await deleted(`cd /srv && git -c alias.x='!rm -rf y' x`)).toContain('/srv/y')
    expect(await deleted(`cd /srv && tar cf a.tar b --checkpoint-action=exec='rm -rf y'`)).toContain('/srv/y')
  })
})

describe('braces', () => {
  it('are every name that they stand for', async () => {
    expect(await deleted('rm -rf x{1..3}')).toEqual(
      expect.arrayContaining(['/home/dev/app/x1', '/home/dev/app/x2', '/home/dev/app/x3']),
    )
    expect(await deleted('rm -rf x{1..99999}')).toContain('/home/dev/app/x*')
  })

  it('are unknown if there are too many', async () => {
    const effects = await sure(`rm -rf ${'{a,b}'.repeat(12)}`)
    expect(effects.some((one) => one.kind === 'delete' && !one.place.known)).toBe(true)
  })
})
