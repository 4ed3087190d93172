-- From a page, with a token. D1 receives ? for each :name, and the subquery in permission-to-record.sql for permission.

-- read
select
  refusal,
  role,
  case when last_used_on is not :today then key_id end as unmarked_key,
  :deadline - unixepoch('subsec') as time_left,
  daily_limit,
  monthly_limit,
  0 as overage,
  alert_at,
  case
    when daily_limit is not null then coalesce(
      (
        select count
        from daily_usage
        where
          (
            daily_usage.business_id = case when refusal is null then :business_id end
            and daily_usage.day = :today
          )
      ),
      0
    )
  end as today,
  case
    when monthly_limit is not null then (
      select coalesce(sum(count), 0)
      from daily_usage
      where
        (
          daily_usage.business_id = case when refusal is null then :business_id end
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
                    billing_changes.business_id = case when refusal is null then :business_id end
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
                    billing_changes.business_id = case when refusal is null then :business_id end
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
  end as month,
  case
    when monthly_limit is not null then coalesce(
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
              billing_changes.business_id = case when refusal is null then :business_id end
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
  end as month_starts_on,
  case
    when monthly_limit is not null then coalesce(
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
              billing_changes.business_id = case when refusal is null then :business_id end
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
  end as month_ends_on
from permission
where true;

-- counted
insert into daily_usage (business_id, day, count, counted_at)
select
  case when refusal is null then :business_id end,
  :today,
  :quantity,
  :now
from permission
where
  refusal is null
  and unixepoch('subsec') < :deadline
  and not (
    coalesce(
      case
        when permission.daily_limit is not null then coalesce(
          (
            select daily_usage.count
            from daily_usage
            where
              (
                daily_usage.business_id = case when refusal is null then :business_id end
                and daily_usage.day = :today
              )
          ),
          0
        )
      end + :quantity > permission.daily_limit + 0,
      0
    )
    or coalesce(
      case
        when permission.monthly_limit is not null then (
          select coalesce(sum(daily_usage.count), 0)
          from daily_usage
          where
            (
              daily_usage.business_id = case when refusal is null then :business_id end
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
                        billing_changes.business_id = case when refusal is null then :business_id end
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
                        billing_changes.business_id = case when refusal is null then :business_id end
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
      end + :quantity > permission.monthly_limit + 0,
      0
    )
  )
on conflict (daily_usage.business_id, daily_usage.day) do update
set
  count = case
    when daily_usage.count > 9007199254740991 - excluded.count then 'beyond'
    else daily_usage.count + excluded.count
  end,
  counted_at = excluded.counted_at
returning
  day as date,
  count;
