// Whether a call names production, or another environment.

const PRODUCTION = /^(?:.*[-_.:/])?(?:prod|production|prd|live)(?:[-_.:/].*)?$/i
const OTHER =
  /^(?:.*[-_.:/])?(?:dev|develop|development|stage|staging|test|testing|preview|sandbox|local|qa|uat|demo|ci|canary)(?:\d*|[-_.:/].*)$/i

/** Options whose value is an environment, or is named after one. */
const ENVIRONMENT =
  /^--?(?:n|e|g|s|a|i|P|c|namespace|context|kube-context|kubecontext|cluster|env|environment|stage|stack|stack-name|project|resource-group|app|profile|workspace|config|target|channel|inventory|limit|alias|service|function-name|region|site|var-file|branch|space|org)$/

/** The values of such options. */
function environments(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text, i) => {
    const [, name = '', value] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(text) ?? []
    return ENVIRONMENT.test(name) ? [value ?? texts[i + 1] ?? ''] : []
  })
}

export function namesProduction(texts: readonly string[]): boolean {
  return environments(texts).some((value) => PRODUCTION.test(value))
}

/** `--stage dev`. */
export function namesOther(texts: readonly string[]): boolean {
  return !namesProduction(texts) && environments(texts).some((value) => OTHER.test(value))
}
