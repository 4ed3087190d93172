-- From a server, with an API key. D1 receives a number for each :name, and the subquery in permission-to-change.sql for permission.

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
  cross join permission
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
