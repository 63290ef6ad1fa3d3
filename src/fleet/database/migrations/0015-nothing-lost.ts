// Migration 15: a deny counts whatever its person said before, only records that the fleet has are known, and evidence of one log never keeps out another's.

/** Of one log of a machine. */
const MOST_OF_LOG = 1000
/** Of all logs of a machine that have no chain. A log has none before its first record, or if somebody removed it here. */
const MOST_WITHOUT_CHAIN = 1000

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

-- Whether it is news. A log has a limit, and so have all logs of a machine that have no chain yet, but the first of each kind and
-- chain is always taken: a chain after a break needs it. Only the chain after the newest one can be missing.
create or replace function fleet.note_evidence(m uuid, l text, e int, what text, at_seq bigint, held_hash text, sent_hash text, its_line text)
returns boolean language plpgsql security definer set search_path = fleet, pg_temp as $$
declare o int := own_org(); newest int; its_epoch int;
begin
  perform pg_advisory_xact_lock(hashtextextended('evidence ' || m || l, o));
  select coalesce(max(x.epoch), 0) into newest from chain x where x.org = o and x.machine = m and x.log = l;
  its_epoch := greatest(least(e, newest + 1), 1);
  if newest = 0 then
    perform pg_advisory_xact_lock(hashtextextended('evidence ' || m, o));
    if (select count(*) from evidence x where x.org = o and x.machine = m
        and not exists (select from chain c where c.org = o and c.machine = m and c.log = x.log)) >= ${MOST_WITHOUT_CHAIN} then
      return false;
    end if;
  end if;
  if exists (select from evidence x where x.org = o and x.machine = m and x.log = l and x.epoch = its_epoch and x.kind = what)
    and (select count(*) from evidence x where x.org = o and x.machine = m and x.log = l) >= ${MOST_OF_LOG} then
    return false;
  end if;
  insert into evidence (org, machine, log, epoch, kind, seq, held, sent, line)
    values (o, m, l, its_epoch, what, at_seq, held_hash, sent_hash, left(its_line, 65536)) on conflict do nothing;
  return found;
end $$;

-- As before, but a record is known only if the fleet has it: where a chain begins says nothing about the records before. They
-- may be in an older chain of the log.
create or replace function fleet.append(m uuid, l text, e int, first bigint, prev text, n int, last text, lines text, listing jsonb)
returns table (status text, head_seq bigint, head_hash text) language plpgsql security definer
set search_path = fleet, pg_temp as $$
declare c chain; o int := own_org(); newest int; skip int; held text; sent text; now_at timestamptz := date_trunc('milliseconds', clock_timestamp());
begin
  perform from machine x where x.org = o and x.machine = m and x.retired is null;
  if not found then raise exception 'machine % is not in this organisation', m using errcode = 'insufficient_privilege'; end if;
  select coalesce(max(x.epoch), 0) into newest from chain x where x.org = o and x.machine = m and x.log = l;
  if e < newest or e > newest + 1 then return query select 'epoch', null::bigint, null::text; return; end if;
  if e > newest then
    if e > 1 and not exists (select from evidence x where x.org = o and x.machine = m and x.log = l and x.epoch >= e - 1) then
      return query select 'epoch', null::bigint, null::text; return;
    end if;
    insert into chain (org, machine, log, epoch, base_seq, base_hash, seq, hash)
      values (o, m, l, e, first - 1, decode(prev, 'hex'), first - 1, decode(prev, 'hex')) on conflict do nothing;
  end if;
  select * into c from chain x where x.org = o and x.machine = m and x.log = l and x.epoch = e for update;
  if first > c.seq + 1 then
    perform note_evidence(m, l, e, 'gap', c.seq + 1, encode(c.hash, 'hex'), prev, split_part(lines, E'\\n', 1));
    return query select 'gap', c.seq, encode(c.hash, 'hex'); return;
  end if;
  if first <= c.base_seq then
    -- The last line before this chain that is in no other chain.
    select x.hash, x.i into sent, skip
      from rows from (jsonb_to_recordset(listing) as (hash text)) with ordinality as x(hash, i)
      where first + x.i - 1 <= c.base_seq and not exists (
        select from chain h join record r on r.chain = h.chain and r.seq = first + x.i - 1
          where h.org = o and h.machine = m and h.log = l and encode(r.hash, 'hex') = x.hash)
      order by x.i desc limit 1;
    if found then
      perform note_evidence(m, l, e, 'fork', first + skip - 1, null, sent, split_part(lines, E'\\n', skip));
      return query select 'fork', c.seq, encode(c.hash, 'hex'); return;
    end if;
  end if;
  skip := c.seq - first + 1;
  if skip >= n then
    if first + n - 1 > c.base_seq then
      select encode(r.hash, 'hex') into held from record r where r.chain = c.chain and r.seq = first + n - 1;
      if held is distinct from last then
        perform note_evidence(m, l, e, 'fork', first + n - 1, held, last, split_part(lines, E'\\n', n));
        return query select 'fork', c.seq, encode(c.hash, 'hex'); return;
      end if;
    end if;
    return query select 'known', c.seq, encode(c.hash, 'hex'); return;
  end if;
  sent := case when skip = 0 then prev else substring(split_part(lines, E'\\n', skip) from '"hash":"([0-9a-f]{64})"}$') end;
  if sent is distinct from encode(c.hash, 'hex') then
    perform note_evidence(m, l, e, 'fork', c.seq, encode(c.hash, 'hex'), sent, split_part(lines, E'\\n', skip + 1));
    return query select 'fork', c.seq, encode(c.hash, 'hex'); return;
  end if;
  insert into record (chain, seq, org, received, hash, line, at, kind, verdict, session)
    select c.chain, first + i - 1, o, now_at, decode(x.hash, 'hex'), x.line, coalesce(x.at, now_at), x.kind, x.verdict, x.session
    from rows from (
      string_to_table(lines, E'\\n'),
      jsonb_to_recordset(listing) as (hash text, at timestamptz, kind text, verdict text, session text)
    ) with ordinality as x(line, hash, at, kind, verdict, session, i) where i > skip;
  update chain x set seq = first + n - 1, hash = decode(last, 'hex') where x.chain = c.chain;
  return query select 'added', first + n - 1, last;
end $$;
`
