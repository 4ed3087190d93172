-- From a page, with a token. D1 receives ? for each :name, and the subquery in permission-to-record.sql for permission.

-- read
select
  refusal,
  role,
  unmarked,
  :deadline - unixepoch('subsec') as time_left,
  case when ifnull(refusal, 'open') = 'open' then permission.daily_limit end as daily_limit,
  case when ifnull(refusal, 'open') = 'open' then permission.monthly_limit end as monthly_limit,
  case when ifnull(refusal, 'open') = 'open' then allowed_overage end as overage,
  case
    when ifnull(refusal, 'open') = 'open' then case
      when permission.daily_limit is not null then coalesce(
        (
          select daily_usage.count
          from daily_usage
          where
            (
              daily_usage.business_id = case
                when ifnull(refusal, 'open') = 'open' then :business_id
              end
              and daily_usage.day = :today
            )
        ),
        0
      )
    end
  end as today,
  case
    when ifnull(refusal, 'open') = 'open' then case
      when permission.monthly_limit is not null then (
        select coalesce(sum(daily_usage.count), 0)
        from daily_usage
        where
          (
            daily_usage.business_id = case when ifnull(refusal, 'open') = 'open' then :business_id end
            and daily_usage.day between coalesce(
              case
                when permission.has_billing_changes then (
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
              date(
                :today,
                (1 - permission.billing_day) || ' days',
                'start of month',
                (permission.billing_day - 1) || ' days'
              )
            ) and coalesce(
              case
                when permission.has_billing_changes then (
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
                (1 - permission.billing_day) || ' days',
                'start of month',
                '+1 month',
                (permission.billing_day - 2) || ' days'
              )
            )
          )
      )
    end
  end as month,
  case
    when ifnull(refusal, 'open') = 'open' then case
      when permission.monthly_limit is not null then coalesce(
        case
          when permission.has_billing_changes then (
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
        date(
          :today,
          (1 - permission.billing_day) || ' days',
          'start of month',
          (permission.billing_day - 1) || ' days'
        )
      )
    end
  end as month_starts_on,
  case
    when ifnull(refusal, 'open') = 'open' then case
      when permission.monthly_limit is not null then coalesce(
        case
          when permission.has_billing_changes then (
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
          (1 - permission.billing_day) || ' days',
          'start of month',
          '+1 month',
          (permission.billing_day - 2) || ' days'
        )
      )
    end
  end as month_ends_on,
  case when ifnull(refusal, 'open') = 'open' then date(ledger.day * 86400, 'unixepoch') end as date,
  case when ifnull(refusal, 'open') = 'open' then daily_usage.count end as count
from
  permission
  left join ledger on (
    ledger.business_id = case when ifnull(refusal, 'open') = 'open' then :business_id end
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
  case when ifnull(refusal, 'open') = 'open' then :business_id end,
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
from permission
where
  (
    ifnull(refusal, 'open') = 'open'
    and unixepoch('subsec') < :deadline
    and not exists (
      select 1
      from ledger
      where
        ledger.business_id = case when ifnull(refusal, 'open') = 'open' then :business_id end
        and ledger.digest = unhex (:digest)
    )
  )
  and not (
    coalesce(
      case
        when permission.daily_limit is not null then coalesce(
          (
            select daily_usage.count
            from daily_usage
            where
              (
                daily_usage.business_id = case
                  when ifnull(refusal, 'open') = 'open' then :business_id
                end
                and daily_usage.day = :today
              )
          ),
          0
        )
      end + :quantity > permission.daily_limit + allowed_overage,
      0
    )
    or coalesce(
      case
        when permission.monthly_limit is not null then (
          select coalesce(sum(daily_usage.count), 0)
          from daily_usage
          where
            (
              daily_usage.business_id = case
                when ifnull(refusal, 'open') = 'open' then :business_id
              end
              and daily_usage.day between coalesce(
                case
                  when permission.has_billing_changes then (
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
                date(
                  :today,
                  (1 - permission.billing_day) || ' days',
                  'start of month',
                  (permission.billing_day - 1) || ' days'
                )
              ) and coalesce(
                case
                  when permission.has_billing_changes then (
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
                  (1 - permission.billing_day) || ' days',
                  'start of month',
                  '+1 month',
                  (permission.billing_day - 2) || ' days'
                )
              )
            )
        )
      end + :quantity > permission.monthly_limit + allowed_overage,
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
    when excluded.sources is null
    or (
      daily_usage.sources ->> ('$.' || substr(excluded.sources, 2, instr(excluded.sources, ':') - 2)) is null
      and iif(
        substr(excluded.sources, 3, 1) = '-',
        40 - (
          length(coalesce(daily_usage.sources, '{}')) - length(replace(coalesce(daily_usage.sources, '{}'), '"-', ''))
        ) / 2,
        80 - (
          length(coalesce(daily_usage.sources, '{}')) - length(replace(coalesce(daily_usage.sources, '{}'), ':', '')) - (
            length(coalesce(daily_usage.sources, '{}')) - length(replace(coalesce(daily_usage.sources, '{}'), '"-', ''))
          ) / 2
        )
      ) <= 0
    ) then daily_usage.sources
    else json_set(
      coalesce(daily_usage.sources, '{}'),
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
  case when ifnull(refusal, 'open') = 'open' then :business_id end,
  unhex (:digest),
  (strftime('%s', :today) / 86400),
  (strftime('%s', :today) / 86400) + 3,
  :quantity,
  null
from
  (
    select 1
    where changes() > 0
  )
  cross join permission
where ifnull(refusal, 'open') = 'open';

-- reached
insert into
  events (
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
    select
      businesses.id as id,
      businesses.daily_limit as daily_limit,
      businesses.monthly_limit as monthly_limit,
      businesses.billing_day as billing_day,
      businesses.has_billing_changes as has_billing_changes,
      coalesce(businesses.alert_at, '[80,100]') as alert_at
    from businesses
    where
      businesses.id = case when changes() > 0 then :business_id end
      and (
        businesses.daily_limit > 0
        or businesses.monthly_limit > 0
      )
  ),
  periods as (
    select distinct
      id,
      period,
      alert_at,
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
      end as ends_on,
      case period
        when 'day' then daily_limit
        else monthly_limit
      end as "limit"
    from
      business
      cross join (select :today as day) as days
      cross join (
        select 'day' as period
        union all
        select 'month'
      )
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
      "limit" > 0
      and ends_on >= date(:today, '-1 day')
    limit 5
  ),
  reached as (
    select
      *,
      case
        when used * 100 >= "limit" * (alert_at ->> 4) then alert_at ->> 4
        when used * 100 >= "limit" * (alert_at ->> 3) then alert_at ->> 3
        when used * 100 >= "limit" * (alert_at ->> 2) then alert_at ->> 2
        when used * 100 >= "limit" * (alert_at ->> 1) then alert_at ->> 1
        when used * 100 >= "limit" * (alert_at ->> 0) then alert_at ->> 0
      end as threshold
    from used
  )
select
  substr(:call_id, 1, 35) || (3 * (period = 'month') + (starts_on >= :today) + (starts_on > :today)),
  id,
  period,
  starts_on,
  ends_on,
  "limit",
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
    from events
    where
      events.business_id = reached.id
      and events.period = reached.period
      and events.starts_on = reached.starts_on
      and events."limit" = reached."limit"
      and events.threshold >= reached.threshold
  );
