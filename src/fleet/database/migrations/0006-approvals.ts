// Migration 6: questions of machines, the answers of people, and what became of them. Rows are only ever added.

export const sql = `
create table fleet.question (
  org int not null,
  id text not null,
  machine uuid not null,
  body text not null,
  people int not null check (people > 0),
  asked timestamptz not null default clock_timestamp(),
  expires timestamptz not null,
  primary key (org, id),
  foreign key (org, machine) references fleet.machine
);
create index question_open on fleet.question (org, expires);
create index question_machine on fleet.question (org, machine, expires);

-- The first answer has place 1. A question for several people has a place for each of them.
create table fleet.answer (
  org int not null,
  id text not null,
  place int not null check (place > 0),
  by_name text not null,
  option text not null,
  allows boolean not null,
  reason text,
  signature text,
  at timestamptz not null default clock_timestamp(),
  primary key (org, id, place),
  unique (org, id, by_name),
  foreign key (org, id) references fleet.question
);

-- What the machine says became of a question, once.
create table fleet.settled (
  org int not null,
  id text not null,
  how text not null check (how in ('used', 'denied', 'expired')),
  by_name text,
  at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  foreign key (org, id) references fleet.question
);

-- Questions that a webhook was told of: any number of gateways tell each of them once.
create table fleet.told (
  org int not null,
  id text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  foreign key (org, id) references fleet.question
);

-- Answers 'asked', 'known' (the same machine asked before) or 'taken' (another machine has this id).
create function fleet.ask(m uuid, i text, its_body text, n int, until timestamptz) returns text language plpgsql
security definer set search_path = fleet, pg_temp as $$
declare o int := own_org(); owner uuid;
begin
  perform from machine x where x.org = o and x.machine = m and x.retired is null;
  if not found then raise exception 'machine % is not in this organisation', m using errcode = 'insufficient_privilege'; end if;
  insert into question (org, id, machine, body, people, expires) values (o, i, m, its_body, n, until) on conflict do nothing;
  if found then return 'asked'; end if;
  select q.machine into owner from question q where q.org = o and q.id = i;
  return case when owner = m then 'known' else 'taken' end;
end $$;

-- Answers 'answered', 'counted' (and how many more are needed), 'too-late' (and who was faster), 'expired' or 'unknown'.
create function fleet.give(i text, who text, what text, allow boolean, why text, signed text)
returns table (status text, more int, first_by text) language plpgsql security definer set search_path = fleet, pg_temp as $$
declare o int := own_org(); q question; given int; denier text; mine answer;
begin
  select * into q from question x where x.org = o and x.id = i for update;
  if q.id is null then return query select 'unknown', 0, null::text; return; end if;
  select * into mine from answer a where a.org = o and a.id = i and a.by_name = who;
  select count(*) into given from answer a where a.org = o and a.id = i;
  select a.by_name into denier from answer a where a.org = o and a.id = i and not a.allows;
  -- An answer that got lost on its way back is given again.
  if mine.id is not null and mine.option = what then
    return query select case when given < q.people and allow then 'counted' else 'answered' end, greatest(q.people - given, 0), null::text; return;
  end if;
  if denier is not null or given >= q.people or exists (select from settled s where s.org = o and s.id = i) then
    return query select 'too-late', 0, coalesce(denier, (select max(a.by_name) from answer a where a.org = o and a.id = i)); return;
  end if;
  if q.expires <= clock_timestamp() then return query select 'expired', 0, null::text; return; end if;
  if mine.id is not null then return query select 'too-late', 0, who; return; end if;
  insert into answer (org, id, place, by_name, option, allows, reason, signature) values (o, i, given + 1, who, what, allow, why, signed);
  if allow and given + 1 < q.people then return query select 'counted', q.people - given - 1, null::text; return; end if;
  return query select 'answered', 0, null::text;
end $$;

create function fleet.settle(m uuid, i text, what text, who text) returns boolean language plpgsql
security definer set search_path = fleet, pg_temp as $$
begin
  insert into settled (org, id, how, by_name)
    select q.org, q.id, what, who from question q where q.org = own_org() and q.id = i and q.machine = m
    on conflict do nothing;
  return found;
end $$;

-- True to one caller.
create function fleet.tell(i text) returns boolean language plpgsql security definer set search_path = fleet, pg_temp as $$
begin
  insert into told (org, id) select q.org, q.id from question q where q.org = own_org() and q.id = i on conflict do nothing;
  return found;
end $$;

alter table fleet.question enable row level security;
alter table fleet.answer enable row level security;
alter table fleet.settled enable row level security;
alter table fleet.told enable row level security;
create policy own on fleet.question using (org = fleet.own_org());
create policy own on fleet.answer using (org = fleet.own_org());
create policy own on fleet.settled using (org = fleet.own_org());
create policy own on fleet.told using (org = fleet.own_org());

revoke all on all functions in schema fleet from public;
grant execute on function fleet.ask(uuid, text, text, int, timestamptz), fleet.settle(uuid, text, text, text) to fleet_gateway;
grant execute on function fleet.give(text, text, text, boolean, text, text), fleet.tell(text) to fleet_gateway;
grant select on fleet.question, fleet.answer, fleet.settled, fleet.told to fleet_gateway, fleet_auditor, fleet_admin;
`
