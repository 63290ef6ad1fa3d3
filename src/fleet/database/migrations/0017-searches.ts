// Migration 17: searches are answered from an index, whoever searches, and who retired a machine is kept. Until the indexes are
// there, records wait.

export const sql = `
-- Row-level security lets an index be used only for plain columns: a function of one could tell what it saw of other organisations.
-- So each index has the column itself, and leaves out texts that are too long for an entry. A search repeats its condition.
-- "at" comes last, so that the newest are found without sorting.
drop index fleet.record_session;
drop index fleet.record_verdict;
create index record_session on fleet.record (org, session, at desc) where length(session) <= 200;
create index record_verdict on fleet.record (org, verdict, at desc) where verdict <> 'continue' and length(verdict) <= 200;
-- Those that a search reads itself, whatever it looks for, and other rare ones.
create index record_kind on fleet.record (org, kind, at desc) where kind <> 'fire' and length(kind) <= 200;
-- Of one machine: its chains, each from its newest record. It has many of them, so their order is found in the index alone.
create index record_chain on fleet.record (chain, at desc, seq desc) include (org);

-- An administrator retires it with a user of the database, and has no name on the list of people.
create or replace function fleet.retire_machine(wanted uuid) returns boolean language plpgsql security definer
set search_path = fleet, pg_temp as $$
begin
  update machine set retired = clock_timestamp(), retired_by = 'database user ' || session_user
    where org = own_org() and machine = wanted and retired is null;
  return found;
end $$;
`
