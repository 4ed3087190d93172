-- From a server, with an API key. D1 receives ? for each :name, and the subquery in permission-to-change.sql for permission.

-- read
select
  refusal,
  role,
  unmarked,
  :deadline - unixepoch('subsec') as time_left,
  json_object(
    'id',
    businesses.id,
    'user_id',
    businesses.user_id,
    'name',
    businesses.name,
    'main_domain',
    businesses.main_domain,
    'site',
    businesses.site,
    'country_id',
    businesses.country_id,
    'business_size',
    businesses.business_size,
    'token',
    businesses.token,
    'status',
    businesses.status,
    'created_at',
    businesses.created_at,
    'updated_at',
    businesses.updated_at
  ) as business,
  (
    select
      json_group_array(
        json_object(
          'id',
          access.id,
          'business_id',
          access.business_id,
          'site',
          access.site,
          'created_at',
          access.created_at,
          'updated_at',
          access.updated_at
        )
      )
    from access
    where access.business_id = businesses.id
  ) as entries
from
  permission
  left join businesses on businesses.id = case
    when ifnull(refusal, 'open') = 'open' then :business_id
  end;

-- decided
update businesses
set
  updated_at = :now,
  decision = :call_id
where
  (
    businesses.id = (
      select case when ifnull(refusal, 'open') = 'open' then :business_id end
      from permission
    )
    and unixepoch('subsec') < :deadline
    and exists (
      select 1
      from json_each(:sites)
      where
        not exists (
          select 1
          from access
          where
            access.business_id = businesses.id
            and access.site = value
        )
    )
    and (
      select count(*)
      from access
      where access.business_id = businesses.id
    ) + (
      select count(*)
      from json_each(:sites)
      where
        not exists (
          select 1
          from access
          where
            access.business_id = businesses.id
            and access.site = value
        )
    ) <= 500
    and (
      :may_be_first
      or exists (
        select 1
        from access
        where access.business_id = businesses.id
      )
    )
  )
returning
  id,
  user_id,
  name,
  main_domain,
  site,
  country_id,
  business_size,
  token,
  status,
  created_at,
  updated_at;

-- recorded
insert into
  changes(subject, subject_id, id, at, actor, action, before, after, actor_name, actor_user_id)
select
  'business',
  :business_id,
  (
    select coalesce(max(changes.id), 0)
    from changes
    where
      changes.subject = 'business'
      and changes.subject_id = :business_id
  ) + 1,
  :now,
  coalesce(
    case
      when is_session
      and key_session_of is null then 'console link'
      else 'key ' || coalesce(key_session_of, key_id)
    end || ' (…' || key_last_four || ')',
    :operator
  ),
  'add_sites',
  null,
  (
    select json_object('sites', json_group_array(value))
    from json_each(:sites)
    where
      not exists (
        select 1
        from access
        where
          access.business_id = :business_id
          and access.site = value
      )
  ),
  key_actor_name,
  case when key_actor_name is not null then key_user_id end
from
  businesses
  cross join permission
where
  (
    businesses.id = :business_id
    and businesses.decision = :call_id
  );

-- applied
insert into access (id, business_id, site, created_at, updated_at)
select
  null,
  businesses.id,
  value,
  :now,
  :now
from
  businesses
  cross join json_each(:sites)
where
  (
    businesses.id = :business_id
    and businesses.decision = :call_id
  )
  and not exists (
    select 1
    from access
    where
      access.business_id = :business_id
      and access.site = value
  )
order by key
returning
  id,
  business_id,
  site,
  created_at,
  updated_at;

-- named
insert into sources (business_id, name, number)
select
  :business_id,
  name,
  number
from
  (
    select
      name,
      (
        select coalesce(max(sources.number), 0)
        from sources
        where sources.business_id = :business_id
      ) + row_number() over (order by place) as number
    from
      (
        select
          value as name,
          key as place
        from
          businesses
          cross join json_each(:sites)
        where
          (
            businesses.id = :business_id
            and businesses.decision = :call_id
          )
          and (
            select sources.number
            from sources
            where
              (
                sources.business_id = :business_id
                and sources.name = value
              )
          ) is null
      )
  )
where number <= 200;

-- noLongerRefused
delete from refused_origins
where
  (
    refused_origins.business_id = (
      select businesses.id
      from businesses
      where
        (
          businesses.id = :business_id
          and businesses.decision = :call_id
        )
    )
    and exists (
      select 1
      from
        json_each(refused_origins.candidates)
        cross join access
      where
        (
          access.business_id = refused_origins.business_id
          and access.site = value
        )
    )
  );

-- taken
insert into work (user_id, class, busy_until, day, ids, bytes)
select
  key_user_id,
  'changing',
  cast(unixepoch('subsec') * 1000 as integer) + 0,
  cast(unixepoch('subsec') / 86400 as integer),
  0,
  2 * (
    200 + (
      select octet_length (changes.after)
      from changes
      where
        changes.subject = 'business'
        and changes.subject_id = :business_id
      order by changes.id desc
      limit 1
    )
  )
from permission
where
  (
    select businesses.id
    from businesses
    where
      (
        businesses.id = :business_id
        and businesses.decision = :call_id
      )
  ) is not null
  and key_user_id is not null
on conflict (work.user_id, work.class) do update
set
  busy_until = max(
    cast(unixepoch('subsec') * 1000 as integer),
    iif(work.busy_until > cast(unixepoch('subsec') * 1000 as integer) + 10250, 0, work.busy_until)
  ) + excluded.busy_until - cast(unixepoch('subsec') * 1000 as integer),
  day = excluded.day,
  ids = iif(work.day = cast(unixepoch('subsec') / 86400 as integer), work.ids, 0) + excluded.ids,
  bytes = iif(work.day = cast(unixepoch('subsec') / 86400 as integer), work.bytes, 0) + excluded.bytes;
