// Words that look like options, but are the values of options: `git commit -m --amend`.

import { gitCall } from '../git/git-call.js'
import { remembered } from '../remembered.js'
import type { Word } from '../script/word.js'
import type { OptionShape } from './file-effect.js'

type Row = readonly [verb: string, letters: string, long: string]

const DOCKER: readonly Row[] = [
  [
    'run',
    'euwvphml',
    '--env --env-file --user --workdir --volume --publish --name --network --mount --entrypoint --memory --hostname --label --add-host --restart --device --platform',
  ],
  ['exec', 'euw', '--env --env-file --user --workdir'],
  ['build', 'ft', '--file --tag --build-arg --target --label --platform'],
]

const KUBECTL: readonly Row[] = [
  [
    '*',
    'nlofc',
    '--namespace --context --cluster --kubeconfig --selector --output --filename --container --user --field-selector',
  ],
]

const PSQL: readonly Row[] = [
  [
    '*',
    'cdfhLopUvFPRT',
    '--command --dbname --file --host --log-file --output --port --username --set --variable --field-separator --pset --record-separator --table-attr',
  ],
]

const MYSQL: readonly Row[] = [
  ['*', 'ehuPDS', '--execute --host --user --port --database --socket --init-command'],
]

const FLY: readonly Row[] = [['*', 'ac', '--app --config --org --region']]

/** The verb of a program, or all of them (`*`), its letters and its long options. Each always takes the next word. */
export const VALUED_OPTIONS: Readonly<Record<string, readonly Row[]>> = {
  git: [
    [
      'commit',
      'mFCct',
      '--message --file --author --date --template --reuse-message --reedit-message --fixup --squash --trailer --cleanup',
    ],
    ['tag', 'mFu', '--message --file --local-user --cleanup'],
    ['merge', 'mFsX', '--message --file --strategy --strategy-option --into-name'],
    ['stash', 'm', '--message'],
    ['notes', 'mF', '--message --file'],
    ['push', 'o', '--push-option --repo --receive-pack'],
    ['revert', 'mX', '--mainline --strategy-option'],
    ['cherry-pick', 'mX', '--mainline --strategy-option'],
    ['rebase', 'xsX', '--exec --strategy --strategy-option --onto'],
    ['branch', 'u', '--set-upstream-to'],
    ['clone', 'bocju', '--branch --origin --config --jobs --upload-pack --depth --reference'],
  ],
  gh: [
    [
      '*',
      'tbFRBHX',
      '--title --body --body-file --notes --notes-file --repo --base --head --field --raw-field --header --jq --template --label --assignee --reviewer --milestone --subject --desc --description --method',
    ],
  ],
  docker: DOCKER,
  podman: DOCKER,
  nerdctl: DOCKER,
  kubectl: KUBECTL,
  oc: KUBECTL,
  k: KUBECTL,
  glab: [
    [
      '*',
      'R',
      '--title --description --repo --label --assignee --milestone --source-branch --target-branch --notes --message',
    ],
  ],
  hg: [
    ['commit', 'mludIX', '--message --logfile --user --date --include --exclude'],
    ['ci', 'mludIX', '--message --logfile --user --date --include --exclude'],
    ['tag', 'mru', '--message --rev --user'],
  ],
  svn: [
    ['commit', 'mF', '--message --file --username --password'],
    ['ci', 'mF', '--message --file --username --password'],
  ],
  jj: [
    ['describe', 'm', '--message'],
    ['commit', 'm', '--message'],
    ['new', 'm', '--message'],
    ['squash', 'm', '--message'],
  ],
  psql: PSQL,
  mysql: MYSQL,
  mariadb: MYSQL,
  aws: [
    [
      '*',
      '',
      '--query --region --profile --output --description --message --subject --comment --message-body',
    ],
  ],
  gcloud: [['*', '', '--project --zone --region --format --filter --description --account --configuration']],
  az: [['*', 'ngo', '--name --resource-group --subscription --query --output --location']],
  pulumi: [['*', 'sCm', '--stack --cwd --message --config-file']],
  fly: FLY,
  flyctl: FLY,
  argocd: [['*', '', '--server --repo --revision --path --project --dest-namespace --app-namespace']],
  helm: [['*', 'nf', '--namespace --values --kube-context --set --set-string --version --description']],
}

/** The words with each such value as the file of that name. No reader takes it for an option then, and a file stays the same. */
export function withValuesApart(name: string, args: readonly Word[]): readonly Word[] {
  if (!Object.hasOwn(VALUED_OPTIONS, name)) return args
  let found: Word[] | undefined
  for (let i = 1; i < args.length; i++) {
    const word = args[i] as Word
    const option = args[i - 1]?.text ?? ''
    if (!word.text.startsWith('-') || word.text === '-' || !option.startsWith('-') || option === '-') continue
    if (option === '--') break
    // A value is no option, so it takes nothing.
    if (found && found[i - 1] !== args[i - 1]) continue
    if (!takesNext(option, shapeFor(name, args))) continue
    found ??= [...args]
    found[i] = { ...word, text: `./${word.text}` }
  }
  return found ?? args
}

/** `-m`, `-am`, `--message`. */
function takesNext(option: string, { valued = '', long = [] }: OptionShape): boolean {
  if (option.startsWith('--')) return long.includes(option)
  const at = [...option].findIndex((letter, i) => i > 0 && valued.includes(letter))
  return at > 0 && at === option.length - 1
}

function shapeFor(name: string, args: readonly Word[]): OptionShape {
  const texts = args.map(({ text }) => text)
  const verb = name === 'git' ? gitCall(texts).verb : texts.find((text) => !text.startsWith('-'))
  return shapeOfVerb(`${name} ${verb ?? ''}`)
}

const shapeOfVerb = remembered((call): OptionShape => {
  const [name = '', verb] = call.split(' ')
  const rows = Object.hasOwn(VALUED_OPTIONS, name) ? VALUED_OPTIONS[name] : undefined
  const row = rows?.find(([one]) => one === verb || one === '*')
  return row ? { valued: row[1], long: row[2].split(' ') } : {}
})
