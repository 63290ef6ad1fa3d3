// Migration 9: the fleet's policy. Every row is signed by people, so the database only keeps and serves it. Rows are never changed.

export const sql = `
create table fleet.policy_file (
  org int not null references fleet.org,
  role text not null check (role in ('root', 'timestamp', 'snapshot', 'targets', 'rollout', 'trust')),
  version int not null check (version > 0),
  content text not null,
  target text,
  at timestamptz not null default clock_timestamp(),
  by text not null default session_user,
  primary key (org, role, version)
);

create table fleet.policy_bundle (
  org int not null references fleet.org,
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  content text not null check (length(content) <= 8388608),
  at timestamptz not null default clock_timestamp(),
  by text not null default session_user,
  primary key (org, digest)
);

alter table fleet.policy_file enable row level security;
alter table fleet.policy_bundle enable row level security;
create policy own on fleet.policy_file using (org = fleet.own_org()) with check (org = fleet.own_org());
create policy own on fleet.policy_bundle using (org = fleet.own_org()) with check (org = fleet.own_org());
grant select on fleet.policy_file, fleet.policy_bundle to fleet_gateway, fleet_page, fleet_auditor, fleet_admin;
grant insert (org, role, version, content, target) on fleet.policy_file to fleet_admin;
grant insert (org, digest, content) on fleet.policy_bundle to fleet_admin;
`
