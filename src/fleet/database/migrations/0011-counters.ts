// Migration 11: counts of the last hour that all machines share, for limits of rules.

export const sql = `
-- Indexes begin with what differs most: without statistics, one by organisation would be read for all that it has.
create table fleet.counter (
  org int not null references fleet.org,
  key text not null,
  -- The machine that counted first.
  machine uuid not null,
  touched timestamptz not null default clock_timestamp(),
  primary key (key, org)
);
create index counter_machine on fleet.counter (machine, org);
create index counter_touched on fleet.counter (touched, org);

create table fleet.counter_minute (
  org int not null,
  key text not null,
  -- Minutes since 1970.
  minute int not null,
  n bigint not null,
  primary key (key, org, minute),
  foreign key (key, org) references fleet.counter on delete cascade
);

-- Requests of the last minutes: an answer that got lost is asked for again. "before" is how much there was.
create table fleet.counter_request (
  org int not null,
  key text not null,
  machine uuid not null,
  id uuid not null,
  before bigint not null,
  added boolean not null,
  at timestamptz not null default clock_timestamp(),
  primary key (id, machine, key, org)
);
create index counter_request_at on fleet.counter_request (at, org);

-- Answers 'counted', 'reached' (nothing was added) or 'full' (this machine has too many counters). Without "most", all is added.
-- Only looks if the amount is 0. Whoever counts the same waits for the row of the counter, so that nobody gets too much.
create function fleet.add_count(m uuid, k text, i uuid, most bigint, amount bigint) returns text language plpgsql
security definer set search_path = fleet, pg_temp set lock_timeout = '2s' as $$
declare o int := own_org(); moment timestamptz; last timestamptz; t int; total bigint; is_reached boolean; known counter_request;
  largest constant bigint := 9007199254740991;
begin
  perform from machine x where x.org = o and x.machine = m and x.retired is null;
  if not found then raise exception 'machine % is not in this organisation', m using errcode = 'insufficient_privilege'; end if;
  if amount = 0 then
    t := floor(extract(epoch from clock_timestamp()) / 60);
    select coalesce(sum(x.n), 0) into total from counter_minute x where x.org = o and x.key = k and x.minute >= t - 60;
    return case when total >= most then 'reached' else 'counted' end;
  end if;
  loop
    select x.touched into last from counter x where x.org = o and x.key = k for update;
    exit when found;
    if (select count(*) from counter x where x.org = o and x.machine = m) >= 10000 then return 'full'; end if;
    insert into counter (org, key, machine) values (o, k, m) on conflict do nothing;
  end loop;
  select * into known from counter_request x where x.org = o and x.key = k and x.machine = m and x.id = i;
  is_reached := coalesce(known.before >= most, false);
  if known.added or is_reached then return case when is_reached then 'reached' else 'counted' end; end if;

  -- A variable, because no index is used for what a volatile function returns.
  moment := clock_timestamp();
  t := floor(extract(epoch from moment) / 60);
  delete from counter_minute x where x.org = o and x.key = k and x.minute < t - 60;
  -- If the clock was set back, what seems to come from the future counts from now on.
  with future as (delete from counter_minute x where x.org = o and x.key = k and x.minute > t returning x.n)
    insert into counter_minute as x (org, key, minute, n) select o, k, t, least(sum(n), largest) from future having count(*) > 0
    on conflict (key, org, minute) do update set n = least(x.n + excluded.n, largest);
  select coalesce(sum(x.n), 0) into total from counter_minute x where x.org = o and x.key = k;
  is_reached := coalesce(total >= most, false);
  if not is_reached then
    insert into counter_minute as x (org, key, minute, n) values (o, k, t, amount)
      on conflict (key, org, minute) do update set n = least(x.n + excluded.n, largest);
    if last < moment - interval '1 minute' then
      update counter x set touched = moment where x.org = o and x.key = k;
    end if;
  end if;
  insert into counter_request as x (org, key, machine, id, before, added) values (o, k, m, i, total, not is_reached)
    on conflict (id, machine, key, org) do update set before = excluded.before, added = excluded.added, at = excluded.at;

  -- The signature of a request counts for ten minutes at most.
  delete from counter_request x where x.ctid = any (array(select y.ctid from counter_request y
    where y.at < moment - interval '15 minutes' and y.org = o order by y.at limit 100 for update skip locked));
  delete from counter x where x.org = o and x.key = any (array(select y.key from counter y
    where y.org = o and y.touched < moment - interval '2 hours' order by y.touched limit 20 for update skip locked));
  return case when is_reached then 'reached' else 'counted' end;
end $$;

alter table fleet.counter enable row level security;
alter table fleet.counter_minute enable row level security;
alter table fleet.counter_request enable row level security;
create policy own on fleet.counter using (org = fleet.own_org());
create policy own on fleet.counter_minute using (org = fleet.own_org());
create policy own on fleet.counter_request using (org = fleet.own_org());

revoke all on function fleet.add_count(uuid, text, uuid, bigint, bigint) from public;
grant execute on function fleet.add_count(uuid, text, uuid, bigint, bigint) to fleet_gateway;
grant select on fleet.counter, fleet.counter_minute to fleet_auditor, fleet_admin;
`
