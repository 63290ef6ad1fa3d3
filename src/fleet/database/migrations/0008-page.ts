// Migration 8: people who are signed in at the page of the gateway, and what any copy of the gateway needs to check them.

export const sql = `
do $$ begin
  if not exists (select from pg_roles where rolname = 'fleet_page') then create role fleet_page nologin; end if;
end $$;

-- Gateways sign the challenges that they make with one key, so that each can check those of the others.
create table fleet.page_key (
  org int primary key references fleet.org,
  key bytea not null check (length(key) = 32)
);

-- Challenges that somebody has used. Those that nobody uses leave no row: everybody may ask for one.
create table fleet.page_used (
  org int not null references fleet.org,
  nonce text not null,
  expires timestamptz not null,
  primary key (org, nonce)
);

-- The digest of a cookie, and the passkey that it was given for.
create table fleet.page_session (
  org int not null references fleet.org,
  digest bytea not null check (length(digest) = 32),
  passkey text not null,
  begun timestamptz not null default clock_timestamp(),
  expires timestamptz not null,
  primary key (org, digest)
);

alter table fleet.machine add retired_by text;

-- The key of all gateways. The first one that a gateway brings is kept.
create function fleet.shared_page_key(brought bytea) returns bytea language plpgsql security definer
set search_path = fleet, pg_temp as $$
begin
  insert into page_key (org, key) values (own_org(), brought) on conflict do nothing;
  return (select key from page_key where org = own_org());
end $$;

-- True once for each challenge.
create function fleet.use_challenge(given text, until timestamptz) returns boolean language plpgsql security definer
set search_path = fleet, pg_temp as $$
begin
  delete from page_used where org = own_org() and expires < clock_timestamp() - interval '1 minute';
  insert into page_used (org, nonce, expires) values (own_org(), given, until) on conflict do nothing;
  return found;
end $$;

create function fleet.begin_page_session(cookie bytea, its_passkey text, lasts interval) returns void language plpgsql
security definer set search_path = fleet, pg_temp as $$
begin
  delete from page_session where org = own_org() and expires < clock_timestamp();
  insert into page_session (org, digest, passkey, expires) values (own_org(), cookie, its_passkey, clock_timestamp() + lasts);
end $$;

-- Ends a session, or all that have the same passkey.
create function fleet.end_page_session(cookie bytea, everywhere boolean) returns void language sql security definer
set search_path = fleet, pg_temp as $$
  delete from page_session s using page_session own
    where own.org = own_org() and own.digest = cookie and s.org = own.org
      and (s.digest = own.digest or everywhere and s.passkey = own.passkey)
$$;

create function fleet.retire_machine_as(wanted uuid, who text) returns boolean language plpgsql security definer
set search_path = fleet, pg_temp as $$
begin
  update machine set retired = clock_timestamp(), retired_by = who
    where org = own_org() and machine = wanted and retired is null;
  return found;
end $$;

alter table fleet.page_key enable row level security;
alter table fleet.page_used enable row level security;
alter table fleet.page_session enable row level security;
create policy own on fleet.page_key using (org = fleet.own_org());
create policy own on fleet.page_used using (org = fleet.own_org());
create policy own on fleet.page_session using (org = fleet.own_org());

revoke all on function fleet.shared_page_key(bytea), fleet.use_challenge(text, timestamptz),
  fleet.begin_page_session(bytea, text, interval), fleet.end_page_session(bytea, boolean),
  fleet.retire_machine_as(uuid, text) from public;
grant usage on schema fleet to fleet_page;
grant execute on function fleet.own_org(), fleet.enter(text), fleet.shared_page_key(bytea),
  fleet.use_challenge(text, timestamptz), fleet.begin_page_session(bytea, text, interval),
  fleet.end_page_session(bytea, boolean), fleet.retire_machine_as(uuid, text) to fleet_page;
grant select on fleet.org, fleet.machine, fleet.chain, fleet.record, fleet.evidence, fleet.people, fleet.page_session
  to fleet_page;
`
