// Migration 14: a report for each user of a machine. One of them may have an agent that nobody guards, while another has none.

export const sql = `
-- Empty for a machine with an older version, which does not say whose report it is.
alter table fleet.machine_report add whose text not null default '';
alter table fleet.machine_report drop constraint machine_report_pkey;
alter table fleet.machine_report add primary key (org, machine, whose);

-- Keeps the newest of each user. Reports that no longer count are removed, and so is the oldest of too many: a machine could
-- make up users. Whoever reports for the same machine waits for its row.
create or replace function fleet.keep_report(reporter uuid, said jsonb) returns void language plpgsql security definer
set search_path = fleet, pg_temp as $$
declare o int := own_org(); reported_by text := left(coalesce(said->>'user', ''), 100);
begin
  update machine set seen = clock_timestamp() where org = o and machine = reporter;
  insert into machine_report (org, machine, whose, report) values (o, reporter, reported_by, said)
    on conflict (org, machine, whose) do update set report = excluded.report, at = clock_timestamp();
  delete from machine_report r where r.org = o and r.machine = reporter and r.whose <> reported_by
    and (r.at < clock_timestamp() - interval '7 days' or r.whose not in (select x.whose from machine_report x
      where x.org = o and x.machine = reporter order by x.at desc limit 100));
end $$;
`
