// Which options of a program take the next word, by program. A flag that is missing here at worst makes a value look like a
// file. A flag that is here by mistake hides a file: `wc -l .env`.

import type { OptionShape } from './file-effect.js'

export function shapeOf(program: string): OptionShape {
  return SHAPES.get(program) ?? NONE
}

const NONE: OptionShape = {}

/** The names, the letters and the long options. Those with `=` in the same word need no mention. */
const ROWS: readonly (readonly [names: string, valued: string, long?: string])[] = [
  // Reading
  ['tac', 's', '--separator'],
  ['nl', 'bdfhilnsvw', '--number-width --number-format --body-numbering'],
  ['less', 'bhjkoOpPtTxyzD'],
  ['more', 'n', '--lines'],
  ['bat batcat', 'lrmH', '--language --line-range --highlight-line --theme --style --color --paging --tabs'],
  ['strings', 'nteT', '--bytes --radix --encoding'],
  ['hexdump', 'efnsL', '--format --length --skip'],
  ['xxd', 'cglnoRs', '-cols -len -seek'],
  ['od', 'AjNSt', '--address-radix --skip-bytes --read-bytes --format'],
  ['file', 'fFmPe', '--files-from --separator --magic-file'],
  ['base32 base64 basenc', 'w', '--wrap'],
  ['b2sum', 'l', '--length'],
  ['cksum', 'al', '--algorithm --length'],
  ['shasum', 'a', '--algorithm'],
  ['cmp', 'in', '--ignore-initial --bytes'],
  [
    'diff',
    'CUWFIxXS',
    '--unified --context --exclude --exclude-from --label --width --ignore-matching-lines',
  ],
  ['difft', '', '--context --width --display --language'],
  ['join', 'aetvj12o'],
  ['paste', 'd', '--delimiters'],
  ['uniq', 'fsw', '--skip-fields --skip-chars --check-chars'],
  ['tree', 'LPIoHT', '--charset --filelimit'],
  ['xmllint', '', '--output --xpath --schema --dtdvalid --encode'],
  ['stat', 'c', '--format --printf'],
  ['expand unexpand', 't', '--tabs'],
  ['pr', 'hlNowWD', '--header --length --width --page-width --first-line-number --indent --date-format'],
  ['ptx', 'bFgiMoSTwW'],
  ['shuf', 'nio', '--head-count --input-range --output --random-source'],
  ['iconv', 'fto', '--from-code --to-code --output'],
  ['sdiff', 'Iow', '--output --width'],
  ['nm objdump readelf size', '', '--section'],
  ['look', 't', '--terminate'],
  ['head', 'nc', '--lines --bytes'],
  ['tail', 'ncs', '--lines --bytes --sleep-interval --pid --max-unchanged-stats'],
  ['cut', 'bcdf', '--bytes --characters --delimiter --fields --output-delimiter'],
  ['fold', 'w', '--width'],
  ['fmt', 'wpg', '--width --prefix --goal'],
  ['column', 'cosNRHTWEOlrpi', '--separator --output-separator --output-width --table-columns --table-right'],
  ['sort', 'kotST', '--key --output --field-separator --buffer-size --temporary-directory --parallel'],
  [
    'grep egrep fgrep zgrep bzgrep xzgrep',
    'efABCmdD',
    '--regexp --file --include --exclude --exclude-dir --exclude-from --max-count --context --after-context --before-context --label',
  ],
  [
    'rg',
    'efABCmgtTjMEr',
    '--regexp --file --type --type-not --glob --iglob --max-count --max-depth --context --after-context --before-context --replace --sort --pre --encoding',
  ],
  ['ag', 'ABCGm', '--ignore --depth --context --after --before'],
  ['ack', 'ABCm', '--type --ignore-dir --ignore-file --context --output'],
  ['sed gsed', 'efl', '--expression --file --line-length'],
  ['awk gawk mawk nawk', 'fFvi', '--file --field-separator --assign --include'],
  ['jq', 'efL', '--from-file --indent --arg --argjson'],
  ['yq', 'ef', '--from-file --expression --indent --output-format --input-format'],
  ['perl', 'eEIMmxF'],
  ['ruby', 'eIrEC'],
  // Writing
  ['touch', 'drt', '--date --reference --time'],
  ['truncate', 'rs', '--reference --size'],
  ['mkdir mkfifo mknod', 'm', '--mode'],
  ['cp mv ln link', 'tS', '--target-directory --suffix'],
  ['install', 'tSmog', '--target-directory --suffix --mode --owner --group --strip-program'],
  ['rsync', 'efBTM', '--rsh --exclude --include --files-from --filter --backup-dir'],
  ['scp', 'cDFiJloPSX'],
  ['shred', 'ns', '--iterations --size --random-source'],
  [
    'split',
    'abClntN',
    '--bytes --lines --number --suffix-length --additional-suffix --line-bytes --separator --filter',
  ],
  ['csplit', 'bfn', '--prefix --suffix-format --digits'],
]

/** Programs that take every word after the first operand as an operand. */
const STOPPING = /^(?:[gmn]?awk|xxd|perl|ruby)$/

const SHAPES: ReadonlyMap<string, OptionShape> = new Map(
  ROWS.flatMap(([names, valued, long = '']) =>
    names
      .split(' ')
      .map(
        (name) =>
          [
            name,
            { valued, long: long.split(' ').filter((one) => one !== ''), stops: STOPPING.test(name) },
          ] as const,
      ),
  ),
)
