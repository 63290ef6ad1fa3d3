// Migration 7: the gateway says how records are listed. It reads every line anyway, and faster than PostgreSQL does.

export const sql = `
drop function fleet.append(uuid, text, int, bigint, text, int, text, text);
drop function fleet.time_of(text, timestamptz);
drop function fleet.fields_of(text);

-- Lines first..first+n-1 of a log, joined by newlines. The gateway has checked every hash in them, and
-- made a list of their columns (listing.ts); here they are put behind the head, under its lock. Answers 'added', 'known' (nothing new), 'gap' or 'fork', and the head. Only the newest
-- chain of a log grows, and the next one begins only where there is evidence of a break: 'epoch' for any other.
create function fleet.append(m uuid, l text, e int, first bigint, prev text, n int, last text, lines text, listing jsonb)
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
  skip := c.seq - first + 1;
  if skip >= n then
    if first + n - 1 < c.base_seq then return query select 'known', c.seq, encode(c.hash, 'hex'); return; end if;
    select case when first + n - 1 = c.base_seq then encode(c.base_hash, 'hex') else encode(r.hash, 'hex') end into held
      from (select 1) one left join record r on r.chain = c.chain and r.seq = first + n - 1;
    if held is distinct from last then
      perform note_evidence(m, l, e, 'fork', first + n - 1, held, last, split_part(lines, E'\\n', n));
      return query select 'fork', c.seq, encode(c.hash, 'hex'); return;
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

revoke all on function fleet.append(uuid, text, int, bigint, text, int, text, text, jsonb) from public;
grant execute on function fleet.append(uuid, text, int, bigint, text, int, text, text, jsonb) to fleet_gateway;
`
