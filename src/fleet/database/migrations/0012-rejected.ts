// Migration 12: answers that the machine did not accept. Their question stays open, also for the person who gave it.

export const sql = `
alter table fleet.answer add rejected text;
alter table fleet.answer drop constraint answer_org_id_by_name_key;

-- The machine's word on an allow to its own question. A deny always counts. True if it is news.
create function fleet.reject(m uuid, i text, p int, why text) returns boolean language plpgsql
security definer set search_path = fleet, pg_temp as $$
declare o int := own_org();
begin
  perform from question q where q.org = o and q.id = i and q.machine = m for update;
  if not found then return false; end if;
  update answer a set rejected = why
    where a.org = o and a.id = i and a.place = p and a.allows and a.rejected is null
      and not exists (select from settled s where s.org = o and s.id = i);
  return found;
end $$;

-- As before, but rejected answers do not count. One that is sent again does not count again.
create or replace function fleet.give(i text, who text, what text, allow boolean, why text, signed text)
returns table (status text, more int, first_by text) language plpgsql security definer set search_path = fleet, pg_temp as $$
declare o int := own_org(); q question; given int; last int; denier text; mine answer;
begin
  select * into q from question x where x.org = o and x.id = i for update;
  if q.id is null then return query select 'unknown', 0, null::text; return; end if;
  select * into mine from answer a where a.org = o and a.id = i and a.by_name = who and a.rejected is null;
  select count(*) filter (where a.rejected is null), coalesce(max(a.place), 0) into given, last
    from answer a where a.org = o and a.id = i;
  select a.by_name into denier from answer a where a.org = o and a.id = i and not a.allows;
  -- An answer that got lost on its way back is given again.
  if mine.id is not null and mine.option = what then
    return query select case when given < q.people and allow then 'counted' else 'answered' end, greatest(q.people - given, 0), null::text; return;
  end if;
  if denier is not null or given >= q.people or exists (select from settled s where s.org = o and s.id = i) then
    return query select 'too-late', 0, coalesce(denier, (select max(a.by_name) from answer a
      where a.org = o and a.id = i and a.rejected is null)); return;
  end if;
  if q.expires <= clock_timestamp() then return query select 'expired', 0, null::text; return; end if;
  if mine.id is not null or exists (select from answer a where a.org = o and a.id = i and a.rejected is not null and a.signature = signed) then
    return query select 'too-late', 0, who; return;
  end if;
  insert into answer (org, id, place, by_name, option, allows, reason, signature) values (o, i, last + 1, who, what, allow, why, signed);
  if allow and given + 1 < q.people then return query select 'counted', q.people - given - 1, null::text; return; end if;
  return query select 'answered', 0, null::text;
end $$;

revoke all on function fleet.reject(uuid, text, int, text) from public;
grant execute on function fleet.reject(uuid, text, int, text) to fleet_gateway;
`
