-- From a page, with a token. D1 receives a number for each :name, and the subquery in permission-to-read.sql for permission.

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
