import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import { recipesOf } from '../../src/effects/script/makefile.js'

const app = mkdtempSync(join(tmpdir(), 'carabiner-make-'))
afterAll(() => rmSync(app, { recursive: true, force: true }))

const MAKEFILE = `BUILD ?= build
DIRS := $(BUILD) \\
  dist
-include local.mk

.PHONY: all clean
all: build/x
	@echo done
clean: ; rm -rf $(DIRS)
deep: clean
	-@cd sub && rm -f $@.txt
each:
	for f in a b; do \\
	  rm "$$f.txt"; \\
	done
nested:
	$(MAKE) -C sub wipe
%.tmp:
	rm $@
computed:
	rm -rf $(addprefix x,$(LIST))
`

mkdirSync(join(app, 'sub'))
writeFileSync(join(app, 'Makefile'), MAKEFILE)
writeFileSync(join(app, 'local.mk'), 'local:\n\trm local.txt\n')
writeFileSync(join(app, 'sub/Makefile'), 'wipe:\n\trm -rf cache\n')

const context = { cwd: app, projectDir: app, home: '/home/dev', env: {} }

async function deleted(command: string): Promise<readonly string[]> {
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  return effects.flatMap((one) =>
    one.kind === 'delete' && !one.guess
      ? [one.place.known ? one.place.path.replace(`${app}/`, '') : 'unknown']
      : [],
  )
}

describe('make', () => {
  it.each([
    ['make clean', ['build', 'dist']],
    ['make clean BUILD=/srv', ['/srv', 'dist']],
    ['make deep', ['build', 'dist', 'sub/deep.txt']],
    ['make each', ['a.txt', 'b.txt']],
    ['make nested', ['sub/cache']],
    ['make -C sub wipe', ['sub/cache']],
    ['make -f sub/Makefile wipe', ['cache']],
    ['cd sub && make wipe', ['sub/cache']],
    ['make local', ['local.txt']],
    ['make x.tmp', ['x.tmp']],
    ['make computed', ['unknown']],
    ["printf 'x:\\n\\trm y.txt\\n' > new.mk && make -f new.mk", ['y.txt']],
    ['make', []],
    ['make all', []],
    ['make -n clean', []],
    ['make nothing', []],
  ])('%s', async (command, paths) => {
    expect([...new Set(await deleted(command))].sort()).toEqual([...paths].sort())
  })

  it('reads its makefile', async () => {
    const effects = await effectsOf({ name: 'Bash', input: { command: 'make all' } }, context)
    expect(effects).toContainEqual(
      expect.objectContaining({
        kind: 'read',
        place: expect.objectContaining({ path: join(app, 'Makefile') }),
      }),
    )
  })

  it('is unknown if the same command writes a makefile with a text that is not known', async () => {
    const command = 'curl -s https://example.org/x > new.mk; make -f new.mk'
    const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
    expect(effects.some(({ kind, guess }) => kind === 'unknown' && !guess)).toBe(true)
  })
})

describe('a makefile', () => {
  it('may refer to itself without end', () => {
    const text = 'A = $(B)\nB = $(A) $(A)\nx: x y\n\techo $(A)\ny: x\n'
    expect(recipesOf(text, { goals: ['x'], variables: [] })).toContain('echo')
  })

  it('may be long', () => {
    const rules = Array.from({ length: 20_000 }, (_, i) => `t${i}: t${i + 1}\n\techo ${i}\n`).join('')
    const recipes = recipesOf(rules, { goals: [], variables: [] })
    expect(recipes).toContain('echo 0')
    expect(recipes.length).toBeLessThan(10_000)
  })
})
