// Migration 4: a new chain of a log needs evidence of the break, no record is too odd to keep, and machines ask to leave.

/** A time as every record of the product has it. Anything else is not asked of PostgreSQL, which also knows 'now'. */
const TIME = '^[12]\\d{3}-\\d\\d-\\d\\dT([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$'

/*
 * The columns of a record say what its line says, and nothing else: `isListed` in checkpoint/verify.ts checks exactly
 * this. A record whose line does not fit into them is listed as unreadable, and searches read those themselves.
 */
const columns = (time: string) => `
        ${time},
        case when jsonb_typeof(j->'kind') = 'string' and not (j ? 'action' and j ? 'decision') then j->>'kind' else 'unreadable' end,
        case when jsonb_typeof(j->'action') = 'string' then j->>'action' when jsonb_typeof(j->'decision') = 'string' then j->>'decision' end,
        case when jsonb_typeof(j->'session') = 'string' then j->>'session' end`

export const sql = `
-- An entry of an index has its limit, and a machine may write names that are longer.
drop index fleet.record_session;
drop index fleet.record_verdict;
create index record_session on fleet.record (org, left(session, 200));
create index record_verdict on fleet.record (org, left(verdict, 40), at desc) where verdict <> 'continue';
-- Nothing searched by these.
alter table fleet.record drop column event, drop column tool;

drop function fleet.time_of(text);
create function fleet.time_of(written text, received timestamptz) returns timestamptz language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
  return case when written ~ '${TIME}' then written::timestamptz else received end;
exception when others then return received;
end $$;

-- Whether it is news. One machine cannot fill the table.
drop function fleet.note_evidence(uuid, text, int, text, bigint, text, text, text);
create function fleet.note_evidence(m uuid, l text, e int, what text, at_seq bigint, held_hash text, sent_hash text, its_line text)
returns boolean language plpgsql security definer set search_path = fleet, pg_temp as $$
begin
  if (select count(*) from evidence x where x.org = own_org() and x.machine = m) >= 10000 then return false; end if;
  insert into evidence (org, machine, log, epoch, kind, seq, held, sent, line)
    values (own_org(), m, l, e, what, at_seq, held_hash, sent_hash, left(its_line, 65536)) on conflict do nothing;
  return found;
end $$;

-- Where the newest chain of each log of a machine ends: those of one home, a page after a log. 'told' when there is evidence
-- already that the machine no longer has it.
create function fleet.heads_of(m uuid, home text, after text, most int)
returns table (log text, epoch int, seq bigint, hash text, told boolean) language sql stable security definer
set search_path = fleet, pg_temp as $$
  select distinct on (c.log) c.log, c.epoch, c.seq, encode(c.hash, 'hex'),
    exists (select from evidence v where v.org = c.org and v.machine = m and v.log = c.log and v.epoch = c.epoch and v.kind = 'cut' and v.seq = c.seq)
  from chain c where c.org = own_org() and c.machine = m and left(c.log, length(home)) = home and c.log > after
  order by c.log, c.epoch desc limit most
$$;

-- Lines first..first+n-1 of a log, joined by newlines. The gateway has checked every hash in them; here they are put
-- behind the head, under its lock. Answers 'added', 'known' (nothing new), 'gap' or 'fork', and the head. Only the newest
-- chain of a log grows, and the next one begins only where there is evidence of a break: 'epoch' for any other.
create or replace function fleet.append(m uuid, l text, e int, first bigint, prev text, n int, last text, lines text)
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
  begin
    insert into record (chain, seq, org, received, hash, line, at, kind, verdict, session)
      select c.chain, first + i - 1, o, now_at, decode(right(left(t, -2), 64), 'hex'), t,${columns(
        `case when j->>'time' ~ '${TIME}' then (j->>'time')::timestamptz else now_at end`,
      )}
      from (select t, i, t::jsonb j from string_to_table(lines, E'\\n') with ordinality x(t, i) where i > skip offset 0) y;
  exception when data_exception or program_limit_exceeded then
    insert into record (chain, seq, org, received, hash, line, at, kind, verdict, session)
      select c.chain, first + i - 1, o, now_at, decode(right(left(t, -2), 64), 'hex'), t,${columns(
        `time_of(j->>'time', now_at)`,
      )}
      from (select t, i, fields_of(t) j from string_to_table(lines, E'\\n') with ordinality x(t, i) where i > skip offset 0) y;
  end;
  update chain x set seq = first + n - 1, hash = decode(last, 'hex') where x.chain = c.chain;
  return query select 'added', first + n - 1, last;
end $$;

-- An agent may be able to use the key of its machine. So a machine only asks to leave, and an administrator retires it, or
-- lets it join again under its name.
alter table fleet.machine add column leaving timestamptz;
create function fleet.ask_to_leave(wanted uuid) returns void language sql security definer set search_path = fleet, pg_temp as $$
  update machine set leaving = coalesce(leaving, clock_timestamp()) where org = own_org() and machine = wanted and retired is null
$$;

create or replace function fleet.join_machine(wanted text, digest bytea, machine_name text, machine_key bytea)
returns table (status text, id uuid) language plpgsql security definer set search_path = fleet, pg_temp as $$
declare t join_token; known machine; made uuid;
begin
  select * into t from join_token j where j.org = own_org() and j.token = wanted for update;
  if t.token is null or t.secret_digest <> digest then return query select 'unknown', null::uuid; return; end if;
  select * into known from machine m where m.org = t.org and m.token = t.token and m.key = machine_key and m.retired is null;
  if known.machine is not null then return query select 'joined', known.machine; return; end if;
  if t.revoked is not null then return query select 'revoked', null::uuid; return; end if;
  if t.used is not null then return query select 'used', null::uuid; return; end if;
  if t.expires <= clock_timestamp() then return query select 'expired', null::uuid; return; end if;
  if exists (select from machine m where m.org = t.org and m.key = machine_key) then
    return query select 'key-used', null::uuid; return;
  end if;
  update machine m set retired = clock_timestamp()
    where m.org = t.org and m.name = machine_name and m.retired is null and m.leaving is not null;
  if exists (select from machine m where m.org = t.org and m.name = machine_name and m.retired is null) then
    return query select 'name-taken', null::uuid; return;
  end if;
  insert into machine (org, name, key, token) values (t.org, machine_name, machine_key, t.token)
    on conflict do nothing returning machine.machine into made;
  if made is null then return query select 'name-taken', null::uuid; return; end if;
  update join_token j set used = clock_timestamp() where j.org = t.org and j.token = t.token;
  return query select 'joined', made;
end $$;

revoke all on all functions in schema fleet from public;
revoke execute on function fleet.retire_machine(uuid) from fleet_gateway;
grant execute on function fleet.ask_to_leave(uuid), fleet.heads_of(uuid, text, text, int) to fleet_gateway;
grant execute on function fleet.note_evidence(uuid, text, int, text, bigint, text, text, text) to fleet_gateway;
`
