-- From a server, with an API key. D1 receives a number for each :name.

-- permission
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
  api_keys.id as key_id,
  api_keys.last_four as key_last_four,
  api_keys.user_id as key_user_id,
  api_keys.business_id as key_business_id,
  api_keys.role as role,
  (api_keys.ends_at is not null) as is_session,
  case when api_keys.last_used_on is not :today then api_keys.id end as unmarked,
  null as former_use,
  api_keys.session_of as key_session_of,
  api_keys.actor_name as key_actor_name,
  case
    when :today < businesses.limits_since then (
      select former_limits.daily_limit
      from former_limits
      where
        (
          former_limits.business_id = businesses.id
          and former_limits.ends_on >= :today
        )
      order by former_limits.ends_on asc
      limit 1
    )
    when :today >= businesses.next_from then businesses.next_daily_limit
    else businesses.daily_limit
  end as daily_limit_today,
  case
    when :today < businesses.limits_since then (
      select former_limits.monthly_limit
      from former_limits
      where
        (
          former_limits.business_id = businesses.id
          and former_limits.ends_on >= :today
        )
      order by former_limits.ends_on asc
      limit 1
    )
    when :today >= businesses.next_from then businesses.next_monthly_limit
    else businesses.monthly_limit
  end as monthly_limit_today,
  case
    when :today < businesses.limits_since then (
      select former_limits.overage
      from former_limits
      where
        (
          former_limits.business_id = businesses.id
          and former_limits.ends_on >= :today
        )
      order by former_limits.ends_on asc
      limit 1
    )
    when :today >= businesses.next_from then businesses.next_overage
    else businesses.overage
  end as overage_today,
  case
    when :today < businesses.limits_since then (
      select former_limits.page_overage
      from former_limits
      where
        (
          former_limits.business_id = businesses.id
          and former_limits.ends_on >= :today
        )
      order by former_limits.ends_on asc
      limit 1
    )
    when :today >= businesses.next_from then businesses.next_page_overage
    else businesses.page_overage
  end as page_overage_today,
  case
    when :today < businesses.limits_since then (
      select former_limits.alert_at
      from former_limits
      where
        (
          former_limits.business_id = businesses.id
          and former_limits.ends_on >= :today
        )
      order by former_limits.ends_on asc
      limit 1
    )
    when :today >= businesses.next_from then businesses.next_alert_at
    else businesses.alert_at
  end as alert_at_today,
  case
    when :today < businesses.limits_since then (
      select former_limits.overage
      from former_limits
      where
        (
          former_limits.business_id = businesses.id
          and former_limits.ends_on >= :today
        )
      order by former_limits.ends_on asc
      limit 1
    )
    when :today >= businesses.next_from then businesses.next_overage
    else businesses.overage
  end as allowed_overage,
  coalesce(businesses.limits_since, businesses.next_from) is not null as has_other_limits,
  businesses.extras_until as last_extra,
  businesses.billing_day,
  businesses.has_billing_changes,
  businesses.user_id as owner_id,
  coalesce(api_keys.source, null) as source
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
