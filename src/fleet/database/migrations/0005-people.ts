// Migration 5: the lists of people, each signed by the key of the fleet. The newest counts, and all stay.

export const sql = `
create table fleet.people (
  org int not null references fleet.org,
  version int not null check (version > 0),
  list text not null,
  signature text not null,
  at timestamptz not null default clock_timestamp(),
  by text not null default session_user,
  primary key (org, version)
);

alter table fleet.people enable row level security;
create policy own on fleet.people using (org = fleet.own_org()) with check (org = fleet.own_org());
grant select on fleet.people to fleet_gateway, fleet_auditor, fleet_admin;
grant insert (org, version, list, signature) on fleet.people to fleet_admin;
`
