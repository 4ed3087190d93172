-- From a page, with a token. D1 receives a number for each :name, and a subquery for permission.

-- read
select
  refusal,
  role,
  unmarked,
  former_use,
  key_user_id,
  :deadline - unixepoch('subsec') as time_left,
  case
    when ifnull(refusal, 'open') = 'open' then (
      select json_group_object(daily_usage.day, daily_usage.count)
      from daily_usage
      where
        (
          daily_usage.business_id = case when ifnull(refusal, 'open') = 'open' then :business_id end
          and daily_usage.day between :from and :to
        )
    )
  end as counts
from permission
where true;

-- permission: a statement selects only the columns that it reads
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
  null as key_user_id,
  null as role,
  null as unmarked,
  case
    when businesses.token <> :lookup_value then (
      select
        json_object('last_used_on', former_tokens.last_used_on, 'used_from', json(former_tokens.used_from))
      from former_tokens
      where former_tokens.token = :lookup_value
    )
  end as former_use
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
