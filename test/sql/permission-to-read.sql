-- From a page, with a token. D1 receives a number for each :name.

-- permission
select
  coalesce(
    case when businesses.status <> 'active' then 'token_of_inactive_business' end,
    case
      when businesses.id is not :business_id then 'unknown_business'
      when exists (
        select 1
        from sites
        where
          sites.business_id = businesses.id
          and sites.site in (:site_0, :site_1)
      ) then null
      when exists (
        select 1
        from sites
        where sites.business_id = businesses.id
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
  null as unmarked,
  case
    when businesses.token <> :lookup_value then (
      select
        json_object('last_used_on', former_tokens.last_used_on, 'used_from', json(former_tokens.used_from))
      from former_tokens
      where former_tokens.token = :lookup_value
    )
  end as former_use,
  null as key_session_of,
  null as key_actor_name,
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
    when case
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
    end
    and exists (
      select 1
      from sites
      where
        sites.business_id = businesses.id
        and sites.is_reachable = 1
    ) then case
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
    end
    else 0
  end as allowed_overage,
  coalesce(businesses.limits_since, businesses.next_from) is not null as has_other_limits,
  extras_until as last_extra,
  billing_day,
  has_billing_changes,
  user_id as owner_id,
  coalesce(
    null,
    (
      select sources.number
      from
        sites
        cross join sources
      where
        (
          sites.business_id = businesses.id
          and sites.site = :site_0
          and sources.business_id = businesses.id
          and sources.name = :site_0
        )
    ),
    (
      select sources.number
      from
        sites
        cross join sources
      where
        (
          sites.business_id = businesses.id
          and sites.site = :site_1
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
