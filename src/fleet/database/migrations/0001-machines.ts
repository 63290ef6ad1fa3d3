// Migration 1: organisations, machines and the tokens with which they join.

export const sql = `
create table fleet.org (
  org int generated always as identity primary key,
  name text not null unique,
  root_key bytea not null check (length(root_key) = 32),
  created timestamptz not null default now()
);

create table fleet.machine (
  org int not null references fleet.org,
  machine uuid not null default gen_random_uuid(),
  name text not null,
  key bytea not null check (length(key) = 32),
  token text not null,
  joined timestamptz not null default clock_timestamp(),
  seen timestamptz not null default clock_timestamp(),
  retired timestamptz,
  primary key (org, machine),
  unique (org, key)
);
create unique index machine_name on fleet.machine (org, name) where retired is null;

create table fleet.join_token (
  org int not null references fleet.org,
  token text not null,
  secret_digest bytea not null check (length(secret_digest) = 32),
  created timestamptz not null default clock_timestamp(),
  created_by text not null default session_user,
  expires timestamptz not null,
  used timestamptz,
  revoked timestamptz,
  primary key (org, token)
);

-- The organisation of this connection. Without one, it is null, and no row is visible.
create function fleet.own_org() returns int language sql stable as
$$ select nullif(current_setting('fleet.org', true), '')::int $$;

-- Chooses the organisation of this connection by its name.
create function fleet.enter(wanted text) returns int language plpgsql security definer
set search_path = fleet, pg_temp as $$
declare found_org int;
begin
  select org into found_org from org where name = wanted;
  if found_org is null then raise exception 'there is no organisation %', wanted using errcode = 'no_data_found'; end if;
  perform set_config('fleet.org', found_org::text, false);
  return found_org;
end $$;

-- A machine joins with a token that was not used before. The same machine may ask again: its first answer may be lost.
create function fleet.join_machine(wanted text, digest bytea, machine_name text, machine_key bytea)
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
  if exists (select from machine m where m.org = t.org and m.name = machine_name and m.retired is null) then
    return query select 'name-taken', null::uuid; return;
  end if;
  insert into machine (org, name, key, token) values (t.org, machine_name, machine_key, t.token)
    on conflict do nothing returning machine.machine into made;
  if made is null then return query select 'name-taken', null::uuid; return; end if;
  update join_token j set used = clock_timestamp() where j.org = t.org and j.token = t.token;
  return query select 'joined', made;
end $$;

-- A machine that left cannot come back with the same key.
create function fleet.retire_machine(wanted uuid) returns boolean language plpgsql security definer
set search_path = fleet, pg_temp as $$
begin
  update machine set retired = clock_timestamp() where org = own_org() and machine = wanted and retired is null;
  return found;
end $$;

do $$ begin
  if not exists (select from pg_roles where rolname = 'fleet_gateway') then create role fleet_gateway nologin; end if;
  if not exists (select from pg_roles where rolname = 'fleet_auditor') then create role fleet_auditor nologin; end if;
  if not exists (select from pg_roles where rolname = 'fleet_admin') then create role fleet_admin nologin; end if;
end $$;

alter table fleet.org enable row level security;
alter table fleet.machine enable row level security;
alter table fleet.join_token enable row level security;
create policy own on fleet.org using (org = fleet.own_org());
create policy own on fleet.machine using (org = fleet.own_org()) with check (org = fleet.own_org());
create policy own on fleet.join_token using (org = fleet.own_org()) with check (org = fleet.own_org());

revoke all on all functions in schema fleet from public;
grant usage on schema fleet to fleet_gateway, fleet_auditor, fleet_admin;
grant execute on function fleet.own_org(), fleet.enter(text) to fleet_gateway, fleet_auditor, fleet_admin;
grant execute on function fleet.join_machine(text, bytea, text, bytea) to fleet_gateway;
grant execute on function fleet.retire_machine(uuid) to fleet_gateway, fleet_admin;
grant select on fleet.org, fleet.machine to fleet_gateway, fleet_auditor, fleet_admin;
grant select (org, token, created, created_by, expires, used, revoked) on fleet.join_token to fleet_auditor, fleet_admin;
grant insert (org, token, secret_digest, expires), update (revoked) on fleet.join_token to fleet_admin;
`
