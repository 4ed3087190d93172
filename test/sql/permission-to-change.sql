-- From a server, with an API key. D1 receives ? for each :name.

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
  api_keys.session_of as key_session_of,
  api_keys.actor_name as key_actor_name,
  businesses.daily_limit,
  businesses.monthly_limit,
  businesses.overage,
  businesses.page_overage,
  businesses.alert_at,
  businesses.overage as allowed_overage,
  businesses.billing_day,
  businesses.has_billing_changes,
  businesses.user_id as owner_id,
  null as source
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
