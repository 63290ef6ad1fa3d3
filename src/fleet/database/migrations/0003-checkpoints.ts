// Migration 3: signed checkpoints over the heads of all chains.

export const sql = `
create table fleet.checkpoint (
  org int not null references fleet.org,
  number bigint not null,
  made timestamptz not null default clock_timestamp(),
  note text not null,
  primary key (org, number)
);
alter table fleet.checkpoint enable row level security;
create policy own on fleet.checkpoint using (org = fleet.own_org()) with check (org = fleet.own_org());
grant select on fleet.checkpoint to fleet_auditor, fleet_admin;
grant insert on fleet.checkpoint to fleet_admin;
`
