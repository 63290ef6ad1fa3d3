// Migration 2: the chains of records that machines ship, and the only way to add to them.

/*
 * `record` is not partitioned: its primary key (chain, seq) is what keeps a record from being there twice, and a key of a
 * partitioned table has to contain the column that it is partitioned by.
 */
export const sql = `
-- A log of a machine. When its history breaks (a fork, a gap, a cut), the next epoch begins, and both stay.
create table fleet.chain (
  chain bigint generated always as identity primary key,
  org int not null,
  machine uuid not null,
  log text not null,
  epoch int not null,
  base_seq bigint not null,
  base_hash bytea not null,
  seq bigint not null,
  hash bytea not null,
  begun timestamptz not null default clock_timestamp(),
  unique (org, machine, log, epoch),
  foreign key (org, machine) references fleet.machine
) with (fillfactor = 50);

create table fleet.record (
  chain bigint not null,
  seq bigint not null,
  org int not null,
  at timestamptz not null,
  received timestamptz not null,
  kind text not null,
  event text,
  tool text,
  verdict text,
  session text,
  hash bytea not null,
  line text not null,
  primary key (chain, seq)
);
create index record_at on fleet.record (org, at desc);
create index record_verdict on fleet.record (org, verdict, at desc) where verdict <> 'continue';
create index record_session on fleet.record (org, session);

create table fleet.evidence (
  evidence bigint generated always as identity primary key,
  org int not null,
  machine uuid not null,
  log text not null,
  epoch int not null,
  kind text not null check (kind in ('fork', 'gap', 'cut', 'behind', 'damaged')),
  seq bigint not null,
  held text,
  sent text,
  line text,
  at timestamptz not null default clock_timestamp()
);
create unique index evidence_once on fleet.evidence (org, machine, log, epoch, kind, seq, coalesce(held, ''), coalesce(sent, ''));

create function fleet.note_evidence(m uuid, l text, e int, what text, at_seq bigint, held_hash text, sent_hash text, its_line text)
returns void language sql security definer set search_path = fleet, pg_temp as $$
  insert into evidence (org, machine, log, epoch, kind, seq, held, sent, line)
  values (own_org(), m, l, e, what, at_seq, held_hash, sent_hash, left(its_line, 65536)) on conflict do nothing
$$;

create function fleet.time_of(written text) returns timestamptz language plpgsql stable as $$
begin
  return coalesce(written::timestamptz, clock_timestamp());
exception when others then return clock_timestamp();
end $$;

-- The columns of a line that is not quite JSON: a record is kept whatever it says.
create function fleet.fields_of(line text) returns jsonb language plpgsql immutable as $$
begin
  return line::jsonb;
exception when others then return '{"kind": "unreadable"}';
end $$;

-- Lines first..first+n-1 of a log, joined by newlines. The gateway has checked every hash in them; here they are put
-- behind the head, under its lock. Answers 'added', 'known' (nothing new), 'gap' or 'fork', and the head.
create function fleet.append(m uuid, l text, e int, first bigint, prev text, n int, last text, lines text)
returns table (status text, head_seq bigint, head_hash text) language plpgsql security definer
set search_path = fleet, pg_temp as $$
declare c chain; o int := own_org(); skip int; held text; sent text; now_at timestamptz := clock_timestamp();
begin
  perform from machine x where x.org = o and x.machine = m and x.retired is null;
  if not found then raise exception 'machine % is not in this organisation', m using errcode = 'insufficient_privilege'; end if;
  insert into chain (org, machine, log, epoch, base_seq, base_hash, seq, hash)
    values (o, m, l, e, first - 1, decode(prev, 'hex'), first - 1, decode(prev, 'hex')) on conflict do nothing;
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
    insert into record (chain, seq, org, at, received, kind, event, tool, verdict, session, hash, line)
      select c.chain, first + i - 1, o, (j->>'time')::timestamptz, now_at, j->>'kind', j->>'event', j->>'tool',
        coalesce(j->>'action', j->>'decision'), j->>'session', decode(j->>'hash', 'hex'), t
      from (select t, i, t::jsonb j from string_to_table(lines, E'\\n') with ordinality x(t, i) where i > skip offset 0) y;
  exception when data_exception or not_null_violation then
    insert into record (chain, seq, org, at, received, kind, event, tool, verdict, session, hash, line)
      select c.chain, first + i - 1, o, time_of(j->>'time'), now_at, coalesce(j->>'kind', 'unreadable'), j->>'event', j->>'tool',
        coalesce(j->>'action', j->>'decision'), j->>'session',
        decode(substring(t from '"hash":"([0-9a-f]{64})"}$'), 'hex'), t
      from (select t, i, fields_of(t) j from string_to_table(lines, E'\\n') with ordinality x(t, i) where i > skip offset 0) y;
  end;
  update chain x set seq = first + n - 1, hash = decode(last, 'hex') where x.chain = c.chain;
  return query select 'added', first + n - 1, last;
end $$;

-- How much evidence there is about a machine, which the gateway may tell that machine.
create function fleet.evidence_of(m uuid) returns int language sql stable security definer set search_path = fleet, pg_temp as $$
  select count(*)::int from evidence where org = own_org() and machine = m
$$;

-- When a machine was last heard of; not written more often than anybody looks.
create function fleet.saw(m uuid) returns void language sql security definer set search_path = fleet, pg_temp as $$
  update machine set seen = clock_timestamp()
  where org = own_org() and machine = m and seen < clock_timestamp() - interval '15 seconds'
$$;

alter table fleet.chain enable row level security;
alter table fleet.record enable row level security;
alter table fleet.evidence enable row level security;
create policy own on fleet.chain using (org = fleet.own_org());
create policy own on fleet.record using (org = fleet.own_org());
create policy own on fleet.evidence using (org = fleet.own_org());

revoke all on all functions in schema fleet from public;
grant execute on function fleet.append(uuid, text, int, bigint, text, int, text, text) to fleet_gateway;
grant execute on function fleet.note_evidence(uuid, text, int, text, bigint, text, text, text) to fleet_gateway;
grant execute on function fleet.saw(uuid), fleet.evidence_of(uuid) to fleet_gateway;
grant select on fleet.chain to fleet_gateway;
grant select on fleet.chain, fleet.record, fleet.evidence to fleet_auditor, fleet_admin;
`
