// Clusters and what describes infrastructure: kubectl, helm, terraform, ansible.

import { kindOfCluster } from '../plain-resource.js'
import {
  cloud,
  type Draft,
  fetched,
  hostOf,
  optionValue,
  type Program,
  plainWords,
  type Use,
  writes,
} from '../program.js'
import { destroys, operations } from './cloud-operation.js'
import { namesProduction } from './production.js'

const KUBECTL =
  /^(?:-n|--namespace|--context|--cluster|--kubeconfig|-l|--selector|-o|--output|-f|--filename|-c|--container|--replicas|--user|--field-selector|-k)$/

const kubectl = (use: Use): readonly Draft[] => {
  const [verb = '', ...names] = plainWords(use.texts, KUBECTL)
  if (use.texts.some((text) => /^--dry-run(?:=(?:client|server))?$/.test(text))) return []
  const address = optionValue(use.texts, /^(?:-f|--filename|-k|--kustomize)$/)
  const isRemote =
    address !== undefined && /^(?:https?:|git::|ssh:|git@|git(?:hub|lab)\.com[/:])/.test(address)
  const remote = isRemote
    ? [fetched(hostOf(address.replace(/^git::/, '')), !/^(?:delete|diff|get)$/.test(verb))]
    : []
  const isOnePod =
    verb === 'delete' &&
    /^(?:pods?|po)(?:\/\S+)?$/.test(names[0] ?? '') &&
    names.length <= 2 &&
    !use.texts.some((text) =>
      /^(?:--all|-A|--all-namespaces|-l|--selector|--force|--grace-period)/.test(text),
    ) &&
    !namesProduction(use.texts)
  // Its controller starts it again.
  if (isOnePod && use.args.every(({ known }) => known)) return ofKind(cloud('delete', false, names[0]), names)
  if (verb === 'config') {
    const isSet = /^(?:set|set-credentials|set-cluster|set-context|delete-\w+|unset|rename-context)$/.test(
      names[0] ?? '',
    )
    return isSet ? writes(use, [{ text: '~/.kube/config', known: true, glob: false }]) : []
  }
  if (verb === 'scale' || verb === 'replace') {
    const destroys =
      verb === 'scale'
        ? use.texts.includes('--replicas=0') || optionValue(use.texts, /^--replicas$/) === '0'
        : use.texts.includes('--force')
    return [cloud(verb, destroys, names[0]), ...remote]
  }
  const line = use.texts.join(' ')
  if (
    (verb === 'apply' && /(?:^| )--prune(?:=true)?(?: |$)/.test(line)) ||
    (verb === 'patch' && /finalizers/.test(line)) ||
    verb === 'taint' ||
    verb === 'cordon' ||
    ((verb === 'label' || verb === 'annotate') &&
      /^(?:ns|namespaces?|nodes?)(?:\/|$)/.test(names[0] ?? '')) ||
    (verb === 'rollout' && names[0] === 'undo')
  )
    return [...remote, cloud(verb === 'rollout' ? 'rollout undo' : verb, true, names.at(-1))]
  const usual = operations({ valued: KUBECTL, also: /^(?:drain|delete)$/ })(use)
  return [...remote, ...usual.flatMap((draft) => ofKind(draft, names))]
}

/** `kubectl delete ns a b` is about `namespace/a` and `namespace/b`. */
function ofKind(draft: Draft, [kind = '', ...names]: readonly string[]): readonly Draft[] {
  if (draft.kind !== 'cloud' || kind.includes('/') || names.length === 0) return [draft]
  const kinds = kind.split(',').map((one) => kindOfCluster(one) ?? one)
  return kinds.flatMap((one) =>
    names.map((name) => cloud(draft.operation, draft.destroys, `${one}/${name}`, [one, name])),
  )
}

const terraform = (use: Use): readonly Draft[] => {
  const words = plainWords(use.texts, /^-chdir$/)
  const [verb = '', noun = ''] = words
  const isSure = use.texts.some((text) => /^--?auto-approve$/.test(text))
  if (verb === 'apply' || words.includes('apply'))
    // A plan in a file is applied without a question.
    return [cloud('apply', isSure || words.length > 1 || use.texts.some((text) => /^--?destroy$/.test(text)))]
  const module = optionValue(use.texts, /^--?from-module$/)
  if (verb === 'init' && module !== undefined && !/^[./~]/.test(module))
    return [fetched(hostOf(module.replace(/^git::/, '')), true)]
  if (verb === 'import') return [cloud('import', true, noun)]
  if (verb === 'state')
    return noun === 'rm' || noun === 'push' ? [cloud(`state ${noun}`, true, words[2])] : []
  if (verb === 'workspace') return noun === 'delete' ? [cloud('workspace delete', true, words[2])] : []
  if (verb === 'force-unlock' || verb === 'taint') return [cloud(verb, true, noun)]
  return words.includes('destroy') ? [cloud('destroy', true)] : []
}

const helm = (use: Use): readonly Draft[] => {
  const address = use.texts.find((text) => /^(?:https?|oci):\/\//.test(text))
  const [verb, noun] = plainWords(use.texts)
  if (verb === 'repo' && noun === 'add' && address !== undefined) {
    const isUsed = use.script.calls.some(
      (other) => other.name === 'helm' && other.args.some(({ text }) => /^(?:install|upgrade)$/.test(text)),
    )
    return [fetched(hostOf(address), isUsed)]
  }
  return [
    ...(address !== undefined && /^(?:install|upgrade)$/.test(verb ?? '')
      ? [fetched(hostOf(address), true)]
      : []),
    ...operations({ valued: /^(?:-n|--namespace|-f|--values|--kube-context)$/, also: /^rollback$/ })(use),
  ]
}

const ansible = (use: Use): readonly Draft[] => {
  if (use.texts.some((text) => /^(?:--check|-C|--version|--list-\w+|--syntax-check)$/.test(text))) return []
  const given = optionValue(use.texts, /^(?:-a|--args)$/) ?? ''
  const destroys = /state=absent|\brm\s+-|\bdropdb\b|\bmkfs|\breboot\b|\bshutdown\b/.test(given)
  return [
    cloud(
      `${use.call.name}${optionValue(use.texts, /^(?:-m|--module-name)$/) ? ` ${optionValue(use.texts, /^(?:-m|--module-name)$/)}` : ''}`,
      destroys,
      plainWords(use.texts, /^-/)[0],
    ),
  ]
}

export const CLUSTER_PROGRAMS: readonly Program[] = [
  {
    names: ['kubectl', 'oc', 'k', 'kubectl.exe'],
    hasVerb: true,
    effects: kubectl,
    examples: [
      { command: 'kubectl -n prod delete deployment api', effects: [destroys('delete')] },
      { command: 'kubectl apply --prune -l app=x -f k8s', effects: [destroys('apply')] },
      { command: 'kubectl rollout undo deploy/api', effects: [destroys('rollout undo')] },
      { command: 'kubectl set image deploy/api api=x -n prod', effects: [destroys('set')] },
      { command: 'kubectl delete pod api-1', effects: [{ kind: 'cloud', destroys: false }] },
      { command: 'kubectl delete pod --all', effects: [destroys()] },
      {
        command: 'kubectl apply -k github.com/a/b',
        effects: [{ kind: 'fetch', host: 'github.com', runs: true }],
      },
      { command: 'kubectl get pods -A', effects: [] },
      { command: 'kubectl exec pod -- rm -rf /data', effects: [destroys('exec rm')] },
      {
        command: 'kubectl apply -f https://example.org/x.yaml',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
    ],
  },
  {
    names: ['helm', 'helmfile'],
    hasVerb: true,
    effects: helm,
    examples: [
      { command: 'helm uninstall api', effects: [destroys('uninstall')] },
      { command: 'helm list', effects: [] },
    ],
  },
  {
    names: ['terraform', 'tofu', 'terragrunt'],
    hasVerb: true,
    effects: terraform,
    examples: [
      { command: 'terraform destroy -auto-approve', effects: [destroys('destroy')] },
      { command: 'terraform apply', effects: [{ kind: 'cloud', destroys: false }] },
      { command: 'terraform apply tf.plan', effects: [destroys('apply')] },
      {
        command: 'terraform init -from-module=git::https://example.org/x',
        effects: [{ kind: 'fetch', host: 'example.org', runs: true }],
      },
      { command: 'terraform plan', effects: [] },
    ],
  },
  {
    names: ['ansible', 'ansible-playbook'],
    effects: ansible,
    examples: [
      { command: "ansible all -m file -a 'path=/x state=absent'", effects: [destroys('ansible file')] },
    ],
  },
]
