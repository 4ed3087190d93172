-- From a page, with a token. D1 receives a number for each :name, and a subquery for permission.

-- read
select
  refusal,
  role,
  unmarked,
  former_use,
  key_user_id,
  :deadline - unixepoch('subsec') as time_left,
  case when ifnull(refusal, 'open') = 'open' then own_daily_limit end as daily_limit,
  case when ifnull(refusal, 'open') = 'open' then own_monthly_limit end as monthly_limit,
  case
    when ifnull(refusal, 'open') = 'open' then case
      when own_extras_until >= month_starts_on then coalesce(
        (
          select extras.uses
          from extras
          where
            (
              extras.business_id = permitted_id
              and extras.starts_on = month_starts_on
            )
        ),
        0
      )
      else 0
    end
  end as extra,
  case when ifnull(refusal, 'open') = 'open' then allowed_overage end as overage,
  case
    when ifnull(refusal, 'open') = 'open' then case
      when own_daily_limit is not null then coalesce(
        (
          select daily_usage.count
          from daily_usage
          where
            (
              daily_usage.business_id = permitted_id
              and daily_usage.day = :today
            )
        ),
        0
      )
    end
  end as today,
  case
    when ifnull(refusal, 'open') = 'open' then case
      when own_monthly_limit is not null then (
        select coalesce(sum(daily_usage.count), 0)
        from daily_usage
        where
          (
            daily_usage.business_id = permitted_id
            and daily_usage.day between month_starts_on and month_ends_on
          )
      )
    end
  end as month,
  case when ifnull(refusal, 'open') = 'open' then month_starts_on end as month_starts_on,
  case when ifnull(refusal, 'open') = 'open' then month_ends_on end as month_ends_on,
  case when ifnull(refusal, 'open') = 'open' then date(ledger.day * 86400, 'unixepoch') end as date,
  case when ifnull(refusal, 'open') = 'open' then daily_usage.count end as count
from
  (
    select
      *,
      case when ifnull(refusal, 'open') = 'open' then :business_id end as permitted_id,
      coalesce(
        case
          when own_has_billing_changes then (
            select
              case
                when :today < billing_changes.changes_on then billing_changes.starts_on
                else date(
                  :today,
                  (1 - billing_changes.billing_day) || ' days',
                  'start of month',
                  (billing_changes.billing_day - 1) || ' days'
                )
              end
            from billing_changes
            where
              (
                billing_changes.business_id = case
                  when ifnull(refusal, 'open') = 'open' then :business_id
                end
                and billing_changes.starts_on <= :today
              )
            order by billing_changes.starts_on desc
            limit 1
          )
        end,
        date(:today, (1 - own_billing_day) || ' days', 'start of month', (own_billing_day - 1) || ' days')
      ) as month_starts_on,
      coalesce(
        case
          when own_has_billing_changes then (
            select
              max(
                date(billing_changes.changes_on, '-1 day'),
                date(
                  :today,
                  (1 - billing_changes.billing_day) || ' days',
                  'start of month',
                  '+1 month',
                  (billing_changes.billing_day - 2) || ' days'
                )
              )
            from billing_changes
            where
              (
                billing_changes.business_id = case
                  when ifnull(refusal, 'open') = 'open' then :business_id
                end
                and billing_changes.starts_on <= :today
              )
            order by billing_changes.starts_on desc
            limit 1
          )
        end,
        date(
          :today,
          (1 - own_billing_day) || ' days',
          'start of month',
          '+1 month',
          (own_billing_day - 2) || ' days'
        )
      ) as month_ends_on
    from permission
    limit 1
  )
  left join ledger on (
    ledger.business_id = permitted_id
    and ledger.digest = unhex (:digest)
  )
  left join daily_usage on (
    daily_usage.business_id = ledger.business_id
    and daily_usage.day = date(ledger.day * 86400, 'unixepoch')
  )
where true;

-- counted
insert into daily_usage (business_id, day, count, sources)
select
  :business_id,
  :today,
  :quantity,
  '{"' || iif(
    :label is null,
    source,
    (
      select sources.number
      from sources
      where
        (
          sources.business_id = :business_id
          and sources.name = :label
        )
    )
  ) || '":' || cast(:quantity as integer) || '}'
from
  (
    select
      *,
      case when ifnull(refusal, 'open') = 'open' then :business_id end as permitted_id,
      coalesce(
        case
          when own_has_billing_changes then (
            select
              case
                when :today < billing_changes.changes_on then billing_changes.starts_on
                else date(
                  :today,
                  (1 - billing_changes.billing_day) || ' days',
                  'start of month',
                  (billing_changes.billing_day - 1) || ' days'
                )
              end
            from billing_changes
            where
              (
                billing_changes.business_id = case
                  when ifnull(refusal, 'open') = 'open' then :business_id
                end
                and billing_changes.starts_on <= :today
              )
            order by billing_changes.starts_on desc
            limit 1
          )
        end,
        date(:today, (1 - own_billing_day) || ' days', 'start of month', (own_billing_day - 1) || ' days')
      ) as month_starts_on,
      coalesce(
        case
          when own_has_billing_changes then (
            select
              max(
                date(billing_changes.changes_on, '-1 day'),
                date(
                  :today,
                  (1 - billing_changes.billing_day) || ' days',
                  'start of month',
                  '+1 month',
                  (billing_changes.billing_day - 2) || ' days'
                )
              )
            from billing_changes
            where
              (
                billing_changes.business_id = case
                  when ifnull(refusal, 'open') = 'open' then :business_id
                end
                and billing_changes.starts_on <= :today
              )
            order by billing_changes.starts_on desc
            limit 1
          )
        end,
        date(
          :today,
          (1 - own_billing_day) || ' days',
          'start of month',
          '+1 month',
          (own_billing_day - 2) || ' days'
        )
      ) as month_ends_on
    from permission
    limit 1
  )
where
  (
    ifnull(refusal, 'open') = 'open'
    and unixepoch('subsec') < :deadline
    and not exists (
      select 1
      from ledger
      where
        ledger.business_id = permitted_id
        and ledger.digest = unhex (:digest)
    )
  )
  and not (
    coalesce(
      case
        when own_daily_limit is not null then coalesce(
          (
            select daily_usage.count
            from daily_usage
            where
              (
                daily_usage.business_id = permitted_id
                and daily_usage.day = :today
              )
          ),
          0
        )
      end + :quantity > own_daily_limit + allowed_overage,
      0
    )
    or coalesce(
      case
        when own_monthly_limit is not null then (
          select coalesce(sum(daily_usage.count), 0)
          from daily_usage
          where
            (
              daily_usage.business_id = permitted_id
              and daily_usage.day between month_starts_on and month_ends_on
            )
        )
      end + :quantity > own_monthly_limit + case
        when own_extras_until >= month_starts_on then coalesce(
          (
            select extras.uses
            from extras
            where
              (
                extras.business_id = permitted_id
                and extras.starts_on = month_starts_on
              )
          ),
          0
        )
        else 0
      end + allowed_overage,
      0
    )
  )
on conflict (daily_usage.business_id, daily_usage.day) do update
set
  count = case
    when daily_usage.count > 9007199254740991 - excluded.count then 'beyond'
    else daily_usage.count + excluded.count
  end,
  sources = case
    when daily_usage.sources is null
    or excluded.sources is null then coalesce(daily_usage.sources, excluded.sources)
    when daily_usage.sources ->> ('$.' || substr(excluded.sources, 2, instr(excluded.sources, ':') - 2)) is null
    and iif(
      substr(excluded.sources, 3, 1) = '-',
      40 - (length(daily_usage.sources) - length(replace(daily_usage.sources, '"-', ''))) / 2,
      80 - (
        length(daily_usage.sources) - length(replace(daily_usage.sources, ':', '')) - (length(daily_usage.sources) - length(replace(daily_usage.sources, '"-', ''))) / 2
      )
    ) <= 0 then daily_usage.sources
    else json_set(
      daily_usage.sources,
      '$.' || substr(excluded.sources, 2, instr(excluded.sources, ':') - 2),
      coalesce(daily_usage.sources ->> ('$.' || substr(excluded.sources, 2, instr(excluded.sources, ':') - 2)), 0) + excluded.count
    )
  end
returning
  day as date,
  count;

-- remembered
insert into ledger (business_id, digest, day, forget_on, quantity, source)
select
  :business_id,
  unhex (:digest),
  (strftime('%s', :today) / 86400),
  (strftime('%s', :today) / 86400) + 3,
  :quantity,
  null
from
  (
    select 1
    where changes() > 0
  );

-- reached
insert into
  alerts (
    id,
    business_id,
    period,
    starts_on,
    ends_on,
    "limit",
    threshold,
    used,
    at,
    due_at,
    attempts,
    sent_at
  )
with
  business as (
    select *
    from businesses
    where
      businesses.id = case when changes() > 0 then :business_id end
      and (
        businesses.daily_limit > 0
        or businesses.monthly_limit > 0
        or businesses.extras_until is not null
        or coalesce(businesses.limits_since, businesses.next_from) is not null
      )
  ),
  spans as (
    select
      business.*,
      period,
      case period
        when 'day' then day
        else coalesce(
          case
            when has_billing_changes then (
              select
                case
                  when day < billing_changes.changes_on then billing_changes.starts_on
                  else date(
                    day,
                    (1 - billing_changes.billing_day) || ' days',
                    'start of month',
                    (billing_changes.billing_day - 1) || ' days'
                  )
                end
              from billing_changes
              where
                (
                  billing_changes.business_id = business.id
                  and billing_changes.starts_on <= day
                )
              order by billing_changes.starts_on desc
              limit 1
            )
          end,
          date(day, (1 - billing_day) || ' days', 'start of month', (billing_day - 1) || ' days')
        )
      end as starts_on,
      case period
        when 'day' then day
        else coalesce(
          case
            when has_billing_changes then (
              select
                max(
                  date(billing_changes.changes_on, '-1 day'),
                  date(
                    day,
                    (1 - billing_changes.billing_day) || ' days',
                    'start of month',
                    '+1 month',
                    (billing_changes.billing_day - 2) || ' days'
                  )
                )
              from billing_changes
              where
                (
                  billing_changes.business_id = business.id
                  and billing_changes.starts_on <= day
                )
              order by billing_changes.starts_on desc
              limit 1
            )
          end,
          date(day, (1 - billing_day) || ' days', 'start of month', '+1 month', (billing_day - 2) || ' days')
        )
      end as ends_on
    from
      business
      cross join (select :today as day) as days
      cross join (
        select 'day' as period
        union all
        select 'month'
      )
    limit -1
  ),
  judged as (
    select
      *,
      min(max(:today, starts_on), ends_on) as judged_on
    from spans
  ),
  periods as (
    select
      id,
      period,
      starts_on,
      ends_on,
      case period
        when 'day' then case
          when judged_on < judged.limits_since then (
            select former_limits.daily_limit
            from former_limits
            where
              (
                former_limits.business_id = judged.id
                and former_limits.ends_on >= judged_on
              )
            order by former_limits.ends_on asc
            limit 1
          )
          when judged_on >= judged.next_from then judged.next_daily_limit
          else judged.daily_limit
        end
        else case
          when judged_on < judged.limits_since then (
            select former_limits.monthly_limit
            from former_limits
            where
              (
                former_limits.business_id = judged.id
                and former_limits.ends_on >= judged_on
              )
            order by former_limits.ends_on asc
            limit 1
          )
          when judged_on >= judged.next_from then judged.next_monthly_limit
          else judged.monthly_limit
        end + case
          when extras_until >= judged.starts_on then coalesce(
            (
              select extras.uses
              from extras
              where
                (
                  extras.business_id = judged.id
                  and extras.starts_on = judged.starts_on
                )
            ),
            0
          )
          else 0
        end
      end as maximum,
      coalesce(
        case
          when judged_on < judged.limits_since then (
            select former_limits.alert_at
            from former_limits
            where
              (
                former_limits.business_id = judged.id
                and former_limits.ends_on >= judged_on
              )
            order by former_limits.ends_on asc
            limit 1
          )
          when judged_on >= judged.next_from then judged.next_alert_at
          else judged.alert_at
        end,
        '[80,100]'
      ) as alert_at
    from judged
  ),
  used as (
    select
      *,
      (
        select min(cast(total(daily_usage.count) as integer), 9007199254740991)
        from daily_usage
        where
          daily_usage.business_id = periods.id
          and daily_usage.day between starts_on and ends_on
      ) as used
    from periods
    where
      maximum > 0
      and ends_on >= date(:today, '-1 day')
    limit 5
  ),
  reached as (
    select
      *,
      case
        when used * 100 >= maximum * (alert_at ->> 4) then alert_at ->> 4
        when used * 100 >= maximum * (alert_at ->> 3) then alert_at ->> 3
        when used * 100 >= maximum * (alert_at ->> 2) then alert_at ->> 2
        when used * 100 >= maximum * (alert_at ->> 1) then alert_at ->> 1
        when used * 100 >= maximum * (alert_at ->> 0) then alert_at ->> 0
      end as threshold
    from used
  )
select
  substr(:call_id, 1, 35) || (3 * (period = 'month') + (starts_on >= :today) + (starts_on > :today)),
  id,
  period,
  starts_on,
  ends_on,
  maximum,
  threshold,
  used,
  :now,
  :now,
  0,
  null
from reached
where
  threshold is not null
  and not exists (
    select 1
    from alerts
    where
      alerts.business_id = reached.id
      and alerts.period = reached.period
      and alerts.starts_on = reached.starts_on
      and alerts."limit" >= maximum
      and alerts.threshold >= reached.threshold
  );

-- permission: a statement selects only the columns that it reads
select
  coalesce(
    case when businesses.status <> 'active' then 'token_of_inactive_business' end,
    case
      when businesses.id is not :business_id then 'unknown_business'
      when businesses.status <> 'active' then 'inactive_business'
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
  end as own_daily_limit,
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
  end as own_monthly_limit,
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
  businesses.extras_until as own_extras_until,
  businesses.billing_day as own_billing_day,
  businesses.has_billing_changes as own_has_billing_changes,
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
