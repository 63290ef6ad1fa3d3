// Migration 13: a webhook is told of a question until it has taken it, and a gateway reads the version.

export const sql = `
-- Questions that a gateway tells a webhook of. "at" is null until the webhook has taken it. Before "again", nobody else tries.
alter table fleet.told alter at drop not null, alter at drop default;
alter table fleet.told add tries int not null default 1, add again timestamptz not null default clock_timestamp();
drop function fleet.tell(text);

-- To one caller: how many have tried, this one too. Null to all others until its time is up, and once the webhook was told.
create function fleet.claim_telling(i text, lasts interval) returns int language plpgsql security definer
set search_path = fleet, pg_temp as $$
declare n int;
begin
  insert into told as t (org, id, at, again)
    select q.org, q.id, null, clock_timestamp() + lasts from question q where q.org = own_org() and q.id = i
    on conflict (org, id) do update set tries = t.tries + 1, again = excluded.again
      where t.at is null and t.again <= clock_timestamp()
    returning t.tries into n;
  return n;
end $$;

-- Without a pause, the webhook has taken it. With one, it is tried again after that.
create function fleet.end_telling(i text, pause interval) returns void language sql security definer
set search_path = fleet, pg_temp as $$
  update told set at = case when pause is null then clock_timestamp() end, again = clock_timestamp() + coalesce(pause, '0')
    where org = own_org() and id = i and at is null
$$;

revoke all on function fleet.claim_telling(text, interval), fleet.end_telling(text, interval) from public;
grant execute on function fleet.claim_telling(text, interval), fleet.end_telling(text, interval) to fleet_gateway;

grant select on fleet.migration to fleet_gateway, fleet_page;
`
