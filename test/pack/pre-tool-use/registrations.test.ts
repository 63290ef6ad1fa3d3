// Folders that hold the registrations of agents, overwritten as a whole; and git clean with options that take a value.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsIn, GuardedProject } from './guarded-project.js'

const project = new GuardedProject()
beforeAll(() => {
  project.git('feature')
  for (const folder of ['.claude', '.codex', '.gemini', '.cursor']) {
    mkdirSync(join(project.home, folder), { recursive: true })
    mkdirSync(join(project.folder, folder), { recursive: true })
  }
  writeFileSync(join(project.home, '.claude', 'settings.json'), '{}')
  project.file('.claude/settings.json', '{}')
  project.file('there/commands/a.md')
  project.file('bad/settings.json', '{}')
})
afterAll(() => project.remove())

describe('K1: all that is in a folder, copied over the registrations of an agent', () => {
  it.each(
    commandsIn(String.raw`
mkdir -p x && echo '{}' > x/settings.json && cp -r x/. ~/.claude/
mkdir -p x && echo '{}' > x/settings.json && cp -r x/. .claude
mkdir -p x && echo '{}' > x/settings.json && cp -a x/* ~/.claude/
mkdir -p x && echo '{}' > x/settings.json && cp -t ~/.claude x/*
mkdir -p x && echo '{}' > x/settings.json && mv x/* ~/.claude/
mkdir -p x && echo '{}' > x/settings.json && mv x/.* ~/.claude/
mkdir -p x && echo '{}' > x/settings.json && rsync -a x/ ~/.claude/
mkdir -p x && echo '{}' > x/settings.json && rsync -a x/ .codex
mkdir -p x && echo '{}' > x/settings.json && install x/* ~/.claude/
mkdir -p x && echo '{}' > x/settings.json && ln -sf $PWD/x/* ~/.claude/
mkdir -p x && echo '{}' > x/settings.json && ditto x ~/.claude
mkdir -p x && echo '{}' > x/settings.json && cd x && cp -r . ~/.claude/
echo '{}' > there/settings.json && cp -r there/. ~/.claude/
echo '{}' > there/settings.json; rsync -a there/ ~/.claude/
mv bad/settings.json there && cp -r there/. ~/.claude/
cp bad/settings.json there/ && mv there/* .claude/
git checkout other -- there && cp -r there/. ~/.claude/
python3 make.py && cp -r there/. ~/.claude/
tar xf x.tar -C there && cp -r there/. ~/.gemini/
rsync -a host:x/ ~/.claude/
rsync -a user@host:/etc/x/ .claude/
rsync -a rsync://host/module/ ~/.claude/
rsync -a host::module/ ~/.claude
rsync -av -e ssh host:x/. ~/.cursor/
scp -r host:x/* ~/.claude/
scp -r host:x/. ~/.claude/
scp -r user@host:. .claude
scp -r scp://host/x/. ~/.claude/
scp -r x/. ~/.claude/
tar xf x.tar -C ~/.claude
tar -C ~/.claude -xf x.tar
unzip x.zip -d ~/.claude
unzip -d ~/.claude x.zip
cp -rT x ~/.claude
mv -T x ~/.claude
ln -sfT x ~/.claude
`),
  )('denied: %s', async (command) => {
    expect(await project.verdict(command)).toBe('deny')
  })

  it.each(
    commandsIn(String.raw`
cp -r bad/. ~/.claude/
rsync -a bad/ ~/.claude/
scp -r bad/* ~/.claude/
`),
  )('a person decides about files that are there now: %s', async (command) => {
    expect(await project.verdict(command)).toBe('ask')
  })

  it.each(
    commandsIn(String.raw`
cp -r there/. ~/.claude/
mkdir -p ~/.claude && cp -r there/. ~/.claude/
ls there; rsync -a there/ ~/.claude/
mkdir -p x && echo a > x/a.md && cp -r x/. ~/.claude/skills/
mkdir -p x && echo a > x/a.md && cp -r x/. ~/.claude/agents/
rsync -a host:x/ ~/backup/
scp -r host:x/. ./vendor/
mkdir -p dist && echo a > dist/a && cp -r dist/. ../site/
cp -r /tmp/x/. build/
`),
  )('nobody is asked: %s', async (command) => {
    expect(await project.verdict(command)).toBe('none')
  })
})

describe('K2: git clean whose option takes a value', () => {
  it.each(
    commandsIn(`
git clean -fdx -e node_modules
git clean -e node_modules -fdx
git clean -fdxe node_modules
git clean -fdx --exclude node_modules
git clean -fdx --exclude=node_modules
git clean --exclude node_modules --force -d
git clean -d -x -f -e .env -e node_modules
git clean -f -e n
git clean -xdf -e node_modules .
git -C . clean -fdx -e node_modules
git clean -fdX -e node_modules
git clean -ffdx -e'*.log'
`),
  )('denied: %s', async (command) => {
    expect(await project.verdict(command)).toBe('deny')
  })

  it.each(
    commandsIn(`
git clean -n -e node_modules
git clean -fdxn -e node_modules
git clean --dry-run --exclude node_modules -fdx
`),
  )('nobody is asked: %s', async (command) => {
    expect(await project.verdict(command)).toBe('none')
  })
})
