import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { bashOnly } from '../../../src/effects/shell/bash-only.js'

const ONLY_IN_BASH: readonly (readonly [text: string, what: string])[] = [
  ['[[ a == b ]] && exit 2', '[[ … ]]'],
  ['if [[ $x =~ (a|b) ]]; then exit 2; fi', '[[ … ]]'],
  ['set -euo pipefail; cat', 'set … pipefail'],
  ['source ./lib.sh', 'source'],
  ['words=(a b); echo ok', 'words=( … )'],
  ['x+=y', 'x+='],
  ['cat <<< "$x"', '<<<'],
  ['diff <(ls) names', '<( … )'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's
  ['echo "${x//a/b}"', '${x//a/b}'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's
  ['echo ${x^^}', '${x^^}'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's
  ['echo ${BASH_SOURCE[0]}', '${BASH_SOURCE[0]}'],
  ['function f { true; }; f', 'function'],
  ['grep -q x &> /dev/null', '&>'],
  ['ls |& cat', '|&'],
  ['[ "$x" == y ]', '[ … =='],
  ['for ((i=0;i<3;i++)); do true; done', 'for (( … ))'],
  ['(( x > 1 )) && exit 2', '(( … ))'],
  ["printf %s $'a\\n'", "$'…'"],
  ['true && [[ -n $(ls) ]]', '[[ … ]]'],
]

describe('P9: syntax that only bash knows', () => {
  it.each(ONLY_IN_BASH)('%s', (text, what) => expect(bashOnly(text)).toBe(what))

  it.each([
    ['grep -q "rm -rf" && exit 2 || exit 0'],
    ['echo \'[[ a ]]\'; echo "<<<"'],
    ["bash -c '[[ a == b ]]'"],
    ['[ "$x" = y ] && test -f z'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's
    ['echo "${x:-y}" ${x#a} ${#x} $((1 + 2)) > file 2>&1'],
    ['f() { local x=1; }; f; set -eu; trap "rm f" EXIT'],
    ['# [[ a ]]\ncat'],
    ['jq -r ".a[0]" | grep "x=(1)"'],
  ])('is not in: %s', (text) => {
    expect(bashOnly(text)).toBeUndefined()
    const { status, stderr } = spawnSync('bash', ['-n', '-c', text], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})
