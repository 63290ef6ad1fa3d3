// A resource of a cloud in its one plain spelling, whichever program or option names it.

/** Short names of kinds in a cluster. */
const KINDS: ReadonlyMap<string, string> = new Map(
  `ns namespace,no node,po pod,svc service,deploy deployment,sts statefulset,ds daemonset,rs replicaset,
  rc replicationcontroller,cm configmap,pv persistentvolume,pvc persistentvolumeclaim,sa serviceaccount,ing ingress,
  cj cronjob,crd customresourcedefinition,sc storageclass,netpol networkpolicy,hpa horizontalpodautoscaler,
  pdb poddisruptionbudget,quota resourcequota,ep endpoints,job job,secret secret,role role,rolebinding rolebinding,
  clusterrole clusterrole,clusterrolebinding clusterrolebinding`
    .split(',')
    .flatMap((pair) => {
      const [short = '', long = ''] = pair.trim().split(' ')
      return [short, long, `${long}s`, `${long}es`].map((name) => [name, long] as const)
    }),
)

/** `ns`, `namespaces` and `namespaces.v1` as `namespace`. Undefined if it is no well-known kind. */
export function kindOfCluster(name: string): string | undefined {
  return KINDS.get(name.toLowerCase().replace(/\..*$/s, ''))
}

const STORES: Readonly<Record<string, string>> = { s3: 's3', s3n: 's3', s3a: 's3', gs: 'gs', gcs: 'gs' }

/** `arn:aws:s3:::prod/a` is `s3://prod/a`, `S3://prod/` is `s3://prod`, `ns/prod` is `namespace/prod`. */
export function plainResource(name: string): string {
  const [, scheme = '', path] = /^(\w+):\/\/(.*)$/s.exec(name) ?? []
  const store = STORES[scheme.toLowerCase()]
  if (path !== undefined && store !== undefined) return `${store}://${path.replace(/\/+$/, '')}`
  const [, inArn] = /^arn:[\w-]*:s3:[\w-]*:\d*:(.+)$/s.exec(name) ?? []
  if (inArn !== undefined) return `s3://${inArn.replace(/\/+$/, '')}`
  const [, bucket, host, inHost = ''] =
    /^https?:\/\/(?:([\w.-]+)\.)?(s3|storage)[\w.-]*\.(?:amazonaws|googleapis)\.com\/?(.*)$/s.exec(name) ?? []
  if (host !== undefined) {
    const whole = bucket === undefined ? inHost : `${bucket}/${inHost}`
    return `${host === 's3' ? 's3' : 'gs'}://${whole.replace(/\/+$/, '')}`
  }
  const [, repository] = /^(?:https?:\/\/)?github\.com\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(name) ?? []
  if (repository !== undefined) return repository
  const [, kind = '', rest] = /^([A-Za-z.]+)\/([^/]+)$/.exec(name) ?? []
  const long = rest === undefined ? undefined : kindOfCluster(kind)
  return long === undefined ? name : `${long}/${rest}`
}
