// What programs put into production: a site, a service, a function, a version that everybody gets.

import type { Draft, Program, Use } from '../program.js'
import { namesOther } from './production.js'
import { type Publisher, publishedBy } from './publishing.js'

const DEPLOY: Publisher = { verbs: /^deploy/ }
const PRODUCTION = /^(?:-s|--stage|-e|--env|--environment)=(?:prod\w*|live|main|master)$/

/** Vercel shows a preview unless it is told otherwise. */
const VERCEL: Publisher = {
  option: /^--prod(?:uction)?$|^--target=production$/,
  takes: /^(?:promote|rollback|redeploy|alias set|rolling-release)(?: |$)/,
  unless: /^(?:pull|env|build|dev|ls|list|logs|inspect|link)$/,
}
const NETLIFY: Publisher = { verbs: /^deploy/, needs: /^(?:-p|--prod\w*)$/ }
const FLY: Publisher = { verbs: /^(?:deploy|launch)/, unless: /^--(?:build-only|no-deploy)$/ }
const SERVERLESS: Publisher = { verbs: /^deploy/, needs: PRODUCTION }
const CDK: Publisher = { ...DEPLOY, unless: /^--(?:no-execute|method=prepare-change-set|hotswap)$/ }

/** `cap STAGE deploy`. */
const STAGED: Publisher = {
  task: /^(?:deploy(?::\w+)?|rollback)$/,
  unless: /^(?:stag(?:e|ing)|dev\w*|test\w*|qa|preview)$/,
}

const DEPLOYERS: Readonly<Record<string, Publisher>> = {
  vercel: VERCEL,
  vc: VERCEL,
  now: VERCEL,
  netlify: NETLIFY,
  ntl: NETLIFY,
  fly: FLY,
  flyctl: FLY,
  wrangler: {
    verbs: /^(?:deploy|publish|pages (?:deploy|publish)|versions deploy|triggers deploy)/,
    takes: /^(?:rollback|pages deployment delete)(?: |$)/,
  },
  firebase: {
    verbs: /^(?:deploy|hosting:channel:deploy live|hosting:clone|appdistribution:distribute)/,
    takes: /^(?:hosting:disable|functions:delete)(?: |$)/,
  },
  gcloud: {
    verbs:
      /^(?:(?:alpha|beta) )?(?:(?:app|functions|run(?: jobs| services)?) (?:deploy|replace)|deploy releases (?:create|promote)|run services update-traffic|app (?:services set-traffic|versions migrate)|endpoints services deploy|builds submit)/,
    unless: /^--no-(?:promote|traffic)$/,
  },
  aws: {
    verbs:
      /^(?:lambda (?:update-function-code|publish-version|update-alias)|cloudformation (?:deploy|update-stack|execute-change-set)|ecs (?:update-service|create-service)|elasticbeanstalk update-environment|amplify start-(?:deployment|job)|deploy create-deployment|apprunner start-deployment|apigateway(?:v2)? create-deployment|codepipeline start-pipeline-execution)/,
    valued: /^--(?:profile|region|output|endpoint-url|query)$/,
    unless: /^--no-execute-changeset$/,
  },
  az: {
    verbs:
      /^(?:(?:webapp|functionapp|spring app) (?:deployment \S+ \S+|deploy|up)|webapp deployment slot swap|containerapp (?:up|update)|staticwebapp deploy|deployment (?:group|sub|mg|tenant) create)/,
    valued: /^-/,
  },
  swa: DEPLOY,
  serverless: SERVERLESS,
  sls: SERVERLESS,
  sst: SERVERLESS,
  sam: { verbs: /^(?:deploy|sync)/, unless: /^--no-execute-changeset$/ },
  cdk: CDK,
  cdktf: DEPLOY,
  pulumi: { verbs: /^(?:up|update)/, needs: /^(?:-\w*y|--yes|-f|--skip-preview)$/ },
  amplify: { verbs: /^(?:publish|push)/ },
  copilot: { verbs: /^(?:(?:svc|job|env|app|pipeline) )?deploy/ },
  eb: { verbs: /^(?:deploy|swap)/ },
  cf: { verbs: /^push/ },
  azd: { verbs: /^(?:deploy|up|provision)/ },
  railway: { verbs: /^(?:up|redeploy|deploy)/ },
  render: { verbs: /^deploys create/ },
  doctl: { verbs: /^(?:apps (?:create-deployment|update)|serverless deploy)/ },
  heroku: {
    verbs: /^(?:container:(?:push|release)|builds:create|deploy:jar|pipelines:promote)/,
    takes: /^(?:releases:rollback|rollback|maintenance:on)(?: |$)/,
    valued: /^(?:-a|--app|-r|--remote)$/,
  },
  scalingo: DEPLOY,
  kamal: { verbs: /^(?:deploy|redeploy|setup|app boot)/, takes: /^(?:rollback|remove)(?: |$)/ },
  cap: STAGED,
  mina: STAGED,
  dep: STAGED,
  fab: { task: /^deploy\w*$/ },
  dokku: { verbs: /^(?:git:from-image|git:sync|ps:rebuild)/ },
  argocd: { verbs: /^app sync/, takes: /^app (?:rollback|terminate-op)(?: |$)/ },
  nomad: { verbs: /^(?:job )?run/ },
  waypoint: { verbs: /^(?:deploy|up|release)/ },
  supabase: { verbs: /^(?:functions deploy|db push|config push)/, unless: /^--local$/ },
  convex: DEPLOY,
  expo: { verbs: /^publish/ },
  surge: { verbs: /^(?!(?:login|logout|whoami|list|token|plus|help)(?: |$)).*/ },
  'gh-pages': { verbs: /^.*/ },
  mkdocs: { verbs: /^gh-deploy/ },
  mike: { verbs: /^(?:deploy|set-default|delete)/, needs: /^(?:-\w*p\w*|--push)$/ },
  ng: DEPLOY,
  hexo: { verbs: /^(?:deploy|d)/ },
  hugo: DEPLOY,
  docusaurus: DEPLOY,
  appcenter: { verbs: /^(?:distribute|codepush release)/ },
  clasp: { verbs: /^(?:push|deploy)/ },
  modal: DEPLOY,
  prefect: DEPLOY,
  ghost: { verbs: /^update/ },
  shopify: { verbs: /^(?:theme (?:push|publish)|app deploy|hydrogen deploy)/ },
  zappa: { verbs: /^(?:deploy|update)/, takes: /^(?:undeploy|rollback)(?: |$)/ },
  chalice: DEPLOY,
  arc: { verbs: /^deploy/, needs: /^--production$/ },
  git: {
    verbs: /^push (?:\S+ )*?(?:heroku|dokku|piku|gigalixir|scalingo|production|prod|live)/,
    valued: /^-[Cc]$|^--(?:git-dir|work-tree)$/,
  },
  'ansible-playbook': {
    verbs: /^.*/,
    valued: /^-[^-]$|^--(?:inventory|limit|extra-vars|tags|user)$/,
    needs: /^(?:-i|--inventory|-l|--limit|-e|--extra-vars)=.*\bprod/,
    unless: /^(?:--check|-C|--list-\w+|--syntax-check|--version)$/,
  },
}

const deploys = (use: Use): readonly Draft[] => (namesOther(use.texts) ? [] : publishedBy(use, DEPLOYERS))

const sent = { kind: 'send' }
const taken = { kind: 'cloud', destroys: true }

export const DEPLOYMENTS: readonly Program[] = [
  {
    names: Object.keys(DEPLOYERS),
    hasVerb: true,
    effects: deploys,
    examples: [
      { command: 'vercel --prod', effects: [sent] },
      { command: 'vercel deploy --target production', effects: [sent] },
      { command: 'vercel rollback', effects: [taken] },
      { command: 'vercel env ls', effects: [] },
      { command: 'netlify deploy --prod --dir dist', effects: [sent] },
      { command: 'fly deploy --remote-only', effects: [sent] },
      { command: 'wrangler pages deploy dist', effects: [sent] },
      { command: 'wrangler deploy --dry-run', effects: [] },
      { command: 'firebase deploy --only hosting', effects: [sent] },
      { command: 'gcloud run deploy api --source .', effects: [sent] },
      { command: 'aws ecs update-service --cluster c --service api', effects: [sent] },
      { command: 'az webapp up -n api', effects: [sent] },
      { command: 'serverless deploy --stage prod', effects: [sent] },
      { command: 'sst dev', effects: [] },
      { command: 'cdk deploy --all', effects: [sent] },
      { command: 'cdk diff', effects: [] },
      { command: 'railway up', effects: [sent] },
      { command: 'heroku container:release web -a x', effects: [sent] },
      { command: 'heroku releases:rollback v1', effects: [taken] },
      { command: 'cap production deploy', effects: [sent] },
      { command: 'gh-pages -d dist', effects: [sent] },
      { command: 'git push heroku main', effects: [sent] },
      { command: 'ansible-playbook -i prod deploy.yml', effects: [sent] },
      { command: 'supabase functions deploy hook', effects: [sent] },
    ],
  },
]
