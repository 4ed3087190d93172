-- From a server, with an API key. D1 receives a number for each :name, and a subquery for permission.

-- read
select
  refusal,
  role,
  unmarked,
  former_use,
  key_user_id,
  :deadline - unixepoch('subsec') as time_left,
  case
    when ifnull(refusal, 'open') = 'open' then json_object(
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
    )
  end as business,
  case
    when ifnull(refusal, 'open') = 'open' then (
      select
        json_group_array(
          json_object(
            'id',
            sites.id,
            'business_id',
            sites.business_id,
            'site',
            sites.site,
            'created_at',
            sites.created_at,
            'updated_at',
            sites.updated_at
          )
        )
      from sites
      where sites.business_id = businesses.id
    )
  end as sites
from
  permission
  left join businesses on businesses.id = case
    when ifnull(refusal, 'open') = 'open' then :business_id
  end
where true;

-- decided
update businesses
set
  updated_at = :now,
  decision = :call_id
where
  (
    businesses.id = (
      select :business_id
      from permission
      where ifnull(refusal, 'open') = 'open'
    )
    and unixepoch('subsec') < :deadline
    and exists (
      select 1
      from json_each(:sites)
      where
        not exists (
          select 1
          from sites
          where
            sites.business_id = businesses.id
            and sites.site = value ->> 0
        )
    )
    and (
      select count(*)
      from sites
      where sites.business_id = businesses.id
    ) + (
      select count(*)
      from json_each(:sites)
      where
        not exists (
          select 1
          from sites
          where
            sites.business_id = businesses.id
            and sites.site = value ->> 0
        )
    ) <= 500
    and (
      :may_be_first
      or exists (
        select 1
        from sites
        where sites.business_id = businesses.id
      )
    )
    and (
      (
        select - coalesce(min(sources.number), 0)
        from sources
        where
          (
            sources.business_id = businesses.id
            and sources.number < 0
          )
      ) + json_array_length(:sites) <= 1000
      or (
        select count(*)
        from json_each(:sites)
        where
          (
            select sources.number
            from sources
            where
              (
                sources.business_id = businesses.id
                and sources.name = value ->> 0
              )
          ) is null
      ) <= 1000 - (
        select - coalesce(min(sources.number), 0)
        from sources
        where
          (
            sources.business_id = businesses.id
            and sources.number < 0
          )
      ) + (
        select count(*)
        from
          (
            select sources.number as number
            from
              (
                select
                  (
                    select json_group_object(key, 1)
                    from
                      daily_usage
                      cross join json_each(daily_usage.sources)
                    where
                      (
                        daily_usage.business_id = businesses.id
                        and key < '0'
                      )
                  ) as counted
                where
                  not (
                    (
                      select - coalesce(min(sources.number), 0)
                      from sources
                      where
                        (
                          sources.business_id = businesses.id
                          and sources.number < 0
                        )
                    ) + json_array_length(:sites) <= 1000
                  )
                limit 1
              )
              cross join sources
            where
              (
                sources.business_id = businesses.id
                and sources.number < 0
              )
              and counted ->> ('$."' || sources.number || '"') is null
              and not exists (
                select 1
                from sites
                where
                  (
                    sites.business_id = businesses.id
                    and sites.site = sources.name
                  )
              )
              and sources.name not in (
                select value ->> 0
                from json_each(:sites)
              )
          )
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
    select json_object('sites', json_group_array(value ->> 0))
    from json_each(:sites)
    where
      not exists (
        select 1
        from sites
        where
          sites.business_id = :business_id
          and sites.site = value ->> 0
      )
  ),
  key_actor_name,
  case when key_actor_name is not null then key_user_id end
from
  businesses
  cross join (
    select
      api_keys.id as key_id,
      api_keys.last_four as key_last_four,
      api_keys.user_id as key_user_id,
      (api_keys.ends_at is not null) as is_session,
      api_keys.session_of as key_session_of,
      api_keys.actor_name as key_actor_name
    from
      api_keys
      left join businesses on (
        businesses.id = :business_id
        and businesses.user_id = api_keys.user_id
        and (
          api_keys.business_id is null
          or api_keys.business_id = businesses.id
        )
      )
    where api_keys.hash = :lookup_value
    limit 1
  ) permission
where
  (
    businesses.id = :business_id
    and businesses.decision = :call_id
  );

-- applied
insert into sites (id, business_id, site, created_at, updated_at, is_reachable)
select
  null,
  businesses.id,
  value ->> 0,
  :now,
  :now,
  value ->> 1
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
    from sites
    where
      sites.business_id = :business_id
      and sites.site = value ->> 0
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
  business,
  name,
  number
from
  (
    with
      used as materialized (
        select
          business,
          (
            select - coalesce(min(sources.number), 0)
            from sources
            where
              (
                sources.business_id = business
                and sources.number < 0
              )
          ) as used,
          (
            select
              json_group_array(
                number
                order by number desc
              )
            from
              (
                select sources.number as number
                from
                  (
                    select
                      (
                        select json_group_object(key, 1)
                        from
                          daily_usage
                          cross join json_each(daily_usage.sources)
                        where
                          (
                            daily_usage.business_id = business
                            and key < '0'
                          )
                      ) as counted
                    where
                      not (
                        (
                          select - coalesce(min(sources.number), 0)
                          from sources
                          where
                            (
                              sources.business_id = business
                              and sources.number < 0
                            )
                        ) + json_array_length(:sites) <= 1000
                      )
                    limit 1
                  )
                  cross join sources
                where
                  (
                    sources.business_id = business
                    and sources.number < 0
                  )
                  and counted ->> ('$."' || sources.number || '"') is null
                  and not exists (
                    select 1
                    from sites
                    where
                      (
                        sites.business_id = business
                        and sites.site = sources.name
                      )
                  )
                  and sources.name not in (
                    select value ->> 0
                    from json_each(:sites)
                  )
              )
          ) as free
        from
          (
            select
              (
                select businesses.id
                from businesses
                where
                  (
                    businesses.id = :business_id
                    and businesses.decision = :call_id
                  )
              ) as business
            limit 1
          )
        where business is not null
      )
    select
      business,
      name,
      iif(place <= 1000, - place, free ->> (place - 1001)) as number
    from
      (
        select
          business,
          free,
          value ->> 0 as name,
          used + row_number() over (order by key) as place
        from
          used
          cross join json_each(:sites)
        where
          (
            select sources.number
            from sources
            where
              (
                sources.business_id = business
                and sources.name = value ->> 0
              )
          ) is null
      )
  )
where number is not null
on conflict (sources.business_id, sources.number) do update
set name = excluded.name;

-- noLongerRefused
delete from seen_origins
where
  (
    seen_origins.business_id = (
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
        json_each(seen_origins.candidates)
        cross join sites
      where
        (
          sites.business_id = seen_origins.business_id
          and sites.site = value
        )
    )
  );

-- taken
insert into work (user_id, class, busy_until, day, ids, bytes)
select
  key_user_id,
  'changing',
  cast(round(unixepoch('subsec') * 1000) as integer) + 0,
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
from
  (
    select api_keys.user_id as key_user_id
    from
      api_keys
      left join businesses on (
        businesses.id = :business_id
        and businesses.user_id = api_keys.user_id
        and (
          api_keys.business_id is null
          or api_keys.business_id = businesses.id
        )
      )
    where api_keys.hash = :lookup_value
    limit 1
  ) permission
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
    cast(round(unixepoch('subsec') * 1000) as integer),
    iif(work.busy_until > cast(round(unixepoch('subsec') * 1000) as integer) + 10250, 0, work.busy_until)
  ) + excluded.busy_until - cast(round(unixepoch('subsec') * 1000) as integer),
  day = excluded.day,
  ids = iif(work.day = cast(unixepoch('subsec') / 86400 as integer), work.ids, 0) + excluded.ids,
  bytes = iif(work.day = cast(unixepoch('subsec') / 86400 as integer), work.bytes, 0) + excluded.bytes;

-- permission: a statement selects only the columns that it reads
select
  coalesce(
    case
      when api_keys.ends_at <= :now then 'ended_session'
      when api_keys.revoked_at is not null then 'revoked_key'
      when api_keys.expires_on < :today then 'expired_key'
    end,
    case
      when businesses.id is not :business_id then 'unknown_business'
      when (
        true
        and api_keys.role <> 'full'
      ) then api_keys.role || '_only_key'
      else null
    end
  ) as refusal,
  api_keys.user_id as key_user_id,
  api_keys.role as role,
  case when api_keys.last_used_on is not :today then api_keys.id end as unmarked,
  null as former_use
from
  api_keys
  left join businesses on (
    businesses.id = :business_id
    and businesses.user_id = api_keys.user_id
    and (
      api_keys.business_id is null
      or api_keys.business_id = businesses.id
    )
  )
where api_keys.hash = :lookup_value
limit 1;
