-- From a page, with a token. D1 receives ? for each :name.

-- permission
select
  coalesce(
    case when businesses.status <> 'active' then 'token_of_inactive_business' end,
    case
      when businesses.id is not :business_id then 'unknown_business'
      when businesses.status <> 'active' then 'inactive_business'
      when exists (
        select 1
        from access
        where
          access.business_id = businesses.id
          and access.site in (:site_0, :site_1)
      ) then null
      when exists (
        select 1
        from access
        where access.business_id = businesses.id
      ) then 'origin_not_authorized'
      else 'open'
    end
  ) as refusal,
  null as key_id,
  null as key_last_four,
  null as key_user_id,
  null as key_business_id,
  null as role,
  null as is_session,
  case
    when businesses.token <> :lookup_value then (
      select former_tokens.token
      from former_tokens
      where
        former_tokens.token = :lookup_value
        and former_tokens.last_used_on is not :today
    )
  end as unmarked,
  null as key_session_of,
  null as key_actor_name,
  daily_limit,
  monthly_limit,
  overage,
  page_overage,
  alert_at,
  case
    when businesses.page_overage
    and exists (
      select 1
      from access
      where
        access.business_id = businesses.id
        and access.is_reachable
    ) then businesses.overage
    else 0
  end as allowed_overage,
  billing_day,
  has_billing_changes,
  user_id as owner_id,
  coalesce(
    (
      select sources.number
      from
        access
        cross join sources
      where
        (
          access.business_id = businesses.id
          and access.site = :site_0
          and sources.business_id = businesses.id
          and sources.name = :site_0
        )
    ),
    (
      select sources.number
      from
        access
        cross join sources
      where
        (
          access.business_id = businesses.id
          and access.site = :site_1
          and sources.business_id = businesses.id
          and sources.name = :site_1
        )
    ),
    null
  ) as source
from businesses
where
  (
    businesses.token = :lookup_value
    or businesses.id = (
      select former_tokens.business_id
      from former_tokens
      where
        former_tokens.token = :lookup_value
        and former_tokens.expires_at > :now
    )
  )
limit 1;
