// Migration 10: what each machine last said about itself. It is a claim of the machine, and only the newest is kept.

export const sql = `
create table fleet.machine_report (
  org int not null references fleet.org,
  machine uuid not null,
  report jsonb not null,
  at timestamptz not null default clock_timestamp(),
  primary key (org, machine),
  foreign key (org, machine) references fleet.machine
);

create function fleet.keep_report(reporter uuid, said jsonb) returns void language plpgsql security definer
set search_path = fleet, pg_temp as $$
begin
  insert into machine_report (org, machine, report) values (own_org(), reporter, said)
    on conflict (org, machine) do update set report = excluded.report, at = clock_timestamp();
  update machine set seen = clock_timestamp() where org = own_org() and machine = reporter;
end $$;

alter table fleet.machine_report enable row level security;
create policy own on fleet.machine_report using (org = fleet.own_org());
revoke all on function fleet.keep_report(uuid, jsonb) from public;
grant execute on function fleet.keep_report(uuid, jsonb) to fleet_gateway;
grant select on fleet.machine_report to fleet_page, fleet_auditor, fleet_admin;
`
