-- From a server, with an API key. D1 receives a number for each :name, and a subquery for permission.

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
    and true
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
  'rotate_token',
  (
    select json_object('token', '…' || substr(businesses.token, -4))
    from businesses
    where businesses.id = :business_id
  ),
  json_patch(json_object('token', '…' || substr(:token, -4)), json_object('former_works_until', :keep_until)),
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

-- kept
insert into former_tokens (id, token, business_id, expires_at, last_used_on, used_from)
select
  null,
  businesses.token,
  businesses.id,
  :keep_until,
  null,
  null
from businesses
where
  (
    businesses.id = :business_id
    and businesses.decision = :call_id
  )
  and :keep_until is not null;

-- applied
update businesses
set token = :token
where
  (
    businesses.id = :business_id
    and businesses.decision = :call_id
  );

-- dropped
delete from former_tokens
where
  (
    former_tokens.business_id = (
      select businesses.id
      from businesses
      where
        (
          businesses.id = :business_id
          and businesses.decision = :call_id
        )
    )
    and former_tokens.id not in (
      select id
      from former_tokens
      where
        (
          former_tokens.business_id = (
            select businesses.id
            from businesses
            where
              (
                businesses.id = :business_id
                and businesses.decision = :call_id
              )
          )
          and :keep_until is not null
          and former_tokens.expires_at > :now
        )
      order by former_tokens.id desc
      limit 5
    )
  );

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
  ) as refusal
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
