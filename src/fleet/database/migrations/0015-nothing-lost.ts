// Migration 15: a deny counts whatever its person said before.

export const sql = `
-- Rejected answers do not count. A deny counts until there are enough allows, whoever gives it. A later one is kept, too: it
-- counts if the machine rejects one of those allows. An answer that is sent again does not count again.
create or replace function fleet.give(i text, who text, what text, allow boolean, why text, signed text)
returns table (status text, more int, first_by text) language plpgsql security definer set search_path = fleet, pg_temp as $$
declare o int := own_org(); q question; given int; last int; denier text; decider text; is_again boolean; was_allowed boolean; is_settled boolean;
begin
  select * into q from question x where x.org = o and x.id = i for update;
  if q.id is null then return query select 'unknown', 0, null::text; return; end if;
  select count(*) filter (where a.allows and a.rejected is null), coalesce(max(a.place), 0),
      coalesce(bool_or(a.by_name = who and a.option = what and a.allows = allow and a.rejected is null), false),
      coalesce(bool_or(a.allows and (a.by_name = who and a.rejected is null or a.rejected is not null and a.signature = signed)), false)
    into given, last, is_again, was_allowed from answer a where a.org = o and a.id = i;
  select a.by_name into denier from answer a where a.org = o and a.id = i and not a.allows order by a.place limit 1;
  -- No allow is taken after a deny, so if there are enough of them, they were first.
  if given >= q.people then
    select a.by_name into decider from answer a
      where a.org = o and a.id = i and a.allows and a.rejected is null order by a.place desc limit 1;
  else decider := denier;
  end if;
  is_settled := exists (select from settled s where s.org = o and s.id = i);
  -- An answer that got lost on its way back is given again.
  if is_again and allow and given >= q.people or is_again and not allow and given < q.people then
    return query select 'answered', 0, null::text; return;
  end if;
  if is_again and allow and denier is null then return query select 'counted', q.people - given, null::text; return; end if;
  if denier is not null or is_settled or allow and given >= q.people then
    return query select 'too-late', 0, decider; return;
  end if;
  if q.expires <= clock_timestamp() then
    return query select case when decider is null then 'expired' else 'too-late' end, 0, decider; return;
  end if;
  if allow and was_allowed then return query select 'too-late', 0, who; return; end if;
  insert into answer (org, id, place, by_name, option, allows, reason, signature) values (o, i, last + 1, who, what, allow, why, signed);
  if allow and given + 1 < q.people then return query select 'counted', q.people - given - 1, null::text; return; end if;
  if not allow and given >= q.people then return query select 'too-late', 0, decider; return; end if;
  return query select 'answered', 0, null::text;
end $$;
`
